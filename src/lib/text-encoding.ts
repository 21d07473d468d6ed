/** Detects the encoding of text and decodes it, only if encoding gives the same bytes again. */
import { encodeDoubleByte, encodeIso2022Jp, iso2022JpToEucJp } from "./double-byte.ts";
import { plausibility, type Plausibility } from "./text-plausibility.ts";

export type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "shift_jis" | "euc-jp" | "iso-2022-jp" | "windows-1252";

export interface FoundEncoding {
  readonly encoding: Encoding;
  /** Length of the byte order mark; 0 if there is none. */
  readonly markBytes: number;
}

/** How many bytes are examined to distinguish encodings. */
const sampleBytes = 64 * 1024;
/** Fewer to distinguish numbers from UTF-16: this runs for every file with a NUL. */
const wideSampleBytes = 4 * 1024;

const marks: readonly { readonly encoding: Encoding; readonly bytes: readonly number[] }[] = [
  { encoding: "utf-8", bytes: [0xef, 0xbb, 0xbf] },
  { encoding: "utf-16le", bytes: [0xff, 0xfe] },
  { encoding: "utf-16be", bytes: [0xfe, 0xff] },
];

/**
 * The encoding of these bytes, as far as they show it; undefined for binary data or an unknown encoding. With `mayGoOn` they are the
 * beginning of more, and may end inside a character.
 */
export function findEncoding(bytes: Uint8Array, mayGoOn = false): FoundEncoding | undefined {
  const mark = marks.find(({ bytes: marking }) => marking.every((byte, at) => bytes[at] === byte));
  if (mark) {
    const markBytes = mark.bytes.length;
    const isText = isTextIn(bytes.subarray(markBytes), mark.encoding, mayGoOn);
    return isText ? { encoding: mark.encoding, markBytes } : undefined;
  }
  const encoding = findUnmarked(bytes, mayGoOn);
  return encoding && { encoding, markBytes: 0 };
}

function findUnmarked(bytes: Uint8Array, mayGoOn: boolean): Encoding | undefined {
  if (bytes.includes(0)) return findUtf16(bytes, mayGoOn);
  if (isTextIn(bytes, "utf-8", mayGoOn)) return isIso2022Jp(bytes, mayGoOn) ? "iso-2022-jp" : "utf-8";
  if (hasControls(bytes)) return findUtf16(bytes, mayGoOn);
  const sample = sampleOf(bytes);
  const isCut = mayGoOn || sample.byteOffset + sample.length < bytes.byteOffset + bytes.length;
  let best: { readonly encoding: Encoding; readonly found: Plausibility } | undefined;
  for (const encoding of ["shift_jis", "euc-jp", "windows-1252"] as const) {
    const found = encoding === "windows-1252" ? plausibility.western(sample) : japanese(sample, encoding, isCut);
    if (found?.isPlausible && (!best || found.mean > best.found.mean)) best = { encoding, found };
  }
  return best?.encoding ?? findUtf16(bytes, mayGoOn);
}

function japanese(sample: Uint8Array, encoding: "shift_jis" | "euc-jp", mayGoOn: boolean): Plausibility | undefined {
  const text = decodeStrictly(sample, encoding, mayGoOn);
  return text === undefined ? undefined : plausibility.japanese(text, encoding);
}

function findUtf16(bytes: Uint8Array, mayGoOn: boolean): Encoding | undefined {
  if (bytes.length % 2 === 1 && !mayGoOn) return undefined;
  const sample = bytes.subarray(0, wideSampleBytes);
  const little = plausibility.wide(decodeStrictly(sample, "utf-16le", true));
  const big = plausibility.wide(decodeStrictly(sample, "utf-16be", true));
  if (little.isPlausible && little.mean > big.mean + 0.3) return "utf-16le";
  return big.isPlausible && big.mean > little.mean + 0.3 ? "utf-16be" : undefined;
}

/** From the first byte that is not ASCII: every encoding tried here starts a character there. */
function sampleOf(bytes: Uint8Array): Uint8Array {
  let first = 0;
  while (first < bytes.length && (bytes[first] as number) < 0x80) first += 1;
  return bytes.subarray(Math.max(0, first - 64), first + sampleBytes);
}

function isTextIn(bytes: Uint8Array, encoding: Encoding, mayGoOn: boolean): boolean {
  const text = decodeStrictly(bytes, encoding, mayGoOn);
  return text !== undefined && !text.includes("\0");
}

/** Control characters that no text contains: all but tab, line feed, form feed, return and escape. */
function hasControls(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at += 1) if (isControl[bytes[at] as number] === 1) return true;
  return false;
}

const isControl = new Uint8Array(256);
isControl.fill(1, 0, 0x20);
for (const allowed of [0x09, 0x0a, 0x0c, 0x0d, 0x1b]) isControl[allowed] = 0;
isControl[0x7f] = 1;

/** Seven-bit bytes with an escape to two-byte characters that decode to text. */
function isIso2022Jp(bytes: Uint8Array, mayGoOn: boolean): boolean {
  for (let at = bytes.indexOf(escape); at >= 0; at = bytes.indexOf(escape, at + 1)) {
    const isShift =
      (bytes[at + 1] === 0x24 && bytes[at + 2] === 0x42) || (bytes[at + 1] === 0x28 && bytes[at + 2] === 0x49);
    if (isShift) return decodeStrictly(bytes, "iso-2022-jp", mayGoOn) !== undefined;
  }
  return false;
}

