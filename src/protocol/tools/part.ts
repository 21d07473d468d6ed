/** Cuts a part of a text that is small enough for a model, without splitting characters, and tells where to continue. */
import type { LineRange } from "./arguments.ts";

export interface TextExcerpt {
  readonly text: string;
  /** The range of the part; absent for the whole text. */
  readonly range?: LineRange & { readonly total?: number };
  readonly next?: LineRange;
  /** Number of a line that is too long; the text is its beginning. */
  readonly brokenLine?: number;
}

interface TextPart {
  readonly text: string;
  /** First line of the text within the whole. */
  readonly firstLine: number;
  /** Number of lines of the whole. Default: counted in the text. */
  readonly total?: number;
  /** Where the whole continues after the text. */
  readonly next?: LineRange;
  /** Whether byte positions of the whole are those of the text in UTF-8. */
  readonly countsBytes: boolean;
}

/** As many of the requested lines as fit. Undefined if there are none. */
export function excerptLines(part: TextPart, wanted: LineRange | undefined, maxBytes: number): TextExcerpt | undefined {
  const { text, firstLine } = part;
  const first = Math.max(wanted?.first ?? firstLine, firstLine);
  const lastWanted = wanted?.last ?? Infinity;
  const from = startOfLine(text, first - firstLine);
  if (from === undefined) return first === 1 && text === "" ? { text } : undefined;
  let line = first;
  let end = from;
  let bytes = 0;
  for (; line <= lastWanted && end < text.length; line += 1) {
    const feed = text.indexOf("\n", end);
    const to = feed < 0 ? text.length : feed + 1;
    const more = fits(text, end, to, maxBytes - bytes);
    if (more === undefined) break;
    bytes += more;
    end = to;
  }
  const isAll = end >= text.length && part.next === undefined;
  if (end === from) return breakLine(part, first, from, maxBytes);
  const range = { unit: "lines", first, last: line - 1 } as const;
  const total = part.total ?? (isAll ? line - 1 : part.next ? undefined : firstLine - 1 + countLines(text));
  if (isAll && first === 1) return { text: text.slice(from, end) };
  const width = line - first;
  const next: LineRange | undefined = isAll
    ? undefined
    : line <= lastWanted && lastWanted !== Infinity
      ? { unit: "lines", first: line, last: lastWanted }
      : { unit: "lines", first: line, last: line + width - 1 };
  return {
    text: text.slice(from, end),
    range: { ...range, total },
    ...(next && { next: end >= text.length ? (part.next ?? next) : next }),
  };
}

/** The beginning of a line that is too long. */
function breakLine(part: TextPart, line: number, from: number, maxBytes: number): TextExcerpt {
  const piece = beginning(part.text.slice(from, from + maxBytes), maxBytes);
  if (part.countsBytes) {
    const before = Buffer.byteLength(part.text.slice(0, from));
    const at = before + Buffer.byteLength(piece);
    return {
      text: piece,
      range: { unit: "bytes", first: before, last: at - 1 },
      next: { unit: "bytes", first: at, last: at + maxBytes - 1 },
      brokenLine: line,
    };
  }
  const range = { unit: "lines", first: line, last: line } as const;
  const feed = part.text.indexOf("\n", from);
  const isLast = part.next === undefined && (feed < 0 || feed + 1 === part.text.length);
  const next = { unit: "lines", first: line + 1, last: line + 1 } as const;
  return { text: piece, range, ...(!isLast && { next }), brokenLine: line };
}

/** The characters that begin within these bytes. Undefined if there are none. */
export function takeBytes(text: string, wanted: LineRange, maxBytes: number): TextExcerpt | undefined {
  const all = Buffer.from(text);
  if (wanted.first >= all.length) return undefined;
  const from = boundary(all, wanted.first);
  const to = boundary(all, Math.min(wanted.last + 1, wanted.first + maxBytes));
  const width = Math.min(maxBytes, wanted.last - wanted.first + 1);
  return {
    text: all.toString("utf8", from, to),
    range: { unit: "bytes", first: from, last: to - 1, total: all.length },
    ...(to < all.length && { next: { unit: "bytes", first: to, last: Math.min(all.length, to + width) - 1 } }),
  };
}

/** The next start of a character. */
function boundary(bytes: Uint8Array, at: number): number {
  let place = Math.min(at, bytes.length);
  while (place < bytes.length && ((bytes[place] ?? 0) & 0xc0) === 0x80) place += 1;
  return place;
}

/** Start of a line, counted from 0; undefined if there are fewer. */
function startOfLine(text: string, line: number): number | undefined {
  let at = 0;
  for (let passed = 0; passed < line; passed += 1) {
    const feed = text.indexOf("\n", at);
    if (feed < 0) return undefined;
    at = feed + 1;
  }
  return at < text.length ? at : undefined;
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = 0; at < text.length; lines += 1) {
    const feed = text.indexOf("\n", at);
    at = feed < 0 ? text.length : feed + 1;
  }
  return lines;
}

/** Number of bytes of this piece; undefined if it does not fit. */
function fits(text: string, from: number, to: number, room: number): number | undefined {
  if (to - from > room) return undefined;
  const bytes = Buffer.byteLength(text.slice(from, to));
  return bytes > room ? undefined : bytes;
}

/** The longest beginning of at most `maxBytes`, without splitting a character. */
export function beginning(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text.length > maxBytes ? text.slice(0, maxBytes) : text);
  if (bytes.length <= maxBytes && text.length <= maxBytes) return text;
  let end = Math.min(maxBytes, bytes.length);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  const cut = bytes.toString("utf8", 0, end);
  // Half of a surrogate pair at the end became a replacement character.
  return text.startsWith(cut) ? cut : cut.slice(0, -1);
}
