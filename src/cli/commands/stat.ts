/** `pressmark stat`: shows the metadata of one resource. */
import { formatBytes } from "../../lib/format-bytes.ts";
import { ownTitle } from "../../lib/own-title.ts";
import { type Content, hasChildren, type Resource } from "../../resources.ts";
import { defineCommand, flag, one } from "../command.ts";
import { jsonLine, plain } from "../print.ts";
import { formatCount, grouped, localSecond } from "../reading/amounts.ts";
import { inRows } from "../reading/columns.ts";
import { isDirectory, openDirectory } from "../reading/descend.ts";
import { childrenOf } from "../reading/find.ts";
import { withReadingContext, readingFlags } from "../reading/reading-context.ts";

export default defineCommand({
  name: "stat",
  summary: "Show the metadata of a resource",
  more: "Shows the fields that a list contains and, for a directory, the number of children. The encoding is known only with --read.",
  examples: ["pressmark stat README.md", "pressmark stat 古い.txt --read", "pressmark stat docs --json"],
  takes: { where: one("Resource (URI or path)", "files") },
  flags: {
    read: flag("Also read it, and show its length and text encoding"),
    json: flag("Print one JSON object"),
    ...readingFlags,
  },
  async run({ where, flags }, world) {
    await withReadingContext(flags, world, async (context) => {
      const { resources, call, paint } = context;
      const uri = await context.locate(where);
      const resource = await resources.stat(uri, call);
      const children = hasChildren(resource)
        ? countOf((await openDirectory(childrenOf(uri, context), { all: true })).children)
        : undefined;
      const contents =
        flags.read && !isDirectory(resource) ? (await resources.read(uri, call)).contents.map(toHolding) : undefined;
      if (flags.json) return context.print(jsonLine({ ...resource, children, contents }));
      const rows = [...rowsOf(resource), ...childrenRows(children), ...(contents ?? []).flatMap(contentRows)];
      await context.print(inRows(rows, paint.faint));
    });
  },
});

type Row = readonly [label: string, value: string];

function rowsOf(resource: Resource): Row[] {
  const { uri, name, description, mimeType, size, annotations, icons, meta } = resource;
  const { lastModified, priority, audience } = annotations ?? {};
  return [
    ["URI", plain(uri)],
    ["name", plain(name)],
    ...row("title", ownTitle(resource)),
    ...row("description", description),
    ...row("type", mimeType),
    ...row("size", size === undefined ? undefined : bytesOf(size)),
    ...row("changed", lastModified === undefined ? undefined : localSecond(lastModified)),
    ...row("priority", priority === undefined ? undefined : String(priority)),
    ...row("audience", audience?.join(", ")),
    ...(icons ?? []).flatMap(({ src }) => row("icon", src.length > 100 ? `${src.slice(0, 100)}…` : src)),
    ...metaRows(meta),
  ];
}

interface Count {
  readonly count: number;
  readonly directories: number;
}

function countOf(children: readonly Resource[]): Count {
  return { count: children.length, directories: children.filter(isDirectory).length };
}

function childrenRows(children: Count | undefined): Row[] {
  if (!children) return [];
  const { count, directories } = children;
  const among = directories === 0 ? "" : `, ${formatCount(directories, "directory", "directories")} among them`;
  return [["children", `${grouped(count)}${among}`]];
}

/** Metadata of a content, without its text or bytes. */
interface Holding {
  readonly uri: string;
  readonly mimeType?: string;
  readonly bytes?: number;
  readonly encoding?: unknown;
  readonly lines?: number;
  readonly meta?: Readonly<Record<string, unknown>>;
}

function toHolding({ uri, mimeType, body, meta = {} }: Content): Holding {
  const { "pressmark/encoding": encoding, ...others } = meta;
  return {
    uri,
    mimeType,
    // Absent for plain UTF-8.
    ...("text" in body ? { encoding: encoding ?? "utf-8", lines: linesIn(body.text) } : { bytes: body.bytes.length }),
    ...(Object.keys(others).length > 0 && { meta: others }),
  };
}

function linesIn(text: string): number {
  return text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

function contentRows({ mimeType, bytes, encoding, lines, meta }: Holding): Row[] {
  return [
    ...row("read as", mimeType),
    ...row("encoding", encoding === undefined ? undefined : String(encoding)),
    ...row("lines", lines === undefined ? undefined : grouped(lines)),
    ...row("holds", bytes === undefined ? undefined : bytesOf(bytes)),
    ...metaRows(meta),
  ];
}

function metaRows(meta: Readonly<Record<string, unknown>> | undefined): Row[] {
  return Object.entries(meta ?? {}).map(([key, value]): Row => [
    plain(key),
    plain(typeof value === "string" ? value : JSON.stringify(value)),
  ]);
}

function row(label: string, value: string | undefined): Row[] {
  return value === undefined ? [] : [[label, plain(value)]];
}

function bytesOf(size: number): string {
  return size < 1000 ? formatCount(size, "byte") : `${formatCount(size, "byte")} (${formatBytes(size)})`;
}
