/** Parses a query as a person types it: terms, phrases, exclusions and filters. */
import { invalid, quote } from "../errors.ts";
import { contentWordsOf, wordsOf, type ContentWord } from "./content-words.ts";
import { foldText } from "./fold.ts";
import { kanaWordsOf } from "./kana-words.ts";
import { isStep, termKey, wantedOf, type Phrase, type QueryTerm } from "./query-terms.ts";
import { tokenize } from "./tokens.ts";

/** A word to search for in the other kana too: サクラ for さくら. */
interface OtherKana {
  readonly word: string;
  /** The terms of the other word, each once: all must occur. */
  readonly terms: readonly string[];
  /** The word as typed, and its terms, which are wanted too. */
  readonly typed: string;
  readonly typedTerms: readonly string[];
  readonly position: number;
}

export interface Filter {
  readonly name: "path" | "mime" | "source" | "lang";
  readonly value: string;
  readonly isNot: boolean;
}

export interface ParsedQuery {
  /** In the order of the query, including those of its phrases. */
  readonly wanted: readonly QueryTerm[];
  /** Of words only: phrases and exclusions are taken as typed. */
  readonly otherKana: readonly OtherKana[];
  /** Words that every match contains, including the phrases. Undefined if there are too many to check. */
  readonly content: readonly ContentWord[] | undefined;
  /** The words or the phrase, folded and in lowercase, if the query has nothing else to search for. */
  readonly whole?: string;
  readonly phrases: readonly Phrase[];
  readonly nots: readonly Phrase[];
  readonly filters: readonly Filter[];
  /** True if there are conditions on anything but the text. */
  readonly isFiltered: boolean;
  /** Only documents changed at this time or later, in milliseconds. */
  readonly after?: number;
  /** Only documents with at least this priority. */
  readonly priority?: number;
  /** Only documents for one of these audiences, or for no particular one. */
  readonly audience: readonly Audience[];
}

type Audience = "user" | "assistant";

/** Longer texts are rejected. */
const maxLength = 10_000;
/** Later words of a long query add little. */
const maxWanted = 256;
const maxOtherKana = 16;
const maxContentWords = 64;
const maxClauses = 64;

export function parseQuery(text: string, { typing = false, now = Date.now() } = {}): ParsedQuery {
  if (text.length > maxLength)
    throw invalid(`a query has at most ${maxLength} characters; this one has ${text.length}`);
  const wanted: QueryTerm[] = [];
  const otherKana: OtherKana[] = [];
  const content: ContentWord[] = [];
  const allWords: ContentWord[] = [];
  const phrases: Phrase[] = [];
  const nots: Phrase[] = [];
  const filters: Filter[] = [];
  const audience: Audience[] = [];
  let after: number | undefined;
  let priority: number | undefined;
  let position = 0;
  const clauses = clausesOf(text);
  if (clauses.length > maxClauses && clauses.some(({ kind }) => kind !== "words"))
    throw invalid(`a query has at most ${maxClauses} phrases, exclusions and filters`);

  const take = (piece: string, isUnfinished: boolean): QueryTerm[] => {
    const found = wantedOf(piece, position, isUnfinished);
    position = (found.at(-1)?.position ?? position) + gapBetweenClauses;
    return found;
  };
  clauses.forEach(({ kind, value, isNot, isOpen }, index) => {
    const isLast = index === clauses.length - 1;
    if (kind === "after") after = Math.max(after ?? -Infinity, readTime(value, now));
    else if (kind === "priority") priority = Math.max(priority ?? 0, readPriority(value));
    else if (kind === "audience") audience.push(readAudience(value));
    else if (kind === "words" && !isNot) {
      otherKana.push(...otherKanaOf(value, position));
      const isUnfinished = typing && isLast && endsInWord(text);
      wanted.push(...take(value, isUnfinished));
      content.push(...contentWordsOf(value, isUnfinished));
      allWords.push(...wordsOf(value, isUnfinished));
    } else if (kind === "words" || kind === "phrase") {
      const phrase = take(value, typing && isLast && isOpen && endsInWord(text)).filter(isStep);
      if (phrase.length === 0) return;
      (isNot ? nots : phrases).push(phrase);
      if (isNot) return;
      wanted.push(...phrase);
      content.push({ phrase });
    } else filters.push({ name: kind, value, isNot });
  });
  // In a query of function words alone, these count.
  const words = content.length > 0 ? content : allWords;
  const required = [...new Map(words.map((word) => [word.phrase.map(termKey).join(" "), word])).values()];
  const searched = clauses.filter(({ kind, isNot }) => (kind === "words" || kind === "phrase") && !isNot);
  const isFiltered = filters.length + audience.length > 0 || after !== undefined || priority !== undefined;
  if (wanted.length === 0 && !isFiltered)
    throw invalid(
      nots.length > 0
        ? "a query needs a word to search for besides those it excludes"
        : "nothing to search for: enter a word",
    );
  return {
    wanted: wanted.slice(0, maxWanted),
    otherKana: otherKana.slice(0, maxOtherKana),
    content: required.length <= maxContentWords ? required : undefined,
    ...(searched.length === 1 && { whole: nameKey(searched[0]!.value) }),
    phrases,
    nots,
    filters,
    isFiltered,
    audience,
    after,
    priority,
  };
}

