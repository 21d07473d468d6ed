/** The size of a picture in pixels, from its header, before anything decodes it. */
import { DocumentError } from "./document-error.ts";

interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** A small file can hold a picture that takes gigabytes to decode. */
const maxPixels = 40_000_000;
const maxPages = 50;

/** Throws a DocumentError if it is not a picture of a known format, or is too large. */
export function checkPicture(bytes: Buffer): void {
  let pages: readonly PictureSize[];
  try {
    pages = sizesOf(bytes);
  } catch {
    // Read beyond the end.
    pages = [];
  }
  if (pages.length === 0 || pages.some(({ width, height }) => !(width > 0 && height > 0)))
    throw new DocumentError("malformed", "it is damaged, or not a picture of a known format");
  const pixels = pages.reduce((most, { width, height }) => Math.max(most, width * height), 0);
  if (pixels > maxPixels)
    throw new DocumentError("too-large", `it has ${pixels} pixels; at most ${maxPixels} are read`);
}

/** The size of each page. Empty for an unknown format. */
function sizesOf(bytes: Buffer): readonly PictureSize[] {
  const head = bytes.toString("latin1", 0, 16);
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return [{ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }];
  if (head.startsWith("\xff\xd8\xff")) return jpegSize(bytes);
  if (head.startsWith("GIF8")) return [{ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }];
  if (head.startsWith("BM"))
    return [{ width: Math.abs(bytes.readInt32LE(18)), height: Math.abs(bytes.readInt32LE(22)) }];
  if (/^RIFF[^]{4}WEBPVP8/.test(head)) return webpSize(bytes, head[15]);
  if (head.startsWith("II*\0")) return tiffSizes(bytes, (at, length) => bytes.readUIntLE(at, length));
  return head.startsWith("MM\0*") ? tiffSizes(bytes, (at, length) => bytes.readUIntBE(at, length)) : [];
}

/** The first frame header; other segments have their length after the marker. */
function jpegSize(bytes: Buffer): readonly PictureSize[] {
  for (let at = 2; at < bytes.length;) {
    if (bytes[at] !== 0xff) return [];
    const marker = bytes[at + 1]!;
    // Any number of fill bytes.
    if (marker === 0xff) at += 1;
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return [{ height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }];
    else at += 2 + bytes.readUInt16BE(at + 2);
  }
  return [];
}

/** `kind` is the last character of the first chunk's name: lossy, lossless or extended. */
function webpSize(bytes: Buffer, kind: string | undefined): readonly PictureSize[] {
  if (kind === "X") return [{ width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }];
  if (kind === " ") return [{ width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }];
  const bits = bytes.readUInt32LE(21);
  return kind === "L" ? [{ width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }] : [];
}

const tiffWidth = 256;
const tiffHeight = 257;

/** A file with more pages than this, or with pages in a circle, counts as damaged. */
function tiffSizes(bytes: Buffer, read: (at: number, length: number) => number): readonly PictureSize[] {
  const pages: PictureSize[] = [];
  for (let at = read(4, 4); at !== 0;) {
    if (pages.length === maxPages || at + 2 > bytes.length) return [];
    const count = read(at, 2);
    const values = new Map<number, number>();
    for (let entry = at + 2; entry < at + 2 + count * 12; entry += 12)
      values.set(read(entry, 2), read(entry + 8, read(entry + 2, 2) === 3 ? 2 : 4));
    pages.push({ width: values.get(tiffWidth) ?? 0, height: values.get(tiffHeight) ?? 0 });
    at = read(at + 2 + count * 12, 4);
  }
  return pages;
}
