/** `pressmark watch`: a line for every change. */
import { invalid, notFound, ResourceError } from "../../errors.ts";
import type { Change } from "../../resources.ts";
import { defineCommand, flag, many } from "../command.ts";
import { jsonLine, plain } from "../print.ts";
import { formatCount, localTime } from "../reading/amounts.ts";
import { withReadingContext, type ReadingContext } from "../reading/reading-context.ts";
import { findUris } from "../reading/find.ts";
import { colorFlag } from "../reading/paint.ts";
import { pathBelowRoot, resourceAccessFlags } from "../reading/resource-access.ts";

/** So many can be looked up at the start without a long wait. */
const maxUris = 10_000;

export default defineCommand({
  name: "watch",
  summary: "Print a line for every change, until it is stopped",
  more: "Tells when a resource changes or goes, and for a directory when something in it comes, goes or is renamed. Without a word it tells when the list of resources changes. What a pattern matches is settled at the start. Ctrl-C ends it.",
  examples: [
    "pressmark watch README.md docs",
    "pressmark watch 'src/**/*.ts' --once && npm test",
    "pressmark watch --list --json",
  ],
  takes: { where: many("a resource or a directory: its URI, its path, or a pattern of paths", "files") },
  flags: {
    list: flag("tell when the list of resources changes, too"),
    once: flag("end after the first change"),
    json: flag("one JSON object a line"),
    ...resourceAccessFlags,
    color: colorFlag,
  },
  async run({ where: words, flags }, world) {
    await withReadingContext(flags, world, async (context) => {
      const uris = await urisOf(words, context);
      const list = flags.list || words.length === 0;
      const watch = await context.resources.watch({ uris, list }, context.call);
      const watched = new Set(watch.uris);
      for (const uri of uris) if (!watched.has(uri)) context.warn(`cannot be watched: ${plain(uri)}`);
      if (uris.length > 0 && watched.size === 0 && !list) throw notFound(uris[0]!);
      context.warn(`watching ${said(watched.size, list)}; Ctrl-C ends`);
      try {
        for await (const change of watch) {
          await context.print(flags.json ? asJson(change) : asLine(change, context));
          if (flags.once) return;
        }
      } catch (cause) {
        if (!world.signal.aborted) throw cause;
      }
      // To be stopped is how a watch is meant to end, unless it was to wait for something.
      if (flags.once) throw new ResourceError("cancelled", "stopped before anything changed");
    });
  },
});

async function urisOf(words: readonly string[], context: ReadingContext): Promise<string[]> {
  const uris = new Set<string>();
  for (const word of words)
    for (const uri of await findUris(word, context)) {
      uris.add(uri);
      if (uris.size > maxUris)
        throw invalid(`at most ${maxUris} resources can be watched at once; name fewer, or their directories`);
    }
  return [...uris];
}

function said(count: number, list: boolean): string {
  const resources = count === 0 ? [] : [formatCount(count, "resource")];
  return [...resources, ...(list ? ["the list"] : [])].join(" and ");
}

function asLine(change: Change, { paint, isTerminal, roots }: ReadingContext): string {
  const time = paint.faint(localTime(new Date().toISOString()));
  if (change.kind === "list-changed") return `${time}  list changed\n`;
  const path = isTerminal && roots.length === 1 ? pathBelowRoot(roots, change) : undefined;
  return `${time}  changed  ${plain(path || change.uri)}\n`;
}

function asJson(change: Change): string {
  return jsonLine({ time: new Date().toISOString(), ...change });
}
