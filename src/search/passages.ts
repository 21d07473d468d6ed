/** Cuts a text at headings, definitions and paragraphs. */
import { headingReader, indentOf, isContinued, type OpenDefinition } from "./headings.ts";
import { isCode, type TextFormat } from "./format.ts";
import { outermostKeys } from "./outermost-keys.ts";
import { wholeCharacterAt } from "./whole-character.ts";

export interface Passage {
  /** [from, to) in the text. */
  readonly from: number;
  readonly to: number;
  /** First and last line, from 1, both included. */
  readonly lines: readonly [first: number, last: number];
  /** The headings above it, or what it defines with the names of what contains it; "" if there are none. */
  readonly heading: string;
}

/** A passage of a text that has just been cut. */
export interface CutPassage extends Passage {
  /** Names of the functions, classes, constants … that begin in it, in order, without those of their containers. */
  readonly defines: readonly string[];
  /** First lines of the definitions that contain it, the outermost first, such as that of its class: line from 1, and [from, to) in the text. */
  readonly within: readonly SignatureLine[];
}

interface SignatureLine {
  readonly line: number;
  readonly from: number;
  readonly to: number;
}

/** Counted in letters; a character of a script without spaces counts as two and a half. */
const maxWeight = 1500;
/** A heavier passage ends at the next paragraph. */
const goodWeight = 800;
/** Lighter code is not cut off from what follows, even at a definition. */
const minWeight = 90;

/** In order and disjoint; only white space lies between them. At least one, which may be empty. A function that fits is in one passage. */
export function passagesOf(text: string, format: TextFormat): CutPassage[] {
  const passages: CutPassage[] = [];
  const reader = headingReader(format);
  const isOfCode = isCode(format);
  /** Number of the first line of each definition, by its position. */
  const lineAt = new Map<number, number>();
  let begun: Begun[] = [];
  let section = "";
  let open: Open | undefined;
  /** Start of the remarks directly above the line. */
  let remarks: Cut | undefined;
  /** End of the function that is not cut. */
  let wholeUntil = 0;

  /** Adds [open.from, to) without what begins after it. */
  const add = ({ from, line, heading, within }: Open, to: number, lastLine: number): void => {
    const inside = begun.filter((one) => one.from < to);
    begun = begun.filter((one) => one.from >= to);
    const defines = inside.flatMap(({ name }) => name ?? []);
    passages.push({
      from,
      to,
      lines: [line, lastLine],
      heading: headingOf(inside) || heading,
      defines,
      within: within.map((one) => ({ line: lineAt.get(one.from)!, from: one.from, to: one.to })),
    });
  };
  const close = (): void => {
    const before = passages.at(-1);
    // A line or two that remain stay with the passage before.
    if (open?.isRest && open.weight < minWeight * 2 && begun.length === 0 && before?.to === open.restOf)
      passages[passages.length - 1] = { ...before, to: open.to, lines: [before.lines[0], open.lastLine] };
    else if (open) add(open, open.to, open.lastLine);
    open = undefined;
  };
  /** Ends the open passage at an earlier position, and continues with the rest. */
  const closeAt = (cut: Cut): void => {
    const rest = open!;
    add(rest, cut.to, cut.lastLine);
    open = { ...rest, ...cut, to: rest.to, lastLine: rest.lastLine, weight: rest.weight - cut.weight };
    open.breakAt = undefined;
    open.isRest = false;
  };

  let line = 0;
  for (let start = 0; start < text.length;) {
    line += 1;
    const newline = text.indexOf("\n", start);
    const next = newline === -1 ? text.length : newline + 1;
    const from = skipSpace(text, start, next);
    const to = trimEnd(text, from, next);
    if (to === from) {
      if (open && open.weight >= goodWeight && start >= wholeUntil) close();
      if (open) open.hasBreak = true;
      remarks = undefined;
      start = next;
      continue;
    }
    const began = reader.read(text, start, to, newline === -1 ? "" : peekLine(text, next));
    const within = reader.containers();
    const heading = isOfCode ? within.flatMap(({ title }) => title || []).join(" > ") : section;
    const cut: Cut | undefined = open && {
      to: open.to,
      lastLine: open.lastLine,
      from,
      line,
      weight: open.weight,
      heading,
      within,
    };
    if (open?.hasBreak) {
      open.breakAt = cut;
      open.hasBreak = false;
    }
    const weight = weigh(text, from, to);
    if (began && "heading" in began) {
      const at = remarks ?? cut;
      // A heading alone stays with the text below it, and so does a short text before the first heading.
      const isEnough = at && (at.weight >= minWeight || (!isOfCode && open?.hasText && open.heading !== ""));
      if (start >= wholeUntil && began.definition?.kind !== "value") {
        if (open && isEnough) {
          if (remarks) closeAt({ ...remarks, heading, within });
          else close();
        }
        const remarkWeight = remarks && open ? open.weight : 0;
        if (began.definition?.kind === "function")
          wholeUntil = endOfWhole(text, start, next, format, maxWeight - remarkWeight) ?? 0;
      }
      if (began.definition) {
        begun.push({ from, heading: began.heading, name: began.definition.name });
        lineAt.set(start, line);
      } else {
        section = began.heading;
        if (open) open.heading = section;
      }
      remarks = undefined;
    } else if (began) remarks ??= cut;
    else {
      remarks = undefined;
      if (open && !open.hasText) open.hasText = /[\p{L}\p{N}]/u.test(text.slice(from, Math.min(to, from + 200)));
    }

    const isTooMuch: boolean = open !== undefined && start >= wholeUntil && open.weight + weight > maxWeight;
    const isRest = isTooMuch && weight <= maxWeight;
    if (open && isTooMuch) {
      if (open.breakAt && open.breakAt.weight > maxWeight / 4) closeAt(open.breakAt);
      if (open.weight + weight > maxWeight) close();
      remarks = undefined;
    }
    if (weight > maxWeight) {
      close();
      for (const [pieceFrom, pieceTo] of piecesOf(text, from, to))
        add({ ...opened(pieceFrom), to: pieceTo }, pieceTo, line);
    } else if (open) {
      open.to = to;
      open.lastLine = line;
      open.weight += weight + 1;
    } else open = opened(from);
    start = next;

    function opened(at: number): Open {
      const restOf = passages.at(-1)?.to ?? 0;
      return {
        from: at,
        to,
        line,
        lastLine: line,
        heading: began && "heading" in began && !began.definition ? section : heading,
        within,
        weight,
        hasBreak: false,
        breakAt: undefined,
        isRest,
        restOf,
        hasText: began === undefined,
      };
    }
  }
  close();
  if (passages.length === 0) return [{ from: 0, to: 0, lines: [1, 1], heading: "", defines: [], within: [] }];
  return format === "keys" ? withKeys(text, passages) : passages;
}

