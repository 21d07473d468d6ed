/** `pressmark ls`: lists resources. */
import { formatBytes } from "../../lib/format-bytes.ts";
import { cutToWidth, padToWidth } from "../../lib/display-width.ts";
import { ownTitle } from "../../lib/own-title.ts";
import { directoryType, hasChildren, type Resource } from "../../resources.ts";
import { defineCommand, flag, many, UsageError, valueFlag, wholeNumber } from "../command.ts";
import { jsonLine, plain } from "../print.ts";
import { localMinute } from "../reading/amounts.ts";
import { inColumns } from "../reading/columns.ts";
import { withReadingContext, type ReadingContext, readingFlags } from "../reading/reading-context.ts";
import { createFilter, filterFlags } from "../reading/filters.ts";
import { findCurrent, findMatching, findMounts, type FoundResources } from "../reading/find.ts";
import { locationOf } from "../reading/location-of.ts";

export default defineCommand({
  name: "ls",
  summary: "List the resources of a directory, or all that match a pattern",
  more: "Lists the direct children of the current folder or of a directory; --all lists every resource below, at the top of a mount those of all mounts. In a folder that no mount contains it lists the mounts. A pattern in quotes (*, ?, [a-z], {a,b}, and ** for any depth) is matched against paths. On a terminal it prints names in columns; into a pipe one URI per line.",
  examples: [
    "pressmark ls",
    "pressmark ls docs --long",
    "pressmark ls --mounts",
    "pressmark ls 'src/**/*.ts' --changed-since 2h",
    "pressmark ls --all --mime 'image/*' --json | jq .size",
  ],
  takes: { where: many("Directory or file: a URI, a path, or a pattern of paths", "files") },
  flags: {
    all: flag("List every resource below, not only direct children", { short: "a" }),
    mounts: flag("List the mounts"),
    long: flag("Print one line for each: size, time of change, type, path", { short: "l" }),
    json: flag("Print one JSON object per line"),
    limit: valueFlag("NUMBER", "Maximum number of resources", { initial: Infinity, parse: wholeNumber(1) }),
    ...filterFlags,
    ...readingFlags,
  },
  async run({ where: words, flags }, world) {
    if (flags.mounts && (flags.all || words.length > 0))
      throw new UsageError("--mounts cannot be combined with --all or arguments");
    const passes = createFilter(flags);
    let left = flags.limit;
    await withReadingContext(flags, world, async (context) => {
      const show = flags.json
        ? asJson
        : flags.long
          ? createTable(context)
          : context.isTerminal
            ? createGrid(context)
            : createLines(context);
      const isTitled = words.length > 1 && context.isTerminal && !flags.json;
      for (const [index, word] of (words.length === 0 ? [undefined] : words).entries()) {
        const found = await findAny(word, flags, context);
        if (isTitled && found.directory) await context.print(`${index > 0 ? "\n" : ""}${plain(word ?? "")}:\n`);
        for await (const page of batches(found, context.isTerminal && !flags.json && !flags.long)) {
          const passing = page.filter(passes).slice(0, left);
          left -= passing.length;
          if (passing.length > 0) await context.print(show(passing, found));
          if (left === 0) return;
        }
      }
    });
  },
});

function findAny(
  word: string | undefined,
  flags: { readonly all: boolean; readonly mounts: boolean },
  context: ReadingContext,
): Promise<FoundResources> {
  if (word !== undefined) return findMatching(word, flags, context);
  return flags.mounts ? findMounts(context) : findCurrent(flags, context);
}

/** Number of names laid out together. */
const gridSize = 10_000;

/** Merges pages for the column layout. */
async function* batches({ pages }: FoundResources, isGathered: boolean): AsyncGenerator<readonly Resource[]> {
  let gathered: Resource[] = [];
  for await (const page of pages) {
    if (!isGathered) {
      yield page;
      continue;
    }
    gathered = gathered.length === 0 ? [...page] : gathered.concat(page);
    if (gathered.length < gridSize) continue;
    yield gathered;
    gathered = [];
  }
  if (gathered.length > 0) yield gathered;
}

type Show = (resources: readonly Resource[], found: FoundResources) => string;

const asJson: Show = (resources) => resources.map(jsonLine).join("");

function createLines({ paint }: ReadingContext): Show {
  return (resources) => resources.map(({ uri, mimeType }) => `${paint.kind(mimeType, plain(uri))}\n`).join("");
}

/** The title of a mount, which its URI does not show. */
function titleOfMount({ roots }: ReadingContext, resource: Resource): string {
  const title = roots.some(({ uri }) => uri === resource.uri) ? ownTitle(resource) : undefined;
  return title === undefined ? "" : `  ${plain(title)}`;
}

/** Each line uses the widest columns so far. */
function createTable(context: ReadingContext): Show {
  const { paint } = context;
  let typeWidth = 0;
  return (resources) => {
    const rows = resources.map(({ mimeType = "", size, annotations, ...resource }) => ({
      size: size === undefined ? "" : formatBytes(size),
      modified: annotations?.lastModified === undefined ? "" : plain(localMinute(annotations.lastModified)),
      type: mimeType === directoryType ? "directory" : cutToWidth(plain(mimeType), 30),
      where: paint.kind(mimeType, plain(locationOf(context.roots, resource.uri))) + titleOfMount(context, resource),
    }));
    for (const { type } of rows) typeWidth = Math.max(typeWidth, type.length);
    return rows
      .map(
        ({ size, modified, type, where }) =>
          `${size.padStart(8)}  ${modified.padEnd(16)}  ${padToWidth(type, typeWidth)}  ${where}\n`,
      )
      .join("");
  };
}

function createGrid(context: ReadingContext): Show {
  const { paint, roots, width } = context;
  return (resources, { directory }) =>
    inColumns(
      resources.map((resource) => {
        const { uri, name, mimeType } = resource;
        const text =
          plain(directory === undefined ? locationOf(roots, uri) : name) + (hasChildren(resource) ? "/" : "");
        const title = titleOfMount(context, resource);
        return { text: text + title, shown: paint.kind(mimeType, text) + title };
      }),
      width,
    );
}
