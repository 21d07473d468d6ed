/** Splits text into terms: words without endings, identifiers whole and in parts, pairs of characters where there are no spaces. */
import {
  capital,
  classAt,
  dense,
  digit,
  fold,
  gap,
  hangul,
  letter,
  lower,
  mark,
  foldedText,
  tie,
  upper,
  widthAt,
  type Folded,
} from "./fold.ts";
import { stem } from "./stem.ts";

/** Changes whenever the same text gives other terms. Stored with an index, with the version of ICU, which decides what a letter is. */
export const tokenizerVersion = `3/${process.versions["icu"] ?? ""}`;

/** A word of letters and digits; a whole identifier; one of its parts; two characters; one character with no other after it. */
export type TokenKind = "word" | "whole" | "part" | "pair" | "single";

export interface Token {
  readonly term: string;
  readonly kind: TokenKind;
  /** [from, to) in the original text. */
  readonly from: number;
  readonly to: number;
  /** For a pair, the end of its first character. */
  readonly middle?: number;
  /**
   * Counts words and characters. A pair has the position of its first character, a whole that of its first part: tokens that follow
   * one another in a text have consecutive positions.
   */
  readonly position: number;
}

/**
 * `from` and `to` count in the folded text. The text there makes the term (see `termOf`), unless `ownText` is given.
 */
type Emit = (kind: TokenKind, position: number, from: number, to: number, ownText: string | undefined) => void;

/** Longer words are cut. */
const maxWordLength = 64;

export function tokenize(text: string): Token[] {
  const folded = fold(text);
  const tokens: Token[] = [];
  scan(folded.units, (kind, position, from, to, ownText) => {
    const term = termOf(ownText ?? foldedText(folded.units, from, to), kind);
    tokens.push(tokenAt(folded, term, kind, position, from, to));
  });
  return tokens;
}

/** Converts an emitted token to positions in the original text. */
export function tokenAt(
  { units, from: origin, to: ending }: Folded,
  term: string,
  kind: TokenKind,
  position: number,
  from: number,
  to: number,
): Token {
  const token = { term, kind, position, from: origin(from), to: ending(to - 1) };
  return kind === "pair" ? { ...token, middle: ending(from + wholeWidth(units, from) - 1) } : token;
}

/** Returns the index term for a piece of folded text. */
export function termOf(ownText: string, kind: TokenKind): string {
  if (kind === "pair" || kind === "single") return ownText;
  const small = ownText.toLowerCase();
  // A capital sigma has another lowercase form at the end of a word.
  return stem((small.endsWith("ς") ? `${small.slice(0, -1)}σ` : small).slice(0, maxWordLength));
}

export function scan(units: Uint16Array, emit: Emit): void {
  let position = 0;
  for (let at = 0; at < units.length;) {
    const kind = classAt(units, at);
    if (kind === gap || kind === tie || kind === mark) at += 1;
    else {
      if (kind === dense || kind === hangul) scanRun(units, at, position, emit);
      else scanWord(units, at, position, emit);
      position = end.position;
      at = end.at;
    }
  }
}

/** End of the last word or run. One shared object: allocating millions would be slow. */
const end = { at: 0, position: 0 };

/** Emits every two neighbours, and the last character alone: so each character begins a term, and can be found by prefix. */
function scanRun(units: Uint16Array, start: number, first: number, emit: Emit): void {
  const script = classAt(units, start);
  let position = first;
  let before = start;
  let at = start + wholeWidth(units, start);
  while (true) {
    const next =
      at < units.length && classAt(units, at) === script ? at : script === dense ? acrossLine(units, at) : -1;
    if (next === -1) break;
    const after = next + wholeWidth(units, next);
    const ownText = next === at ? undefined : foldedText(units, before, at) + foldedText(units, next, after);
    emit("pair", position, before, after, ownText);
    position += 1;
    before = next;
    at = after;
  }
  emit("single", position, before, at, undefined);
  end.at = at;
  end.position = position + 1;
}

