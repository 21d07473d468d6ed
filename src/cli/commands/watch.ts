/** `pressmark watch`: prints a line for every change. */
import { cancelled, invalid, notFound } from "../../errors.ts";
import type { Change } from "../../resources.ts";
import { defineCommand, flag, many } from "../command.ts";
import { jsonLine, plain } from "../print.ts";
import { formatCount, localTime } from "../reading/amounts.ts";
import { withReadingContext, type ReadingContext } from "../reading/reading-context.ts";
import { findUris } from "../reading/find.ts";
import { colorFlag } from "../reading/paint.ts";
import { locationOf } from "../reading/location-of.ts";
import { resourceAccessFlags } from "../reading/resource-access.ts";

/** As many can be looked up at the start without a long wait. */
const maxUris = 10_000;

export default defineCommand({
  name: "watch",
  summary: "Print a line for every change, until stopped",
  more: "Reports when a resource changes or is removed, and for a directory when something in it is added, removed or renamed. Without arguments it reports changes of the resource list. Patterns are resolved once, at the start. Stop it with Ctrl-C.",
  examples: [
    "pressmark watch README.md docs",
    "pressmark watch 'src/**/*.ts' --once && npm test",
    "pressmark watch --list --json",
  ],
  takes: { where: many("Resource or directory: a URI, a path, or a pattern of paths", "files") },
  flags: {
    list: flag("Also report changes of the resource list"),
    once: flag("Stop after the first change"),
    json: flag("Print one JSON object per line"),
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
      context.warn(`watching ${describeWatched(watched.size, list)}; stop with Ctrl-C`);
      try {
        for await (const change of watch) {
          await context.print(flags.json ? asJson(change) : asLine(change, context));
          if (flags.once) return;
        }
      } catch (cause) {
        if (!world.signal.aborted) throw cause;
      }
      // Being stopped is the normal end of a watch, except with --once.
      if (flags.once) throw cancelled(undefined, "stopped before anything changed");
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

function describeWatched(count: number, list: boolean): string {
  const resources = count === 0 ? [] : [formatCount(count, "resource")];
  return [...resources, ...(list ? ["the list"] : [])].join(" and ");
}

function asLine(change: Change, { paint, isTerminal, roots }: ReadingContext): string {
  const time = paint.faint(localTime(new Date().toISOString()));
  if (change.kind === "list-changed") return `${time}  list changed\n`;
  return `${time}  changed  ${plain(isTerminal ? locationOf(roots, change.uri) : change.uri)}\n`;
}

function asJson(change: Change): string {
  return jsonLine({ time: new Date().toISOString(), ...change });
}
