/** The tool `read_resource`: reads a resource, or a part that fits into a conversation. */
import { invalid, ResourceError } from "../../errors.ts";
import { mimeOfName, notebookType } from "../../lib/mime.ts";
import type { Content, Resource } from "../../resources.ts";
import type { ContentBlock } from "../blocks.ts";
import { isJsonObject } from "../message.ts";
import type { ToolResult } from "../tools.ts";
import {
  type LineRange,
  formatLineRange,
  neededText,
  parseLineRange,
  rangeArgument,
  readArguments,
} from "./arguments.ts";
import { beginning, type TextExcerpt, takeBytes, excerptLines } from "./part.ts";
import type { ReadingTool } from "./reading-tools.ts";
import { notUri, withSuggestions } from "./suggest.ts";

/** About sixteen thousand tokens: hosts cut much longer texts anywhere. */
const maxTextBytes = 64 * 1024;
/** Bytes may triple when shown as text, or grow by a third in base64. */
const maxRangeBytes = 32 * 1024;
const maxImageBytes = 1024 * 1024;
const maxUriLength = 16 * 1024;
/** Minimum room for a part of the next content. */
const leastRoom = 1024;
const maxNamed = 10;
const imageTypes = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export const readResource: ReadingTool = {
  name: "read_resource",
  title: "Read a resource",

  describe: ({ server, mounts, offers }) =>
    [
      `Read before you rely on what a file or document of ${mounts} says; do not answer from its name alone.`,
      `Takes a URI of the server ${server} exactly as ${offers("search_resources") ? "search_resources, " : ""}${offers("list_resources") ? "list_resources or " : ""}its instructions gave it: do not make one up.`,
      'Long texts come in parts: ask for "lines" where you know them, and go on with the next range that the answer names.',
      "The URI of a directory gives what is in it.",
    ].join(" "),

  inputSchema: {
    type: "object",
    properties: {
      uri: { type: "string", description: "URI of the resource, exactly as it was given to you" },
      lines: { type: "string", description: 'Only these lines, counted from 1, as in "10-40" or "10-"' },
      bytes: { type: "string", description: 'Only these bytes, counted from 0, as in "0-1023"' },
    },
    required: ["uri"],
    additionalProperties: false,
  },

  async call(args, { resources, mounts, offers }, call) {
    const { uri, range } = readArguments({
      uri: () => neededText(args, "uri", maxUriLength).trim(),
      range: () => rangeArgument(args),
    });
    const advice = offers("list_resources") ? "call list_resources to see what there is" : "check the spelling";
    const around = { resources, mounts, advice };
    if (!/^[a-z][a-z0-9+.-]*:/i.test(uri)) throw await notUri(uri, around, call);
    try {
      const source: Reader = {
        read: async (each) => (await resources.read(each, call)).contents,
        stat: (each) => resources.stat(each, call),
      };
      return toAnswer(await inLines(await read(uri, range, source), source));
    } catch (cause) {
      throw await withSuggestions(cause, uri, around, call);
    }
  },
};

interface Found {
  readonly contents: readonly Content[];
  /** The URI for further calls. */
  readonly uri: string;
  readonly range: LineRange | undefined;
}

/** The resources, read for one call. */
interface Reader {
  read(uri: string): Promise<readonly Content[]>;
  stat(uri: string): Promise<Resource>;
}

async function read(uri: string, wanted: LineRange | undefined, source: Reader): Promise<Found> {
  const range = wanted?.unit === "bytes" ? narrow(wanted) : wanted;
  // Lines of a hit are lines of the cells, not of the JSON.
  if (mimeOfName(uri.slice(uri.lastIndexOf("/") + 1)) === notebookType && range?.unit !== "bytes") {
    const cells = await readText(uri, range, source).catch(() => undefined);
    if (cells) return cells;
  }
  let contents: readonly Content[];
  try {
    contents = await readPart(uri, range, source);
  } catch (cause) {
    const other = await otherWay(cause, uri, range, source);
    if (!other) throw refusal(cause);
    return other;
  }
  const [content] = contents;
  // A model can use the text of a document, but not its bytes.
  const isOpaque = range?.unit !== "bytes" && content && "bytes" in content.body && !isImage(content);
  const text = isOpaque ? await readText(uri, range, source) : undefined;
  return text ?? { contents, uri, range };
}

/** Reads a line that its source returned in pieces, here in smaller pieces. */
async function inLines(found: Found, source: Reader): Promise<Found> {
  const [content, ...more] = found.contents;
  const own = content && ownRange(content);
  if (!own || more.length > 0 || own.unit === "lines" || found.range?.unit === "bytes") return found;
  const range = narrow(own);
  return { ...found, contents: await source.read(withRange(found.uri, range)), range };
}

