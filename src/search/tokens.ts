/** Text in, terms of the index out: words without their endings, identifiers whole and split, pairs of characters where there are no spaces. */
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
  tie,
  upper,
  type Folded,
} from "./fold.ts";
import { stem } from "./stem.ts";

/** Changes whenever the same text gives other terms. An index is kept with it, and with ICU's version, which decides what a letter is. */
export const tokenizerVersion = `1/${process.versions["icu"] ?? ""}`;

/** A word of letters and figures; the whole of an identifier; one of its parts; two characters; one that has no other behind it. */
export type TokenKind = "word" | "whole" | "part" | "pair" | "single";

export interface Token {
  readonly term: string;
  readonly kind: TokenKind;
  /** [from, to) in the original text. */
  readonly from: number;
  readonly to: number;
  /**
   * Counts words and characters. A pair stands where its first character does, a whole where its first part does: what follows one another in
   * a text does so here too.
   */
  readonly position: number;
}

/** `from` and `to` count in the folded text. */
export type Emit = (term: string, kind: TokenKind, position: number, from: number, to: number) => void;

/** Longer words are known by their beginning. */
const maxWordLength = 64;

export function tokensOf(text: string): Token[] {
  const folded = fold(text);
  const tokens: Token[] = [];
  scan(folded, (term, kind, position, from, to) => {
    tokens.push({ term, kind, position, from: folded.from(from), to: folded.to(to - 1) });
  });
  return tokens;
}

export function scan({ text }: Folded, emit: Emit): void {
  let position = 0;
  for (let at = 0; at < text.length;) {
    const kind = classAt(text, at);
    if (kind === gap || kind === tie || kind === mark) at += 1;
    else if (kind === dense || kind === hangul) {
      const end = scanRun(text, at, position, emit);
      position = end.position;
      at = end.at;
    } else {
      const end = scanWord(text, at, position, emit);
      position = end.position;
      at = end.at;
    }
  }
}

interface End {
  at: number;
  position: number;
}
/** One for all: making millions of them costs more than what they say. */
const end: End = { at: 0, position: 0 };

/** Every two neighbours, and the last alone: so each character begins a term, and a question for one finds it by its beginning. */
function scanRun(text: string, start: number, first: number, emit: Emit): End {
  const script = classAt(text, start);
  let position = first;
  let before = start;
  let at = start + widthAt(text, start);
  while (true) {
    const next = at < text.length && classAt(text, at) === script ? at : script === dense ? acrossLine(text, at) : -1;
    if (next === -1) break;
    const after = next + widthAt(text, next);
    const pair = next === at ? text.slice(before, after) : text.slice(before, at) + text.slice(next, after);
    emit(pair, "pair", position, before, after);
    position += 1;
    before = next;
    at = after;
  }
  emit(text.slice(before, at), "single", position, before, at);
  end.at = at;
  end.position = position + 1;
  return end;
}

/** Where the run goes on in the next line, or -1. Lines are broken anywhere where there are no spaces. */
function acrossLine(text: string, from: number): number {
  let at = from;
  if (text.charCodeAt(at) === 0x0d) at += 1;
  if (text.charCodeAt(at) !== 0x0a) return -1;
  at += 1;
  while (text.charCodeAt(at) === 0x20 || text.charCodeAt(at) === 0x09) at += 1;
  return at < text.length && classAt(text, at) === dense ? at : -1;
}

/** A pair of surrogates and the marks behind a character belong to it. */
function widthAt(text: string, at: number): number {
  let width = text.codePointAt(at)! > 0xffff ? 2 : 1;
  while (at + width < text.length && classAt(text, at + width) === mark) width += 1;
  return width;
}

/** Ends of the parts of the word that is being read. */
const cuts = new Int32Array(256);

function scanWord(text: string, start: number, first: number, emit: Emit): End {
  let count = 0;
  let at = start;
  let partStart = start;
  let before = classAt(text, at);
  let hasTie = false;
  let hasLetter = before !== digit;
  at += 1;
  const cut = (to: number): void => {
    if (to > partStart && count < 127) {
      cuts[count * 2] = partStart;
      cuts[count * 2 + 1] = to;
      count += 1;
    }
  };
  for (; at < text.length; at += 1) {
    const kind = classAt(text, at);
    if (kind === mark) continue;
    if (kind === tie) {
      const next = at + 1 < text.length ? classAt(text, at + 1) : gap;
      if (!isWordly(next)) break;
      cut(at);
      partStart = at + 1;
      hasTie = true;
      before = tie;
      continue;
    }
    if (!isWordly(kind)) break;
    if (kind !== before && before !== tie) {
      if ((kind === upper || kind === capital) && (before === lower || before === letter || before === digit)) {
        cut(at);
        partStart = at;
      } else if ((kind === lower || kind === letter) && (before === upper || before === capital)) {
        // HTTPServer: the last capital begins the next part.
        if (at - 1 > partStart) {
          cut(at - 1);
          partStart = at - 1;
        }
      } else if (kind === digit || before === digit) {
        cut(at);
        partStart = at;
      }
    }
    if (kind !== digit) hasLetter = true;
    before = kind;
  }
  cut(at);
  end.at = skipPossessive(text, at);
  if (count === 1) {
    emit(toTerm(text, start, at), "word", first, start, at);
    end.position = first + 1;
    return end;
  }
  // Hashes and encoded bytes fall into crumbs that mean nothing.
  const isSplit = count <= 8 || (hasTie && count <= 32);
  if (hasLetter || !isSplit) {
    let whole = "";
    if (hasTie) for (let part = 0; part < count; part += 1) whole += text.slice(cuts[part * 2]!, cuts[part * 2 + 1]!);
    else whole = text.slice(start, at);
    emit(stem(whole.slice(0, maxWordLength).toLowerCase()), "whole", first, start, at);
  }
  if (isSplit)
    for (let part = 0; part < count; part += 1) {
      const from = cuts[part * 2]!;
      const to = cuts[part * 2 + 1]!;
      emit(toTerm(text, from, to), "part", first + part, from, to);
    }
  end.at = skipPossessive(text, at);
  end.position = first + (isSplit ? count : 1);
  return end;
}

function isWordly(kind: number): boolean {
  return kind === lower || kind === upper || kind === digit || kind === letter || kind === capital;
}

function toTerm(text: string, from: number, to: number): string {
  return stem(text.slice(from, Math.min(to, from + maxWordLength)).toLowerCase());
}

/** "user's" is said of a user. */
function skipPossessive(text: string, at: number): number {
  const sign = text.charCodeAt(at);
  if ((sign !== 0x27 && sign !== 0x2019) || (text.charCodeAt(at + 1) | 0x20) !== 0x73) return at;
  return at + 2 >= text.length || !isWordly(classAt(text, at + 2)) ? at + 2 : at;
}
