/** The words of a task, and how much each says about what is needed. */
import { textFormatOf } from "../search/format.ts";
import { isFunctionKana, isFunctionPair, isFunctionWord } from "../search/function-words.ts";
import { kanaWordsOf } from "../search/kana-words.ts";
import { tokenize, type Token } from "../search/tokens.ts";

/** An index term of the task, and its weight. */
export interface TaskTerm {
  readonly term: string;
  /** As written in the task; for a pair of characters, the word that it belongs to. */
  readonly surface: string;
  readonly weight: number;
  /** True for a whole identifier: `getUserName`, `max_bytes`. */
  readonly isName: boolean;
  /** True before the first colon, where many tasks name a location: `router: respond sooner`. */
  readonly isPlace: boolean;
  /** True if it can be a reason by itself: not for "fix" and "add", `src` and `.ts` in a path, nor for two characters on the border of two words. */
  readonly isContent: boolean;
}

const maxTerms = 200;
const maxPlaceLength = 60;

/** Each term once. Words that carry grammar only are left out. */
export function termsOf(text: string): ReadonlyMap<string, TaskTerm> {
  const terms = new Map<string, TaskTerm>();
  const firstLine = endOfFirstLine(text);
  const place = endOfPlace(text);
  const words = denseWordsOf(text);
  const tokens = tokenize(text);
  tokens.forEach((token, at) => {
    if (token.kind === "single" && tokens[at - 1]?.kind === "pair") return;
    const found = words.get(token.from);
    const word = found && token.to <= found.to ? found.text : undefined;
    const written = text.slice(token.from, token.to);
    const weight = weigh(token, written, word !== undefined) * (token.from < firstLine ? 1.5 : 1);
    const known = terms.get(token.term);
    if (weight === 0 || (known ? known.weight >= weight : terms.size >= maxTerms)) return;
    const isPair = token.kind === "pair" || token.kind === "single";
    terms.set(token.term, {
      term: token.term,
      surface: (isPair && word) || written,
      weight,
      isName: token.kind === "whole",
      isPlace: token.to <= place,
      isContent: isPair ? word !== undefined : isContentWord(written) && !isExtension(text, token),
    });
  });
  return terms;
}

function isContentWord(written: string): boolean {
  const word = written.toLowerCase();
  return word !== "src" && !short.test(word) && !routine.has(word) && !isFunctionWord(word);
}

/** True for the last part of `a.py`. */
function isExtension(text: string, { from, to }: Token): boolean {
  if (text[from - 1] !== "." || !/[\p{L}\p{N}_\])]/u.test(text[from - 2] ?? "")) return false;
  return /^(?:txt|html?|xml|csv)$/i.test(text.slice(from, to)) || textFormatOf(text.slice(from - 2, to)) !== "plain";
}

function weigh({ kind, term }: Token, surface: string, isInWord: boolean): number {
  switch (kind) {
    case "whole":
      return 1.6;
    case "part":
      return isFunctionWord(term) ? 0 : 0.7;
    case "pair":
      if (!isInWord && isFunctionPair(surface)) return 0;
      return kana.test(surface) ? 0.3 : 1;
    case "single":
      if (isFunctionKana(surface)) return 0;
      return kana.test(surface) ? 0.1 : 0.5;
    case "word":
      if (isFunctionWord(surface.toLowerCase())) return 0;
      return short.test(surface) ? 0.2 : routine.has(surface.toLowerCase()) ? 0.5 : 1;
  }
}

/** A letter, or a number of one or two digits. */
const short = /^(?:\p{L}|\d{1,2})$/u;
const kana = /^[\u3041-\u309f\u30fc]+$/u;
const denseRun = /[\p{Script=Han}々]{1,12}|[\p{Script=Katakana}ー]{2,20}/gu;

interface DenseWord {
  readonly text: string;
  readonly to: number;
}

/** By each position: runs of Han characters or katakana, and words in hiragana that are not the ending of one in Han characters. */
function denseWordsOf(text: string): ReadonlyMap<number, DenseWord> {
  const runs = Array.from(text.matchAll(denseRun), ({ 0: run, index }) => ({ from: index, text: run }));
  const kanaWords = kanaWordsOf(text).filter(({ from }) => !/\p{Script=Han}/u.test(text[from - 1] ?? ""));
  const words = new Map<number, DenseWord>();
  for (const { from, text: word } of [...kanaWords, ...runs])
    for (let at = from; at < from + word.length; at += 1) words.set(at, { text: word, to: from + word.length });
  return words;
}

/** Words of nearly every task: they do not help to find a location. */
const routine = new Set(
  "fix fixes fixed add adds added remove removes removed change changes changed update updates make implement support handle allow avoid ensure improve move rename refactor bug issue code file function method class line patch problem case new".split(
    " ",
  ),
);

export function endOfFirstLine(text: string): number {
  const start = text.search(/\S/);
  const end = text.indexOf("\n", start);
  return end === -1 ? 0 : end;
}

/** Position of the colon of `web, s3: …` and `fix(router): …`; 0 if a whole clause stands before it. */
function endOfPlace(text: string): number {
  const start = text.search(/\S/);
  const before = text.slice(start, start + maxPlaceLength);
  const colon = before.search(/:\s|：/u);
  const words = before
    .slice(0, Math.max(0, colon))
    .split(/[ ,()/+&、]+/u)
    .filter((word) => word !== "");
  const isPlace = words.length > 0 && words.length <= 4 && words.every((word) => /^[\p{L}\p{N}_$.-]+$/u.test(word));
  return isPlace ? start + colon : 0;
}
