/** `pressmark watch`: prints a line for every change. */
import { cancelled, invalid, quote, ResourceError, unsupported } from "../../errors.ts";
import type { Change, Watch } from "../../resources.ts";
import type { MountChange } from "../../server/watch-mounts.ts";
import { defineCommand, flag, many } from "../command.ts";
import { jsonLine, plain } from "../print.ts";
import { formatCount, grouped, localTime } from "../reading/amounts.ts";
import { withReadingContext, type ReadingContext } from "../reading/reading-context.ts";
import { everything, findUris } from "../reading/find.ts";
import { colorFlag } from "../reading/paint.ts";
import { locationOf } from "../reading/location-of.ts";
import { resourceAccessFlags } from "../reading/resource-access.ts";

/** As many can be looked up at the start without a long wait. */
const maxUris = 10_000;

export default defineCommand({
  name: "watch",
  summary: "Print a line for every change, until stopped",
  more: "Reports when a resource changes or is removed, and for a directory when something in it is added, removed or renamed. Without arguments it reports every change of every mount. Patterns are resolved once, at the start. Stop it with Ctrl-C.",
  examples: [
    "pressmark watch",
    "pressmark watch README.md docs",
    "pressmark watch 'src/**/*.ts' --once && npm test",
    "pressmark watch --list --json",
  ],
  takes: { where: many("Resource or directory: a URI, a path, or a pattern of paths", "files") },
  flags: {
    list: flag("Also report changes of the resource list; without arguments, only these"),
    once: flag("Stop after the first change"),
    json: flag("Print one JSON object per line"),
    ...resourceAccessFlags,
    color: colorFlag,
  },
  async run({ where: words, flags }, world) {
    await withReadingContext(flags, world, async (opened) => {
      const stop = new AbortController();
      const signal = AbortSignal.any([opened.call.signal, stop.signal]);
      const context = { ...opened, call: { ...opened.call, signal } };
      // Only changes of the list, if nothing else is named.
      const isAll = words.length === 0 && !flags.list;
      try {
        const changes = await (isAll ? watchEverything(context) : watchNamed(words, flags.list, context));
        for await (const change of changes) {
          await context.print(flags.json ? asJson(change) : asLine(change, context));
          if (flags.once) return;
        }
      } catch (cause) {
        if (!world.signal.aborted) throw cause;
      } finally {
        // Before the mounts close: a watch that they end would be tried again.
        stop.abort();
      }
      // Being stopped is the normal end of a watch, except with --once.
      if (flags.once) throw cancelled(undefined, "stopped before anything changed");
    });
  },
});

async function watchNamed(words: readonly string[], list: boolean, context: ReadingContext): Promise<Watch> {
  return watchUris(await urisOf(words, context), list, context);
}

async function watchUris(uris: readonly string[], list: boolean, context: ReadingContext): Promise<Watch> {
  const watch = await context.resources.watch({ uris, list }, context.call);
  const watched = new Set(watch.uris);
  const reasons = new Map(watch.unwatched?.map(({ uri, reason }) => [uri, reason]));
  for (const uri of uris) {
    const reason = reasons.get(uri);
    if (!watched.has(uri))
      context.warn(`cannot be watched: ${plain(uri)}${reason === undefined ? "" : ` (${plain(reason)})`}`);
  }
  if (uris.length > 0 && watched.size === 0 && !list) {
    // Throws "not-found" if it does not exist; another server does not say which it is.
    await context.resources.stat(uris[0]!, context.call);
    throw unsupported(`the server does not report changes of ${quote(uris[0]!)}`);
  }
  context.note(`watching ${describeWatched(watched.size, list)}; stop with Ctrl-C`);
  return watch;
}

async function watchEverything(context: ReadingContext): Promise<AsyncIterable<Change | MountChange>> {
  const { warn, note, roots } = context;
  if (!context.watchAll) return watchListed(context);
  const watch = await context.watchAll(context.call);
  for (const sentence of watch.unwatched) warn(plain(sentence));
  for (const name of watch.partly)
    warn(`mount ${quote(name)} is watched in part; name the resources that you want to watch`);
  const count = roots.length - watch.unwatched.length;
  if (count === 0) throw new ResourceError("unsupported", "no mount can be watched; see above");
  const { failing } = watch;
  const others =
    failing.length === 0 ? "" : `, and trying again to watch ${failing.map((name) => quote(name)).join(", ")}`;
  const say = failing.length === 0 ? note : warn;
  say(`watching everything in ${formatCount(count - failing.length, "mount")}${others}; stop with Ctrl-C`);
  return watch;
}

/** Another server reports changes of its list, and of resources that are named. */
async function watchListed(context: ReadingContext): Promise<Watch> {
  const uris: string[] = [];
  for await (const page of everything(context)) {
    for (const { uri } of page) uris.push(uri);
    if (uris.length <= maxUris) continue;
    context.warn(
      `only the first ${grouped(maxUris)} resources are watched, and the list; name others, or their directories`,
    );
    break;
  }
  return watchUris(uris.slice(0, maxUris), true, context);
}

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

const verbs = { updated: "changed", added: "added  ", removed: "removed" } as const;

function asLine(change: Change | MountChange, { paint, isTerminal, roots }: ReadingContext): string {
  const time = paint.faint(localTime(new Date().toISOString()));
  if (change.kind === "list-changed")
    return `${time}  list changed${"mount" in change ? `  ${plain(change.mount)}: changes may have been missed` : ""}\n`;
  return `${time}  ${verbs[change.kind]}  ${plain(isTerminal ? locationOf(roots, change.uri) : change.uri)}\n`;
}

function asJson(change: Change | MountChange): string {
  return jsonLine({ time: new Date().toISOString(), ...change });
}
