/** Locates lines in a file that is too large for memory: an index of line feeds per block, built as far as needed. */
import { cancelled, ResourceError } from "../../errors.ts";
import type { Encoding } from "../../lib/text-encoding.ts";
import type { Stretch } from "./range.ts";

/** Number of line feeds before each indexed block. */
export interface LineIndex {
  readonly before: number[];
}

interface LinesRequest {
  readonly encoding: Encoding;
  readonly index: LineIndex;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

type TakenLines =
  | {
      /** Offset of the first line. */
      readonly from: number;
      readonly data: Buffer;
      /** The last complete line; undefined if not even one fits. */
      readonly last: number | undefined;
      /** Total number of lines, if known. */
      readonly total: number | undefined;
    }
  /** The file has only this many lines. */
  | { readonly total: number };

const blockBytes = 256 * 1024;

/** A file is scanned this far for a line. */
const maxScanned = 16 * 1024 ** 3;

export function createLineIndex(): LineIndex {
  return { before: [0] };
}

export async function takeIndexedLines(
  stretch: Stretch,
  { first, last }: { readonly first: number; readonly last: number },
  request: LinesRequest,
): Promise<TakenLines> {
  const from = await findLine(stretch, first, request);
  if (typeof from !== "number") return from;
  const wanted = last - first + 1;
  const pieces: Buffer[] = [];
  let length = 0;
  let lines = 0;
  /** End of the last complete line. */
  let end = 0;
  while (lines < wanted && length <= request.maxBytes && from + length < stretch.size) {
    throwIfCancelled(request.signal);
    const left = request.maxBytes + 1 - length;
    const piece = await stretch.read(
      from + length,
      evenly(Math.min(left, pieces.length === 0 ? 16 * 1024 : blockBytes)),
    );
    if (piece.length === 0) break;
    const feeds = findFeeds(piece, request.encoding, wanted - lines);
    lines += feeds.count;
    if (feeds.count > 0) end = length + feeds.end;
    pieces.push(piece);
    length += piece.length;
  }
  const isAtEnd = from + length >= stretch.size;
  if (lines < wanted && isAtEnd && end < length && length <= request.maxBytes) {
    // The last line has no line feed.
    lines += 1;
    end = length;
  }
  const all = Buffer.concat(pieces, length);
  if (end > request.maxBytes) {
    // Because it was read in blocks, it may contain one line more than fits.
    const fitting = findFeeds(all.subarray(0, request.maxBytes), request.encoding, Infinity);
    lines = fitting.count;
    end = fitting.end;
  }
  const data = all.subarray(0, end);
  const isWhole = from + end >= stretch.size;
  return {
    from,
    data,
    last: lines === 0 ? undefined : first + lines - 1,
    total: isWhole && lines > 0 ? first + lines - 1 : undefined,
  };
}

/** The offset of a line, or the total number of lines. */
async function findLine(
  stretch: Stretch,
  line: number,
  request: LinesRequest,
): Promise<number | { readonly total: number }> {
  const feeds = line - 1;
  if (feeds === 0) return stretch.size > 0 ? 0 : { total: 0 };
  const { before } = request.index;
  while ((before.at(-1) as number) < feeds) {
    const block = before.length - 1;
    const at = block * blockBytes;
    if (at >= stretch.size) return { total: await countLines(stretch, request) };
    if (at >= maxScanned) throw tooFar(stretch.size);
    throwIfCancelled(request.signal);
    const { count } = findFeeds(await stretch.read(at, blockBytes), request.encoding, Infinity);
    // A concurrent read may have added this block already.
    if (before.length - 1 === block) before.push((before[block] as number) + count);
  }
  let low = 0;
  let high = before.length - 1;
  // Binary search for the last block with fewer line feeds before it.
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((before[middle] as number) < feeds) low = middle;
    else high = middle - 1;
  }
  const at = low * blockBytes;
  const { end } = findFeeds(await stretch.read(at, blockBytes), request.encoding, feeds - (before[low] as number));
  return at + end < stretch.size ? at + end : { total: feeds };
}

/** The number of lines of a completely indexed file. */
async function countLines(stretch: Stretch, { index, encoding }: LinesRequest): Promise<number> {
  const feeds = index.before.at(-1) as number;
  const tail = await stretch.read(Math.max(0, stretch.size - 2), 2);
  const { end } = findFeeds(tail, encoding, Infinity);
  return end === tail.length && end > 0 ? feeds : feeds + 1;
}

/** Counts line feeds in bytes that begin with a whole code unit: at most `max`, with the end of the last one. */
function findFeeds(bytes: Uint8Array, encoding: Encoding, max: number): { count: number; end: number } {
  let count = 0;
  let end = 0;
  const isWide = encoding === "utf-16le" || encoding === "utf-16be";
  if (!isWide) {
    for (let at = 0; at < bytes.length && count < max; at += 1)
      if (bytes[at] === 0x0a) {
        count += 1;
        end = at + 1;
      }
    return { count, end };
  }
  const low = encoding === "utf-16le" ? 0 : 1;
  for (let at = 0; at + 1 < bytes.length && count < max; at += 2)
    if (bytes[at + low] === 0x0a && bytes[at + 1 - low] === 0) {
      count += 1;
      end = at + 2;
    }
  return { count, end };
}

/** Keeps two-byte units whole. */
function evenly(length: number): number {
  return length % 2 === 0 ? length : length + 1;
}

function throwIfCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw cancelled(signal.reason);
}

function tooFar(size: number): ResourceError {
  return new ResourceError("too-large", "the file is too large to count its lines; request a range of bytes", {
    details: { reason: "too-large", size, ranges: ["bytes=0-1048575"] },
  });
}
