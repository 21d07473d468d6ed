/** Parses the requested range of a file and reads it: whole lines, or whole characters between two byte offsets. */
import { invalid, quote } from "../../errors.ts";
import { characterBytes, decodeExactly, type Encoding, endsCharacter } from "../../lib/text-encoding.ts";
import type { Part } from "../../source.ts";
import { bytesPart, type ContentKind, encodingMeta } from "./content.ts";
import { createLineIndex, type LineIndex, takeIndexedLines } from "./range-lines.ts";
import type { Maybe } from "../disk/steps.ts";

/** `last` is infinite for an open range. */
export interface ContentRange {
  readonly unit: "lines" | "bytes";
  readonly first: number;
  readonly last: number;
}

/** The parsed query of an address. */
export interface ReadQuery {
  readonly range?: ContentRange;
  readonly asText: boolean;
}

/** Bytes that are read block by block. */
export interface Stretch {
  readonly size: number;
  /** Fewer bytes than requested only at the end. Later reads do not overwrite the buffer. */
  read(from: number, length: number): Maybe<Buffer>;
}

interface RangeOptions {
  /** The path for error messages. */
  readonly path: string;
  readonly kind: ContentKind;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** The known line positions; extended by the read. */
  readonly index?: LineIndex;
  /** Query parameters before the range, such as `as=text&`. */
  readonly prefix?: string;
}

const forms = {
  lines: {
    from: 1,
    message: '"lines" takes two line numbers, counted from 1, as in "lines=10-40", or "lines=10-" to the end',
  },
  bytes: {
    from: 0,
    message: '"bytes" takes two offsets, counted from 0, as in "bytes=0-1023", or "bytes=1024-" to the end',
  },
} as const;

/** Undefined for unknown parameters. Throws "invalid" for known parameters with an invalid value. */
export function parseReadQuery(query: Readonly<Record<string, string>>): ReadQuery | undefined {
  for (const name in query) if (name !== "lines" && name !== "bytes" && name !== "as") return undefined;
  const { lines, bytes, as } = query;
  if (as !== undefined && as !== "text") throw invalid(`"as" must be "text", not ${quote(as)}`);
  if (lines !== undefined && bytes !== undefined)
    throw invalid('give either "lines" or "bytes", as in "lines=10-40" or "bytes=0-1023"');
  const asText = as !== undefined;
  if (lines !== undefined) return { range: parseRange("lines", lines), asText };
  return bytes === undefined ? { asText } : { range: parseRange("bytes", bytes), asText };
}

function parseRange(unit: ContentRange["unit"], value: string): ContentRange {
  const { from, message } = forms[unit];
  const found = /^(\d{1,15})-(\d{0,15})$/.exec(value);
  const first = Number(found?.[1]);
  const last = found?.[2] === "" ? Infinity : Number(found?.[2]);
  if (!found || first < from || last < first) throw invalid(`${message}; ${quote(value, 40)} is not a valid range`);
  return { unit, first, last };
}

/** A range as it appears in a query. */
export function formatContentRange({ unit, first, last }: ContentRange): string {
  return `${unit}=${first}-${last === Infinity ? "" : last}`;
}

export async function readRange(stretch: Stretch, range: ContentRange, options: RangeOptions): Promise<Part> {
  return range.unit === "lines" ? readLines(stretch, range, options) : readBytes(stretch, range, options);
}

async function readLines(stretch: Stretch, range: ContentRange, options: RangeOptions): Promise<Part> {
  const { path, kind, maxBytes, signal, prefix = "", index = createLineIndex() } = options;
  if (!kind.text) throw invalid(`${quote(path)} is not text, so it has no lines; request bytes, as in "bytes=0-1023"`);
  const taken = await takeIndexedLines(stretch, range, { encoding: kind.text.encoding, index, maxBytes, signal });
  if ("total" in taken && !("data" in taken)) {
    const { total } = taken;
    throw invalid(
      `${quote(path)} has ${total} ${total === 1 ? "line" : "lines"}, so there is none at ${range.first}; ${forms.lines.message}`,
      { reason: "beyond-end", total },
    );
  }
  const { from, data, last, total } = taken;
  if (last === undefined) {
    // Not even one line fits: it is returned in pieces.
    const piece = { unit: "bytes", first: from, last: from + maxBytes - 1 } as const;
    return readBytes(stretch, piece, options);
  }
  const isAll = from + data.length >= stretch.size;
  const width = range.last - range.first + 1;
  const isCut = last < range.last && !isAll;
  const next: ContentRange = { unit: "lines", first: last + 1, last: isCut ? range.last : last + width };
  return toPart(data, from, kind, {
    lines: [range.first, last],
    total,
    ...(!isAll && { next: prefix + formatContentRange(next) }),
  });
}

