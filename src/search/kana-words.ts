/** Words in the other kana: さくら for サクラ, and the reverse. Only words with meaning: マスタ must not find 〜ました. */
import { isFunctionKana, isGrammar, leadsToWord } from "./function-words.ts";

/** A kana word of a query, to be searched in the other kana too. */
export interface KanaWord {
  /** Start in the folded text. */
  readonly from: number;
  readonly text: string;
  /** The same word in the other kana. */
  readonly other: string;
}

/** Part of a sentence that is segmented to find the boundaries of a word. */
const contextLength = 24;
/** Occurrences in one text that are checked: a text may repeat one syllable. */
const maxChecks = 16;
const minAfterHan = 4;
const maxWordLength = 32;
const maxWords = 16;

const katakana = /[ァ-ヶヽヾ]/u;
const hiragana = /[ぁ-ゖゝゞ]/u;
/** A letter that may belong to the same sentence without a space. */
const joined = /[\p{L}\p{N}]/u;
const kanaRun = /[ぁ-ゖゝゞ][ぁ-ゖゝゞー]+|[ァ-ヶヽヾ][ァ-ヶヽヾー]+/gu;

export function toHiragana(text: string): string {
  return text.replace(/[ァ-ヶヽヾ]/gu, (kana) => String.fromCharCode(kana.charCodeAt(0) - 0x60));
}

export function isHiragana(text: string): boolean {
  return hiragana.test(text);
}

function toKatakana(text: string): string {
  return text.replace(/[ぁ-ゖゝゞ]/gu, (kana) => String.fromCharCode(kana.charCodeAt(0) + 0x60));
}

/**
 * The kana words of a folded query, in order: katakana runs, hiragana that stands alone, and what is left of each run without
 * function words and endings. Not simply the words of ICU, which does not know ぱすわーど.
 */
export function kanaWordsOf(folded: string): readonly KanaWord[] {
  const words: KanaWord[] = [];
  let segments: readonly Segment[] | undefined;
  // The first segment that does not end before the run.
  let first = 0;
  for (const { 0: run, index: start } of folded.matchAll(kanaRun)) {
    if (words.length >= maxWords) break;
    const end = start + run.length;
    const isKatakana = katakana.test(run);
    const isAlone = !joined.test(folded[start - 1] ?? "") && !joined.test(folded[end] ?? "");
    const isFunction = isKatakana || isAlone ? isFunctionKana : isGrammar;
    const add = (from: number, to: number): void => {
      const text = folded.slice(from, to);
      if (text.length < 2 || text.length > maxWordLength) return;
      const other = isKatakana ? toHiragana(text) : toKatakana(text);
      if (isFunction(isKatakana ? other : text) || words.some((word) => word.other === other)) return;
      words.push({ from, text, other });
    };
    if (isKatakana || isAlone) add(start, end);
    let from = start;
    segments ??= segmentsOf(folded);
    while (first < segments.length && endOf(segments[first]!) <= start) first += 1;
    for (let at = first; at < segments.length && segments[at]!.index < end; at += 1) {
      const { segment, index } = segments[at]!;
      // The ending of a word that began before the run: ち of 落ち.
      if (index >= start && !isFunctionKana(toHiragana(segment))) continue;
      add(from, index);
      from = endOf(segments[at]!);
    }
    add(from, end);
  }
  return words;
}

/**
 * Where the word occurs in a folded text. Katakana is written for words alone, so each occurrence counts. In hiragana the occurrence
 * must be a word: さいと is no word in 小さいと and くださいと, nor ないと in 行かないと.
 */
export function occurrencesOf(word: string, folded: string): readonly number[] {
  const found: number[] = [];
  const needsWord = isHiragana(word);
  let checks = 0;
  for (let at = folded.indexOf(word); at !== -1; at = folded.indexOf(word, at + word.length)) {
    if (needsWord && checks++ === maxChecks) break;
    if (!needsWord || isWord(folded, at, at + word.length)) found.push(at);
  }
  return found;
}

function isWord(folded: string, from: number, to: number): boolean {
  const start = Math.max(0, from - contextLength);
  const segments = segmentsOf(folded.slice(start, to + contextLength));
  const first = segments.findIndex(({ index }) => start + index === from);
  if (first === -1) return false;
  const before = segments[first - 1]?.segment ?? "";
  if (/^[ぁ-ゖー]+$/u.test(before) && !leadsToWord(before)) return false;
  // Short hiragana after a Chinese character is mostly its ending: 唱えられ.
  if (to - from < minAfterHan && /\p{Script=Han}$/u.test(before)) return false;
  const next = segments.findIndex(({ index }) => start + index >= to);
  const after = segments[next];
  // ごみ箱 is one word, and ごみ in it is another.
  const endsWithin = after ? start + after.index > to : to < folded.length;
  if (endsWithin && /[ぁ-ゖー]/u.test(folded[to]!)) return false;
  // ICU cuts とられ into とら and れ. After a word, one kana is a particle.
  if (/^[ぁ-ゖ]$/u.test(after?.segment ?? "") && !/^[のはがをにへとでもやかなだよねし]$/u.test(after!.segment))
    return false;
  return segments.slice(first, next === -1 ? undefined : next).some(({ segment }) => !isFunctionKana(segment));
}

interface Segment {
  segment: string;
  readonly index: number;
}

function endOf({ segment, index }: Segment): number {
  return index + segment.length;
}

let segmenter: Intl.Segmenter | undefined;

/** Words, with a lengthening mark attached to the word before it. */
function segmentsOf(text: string): readonly Segment[] {
  segmenter ??= new Intl.Segmenter("ja", { granularity: "word" });
  const segments: Segment[] = [];
  for (const { segment, index } of segmenter.segment(text)) {
    const last = segments.at(-1);
    if (last && segment.startsWith("ー")) last.segment += segment;
    else segments.push({ segment, index });
  }
  return segments;
}