/** Uses the source's ranges if it has them; otherwise reads the whole and cuts it. */
async function readPart(uri: string, range: LineRange | undefined, source: Reader): Promise<readonly Content[]> {
  if (!range) return source.read(uri);
  try {
    return await source.read(withRange(uri, range));
  } catch (cause) {
    if (!(cause instanceof ResourceError) || cause.kind !== "not-found") throw cause;
    return source.read(uri);
  }
}

/** What can be read instead. */
async function otherWay(
  cause: unknown,
  uri: string,
  range: LineRange | undefined,
  source: Reader,
): Promise<Found | undefined> {
  if (!(cause instanceof ResourceError)) return undefined;
  if (cause.kind === "invalid" && range?.unit === "lines" && cause.details?.["reason"] !== "beyond-end")
    return readText(uri, range, source);
  if (cause.kind !== "too-large" || range) return undefined;
  const text = await readText(uri, undefined, source);
  if (text) return text;
  const hasLines = rangesOf(cause).some((each) => /[?&]lines=/.test(each));
  const first: LineRange = { unit: "lines", first: 1, last: 1000 };
  return hasLines ? { contents: await source.read(withRange(uri, first)), uri, range: undefined } : undefined;
}

/** The text of a document, if its source can extract it. */
async function readText(uri: string, range: LineRange | undefined, source: Reader): Promise<Found | undefined> {
  const bare = uri.split("?", 1)[0] ?? uri;
  const entry = await source.stat(bare).catch(() => undefined);
  const forms = entry?.meta?.["pressmark/as"];
  if (!Array.isArray(forms) || !forms.includes("text")) return undefined;
  const asText = `${bare}?as=text`;
  const wanted = range ?? { unit: "lines", first: 1, last: Infinity };
  return { contents: await source.read(withRange(asText, wanted)), uri: asText, range };
}

function narrow({ unit, first, last }: LineRange): LineRange {
  return { unit, first, last: Math.min(last, first + maxRangeBytes - 1) };
}

/** The URI with this range in its query, replacing any other range. */
function withRange(uri: string, range: LineRange): string {
  const mind = uri.indexOf("?");
  const bare = mind < 0 ? uri : uri.slice(0, mind);
  const pairs = mind < 0 ? [] : uri.slice(mind + 1).split("&");
  const others = pairs.filter((pair) => pair !== "" && !/^(?:lines|bytes)=/.test(pair));
  return `${bare}?${[...others, `${range.unit}=${formatLineRange(range)}`].join("&")}`;
}

function rangesOf({ details }: ResourceError): readonly string[] {
  const ranges = details?.["ranges"];
  return Array.isArray(ranges) ? ranges.map(String) : [];
}

/** Adds the range to request instead to a "too-large" error. */
function refusal(cause: unknown): unknown {
  if (!(cause instanceof ResourceError) || cause.kind !== "too-large") return cause;
  const size = cause.details?.["size"];
  const sized = typeof size === "number" ? `it has ${size} bytes, which is` : "it is";
  const instead = rangesOf(cause).length > 0 ? `; call read_resource again with bytes "0-${maxRangeBytes - 1}"` : "";
  return new ResourceError("too-large", `${sized} too large for one response${instead}`, { cause });
}

/**
 * A range applies to the first content; further contents that do not fit are only named. Texts are text blocks, because many hosts show
 * their model no embedded resources; and text blocks only, because others show it both.
 */
function toAnswer({ contents, uri, range }: Found): ToolResult {
  const blocks: ContentBlock[] = [];
  const left: string[] = [];
  let room = maxTextBytes;
  for (const content of range ? contents.slice(0, 1) : contents) {
    if (blocks.length > 0 && room < leastRoom) {
      left.push(content.uri);
      continue;
    }
    const again = contents.length === 1 ? uri : content.uri;
    const { note, block } =
      "text" in content.body
        ? cut(content, content.body.text, again, range, room)
        : showBytes(content, content.body.bytes, range);
    const notes = [...(contents.length > 1 ? [`${content.uri}:`] : []), ...(note === undefined ? [] : [note])];
    if (notes.length > 0) blocks.push({ type: "text", text: notes.join(" ") });
    if (block) blocks.push(block);
    room -= block ? weigh(block) : 0;
  }
  if (left.length > 0) {
    const more = left.length > maxNamed ? ` and ${left.length - maxNamed} more` : "";
    blocks.push({ type: "text", text: `There is more: read ${left.slice(0, maxNamed).join(", ")}${more}` });
  }
  return { content: blocks };
}