/** Names are compared in this form: in any case and width. */
export function nameKey(name: string): string {
  return foldText(name).toLowerCase().trim().replaceAll(/\s+/gu, " ");
}

/** Keeps clauses apart: no term of one directly follows a term of another. */
const gapBetweenClauses = 10;

function otherKanaOf(text: string, first: number): OtherKana[] {
  const folded = foldText(text);
  const words = kanaWordsOf(folded);
  if (words.length === 0) return [];
  const positions = new Map(tokenize(folded).map(({ from, position }) => [from, position]));
  return words.map(({ from, text: typed, other }) => ({
    word: other,
    terms: pairsOf(other),
    typed,
    typedTerms: pairsOf(typed),
    position: first + (positions.get(from) ?? 0),
  }));
}

function pairsOf(kana: string): string[] {
  return [...new Set(tokenize(kana).flatMap(({ kind, term }) => (kind === "pair" ? term : [])))];
}

function endsInWord(text: string): boolean {
  return /[\p{L}\p{N}\p{M}]$/u.test(text);
}

interface Clause {
  readonly kind: "words" | "phrase" | "after" | "priority" | "audience" | Filter["name"];
  readonly value: string;
  readonly isNot: boolean;
  /** True if the closing quotation mark is missing. */
  readonly isOpen: boolean;
}

const quotes: Readonly<Record<string, string>> = { '"': '"', "“": "”", "„": "“", "＂": "＂" };

function clausesOf(text: string): Clause[] {
  const clauses: Clause[] = [];
  let plain = "";
  const endPlain = (): void => {
    if (plain.trim() !== "") clauses.push({ kind: "words", value: plain.trim(), isNot: false, isOpen: true });
    plain = "";
  };
  for (let at = 0; at < text.length;) {
    const isStart = at === 0 || /[\s\u3000]/u.test(text[at - 1]!);
    let from = at;
    const isNot = isStart && /[-－]/u.test(text[at]!) && /[^\s\u3000-]/u.test(text[at + 1] ?? " ");
    if (isNot) from += 1;
    const field = isStart
      ? /^(path|mime|source|lang|after|priority|audience):/iu.exec(text.slice(from, from + 9))?.[1]?.toLowerCase()
      : undefined;
    if (field) from += field.length + 1;
    const closing = quotes[text[from] ?? ""];
    if (closing === undefined && !field && !isNot) {
      plain += text[at];
      at += 1;
      continue;
    }
    let end = closing === undefined ? nextSpace(text, from) : text.indexOf(closing, from + 1);
    const isOpen = closing === undefined || end === -1;
    if (end === -1) end = text.length;
    const value = text.slice(closing === undefined ? from : from + 1, end);
    endPlain();
    const kind = (field as Clause["kind"] | undefined) ?? (closing === undefined ? "words" : "phrase");
    if (value.trim() !== "") {
      if (isNot && (kind === "after" || kind === "priority" || kind === "audience"))
        throw invalid(`${quote(`${kind}:`)} cannot be negated with "-"`);
      clauses.push({ kind, value, isNot, isOpen });
    } else if (field) throw invalid(`${quote(`${field}:`)} needs a value directly after the colon`);
    at = end + (closing !== undefined && end < text.length ? 1 : 0);
  }
  endPlain();
  return clauses;
}

function nextSpace(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) if (/[\s\u3000]/u.test(text[at]!)) return at;
  return text.length;
}

const unitMs: Readonly<Record<string, number>> = {
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
  m: 30 * 86_400_000,
  y: 365 * 86_400_000,
};

function readTime(value: string, now: number): number {
  const folded = value.normalize("NFKC").toLowerCase();
  const ago = /^(\d{1,4})([hdwmy])$/.exec(folded);
  if (ago) return now - Number(ago[1]) * unitMs[ago[2]!]!;
  const time = /^\d{4}(?:-\d\d(?:-\d\d(?:t[\d:.]+(?:z|[+-]\d\d:\d\d)?)?)?)?$/.test(folded)
    ? Date.parse(folded.toUpperCase())
    : Number.NaN;
  if (Number.isNaN(time))
    throw invalid(
      `${quote(`after:${value}`)} is not a date: write after:2026-01-31, or after:7d for the last seven days`,
    );
  return time;
}

function readPriority(value: string): number {
  const folded = value.normalize("NFKC");
  if (!/^(?:0?\.\d{1,6}|[01](?:\.0{0,6})?)$/.test(folded))
    throw invalid(`${quote(`priority:${value}`)} is not a priority: write a number from 0 to 1, as in priority:0.8`);
  return Number(folded);
}

function readAudience(value: string): Audience {
  const folded = value.normalize("NFKC").toLowerCase();
  if (folded !== "user" && folded !== "assistant")
    throw invalid(`${quote(`audience:${value}`)} is not an audience: write audience:user or audience:assistant`);
  return folded;
}
