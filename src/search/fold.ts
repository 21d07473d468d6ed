/** Normalises text for comparison, and maps positions back to the original. */
import { grown } from "./bytes.ts";

/** Classes of code units for the tokenizer. */
export const gap = 1;
export const lower = 2;
export const upper = 3;
export const digit = 4;
/** Connects the parts of an identifier. */
export const tie = 5;
/** A letter of a script with spaces between words. */
export const letter = 6;
/** Joins the letter before it. */
export const mark = 7;
/** A letter of a script without spaces between words, such as Japanese, Chinese and Thai. */
export const dense = 8;
/** Hangul: has spaces, and words that grow at their ends. */
export const hangul = 9;
/** A letter that has a lowercase form. */
export const capital = 10;

const unstable = 0x40;
const classMask = 0x1f;

export interface Folded {
  /** Normalised code units; letters keep their case and lose their accents. */
  readonly units: Uint16Array;
  /** Start, in the original, of the character that gave this code unit. */
  from(at: number): number;
  /** End, in the original, of the character that gave this code unit. */
  to(at: number): number;
}

/** Applies NFKC (whatever the input form), and removes accents of Latin and Greek letters. Katakana and hiragana stay different. */
export function fold(text: string): Folded {
  const units = new Uint16Array(text.length);
  return fillUnits(text, units) ? { units, from: (at) => at, to: (at) => at + 1 } : foldClusters(text);
}

/** The folded code units only, valid until the next call: for large texts. */
export function foldUnits(text: string): Uint16Array {
  if (text.length > room.length) room = new Uint16Array(text.length * 2);
  const units = room.subarray(0, text.length);
  return fillUnits(text, units) ? units : foldClusters(text).units;
}

let room = new Uint16Array(8192);

export function foldText(text: string): string {
  return foldedText(fold(text).units);
}

/** A slice of folded text. */
export function foldedText(units: Uint16Array, from = 0, to = units.length): string {
  if (to - from <= 64) return String.fromCharCode.apply(undefined, units.subarray(from, to) as unknown as number[]);
  return Buffer.from(units.buffer, units.byteOffset + from * 2, (to - from) * 2).toString("utf16le");
}

/** True if every code unit maps to itself: then `units` is the folded text. */
function fillUnits(text: string, units: Uint16Array): boolean {
  Buffer.from(units.buffer, units.byteOffset, units.byteLength).write(text, "utf16le");
  for (let at = 0; at < units.length; at += 1) {
    const unit = units[at]!;
    if (unit < 0x80) continue;
    if (((classes[unit] || classify(unit)) & unstable) !== 0) return false;
  }
  return true;
}

/** The class of a code unit of folded text; for a surrogate pair, that of the first. */
export function classAt(units: Uint16Array, at: number): number {
  const unit = units[at]!;
  const known = (classes[unit] || classify(unit)) & classMask;
  return known === surrogate ? classOfPair(pointAt(units, at)) : known;
}

/** Number of code units of the character that begins here. */
export function widthAt(units: Uint16Array, at: number): number {
  return pointAt(units, at) > 0xffff ? 2 : 1;
}

function pointAt(units: Uint16Array, at: number): number {
  const high = units[at]!;
  if (high < 0xd800 || high > 0xdbff || at + 1 >= units.length) return high;
  const low = units[at + 1]!;
  return low < 0xdc00 || low > 0xdfff ? high : (high - 0xd800) * 0x400 + low - 0xdc00 + 0x10000;
}

const surrogate = 11;
/** Filled on demand: most texts need few classes. */
const classes = new Uint8Array(0x10000);
const pairs = new Map<number, number>();

function flagsOf(unit: number): number {
  return classes[unit] || classify(unit);
}

function classify(unit: number): number {
  return (classes[unit] = unit >= 0xd800 && unit <= 0xdfff ? surrogate | unstable : judge(String.fromCharCode(unit)));
}

