/** `pressmark stat`: everything that is known of one resource. */
import { padToWidth } from "../../lib/display-width.ts";
import type { Content, Resource } from "../../resources.ts";
import { defineCommand, flag, one } from "../command.ts";
import { jsonLine, plain } from "../print.ts";
import { formatCount, grouped, formatUnits, localSecond } from "../reading/amounts.ts";
import { allChildren, isDirectory } from "../reading/descend.ts";
import { withReadingContext, readingFlags } from "../reading/reading-context.ts";

export default defineCommand({
  name: "stat",
  summary: "Say everything that is known of a resource",
  more: "Says what a list would say of it and, for a directory, how many children it has. Its encoding is known only once it is read.",
  examples: ["pressmark stat README.md", "pressmark stat 古い.txt --read", "pressmark stat docs --json"],
  takes: { where: one("a resource: its URI, or its path", "files") },
  flags: {
    read: flag("read it too, to say what it holds and how its text is encoded"),
    json: flag("one JSON object"),
    ...readingFlags,
  },
  async run({ where, flags }, world) {
    await withReadingContext(flags, world, async (context) => {
      const { resources, call, paint } = context;
      const uri = await context.locate(where);
      const resource = await resources.stat(uri, call);
      const children = isDirectory(resource) ? countOf(await allChildren(uri, context)) : undefined;
      const contents = flags.read && !children ? (await resources.read(uri, call)).contents.map(toHolding) : undefined;
      if (flags.json)
        return context.print(jsonLine({ ...resource, ...(children && { children }), ...(contents && { contents }) }));
      const rows = [...rowsOf(resource), ...childrenRows(children), ...(contents ?? []).flatMap(contentRows)];
      const width = Math.max(...rows.map(([label]) => label.length));
      await context.print(
        rows.map(([label, value]) => `${paint.faint(padToWidth(label, width))}  ${value}\n`).join(""),
      );
    });
  },
});

type Row = readonly [label: string, value: string];

function rowsOf(resource: Resource): Row[] {
  const { uri, name, title, description, mimeType, size, annotations, icons, meta } = resource;
  const { lastModified, priority, audience } = annotations ?? {};
  return [
    ["URI", plain(uri)],
    ["name", plain(name)],
    ...said("title", title),
    ...said("description", description),
    ...said("type", mimeType),
    ...said("size", size === undefined ? undefined : bytesOf(size)),
    ...said("changed", lastModified === undefined ? undefined : localSecond(lastModified)),
    ...said("priority", priority === undefined ? undefined : String(priority)),
    ...said("audience", audience?.join(", ")),
    ...(icons ?? []).flatMap(({ src }) => said("icon", src.length > 100 ? `${src.slice(0, 100)}…` : src)),
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

/** What is said of a content without its text or bytes. */
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
    ...(mimeType !== undefined && { mimeType }),
    // Plain UTF-8 goes without saying.
    ...("text" in body ? { encoding: encoding ?? "utf-8", lines: linesIn(body.text) } : { bytes: body.bytes.length }),
    ...(Object.keys(others).length > 0 && { meta: others }),
  };
}

function linesIn(text: string): number {
  return text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

function contentRows({ mimeType, bytes, encoding, lines, meta }: Holding): Row[] {
  return [
    ...said("read as", mimeType),
    ...said("encoding", encoding === undefined ? undefined : String(encoding)),
    ...said("lines", lines === undefined ? undefined : grouped(lines)),
    ...said("holds", bytes === undefined ? undefined : bytesOf(bytes)),
    ...metaRows(meta),
  ];
}

function metaRows(meta: Readonly<Record<string, unknown>> | undefined): Row[] {
  return Object.entries(meta ?? {}).map(([key, value]): Row => [
    plain(key),
    plain(typeof value === "string" ? value : JSON.stringify(value)),
  ]);
}

function said(label: string, value: string | undefined): Row[] {
  return value === undefined ? [] : [[label, plain(value)]];
}

function bytesOf(size: number): string {
  return size < 1000 ? formatCount(size, "byte") : `${formatCount(size, "byte")} (${formatUnits(size)})`;
}