const escape = 0x1b;

/**
 * Decodes bytes without a byte order mark. Undefined if they are malformed, contain NUL, or if encoding would give other bytes, as for
 * characters that Shift_JIS has twice.
 */
export function decodeExactly(bytes: Uint8Array, encoding: Encoding): string | undefined {
  const isUnicode = encoding === "utf-8" || encoding === "utf-16le" || encoding === "utf-16be";
  if (!isUnicode && hasControls(bytes)) return undefined;
  const text = decodeStrictly(bytes, encoding, false);
  if (text === undefined || text.includes("\0")) return undefined;
  return isUnicode || isSame(encodeText(text, encoding), bytes) ? text : undefined;
}

function decodeStrictly(bytes: Uint8Array, encoding: Encoding, mayGoOn: boolean): string | undefined {
  const euc = encoding === "iso-2022-jp" ? iso2022JpToEucJp(bytes, mayGoOn) : undefined;
  if (encoding === "iso-2022-jp" && euc === undefined) return undefined;
  try {
    const decoder = new TextDecoder(euc ? "euc-jp" : encoding, { fatal: true, ignoreBOM: true });
    return decoder.decode(euc ?? bytes, { stream: mayGoOn });
  } catch {
    return undefined;
  }
}

/** The bytes of a text; undefined if the encoding lacks one of its characters. */
export function encodeText(text: string, encoding: Encoding): Uint8Array | undefined {
  switch (encoding) {
    case "utf-8":
      return text.isWellFormed() ? new TextEncoder().encode(text) : undefined;
    case "utf-16le":
    case "utf-16be":
      return text.isWellFormed() ? encodeUtf16(text, encoding === "utf-16le") : undefined;
    case "windows-1252":
      return encodeWestern(text);
    case "iso-2022-jp":
      return encodeIso2022Jp(text);
    default:
      return encodeDoubleByte(text, encoding);
  }
}

function encodeUtf16(text: string, isLittle: boolean): Uint8Array {
  const view = new DataView(new ArrayBuffer(2 * text.length));
  for (let at = 0; at < text.length; at += 1) view.setUint16(2 * at, text.charCodeAt(at), isLittle);
  return new Uint8Array(view.buffer);
}

let westernBytes: ReadonlyMap<number, number> | undefined;

function encodeWestern(text: string): Uint8Array | undefined {
  westernBytes ??= new Map(
    Array.from(new TextDecoder("windows-1252").decode(Uint8Array.from({ length: 128 }, (_, at) => 0x80 + at)))
      .map((character, at): [number, number] => [character.charCodeAt(0), 0x80 + at])
      // The decoder passes undefined bytes on as control characters.
      .filter(([code]) => code < 0x80 || code >= 0xa0),
  );
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const byte = code < 0x80 ? code : westernBytes.get(code);
    if (byte === undefined) return undefined;
    bytes[at] = byte;
  }
  return bytes;
}

function isSame(left: Uint8Array | undefined, right: Uint8Array): boolean {
  if (left?.length !== right.length) return false;
  for (let at = 0; at < right.length; at += 1) if (left[at] !== right[at]) return false;
  return true;
}

/**
 * How many bytes the character here takes, judged by its first bytes alone. In ISO-2022-JP everything from one escape to the escape back
 * counts as one character, because nothing in between can be read alone.
 */
export function characterBytes(bytes: Uint8Array, at: number, encoding: Encoding): number {
  const first = bytes[at] ?? 0;
  switch (encoding) {
    case "utf-8":
      return first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    case "utf-16le":
      return ((bytes[at + 1] ?? 0) & 0xfc) === 0xd8 ? 4 : 2;
    case "utf-16be":
      return (first & 0xfc) === 0xd8 ? 4 : 2;
    case "shift_jis":
      return (first >= 0x81 && first <= 0x9f) || (first >= 0xe0 && first <= 0xfc) ? 2 : 1;
    case "euc-jp":
      return first === 0x8f ? 3 : first === 0x8e || (first >= 0xa1 && first <= 0xfe) ? 2 : 1;
    case "iso-2022-jp":
      return first === escape ? shiftedBytes(bytes, at) : 1;
    case "windows-1252":
      return 1;
  }
}

function shiftedBytes(bytes: Uint8Array, from: number): number {
  if (bytes[from + 1] !== 0x24 && bytes[from + 1] !== 0x28) return 1;
  for (let at = from + 3; at < bytes.length; at += 1)
    if (bytes[at] === escape && bytes[at + 1] === 0x28 && bytes[at + 2] === 0x42) return at + 3 - from;
  return bytes.length - from;
}

/** Whether a character certainly starts after this byte, whatever precedes it. */
export function endsCharacter(byte: number, encoding: Encoding): boolean {
  switch (encoding) {
    case "utf-8":
    case "euc-jp":
      return byte < 0x80;
    case "shift_jis":
      return byte < 0x40;
    // Each line starts in ASCII.
    case "iso-2022-jp":
      return byte === 0x0a;
    case "windows-1252":
      return true;
    default:
      return false;
  }
}
