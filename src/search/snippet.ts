/** Cuts the piece of a passage that best shows why it matched. */
import type { TermMatch } from "./matches.ts";
import { wholeCharacterAt } from "./whole-character.ts";

interface Snippet {
  /** Position in the passage. */
  readonly from: number;
  readonly to: number;
  /** [from, to) in the snippet; in order and disjoint. */
  readonly marks: readonly (readonly [from: number, to: number])[];
}

const maxLength = 240;
/** Maximum length of context before the first match. */
const leadLength = 60;

export function snippetOf(text: string, matches: readonly TermMatch[]): Snippet {
  // Very common terms explain nothing, unless the query has no others.
  const most = matches.reduce((idf, { found }) => Math.max(idf, found.idf), 0);
  const telling = matches.filter(({ found }) => found.idf >= most * 0.4);
  const at = bestWindow(telling);
  const from = telling.length === 0 ? 0 : beginOf(text, at);
  const to = endOf(text, from);
  const marks: [number, number][] = [];
  for (const { token, found } of telling) {
    const end = (found.wanted.kind === "single" && token.middle) || token.to;
    if (token.from < from || end > to) continue;
    const last = marks.at(-1);
    if (last && token.from - from <= last[1]) last[1] = Math.max(last[1], end - from);
    else marks.push([token.from - from, end - from]);
  }
  return { from, to, marks };
}

/** Start of the window that holds most of the query. */
function bestWindow(matches: readonly TermMatch[]): number {
  let best = 0;
  let most = -1;
  const inside = new Map<number, number>();
  let worth = 0;
  let start = 0;
  for (const { found, index, token } of matches) {
    const times = inside.get(index) ?? 0;
    inside.set(index, times + 1);
    worth += times === 0 ? found.idf : 0;
    while (token.to - matches[start]!.token.from > maxLength - leadLength) {
      const left = matches[start++]!;
      const rest = inside.get(left.index)! - 1;
      inside.set(left.index, rest);
      if (rest === 0) worth -= left.found.idf;
    }
    if (worth > most + 1e-9) {
      most = worth;
      best = matches[start]!.token.from;
    }
  }
  return best;
}

/** A little before the match: the start of its line or sentence, else of a word. */
function beginOf(text: string, match: number): number {
  if (match <= leadLength) return 0;
  const earliest = match - leadLength;
  let word = match;
  for (let at = match; at > earliest; at -= 1) {
    const before = text[at - 1]!;
    if (/[\n。．！？]/u.test(before) || (before === " " && /[.!?]/.test(text[at - 2] ?? "")))
      return skipWhite(text, at, match);
    if (/[\s、，]/u.test(before)) word = at;
  }
  return wholeCharacterAt(text, word === match ? earliest : word);
}

function endOf(text: string, from: number): number {
  const latest = from + maxLength;
  if (text.length <= latest) return text.length;
  for (let at = latest; at > latest - 40; at -= 1) if (/[\s。、]/u.test(text[at - 1]!)) return trimmed(text, from, at);
  return wholeCharacterAt(text, latest);
}

function skipWhite(text: string, from: number, to: number): number {
  let at = from;
  while (at < to && /\s/u.test(text[at]!)) at += 1;
  return at;
}

function trimmed(text: string, from: number, to: number): number {
  let at = to;
  while (at > from && /\s/u.test(text[at - 1]!)) at -= 1;
  return at;
}