/** A definition that begins in the open passage or after it. */
interface Begun {
  readonly from: number;
  readonly heading: string;
  readonly name: string | undefined;
}

/** A position to cut at: the end of what is before it, and the start of what is after it. */
interface Cut {
  readonly to: number;
  readonly lastLine: number;
  readonly from: number;
  readonly line: number;
  /** Weight of what is before it. */
  readonly weight: number;
  /** Of what is after it. */
  readonly heading: string;
  readonly within: readonly OpenDefinition[];
}

interface Open {
  readonly from: number;
  readonly line: number;
  to: number;
  lastLine: number;
  /** Headings above its start. */
  heading: string;
  readonly within: readonly OpenDefinition[];
  weight: number;
  /** True directly after a paragraph. */
  hasBreak: boolean;
  /** Start of the last paragraph. */
  breakAt: Cut | undefined;
  /** True if there is more than a heading. */
  hasText: boolean;
  /** True if it continues a passage that had become too long, which ended at `restOf`. */
  isRest: boolean;
  readonly restOf: number;
}

const maxHeadingLength = 400;

/** Each definition with its containers, which are named once: `Pool > open, close`. */
function headingOf(begun: readonly Begun[]): string {
  let heading = "";
  let above = "";
  begun.forEach(({ heading: path }, at) => {
    if (begun[at + 1]?.heading.startsWith(`${path} > `) || heading.length > maxHeadingLength) return;
    const end = path.lastIndexOf(" > ") + 1;
    const isSibling = heading !== "" && path.slice(0, end) === above;
    heading += (heading === "" ? "" : ", ") + (isSibling && end > 0 ? path.slice(end + 2) : path);
    above = path.slice(0, end);
  });
  return heading;
}

/** Keys are headings of the passage where they begin, but no place to cut. */
function withKeys(text: string, passages: readonly CutPassage[]): CutPassage[] {
  const keys = outermostKeys(text);
  let next = 0;
  return passages.map((passage) => {
    const defines = new Set<string>();
    for (; next < keys.length && keys[next]!.from < passage.to; next += 1) defines.add(keys[next]!.name);
    const begun = Array.from(defines, (name) => ({ from: passage.from, heading: name, name }));
    return { ...passage, heading: headingOf(begun), defines: [...defines] };
  });
}

/** Where the definition ends whose first line is [start, next); undefined if it weighs more than `most`. */
function endOfWhole(text: string, start: number, next: number, format: TextFormat, most: number): number | undefined {
  const indent = indentOf(text.slice(start, Math.min(next, start + 200)));
  let weight = 0;
  let end = next;
  for (let at = start; at < text.length && at - start < most * 4;) {
    const newline = text.indexOf("\n", at);
    const after = newline === -1 ? text.length : newline + 1;
    const from = skipSpace(text, at, after);
    const to = trimEnd(text, from, after);
    if (to > from) {
      const code = text.slice(at, Math.min(to, at + 200));
      const own = indentOf(code);
      if (at > start && (own < indent || (own === indent && !isContinued(code.trimStart(), format)))) return end;
      weight += to - from > most ? Infinity : weigh(text, from, to) + 1;
      if (weight > most) return undefined;
      end = after;
    }
    at = after;
  }
  return end;
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