async function readBytes(stretch: Stretch, range: ContentRange, options: RangeOptions): Promise<Part> {
  const { path, kind, maxBytes, prefix = "" } = options;
  const { size } = stretch;
  if (range.first >= size)
    throw invalid(`${quote(path)} has ${size} bytes, so there is none at ${range.first}; ${forms.bytes.message}`, {
      reason: "beyond-end",
      total: size,
    });
  const last = Math.min(range.last, size - 1, range.first + maxBytes - 1);
  const say = (from: number, to: number) => {
    const width = range.last === Infinity ? maxBytes : Math.min(maxBytes, range.last - range.first + 1);
    const end = last < range.last && range.last < size ? range.last : Math.min(size - 1, to + width);
    const next =
      to + 1 < size
        ? prefix + formatContentRange({ unit: "bytes", first: to + 1, last: Math.max(end, to + 1) })
        : undefined;
    return { bytes: [from, to], total: size, next };
  };
  if (kind.text) {
    const { data, from } = await wholeCharacters(stretch, range.first, last + 1, kind.text.encoding);
    const part = data.length > 0 ? toPart(data, from, kind, say(from, from + data.length - 1)) : undefined;
    if (part && "text" in part.body) return part;
  }
  const exact = await stretch.read(range.first, last - range.first + 1);
  const mimeType = kind.text ? "application/octet-stream" : kind.mimeType;
  return {
    ...bytesPart(exact, mimeType),
    meta: { "pressmark/range": say(range.first, range.first + exact.length - 1) },
  };
}

function toPart(data: Buffer, from: number, { mimeType, text: found }: ContentKind, range: object): Part {
  // The byte order mark belongs to the first character.
  const markBytes = found && from === 0 ? Math.min(found.markBytes, data.length) : 0;
  const text = found && decodeExactly(data.subarray(markBytes), found.encoding);
  const meta = { "pressmark/range": range };
  if (!found || text === undefined) return { ...bytesPart(data, "application/octet-stream"), meta };
  return { body: { text }, mimeType, meta: { ...encodingMeta({ ...found, markBytes }), ...meta } };
}

/** How far back to look for a certain start of a character. */
const lookBack = { near: 4, far: 64 * 1024 };

/**
 * The characters that begin between two offsets, so that consecutive ranges contain each character once. If none begins there, the one that
 * covers the range.
 */
async function wholeCharacters(
  stretch: Stretch,
  begin: number,
  end: number,
  encoding: Encoding,
): Promise<{ readonly data: Buffer; readonly from: number }> {
  const margin = isSelfSynchronising(encoding) ? lookBack.near : lookBack.far;
  // Two-byte units begin at even offsets.
  const base = Math.max(0, begin - (begin % 2) - margin);
  const ahead = encoding === "iso-2022-jp" ? margin : lookBack.near;
  const window = await stretch.read(base, end + ahead - base);
  let from = boundaryFrom(window, begin - base, encoding, base === 0);
  const to = Math.min(boundaryFrom(window, end - base, encoding, base === 0), window.length);
  if (from >= to) from = syncBefore(window, begin - base, encoding);
  return { data: window.subarray(from, to), from: base + from };
}

function isSelfSynchronising(encoding: Encoding): boolean {
  return encoding === "utf-8" || encoding === "utf-16le" || encoding === "utf-16be" || encoding === "windows-1252";
}

/** The first start of a character from here on, or the end. */
function boundaryFrom(window: Uint8Array, at: number, encoding: Encoding, isStart: boolean): number {
  if (isStart && at <= 0) return 0;
  let offset = syncBefore(window, at, encoding);
  while (offset < at && offset < window.length) offset += characterBytes(window, offset, encoding);
  return offset;
}

/** The last certain start of a character up to here. */
function syncBefore(window: Uint8Array, at: number, encoding: Encoding): number {
  let offset = Math.min(at, window.length);
  if (encoding === "windows-1252") return offset;
  if (encoding === "utf-8") {
    for (let back = 0; back < 3 && offset > 0 && ((window[offset] ?? 0) & 0xc0) === 0x80; back += 1) offset -= 1;
    return offset;
  }
  if (encoding === "utf-16le" || encoding === "utf-16be") {
    offset -= offset % 2;
    const high = (unit: number): number => window[unit + (encoding === "utf-16le" ? 1 : 0)] ?? 0;
    return offset >= 2 && (high(offset) & 0xfc) === 0xdc ? offset - 2 : offset;
  }
  while (offset > 0 && !endsCharacter(window[offset - 1] as number, encoding)) offset -= 1;
  return offset;
}
