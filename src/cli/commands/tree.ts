/** `pressmark tree`: shows directories as a tree. */
import { formatBytes } from "../../lib/format-bytes.ts";
import { invalid, quote, ResourceError } from "../../errors.ts";
import { hasChildren, type Resource } from "../../resources.ts";
import { defineCommand, flag, optional, valueFlag, wholeNumber } from "../command.ts";
import { jsonLine, plain } from "../print.ts";
import { formatCount, grouped } from "../reading/amounts.ts";
import { descend, isDirectory, maxChildren, openDirectory, type DescendEntry } from "../reading/descend.ts";
import { withReadingContext, type ReadingContext, readingFlags } from "../reading/reading-context.ts";
import { childrenOf, isNotFound, notServed, ofMount, statRoot } from "../reading/find.ts";
import { withTreeOfList } from "../reading/tree-of-list.ts";
import { locationOf } from "../reading/location-of.ts";

export default defineCommand({
  name: "tree",
  summary: "Show directories and their contents as a tree",
  more: "Without an argument it shows the current folder or, at the top of a mount and outside of mounts, all mounts. A file is shown with its size, a directory with the number of its children. Directories that show the same content again, such as the files of every branch and tag, are collapsed, and of a large directory the first 1,000 entries are shown; --all shows everything. A directory that you name is open.",
  examples: [
    "pressmark tree",
    "pressmark tree docs --depth 2",
    "pressmark tree --dirs",
    "pressmark tree git://history/tree/main",
  ],
  takes: { where: optional("Directory (URI or path)", "folders") },
  flags: {
    depth: valueFlag("LEVELS", "Number of levels to show", { short: "d", initial: Infinity, parse: wholeNumber(1) }),
    dirs: flag("Show only directories"),
    all: flag("Also open views of the same content, and show every entry of large directories", { short: "a" }),
    json: flag("Print one JSON object per line, with its depth"),
    ...readingFlags,
  },
  async run({ where, flags }, world) {
    await withReadingContext(flags, world, async (context) => {
      const sums: Sums = { directories: 0, files: 0, bytes: 0, isWithoutFiles: flags.dirs };
      const collapsed: string[] = [];
      const cut: string[] = [];
      let failures = 0;
      let lines = "";
      const flush = async (): Promise<void> => {
        const ready = lines;
        lines = "";
        await context.print(ready);
      };
      for (const start of await starts(where, context)) {
        let own = context;
        const title = context.paint.kind(start.mimeType, plain(where ?? locationOf(context.roots, start.uri)));
        const open = async () => openStart(start, flags, (own = await contextOf(start, flags, context)));
        const opened = await open().catch((cause: unknown) => {
          // The other mounts are shown without the one that fails.
          if (where !== undefined || !(cause instanceof ResourceError) || cause.kind === "cancelled") throw cause;
          return cause;
        });
        if (opened instanceof ResourceError) {
          failures += 1;
          context.warn(`${plain(locationOf(context.roots, start.uri))}: ${plain(opened.message)}`);
          lines += flags.json
            ? jsonLine({ ...start, depth: 0, failure: opened.message })
            : `${title}${context.paint.faint("  cannot be opened")}\n`;
          continue;
        }
        const { children, hasMore } = opened;
        add(sums, children);
        if (hasMore) cut.push(start.uri);
        lines += flags.json
          ? jsonLine({ ...start, depth: 0, children: children.length, ...(hasMore && { hasMore }) })
          : `${title}\n`;
        for await (const visited of descend(children, flags, own)) {
          if (visited.children && !visited.isLoop && visited.depth + 1 < flags.depth) add(sums, visited.children);
          if (visited.isCollapsed) collapsed.push(visited.resource.uri);
          if (visited.hasMore && visited.depth + 1 < flags.depth) cut.push(visited.resource.uri);
          if (visited.failure) {
            failures += 1;
            context.warn(plain(visited.failure.message));
          }
          context.progress.show(`${formatCount(sums.directories + sums.files, "resource")}…`);
          lines += flags.json ? asJson(visited) : asLine(visited, context);
          if (context.isTerminal || lines.length > pipeful) await flush();
        }
      }
      await flush();
      const isPart = collapsed.length + cut.length > 0;
      if (!flags.json) await context.print(`\n${summary(sums)}${isPart ? " shown" : ""}\n`);
      if (isPart) context.warn(leftOut(collapsed, cut, context));
      if (failures > 0) throw new ResourceError("unavailable", "the tree is not complete; see above");
    });
  },
});

/** Characters per write into a pipe. */
const pipeful = 16_384;

