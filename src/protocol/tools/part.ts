/** A part of a text that is small enough for a model, and where to go on. Whoever cuts, no character is torn. */
import type { LineRange } from "./arguments.ts";

export interface TextExcerpt {
  readonly text: string;
  /** What it is of the whole; absent where it is the whole. */
  readonly range?: LineRange & { readonly total?: number };
  readonly next?: LineRange;
  /** A line that is longer than may be given, and of which this is the beginning. */
  readonly brokenLine?: number;
}

export interface TextPart {
  readonly text: string;
  /** Which lines of the whole the text holds; from 1 to the end unless said. */
  readonly firstLine: number;
  /** How many lines the whole has; what is not said is what the text itself shows. */
  readonly total?: number;
  /** Where the whole goes on behind the text. */
  readonly next?: LineRange;
  /** Whether bytes of the whole are those of the text in UTF-8, from its beginning. */
  readonly countsBytes: boolean;
}

/** The lines that were asked for, as many of them as fit. Undefined if there are none. */
export function excerptLines(part: TextPart, asked: LineRange | undefined, maxBytes: number): TextExcerpt | undefined {
  const { text, firstLine } = part;
  const first = Math.max(asked?.first ?? firstLine, firstLine);
  const lastWanted = asked?.last ?? Infinity;
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
    range: { ...range, ...(total !== undefined && { total }) },
    ...(next && { next: end >= text.length ? (part.next ?? next) : next }),
  };
}

/** The beginning of a line that does not fit. */
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

/** The characters that begin between these bytes of the text. Undefined if there are none. */
export function takeBytes(text: string, asked: LineRange, maxBytes: number): TextExcerpt | undefined {
  const all = Buffer.from(text);
  if (asked.first >= all.length) return undefined;
  const from = boundary(all, asked.first);
  const to = boundary(all, Math.min(asked.last + 1, asked.first + maxBytes));
  const width = Math.min(maxBytes, asked.last - asked.first + 1);
  return {
    text: all.toString("utf8", from, to),
    range: { unit: "bytes", first: from, last: to - 1, total: all.length },
    ...(to < all.length && { next: { unit: "bytes", first: to, last: Math.min(all.length, to + width) - 1 } }),
  };
}

/** The first place from here on where a character begins. */
function boundary(bytes: Uint8Array, at: number): number {
  let place = Math.min(at, bytes.length);
  while (place < bytes.length && ((bytes[place] ?? 0) & 0xc0) === 0x80) place += 1;
  return place;
}

/** Where a line begins, counted from 0; undefined if there are fewer. */
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

/** How many bytes this piece has; undefined if there are more than fit. */
function fits(text: string, from: number, to: number, room: number): number | undefined {
  if (to - from > room) return undefined;
  const bytes = Buffer.byteLength(text.slice(from, to));
  return bytes > room ? undefined : bytes;
}

/** As much of the beginning as has so many bytes, without half of a character. */
export function beginning(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text.length > maxBytes ? text.slice(0, maxBytes) : text);
  if (bytes.length <= maxBytes && text.length <= maxBytes) return text;
  let end = Math.min(maxBytes, bytes.length);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  const kept = bytes.toString("utf8", 0, end);
  // Half of a surrogate pair at the end became a replacement character of its own.
  return text.startsWith(kept) ? kept : kept.slice(0, -1);
}