function classOfPair(point: number): number {
  let known = pairs.get(point);
  if (known === undefined) {
    known = point < 0x10000 ? gap : judge(String.fromCodePoint(point)) & classMask;
    if (pairs.size < 4096) pairs.set(point, known);
  }
  return known;
}

function judge(character: string): number {
  const flags = foldCluster(character) === character ? 0 : unstable;
  if (/[a-z]/u.test(character)) return lower;
  if (/[A-Z]/u.test(character)) return upper;
  if (/[0-9]/u.test(character)) return digit;
  if (/[_-]/u.test(character)) return tie;
  if (joinsBefore.test(character.normalize("NFKC"))) return mark | unstable;
  if (/\p{Script=Hangul}/u.test(character)) return hangul | flags;
  if (denseScript.test(character)) return dense | flags;
  if (/\p{Lu}/u.test(character)) return capital | flags;
  if (/[\p{L}\p{N}]/u.test(character)) return letter | flags;
  return gap | flags;
}

const denseScript =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Yi}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]/u;
/** Combining marks, sound marks of half-width kana, and decomposed Hangul vowels and finals; also as the first of several. */
const joinsBefore = /^[\p{M}\uff9e\uff9f\u1160-\u11ff\ud7b0-\ud7ff]/u;

/** A character and its combining marks are normalised together, so that none is cut in two. */
function foldClusters(text: string): Folded {
  let units = new Uint16Array(text.length + 16);
  let starts = new Uint32Array(units.length);
  let ends = new Uint32Array(units.length);
  let length = 0;
  for (let at = 0; at < text.length;) {
    const from = at;
    const unit = text.charCodeAt(at);
    at += (flagsOf(unit) & classMask) === surrogate ? (text.codePointAt(at)! > 0xffff ? 2 : 1) : 1;
    while (at < text.length && joins(text, at)) at += text.codePointAt(at)! > 0xffff ? 2 : 1;
    const isPlain = at === from + 1 && (flagsOf(unit) & unstable) === 0;
    const piece = isPlain ? undefined : foldKnown(text.slice(from, at));
    const added = piece === undefined ? 1 : piece.length;
    if (length + added > units.length) {
      const most = Math.max(length + added, units.length * 2);
      units = grown(units, most);
      starts = grown(starts, most);
      ends = grown(ends, most);
    }
    for (let index = 0; index < added; index += 1) {
      units[length] = piece === undefined ? unit : piece.charCodeAt(index);
      starts[length] = from;
      ends[length] = at;
      length += 1;
    }
  }
  return {
    units: units.subarray(0, length),
    from: (at) => starts[at]!,
    to: (at) => ends[at]!,
  };
}

function joins(text: string, at: number): boolean {
  const flags = flagsOf(text.charCodeAt(at)) & classMask;
  return flags === mark || (flags === surrogate && classOfPair(text.codePointAt(at)!) === mark);
}

const known = new Map<string, string>();

function foldKnown(cluster: string): string {
  let folded = known.get(cluster);
  if (folded === undefined) {
    folded = foldCluster(cluster);
    if (known.size < 16_384 && cluster.length <= 8) known.set(cluster, folded);
  }
  return folded;
}

function foldCluster(cluster: string): string {
  const composed = cluster.normalize("NFKC");
  return /[\p{Script=Latin}\p{Script=Greek}]/u.test(composed)
    ? composed
        .normalize("NFD")
        .replace(/\p{Mn}/gu, "")
        .replace(/[ßẞæÆœŒøØłŁđĐðÐþÞıς]/gu, (special) => specials[special]!)
    : composed;
}

/** Letters that no normalisation decomposes, as they are typed on a keyboard without them. */
const specials = Object.fromEntries(
  "ß ss,ẞ SS,æ ae,Æ AE,œ oe,Œ OE,ø o,Ø O,ł l,Ł L,đ d,Đ D,ð d,Ð D,þ th,Þ TH,ı i,ς σ"
    .split(",")
    .map((pair) => pair.split(" ")),
) as Readonly<Record<string, string>>;
