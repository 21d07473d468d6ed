/** Cuts a text at headings, definitions and paragraphs. */
import { headingReader } from "./headings.ts";
import { isCode, type TextFormat } from "./format.ts";
import { wholeCharacterAt } from "./whole-character.ts";

export interface Passage {
  /** [from, to) in the text. */
  readonly from: number;
  readonly to: number;
  /** First and last line, from 1, both included. */
  readonly lines: readonly [first: number, last: number];
  /** The headings above it, or its definition; "" if there are none. */
  readonly heading: string;
}

/** Counted in letters; a character of a script without spaces counts as two and a half. */
const maxWeight = 1500;
/** A heavier passage ends at the next paragraph. */
const goodWeight = 800;
/** Lighter code is not cut off from what follows, even at a definition. */
const minWeight = 90;

/** In order and disjoint; only white space lies between them. At least one, which may be empty. */
export function passagesOf(text: string, format: TextFormat): Passage[] {
  const passages: Passage[] = [];
  const readHeading = headingReader(format);
  let heading = "";
  let open: Open | undefined;
  /** Start of the remarks directly above the line. */
  let remarks: Cut | undefined;

  const close = (): void => {
    const before = passages.at(-1);
    // A line or two that remain stay with the passage before.
    if (open?.isRest && open.weight < minWeight * 2 && before?.heading === open.heading)
      passages[passages.length - 1] = { ...before, to: open.to, lines: [before.lines[0], open.lastLine] };
    else if (open) {
      const { from, to, heading: under } = open;
      passages.push({ from, to, lines: [open.line, open.lastLine], heading: under });
    }
    open = undefined;
  };
  /** Ends the open passage at an earlier position, and continues with the rest. */
  const closeAt = (cut: Cut): void => {
    const rest = open!;
    passages.push({ from: rest.from, to: cut.to, lines: [rest.line, cut.lastLine], heading: rest.heading });
    open = {
      ...rest,
      from: cut.from,
      line: cut.line,
      weight: rest.weight - cut.weight,
      breakAt: undefined,
      isRest: false,
    };
  };

  let line = 0;
  for (let start = 0; start < text.length;) {
    line += 1;
    const newline = text.indexOf("\n", start);
    const next = newline === -1 ? text.length : newline + 1;
    const from = skipSpace(text, start, next);
    const to = trimEnd(text, from, next);
    if (to === from) {
      if (open && open.weight >= goodWeight) close();
      if (open) open.hasBreak = true;
      remarks = undefined;
      start = next;
      continue;
    }
    const cut: Cut | undefined = open && { to: open.to, lastLine: open.lastLine, from, line, weight: open.weight };
    if (open?.hasBreak) {
      open.breakAt = cut;
      open.hasBreak = false;
    }
    const began = readHeading(text, start, to, newline === -1 ? "" : peekLine(text, next));
    if (began && "heading" in began) {
      heading = began.heading;
      const at = remarks ?? cut;
      // A heading alone stays with the text below it, and so does a short text before the first heading.
      const isEnough = at && (at.weight >= minWeight || (!isCode(format) && open?.hasText && open.heading !== ""));
      if (open && isEnough) {
        if (remarks) closeAt(remarks);
        else close();
      }
      if (open) open.heading = heading;
      remarks = undefined;
    } else if (began) remarks ??= cut;
    else {
      remarks = undefined;
      if (open && !open.hasText) open.hasText = /[\p{L}\p{N}]/u.test(text.slice(from, Math.min(to, from + 200)));
    }

    const weight = weigh(text, from, to);
    const isRest: boolean = open !== undefined && open.weight + weight > maxWeight && weight <= maxWeight;
    if (open && open.weight + weight > maxWeight) {
      if (open.breakAt && open.breakAt.weight > maxWeight / 4) closeAt(open.breakAt);
      if (open.weight + weight > maxWeight) close();
      remarks = undefined;
    }
    if (weight > maxWeight) {
      close();
      for (const [pieceFrom, pieceTo] of piecesOf(text, from, to))
        passages.push({ from: pieceFrom, to: pieceTo, lines: [line, line], heading });
    } else if (open) {
      open.to = to;
      open.lastLine = line;
      open.weight += weight + 1;
    } else
      open = {
        from,
        to,
        line,
        lastLine: line,
        heading,
        weight,
        hasBreak: false,
        breakAt: undefined,
        isRest,
        hasText: began === undefined,
      };
    start = next;
  }
  close();
  return passages.length === 0 ? [{ from: 0, to: 0, lines: [1, 1], heading: "" }] : passages;
}

/** A position to cut at: the end of what is before it, and the start of what is after it. */
interface Cut {
  readonly to: number;
  readonly lastLine: number;
  readonly from: number;
  readonly line: number;
  /** Weight of what is before it. */
  readonly weight: number;
}

interface Open {
  readonly from: number;
  readonly line: number;
  to: number;
  lastLine: number;
  heading: string;
  weight: number;
  /** True directly after a paragraph. */
  hasBreak: boolean;
  /** Start of the last paragraph. */
  breakAt: Cut | undefined;
  /** True if there is more than a heading. */
  hasText: boolean;
  /** True if it continues a passage that had become too long. */
  readonly isRest: boolean;
}

/** Cuts a line that is too long for one passage: after a sentence, else after a word, else between two characters. */
function* piecesOf(text: string, from: number, to: number): Generator<readonly [from: number, to: number]> {
  let start = from;
  let weight = 0;
  let sentence = 0;
  let word = 0;
  for (let at = from; at < to; at += 1) {
    weight += weightOf(text.charCodeAt(at));
    if (weight > maxWeight) {
      const least = start + (at - start) / 2;
      const cut = sentence > least ? sentence : word > least ? word : wholeCharacterAt(text, at, start + 1);
      const end = trimEnd(text, start, cut);
      if (end > start) yield [start, end];
      start = skipSpace(text, cut, to);
      at = start - 1;
      weight = sentence = word = 0;
    } else if (" \t、，,;}".includes(text[at]!)) {
      word = at + 1;
      if (/[.!?]/.test(text.charAt(at - 1))) sentence = at + 1;
    } else if ("。．！？".includes(text[at]!)) sentence = word = at + 1;
  }
  if (to > start) yield [start, to];
}

function weigh(text: string, from: number, to: number): number {
  let weight = 0;
  for (let at = from; at < to; at += 1) weight += weightOf(text.charCodeAt(at));
  return weight;
}

function weightOf(unit: number): number {
  return unit < 0x1100 ? 1 : 2.5;
}

function peekLine(text: string, start: number): string {
  const end = text.indexOf("\n", start);
  return text.slice(start, Math.min(end === -1 ? text.length : end, start + 256));
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d) || unit === 0x3000 || unit === 0xa0 || unit === 0xfeff;
}

function skipSpace(text: string, from: number, to: number): number {
  let at = from;
  while (at < to && isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

function trimEnd(text: string, from: number, to: number): number {
  let at = to;
  while (at > from && isSpace(text.charCodeAt(at - 1))) at -= 1;
  return at;
}
