/** `pressmark tree`: shows directories as a tree. */
import { formatBytes } from "../../lib/format-bytes.ts";
import { invalid, quote, ResourceError } from "../../errors.ts";
import type { Resource } from "../../resources.ts";
import { defineCommand, flag, optional, valueFlag, wholeNumber } from "../command.ts";
import { jsonLine, plain } from "../print.ts";
import { formatCount, grouped } from "../reading/amounts.ts";
import { allChildren, allOf, descend, isDirectory, type DescendEntry } from "../reading/descend.ts";
import { withReadingContext, type ReadingContext, readingFlags } from "../reading/reading-context.ts";
import { isNotFound, ofMount, statRoot } from "../reading/find.ts";
import { locationOf } from "../reading/location-of.ts";

export default defineCommand({
  name: "tree",
  summary: "Show directories and their contents as a tree",
  more: "A file is shown with its size, a directory with the number of its children.",
  examples: ["pressmark tree", "pressmark tree docs --depth 2", "pressmark tree --dirs"],
  takes: { where: optional("Directory (URI or path)", "folders") },
  flags: {
    depth: valueFlag("LEVELS", "Number of levels to show", { short: "d", initial: Infinity, parse: wholeNumber(1) }),
    dirs: flag("Show only directories"),
    json: flag("Print one JSON object per line, with its depth"),
    ...readingFlags,
  },
  async run({ where, flags }, world) {
    await withReadingContext(flags, world, async (context) => {
      const sums = { directories: 0, files: 0, bytes: 0 };
      let failures = 0;
      let lines = "";
      const flush = async (): Promise<void> => {
        const ready = lines;
        lines = "";
        await context.print(ready);
      };
      for (const start of await starts(where, context)) {
        const children = await openDirectory(start, context);
        add(sums, children);
        lines += flags.json
          ? jsonLine({ ...start, depth: 0, children: children.length })
          : `${context.paint.kind(start.mimeType, plain(where ?? locationOf(context.roots, start.uri)))}\n`;
        for await (const visited of descend(children, flags, context)) {
          if (visited.children && !visited.isLoop && visited.depth + 1 < flags.depth) add(sums, visited.children);
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
      if (!flags.json) await context.print(`\n${summary(sums)}\n`);
      if (failures > 0) throw new ResourceError("unavailable", "the tree is not complete; see above");
    });
  },
});

/** Characters per write into a pipe. */
const pipeful = 16_384;

async function starts(where: string | undefined, context: ReadingContext): Promise<readonly Resource[]> {
  if (where === undefined && context.roots.length === 0) throw invalid("name the directory to show");
  if (where === undefined) return Promise.all(context.roots.map((root) => statRoot(root, context)));
  const uri = await context.locate(where);
  const root = context.roots.find((each) => each.uri === uri);
  return [await (root ? statRoot(root, context) : context.resources.stat(uri, context.call))];
}

async function openDirectory({ uri }: Resource, context: ReadingContext): Promise<readonly Resource[]> {
  try {
    return await allChildren(uri, context);
  } catch (cause) {
    const root = isNotFound(cause) && context.roots.find((each) => each.uri === uri);
    if (root) return allOf(ofMount(root, context));
    if (isNotFound(cause)) throw invalid(`${quote(uri)} is not a directory; list it with "pressmark ls"`);
    throw cause;
  }
}

interface Sums {
  directories: number;
  files: number;
  bytes: number;
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

function summary({ directories, files, bytes }: Sums): string {
  return `${formatCount(directories, "directory", "directories")}, ${formatCount(files, "file")}, ${formatBytes(bytes)}`;
}

function asLine({ resource, isLast, children, isLoop, failure }: DescendEntry, { paint }: ReadingContext): string {
  const lines = isLast.map((last, index) => {
    const isOwn = index === isLast.length - 1;
    return last ? (isOwn ? "└── " : "    ") : isOwn ? "├── " : "│   ";
  });
  const name = plain(resource.name) + (isDirectory(resource) ? "/" : "");
  const note = failure
    ? "  cannot be opened"
    : isLoop
      ? "  links to a directory above"
      : children
        ? `  ${grouped(children.length)}`
        : resource.size === undefined
          ? ""
          : `  ${formatBytes(resource.size)}`;
  return `${paint.faint(lines.join(""))}${paint.kind(resource.mimeType, name)}${paint.faint(note)}\n`;
}

function asJson({ resource, depth, children, isLoop, failure }: DescendEntry): string {
  return jsonLine({
    ...resource,
    depth: depth + 1,
    children: children?.length,
    ...(isLoop && { loop: true }),
    failure: failure?.message,
  });
}
