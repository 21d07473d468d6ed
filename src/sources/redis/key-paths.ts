/** Keys of Redis as paths, and back: every key has one path, whatever its bytes, and no two keys share one. */
import { isUtf8 } from "node:buffer";
import { pathOf, segmentsOf } from "../../source.ts";

export interface KeyPaths {
  pathOf(key: Buffer): string;
  /** Undefined if no key has this path. */
  keyOf(path: string): Buffer | undefined;
  /** Bytes with which every key below this path starts; empty for the mount itself. Undefined if no key can be below. */
  prefixBelow(path: string): Buffer | undefined;
  /** Where the part that begins at this byte of a key ends. */
  partEnd(key: Buffer, from: number): number;
  /** Whether a key has more than so many parts, in time proportional to that number. */
  hasMoreParts(key: Buffer, count: number): boolean;
}

/** An empty segment, which many clients would drop. */
const emptySegment = "\\e";
const escape = /\\x([0-9a-f]{2})/g;

/**
 * The separator becomes the slash between segments. Bytes that are not UTF-8, NUL, and the segments `.` and `..` are written as redis-cli
 * writes bytes, `\xff`. A slash inside a segment stays a slash of the segment.
 */
export function createKeyPaths(separator: string): KeyPaths {
  const mark = Buffer.from(separator);
  const markText = mark.toString();

  function partEnd(key: Buffer, from: number): number {
    const at = key.indexOf(mark, from);
    return at < 0 ? key.length : at;
  }

  function toPath(key: Buffer): string {
    if (isUtf8(key)) return pathOf(key.toString().split(markText).map(formatText));
    const segments: string[] = [];
    let from = 0;
    for (let at = key.indexOf(mark); at >= 0; at = key.indexOf(mark, from)) {
      segments.push(formatSegment(key.subarray(from, at)));
      from = at + mark.length;
    }
    segments.push(formatSegment(key.subarray(from)));
    return pathOf(segments);
  }

  function toKey(path: string): Buffer | undefined {
    if (path === "") return undefined;
    const pieces = segmentsOf(path).flatMap((segment, index) => {
      const bytes = parseSegment(segment);
      return index === 0 ? [bytes] : [mark, bytes];
    });
    const key = Buffer.concat(pieces);
    // A second form of the same key is not its address.
    return toPath(key) === path ? key : undefined;
  }

  return {
    pathOf: toPath,
    keyOf: toKey,
    prefixBelow(path) {
      if (path === "") return Buffer.alloc(0);
      const key = toKey(path);
      if (key === undefined) return undefined;
      const prefix = Buffer.concat([key, mark]);
      // With a separator of several characters, the end of the key may form another one with the separator behind it.
      return toPath(prefix) === `${path}/${emptySegment}` ? prefix : undefined;
    },
    partEnd,
    hasMoreParts(key, count) {
      let end = partEnd(key, 0);
      for (let parts = 1; end < key.length; parts += 1) {
        if (parts === count) return true;
        end = partEnd(key, end + mark.length);
      }
      return false;
    },
  };
}

/** Bytes as a text from which `parseBytes` restores them; a text in UTF-8 is almost always itself. */
export function formatBytes(bytes: Buffer): string {
  if (isUtf8(bytes)) return escapeText(bytes.toString("utf8"));
  let text = "";
  let from = 0;
  for (let at = 0; at < bytes.length;) {
    const length = characterLength(bytes, at);
    if (length === 0) {
      text += `${escapeText(bytes.toString("utf8", from, at))}\\x${bytes[at]!.toString(16).padStart(2, "0")}`;
      from = at + 1;
    }
    at += Math.max(1, length);
  }
  return text + escapeText(bytes.toString("utf8", from));
}

/** NUL stands for a slash in a path; a backslash is written as a byte only where it would begin an escape. */
function escapeText(text: string): string {
  return text.replace(/\\(?=x[0-9a-f]{2})/g, "\\x5c").replaceAll("\0", "\\x00");
}

/** Number of bytes of the character that begins here; 0 if none does. */
function characterLength(bytes: Buffer, at: number): number {
  const first = bytes[at]!;
  const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)) ? length : 0;
}

export function parseBytes(text: string): Buffer {
  if (!text.includes("\\x")) return Buffer.from(text);
  const pieces: Buffer[] = [];
  let from = 0;
  for (const found of text.matchAll(escape)) {
    pieces.push(Buffer.from(text.slice(from, found.index)), Buffer.from(found[1]!, "hex"));
    from = found.index + found[0].length;
  }
  pieces.push(Buffer.from(text.slice(from)));
  return Buffer.concat(pieces);
}

function formatSegment(bytes: Buffer): string {
  return finishSegment(formatBytes(bytes));
}

function formatText(segment: string): string {
  return finishSegment(escapeText(segment));
}

function finishSegment(text: string): string {
  if (text === "") return emptySegment;
  if (text === emptySegment) return "\\x5ce";
  return text === "." || text === ".." ? text.replaceAll(".", "\\x2e") : text;
}

function parseSegment(segment: string): Buffer {
  return segment === emptySegment ? Buffer.alloc(0) : parseBytes(segment);
}