/** Room that a block uses. One image fills it. */
function weigh(block: ContentBlock): number {
  if (block.type === "text") return Buffer.byteLength(block.text);
  return block.type === "embedded" && "bytes" in block.content.body ? block.content.body.bytes.length : maxTextBytes;
}

interface Shown {
  /** A sentence for the model besides the content. */
  readonly note?: string;
  readonly block?: ContentBlock;
}

function cut(content: Content, text: string, uri: string, range: LineRange | undefined, room: number): Shown {
  const given = part(content, text, range, room);
  return { note: sayPart(given, uri), block: { type: "text", text: given.text, uri: content.uri } };
}

function part(content: Content, text: string, range: LineRange | undefined, room: number): TextExcerpt {
  const own = ownRange(content);
  if (own?.unit === "bytes") return { text: beginning(text, 3 * maxRangeBytes), range: own, next: own.next };
  const countsBytes = (own?.first ?? 1) === 1 && content.meta?.["pressmark/encoding"] === undefined;
  if (own === undefined && range?.unit === "bytes") {
    const given = takeBytes(text, range, maxRangeBytes);
    if (given) return given;
    throw invalid(`there are only ${Buffer.byteLength(text)} bytes; byte ${range.first} does not exist`);
  }
  const lines = { text, firstLine: own?.first ?? 1, countsBytes, total: own?.total, next: own?.next };
  const given = excerptLines(lines, range, room);
  if (given) return given;
  throw invalid(`there are fewer than ${range?.first ?? 1} lines`);
}

type OwnRange = LineRange & { readonly total?: number; readonly next?: LineRange };

/** The range that the source reports. */
function ownRange({ meta }: Content): OwnRange | undefined {
  const note = meta?.["pressmark/range"];
  if (!isJsonObject(note)) return undefined;
  const unit = Array.isArray(note["lines"]) ? "lines" : "bytes";
  const [first, last] = Array.isArray(note[unit]) ? (note[unit] as readonly unknown[]) : [];
  if (typeof first !== "number" || typeof last !== "number") return undefined;
  const { total, next } = note;
  return {
    unit,
    first,
    last,
    ...(typeof total === "number" && { total }),
    ...(typeof next === "string" && nextOf(next)),
  };
}

function nextOf(query: string): { readonly next?: LineRange } {
  const found = /(?:^|&)(lines|bytes)=([\d-]+)$/.exec(query);
  if (!found) return {};
  return { next: parseLineRange(found[1] === "lines" ? "lines" : "bytes", found[2] ?? "") };
}

function sayPart({ range, next, brokenLine }: Omit<TextExcerpt, "text">, uri: string): string | undefined {
  if (!range && !next) return undefined;
  const { unit, total } = range ?? {};
  const of = total === undefined ? "" : ` of ${total}`;
  const note = [range ? `This is ${unit} ${formatLineRange(range)}${of}.` : "This is a part."];
  if (brokenLine !== undefined) note.push(`Line ${brokenLine} is too long and was cut.`);
  if (next) note.push(`To continue, call read_resource with uri ${uri} and ${next.unit} "${formatLineRange(next)}".`);
  return note.join(" ");
}

/** Formats binary content. */
function showBytes(content: Content, bytes: Uint8Array, range: LineRange | undefined): Shown {
  const { mimeType = "application/octet-stream" } = content;
  const uri = content.uri.split("?", 1)[0] ?? content.uri;
  if (range?.unit === "lines") throw invalid(`it is not text (${mimeType}), so it has no lines; use "bytes"`);
  const own = ownRange(content);
  if (range && !own) {
    const last = Math.min(range.last, bytes.length - 1);
    if (last < range.first) throw invalid(`there are only ${bytes.length} bytes; byte ${range.first} does not exist`);
    const next = narrow({ unit: "bytes", first: last + 1, last: bytes.length - 1 });
    const given = { range: { ...range, last, total: bytes.length }, ...(last + 1 < bytes.length && { next }) };
    const body = { bytes: bytes.subarray(range.first, last + 1) };
    return { note: sayPart(given, uri), block: { type: "embedded", content: { ...content, body } } };
  }
  if (isImage(content) && bytes.length <= maxImageBytes)
    return { note: `${uri}, ${mimeType}`, block: { type: "image", bytes, mimeType, uri: content.uri } };
  if (bytes.length <= maxRangeBytes)
    return {
      note: own && sayPart({ range: own, next: own.next }, uri),
      block: { type: "embedded", content },
    };
  return {
    note: `${uri} is not text (${mimeType}, ${bytes.length} bytes). To see some of it in base64, call read_resource with bytes "0-1023".`,
  };
}

function isImage({ mimeType, meta }: Content): boolean {
  return imageTypes.has(mimeType ?? "") && meta?.["pressmark/range"] === undefined;
}
