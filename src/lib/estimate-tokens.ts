/** Estimates the number of tokens of a text from its characters, without a tokenizer; also in a browser. */
import { isTextType } from "./is-text-type.ts";

/**
 * The cost of a text in current vocabularies. It tends to overestimate, but is no strict bound: see docs/gather.md. The empty text has
 * none.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (let at = 0; at < text.length;) {
    const kind = kindAt(text, at);
    let to = at + 1;
    while (to < text.length && kindAt(text, to) === kind) to += 1;
    tokens += kind === word ? costOfWord(text, at, to) : costOf(kind, text, at, to);
    at = to;
  }
  return Math.ceil(tokens * safety);
}

/** The metadata of a listed resource. */
interface ListedSize {
  /** In bytes. */
  readonly size?: number | undefined;
  readonly mimeType?: string | undefined;
  readonly name?: string | undefined;
}

/**
 * An estimate before anything is read, from the size and the type: "none" if the type has no text, undefined if its size says nothing
 * about its text.
 */
export function estimateTokensOf({ size, mimeType = "", name = "" }: ListedSize): number | "none" | undefined {
  if (sizeless.test(mimeType)) return undefined;
  if (mimeType !== "" && !isTextType(mimeType)) return "none";
  if (size === undefined) return undefined;
  return Math.ceil(size / bytesPerToken[kindOf(mimeType, name)]);
}

/** The language of a text is known only by its name. */
function kindOf(mimeType: string, name: string): keyof typeof bytesPerToken {
  if (/^text\/(?:csv|tab-separated-values)$|^image\/svg/.test(mimeType) || name.endsWith(".log")) return "numbers";
  if (/[-.]lock(?:\.\w{1,5})?$|\.sum$/.test(name)) return "locks";
  if (/[\u3040-\u30ff\u4e00-\u9fff]/.test(name)) return "japanese";
  if (/json|yaml|toml|xml|css/.test(mimeType)) return "data";
  return /^text\/(?:markdown|plain|x-rst)$/.test(mimeType) ? "prose" : "code";
}

/** Directories, and documents whose text is compressed, or a small part of them. */
const sizeless = /^inode\/|^application\/(?:pdf|epub|msword|vnd\.(?:ms-|openxmlformats|oasis))/;

/** Measured with o200k_base: see docs/picker.md. */
const bytesPerToken = { numbers: 1.9, locks: 2.5, data: 3.2, japanese: 3.5, code: 3.9, prose: 4.2 };

/** If only the size is known: as for plain English. */
export function estimateTokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / 3.6);
}

/** With this margin, long texts are rarely underestimated. */
const safety = 1.1;

const word = 0;
const space = 1;
const line = 2;
const sign = 3;
const dense = 4;
const alphabet = 5;
const other = 6;
const kana = 7;

function kindAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (unit >= 0x80) {
    if (unit >= 0x3040 && unit <= 0x9fff) return unit <= 0x30ff ? kana : dense;
    return unit < 0x530 ? alphabet : other;
  }
  if (isLetter(unit) || isDigit(unit)) return word;
  if (unit === 0x20 || unit === 0x09) return space;
  return unit === 0x0a || unit === 0x0d ? line : sign;
}

function costOf(kind: number, text: string, from: number, to: number): number {
  const length = to - from;
  switch (kind) {
    case space:
      // The space before a word belongs to it; before a number it does not.
      return length > 1 ? 1 + length / 64 : isDigit(text.charCodeAt(to)) ? 1 : 0;
    case line:
      // A line end belongs to the sign before it.
      return from > 0 && kindAt(text, from - 1) === sign ? 0.2 : 1;
    case sign:
      if (length > 3 && isUniform(text, from, to)) return 1 + length / 16;
      // Usually, so does a single sign before a word.
      if (length === 1) return to < text.length && kindAt(text, to) === word ? 0.8 : 1;
      return 1 + (length - 2) * 0.6;
    case kana:
      return length * 0.85;
    case dense:
      return length * 1.15;
    case alphabet:
      // Accented, Greek, Cyrillic: older vocabularies contain few of their words.
      return length * 0.85 + 0.3;
    default:
      return length * 1.3;
  }
}

/** Parts of a name: `HTTPServer2` has three. */
function costOfWord(text: string, from: number, to: number): number {
  let cost = 0;
  let parts = 0;
  for (let at = from; at < to;) {
    const start = at;
    const isNumber = isDigit(text.charCodeAt(at));
    while (at < to && isDigit(text.charCodeAt(at)) === isNumber && (at === start || !isHump(text, at))) at += 1;
    const length = at - start;
    parts += 1;
    if (isNumber) cost += Math.ceil(length / 3);
    else if (isCapital(text.charCodeAt(at - 1)) && length > 1) cost += Math.max(1, length / 2.5);
    else cost += length <= 7 ? 1 : 1 + (length - 7) / 5;
  }
  const length = to - from;
  // Keys, hashes and encoded bytes are in no vocabulary.
  return length > 12 && parts * 3.2 > length ? Math.max(cost, length / 1.45) : cost;
}

function isHump(text: string, at: number): boolean {
  return isCapital(text.charCodeAt(at)) && !isCapital(text.charCodeAt(at - 1));
}

function isLetter(unit: number): boolean {
  return (unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a;
}

function isCapital(unit: number): boolean {
  return unit >= 0x41 && unit <= 0x5a;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

function isUniform(text: string, from: number, to: number): boolean {
  for (let at = from + 1; at < to; at += 1) if (text.charCodeAt(at) !== text.charCodeAt(from)) return false;
  return true;
}