/** Position where the run continues on the next line, or -1. Text without spaces may be wrapped anywhere. */
function acrossLine(units: Uint16Array, from: number): number {
  let at = from;
  if (units[at] === 0x0d) at += 1;
  if (units[at] !== 0x0a) return -1;
  at += 1;
  while (units[at] === 0x20 || units[at] === 0x09) at += 1;
  return at < units.length && classAt(units, at) === dense ? at : -1;
}

/** Width of a character with its surrogate pair and marks. */
function wholeWidth(units: Uint16Array, at: number): number {
  let width = widthAt(units, at);
  while (at + width < units.length && width < maxWordLength && classAt(units, at + width) === mark) width += 1;
  return width;
}

/** Start and end of the parts of the current word. */
const cuts = new Int32Array(256);

function scanWord(units: Uint16Array, start: number, first: number, emit: Emit): void {
  let count = 0;
  let at = start;
  let partStart = start;
  let before = classAt(units, at);
  let hasTie = false;
  let hasLetter = before !== digit;
  at += widthAt(units, at);
  for (; at < units.length; at += 1) {
    const kind = classAt(units, at);
    if (kind === before || kind === mark) continue;
    if (kind === tie) {
      if (at + 1 >= units.length || !isWordly(classAt(units, at + 1))) break;
      count = cut(count, partStart, at);
      partStart = at + 1;
      hasTie = true;
    } else if (!isWordly(kind)) {
      if (!isSecondHalf(units, at)) break;
      continue;
    } else {
      if (before !== tie) {
        const isUpper = kind === upper || kind === capital;
        const wasUpper = before === upper || before === capital;
        if (kind === digit || before === digit || (isUpper && !wasUpper)) {
          count = cut(count, partStart, at);
          partStart = at;
        } else if (wasUpper && !isUpper) {
          // HTTPServer: the last capital begins the next part.
          const last = isSecondHalf(units, at - 1) ? at - 2 : at - 1;
          count = cut(count, partStart, last);
          partStart = last;
        }
      }
      if (kind !== digit) hasLetter = true;
    }
    before = kind;
  }
  count = cut(count, partStart, at);
  end.at = skipPossessive(units, at);
  if (count === 1) {
    emitPiece("word", first, start, at, units, emit);
    end.position = first + 1;
    return;
  }
  // Hashes and encoded bytes would be split into meaningless fragments.
  const isSplit = count <= 8 || (hasTie && count <= 32);
  if (hasLetter || !isSplit) {
    let whole: string | undefined;
    if (hasTie) {
      whole = "";
      for (let part = 0; part < count; part += 1) whole += foldedText(units, cuts[part * 2]!, cuts[part * 2 + 1]!);
    }
    if (whole === undefined) emitPiece("whole", first, start, at, units, emit);
    else emit("whole", first, start, at, whole.slice(0, maxWordLength));
  }
  if (isSplit)
    for (let part = 0; part < count; part += 1)
      emitPiece("part", first + part, cuts[part * 2]!, cuts[part * 2 + 1]!, units, emit);
  end.position = first + (isSplit ? count : 1);
}

function cut(count: number, from: number, to: number): number {
  if (to <= from || count >= 128) return count;
  cuts[count * 2] = from;
  cuts[count * 2 + 1] = to;
  return count + 1;
}

function emitPiece(kind: TokenKind, position: number, from: number, to: number, units: Uint16Array, emit: Emit): void {
  emit(kind, position, from, to, to - from > maxWordLength ? foldedText(units, from, from + maxWordLength) : undefined);
}

/** True for the second code unit of a character. */
function isSecondHalf(units: Uint16Array, at: number): boolean {
  return (units[at]! & 0xfc00) === 0xdc00 && (units[at - 1]! & 0xfc00) === 0xd800;
}

function isWordly(kind: number): boolean {
  return kind === lower || kind === upper || kind === digit || kind === letter || kind === capital;
}

/** "user's" counts as "user". */
function skipPossessive(units: Uint16Array, at: number): number {
  const sign = units[at];
  if ((sign !== 0x27 && sign !== 0x2019) || (units[at + 1]! | 0x20) !== 0x73) return at;
  return at + 2 >= units.length || !isWordly(classAt(units, at + 2)) ? at + 2 : at;
}