async function starts(where: string | undefined, context: ReadingContext): Promise<readonly Resource[]> {
  if (where === undefined && context.roots.length === 0) throw invalid("name the directory to show");
  const { current, roots } = context;
  if (where === undefined && current !== undefined && !roots.some(({ uri }) => uri === current))
    return [
      await context.resources.stat(current, context.call).catch((cause: unknown) => {
        throw isNotFound(cause) ? notServed(cause) : cause;
      }),
    ];
  // Opening a mount that fails says why.
  const quiet = { ...context, warn() {} };
  if (where === undefined) return Promise.all(context.roots.map((root) => statRoot(root, quiet)));
  const uri = await context.locate(where);
  const root = context.roots.find((each) => each.uri === uri);
  return [await (root ? statRoot(root, context) : context.resources.stat(uri, context.call))];
}

/** A key store is listed once, not once for each directory. */
async function contextOf(
  { uri }: Resource,
  { depth, all }: { readonly depth: number; readonly all: boolean },
  context: ReadingContext,
): Promise<ReadingContext> {
  const root = context.roots.find((each) => each.uri === uri || uri.startsWith(each.base));
  if (!root?.isKeyStore) return context;
  const prefix = root.uri === uri ? root.base : `${uri}/`;
  const options = { depth, maxChildren: all ? Infinity : maxChildren + 1 };
  return withTreeOfList(ofMount(root, context), { start: uri, prefix }, options, context);
}

async function openStart({ uri }: Resource, flags: { readonly all: boolean }, context: ReadingContext) {
  try {
    return await openDirectory(childrenOf(uri, context), flags);
  } catch (cause) {
    const root = isNotFound(cause) && context.roots.find((each) => each.uri === uri);
    if (root) return openDirectory(ofMount(root, context), flags);
    if (isNotFound(cause)) throw invalid(`${quote(uri)} is not a directory; list it with "pressmark ls"`);
    throw cause;
  }
}

/** Names the collapsed and cut directories, and how to see them, on one line. */
function leftOut(collapsed: readonly string[], cut: readonly string[], { roots }: ReadingContext): string {
  const named = (uris: readonly string[]) => {
    const first = quote(plain(locationOf(roots, uris[0]!)));
    return uris.length === 1
      ? first
      : `${first} and ${formatCount(uris.length - 1, "other directory", "other directories")}`;
  };
  const parts = [
    ...(collapsed.length > 0 ? [`collapsed: ${named(collapsed)}, views of the same content`] : []),
    ...(cut.length > 0 ? [`only the first ${grouped(maxChildren)} entries are shown of ${named(cut)}`] : []),
  ];
  const name = collapsed[0] === undefined ? "" : `; to open one, name it: pressmark tree ${plain(collapsed[0])}`;
  return `${parts.join("; ")}${name}; --all shows everything`;
}

interface Sums {
  directories: number;
  files: number;
  bytes: number;
  /** Files are not shown. */
  readonly isWithoutFiles: boolean;
}

function add(sums: Sums, children: readonly Resource[]): void {
  for (const child of children) {
    if (isDirectory(child)) sums.directories += 1;
    else {
      sums.files += 1;
      sums.bytes += child.size ?? 0;
    }
  }
}

function summary({ directories, files, bytes, isWithoutFiles }: Sums): string {
  const counted = formatCount(directories, "directory", "directories");
  return isWithoutFiles ? counted : `${counted}, ${formatCount(files, "file")}, ${formatBytes(bytes)}`;
}

function asLine(
  { resource, isLast, children, hasMore, isLoop, isCollapsed, failure }: DescendEntry,
  { paint }: ReadingContext,
): string {
  const lines = isLast.map((last, index) => {
    const isOwn = index === isLast.length - 1;
    return last ? (isOwn ? "└── " : "    ") : isOwn ? "├── " : "│   ";
  });
  const name = plain(resource.name) + (hasChildren(resource) ? "/" : "");
  const note = failure
    ? "  cannot be opened"
    : isLoop
      ? "  links to a directory above"
      : isCollapsed
        ? "  collapsed"
        : [
            ...(children ? [`${grouped(children.length)}${hasMore ? "+" : ""}`] : []),
            ...(resource.size === undefined || isDirectory(resource) ? [] : [formatBytes(resource.size)]),
          ]
            .map((fact) => `  ${fact}`)
            .join("");
  return `${paint.faint(lines.join(""))}${paint.kind(resource.mimeType, name)}${paint.faint(note)}\n`;
}

function asJson({ resource, depth, children, hasMore, isLoop, isCollapsed, failure }: DescendEntry): string {
  return jsonLine({
    ...resource,
    depth: depth + 1,
    children: children?.length,
    ...(hasMore && { hasMore }),
    ...(isLoop && { loop: true }),
    ...(isCollapsed && { collapsed: true }),
    failure: failure?.message,
  });
}
