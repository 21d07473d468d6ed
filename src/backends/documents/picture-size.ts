/** The size of a picture in pixels, before anything decodes it. What two readers could understand differently counts as damaged. */
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
  if (head === "\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    return [{ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }];
  if (head.startsWith("\xff\xd8\xff")) return jpegSize(bytes);
  if (/^GIF8[79]a/.test(head)) return gifSizes(bytes);
  if (head.startsWith("BM"))
    return [{ width: Math.abs(bytes.readInt32LE(18)), height: Math.abs(bytes.readInt32LE(22)) }];
  if (/^RIFF[^]{4}WEBPVP8/.test(head)) return webpSize(bytes, head[15]);
  if (head.startsWith("II*\0")) return tiffSizes(bytes, (at, length) => bytes.readUIntLE(at, length));
  return head.startsWith("MM\0*") ? tiffSizes(bytes, (at, length) => bytes.readUIntBE(at, length)) : [];
}

/** Segments of JPEG that have a length and may precede the picture: tables, restart interval, application data, comment. */
const jpegSegments = new Set([0xc4, 0xcc, 0xdb, 0xdc, 0xdd, ...Array.from({ length: 16 }, (_, at) => 0xe0 + at), 0xfe]);
const jpegStartOfScan = 0xda;

/** The only frame header before the first scan. */
function jpegSize(bytes: Buffer): readonly PictureSize[] {
  const frames: PictureSize[] = [];
  for (let at = 2; ;) {
    const marker = bytes.readUInt8(at + 1);
    if (bytes[at] !== 0xff) return [];
    if (marker === jpegStartOfScan) return frames.length === 1 ? frames : [];
    // Any number of fill bytes.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const length = bytes.readUInt16BE(at + 2);
    if (!jpegSegments.has(marker)) {
      if (marker < 0xc0 || marker > 0xcf || marker === 0xc8) return [];
      frames.push({ height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) });
    }
    if (length < 2) return [];
    at += 2 + length;
  }
}

const gifExtension = 0x21;
const gifFrame = 0x2c;
const gifEnd = 0x3b;

/** The screen, and all frames together: they are decoded at once. A frame beyond the screen counts as damaged. */
function gifSizes(bytes: Buffer): readonly PictureSize[] {
  const screen = { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  let pixels = 0;
  for (let at = 13 + tableBytes(bytes.readUInt8(10)); ;) {
    const kind = bytes.readUInt8(at);
    if (kind === gifEnd) return [screen, { width: pixels, height: 1 }];
    if (kind === gifExtension) at += 2;
    else if (kind === gifFrame) {
      const [width, height] = [bytes.readUInt16LE(at + 5), bytes.readUInt16LE(at + 7)];
      const [right, bottom] = [bytes.readUInt16LE(at + 1) + width, bytes.readUInt16LE(at + 3) + height];
      if (right > screen.width || bottom > screen.height) return [];
      pixels += width * height;
      at += 11 + tableBytes(bytes.readUInt8(at + 9));
    } else return [];
    // Blocks of data, each after its length.
    for (let length = 1; length > 0; at += 1 + length) length = bytes.readUInt8(at);
  }
}

/** Size of the colour table that these flags announce. */
function tableBytes(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
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
const tiffTileWidth = 322;
const tiffTileHeight = 323;
const tiffSizeTags = [tiffWidth, tiffHeight, tiffTileWidth, tiffTileHeight];

/** A file with more pages than this, with pages in a circle, or with a size that is given twice or elsewhere counts as damaged. */
function tiffSizes(bytes: Buffer, read: (at: number, length: number) => number): readonly PictureSize[] {
  const pages: PictureSize[] = [];
  let count = 0;
  for (let at = read(4, 4); at !== 0; count += 1) {
    if (count === maxPages || at + 2 > bytes.length) return [];
    const end = at + 2 + read(at, 2) * 12;
    const values = new Map<number, number>();
    for (let entry = at + 2; entry < end; entry += 12) {
      const tag = read(entry, 2);
      if (!tiffSizeTags.includes(tag)) continue;
      const valueBytes = { 3: 2, 4: 4 }[read(entry + 2, 2)];
      if (values.has(tag) || valueBytes === undefined || read(entry + 4, 4) !== 1) return [];
      values.set(tag, read(entry + 8, valueBytes));
    }
    const [width = 0, height = 0, tileWidth = 1, tileHeight = 1] = tiffSizeTags.map((tag) => values.get(tag));
    pages.push({ width, height }, { width: tileWidth, height: tileHeight });
    at = read(end, 4);
  }
  return pages;
}
