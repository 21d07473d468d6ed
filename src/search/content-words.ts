/** The words of a query that carry meaning: a document matches if it contains all of them. */
import { foldText } from "./fold.ts";
import { isFunctionWord } from "./function-words.ts";
import { kanaWordsOf, type KanaWord } from "./kana-words.ts";
import { isStep, wantedOf, type Phrase } from "./query-terms.ts";

export interface ContentWord {
  /** Terms that must follow one another: one for a word or a whole identifier, several for a path or a run of characters. */
  readonly phrase: Phrase;
  /** The same word in the other kana, which counts too. */
  readonly otherKana?: string;
  /** A run of characters without spaces: a text that contains it has the word. */
  readonly run?: string;
}

/** Runs of one script, without spaces between words; and names, which are words with signs between them. */
const runs =
  /(?<han>[\p{Script=Han}々〆ヶ]+)|(?<katakana>[ァ-ヺヽヾ][ァ-ヺヽヾー]*)|(?<hiragana>[ぁ-ゖゝゞ][ぁ-ゖゝゞー]*)|(?<name>[[\p{L}\p{N}\p{M}_]--[\p{Script=Han}ぁ-ヾー〆]](?:[\-.\/\\:#@+='’]*[[\p{L}\p{N}\p{M}_]--[\p{Script=Han}ぁ-ヾー〆]])*)/gv;

/** Question words with the counter that follows, as in 何年. */
const interrogative = /何\p{Script=Han}?|誰/u;
/** Counters, which need not be the same in the text. */
const isCounter = /^[年名人]$/u;

/** Each part between spaces by itself, so that a further word only adds to the result. */
export function contentWordsOf(text: string, isUnfinished: boolean): ContentWord[] {
  return eachPart(text, isUnfinished, (part, isOpen) => {
    const kana = kanaWordsOf(part);
    return [...part.matchAll(runs)].flatMap(({ 0: run, index, groups = {} }): ContentWord[] => {
      if (groups["name"] !== undefined) {
        if (isFunctionWord(run.toLowerCase().replaceAll(/['’]/gu, ""))) return [];
        const words = toWord(run, isOpen && index + run.length === part.length);
        return words.filter(({ phrase }) => phrase.length > 1 || !isFunctionWord(phrase[0]!.surface));
      }
      if (groups["han"] !== undefined)
        return run.split(interrogative).flatMap((piece) => (isCounter.test(piece) ? [] : toWord(piece, false)));
      if (groups["katakana"] !== undefined) {
        const other = kana.find(({ from, text: word }) => from === index && word === run)?.other;
        return run.length < 2 ? [] : toWord(run, false, other);
      }
      // After another letter it is mostly an ending.
      if (/[\p{L}\p{N}]/u.test(part[index - 1] ?? "")) return [];
      const inRun = kana.filter((word) => isWithin(word, { from: index, text: run }));
      return inRun
        .filter((word) => !inRun.some((other) => other !== word && isWithin(other, word)))
        .flatMap(({ text: word, other }) => toWord(word, false, other));
    });
  });
}

/** All words, also those without meaning. */
export function wordsOf(text: string, isUnfinished: boolean): ContentWord[] {
  return eachPart(text, isUnfinished, (part, isOpen) => toWord(part, isOpen));
}

function eachPart(
  text: string,
  isUnfinished: boolean,
  read: (part: string, isOpen: boolean) => readonly ContentWord[],
): ContentWord[] {
  const parts = foldText(text).split(/[\s\u3000]+/u);
  return parts.flatMap((part, at) => read(part, isUnfinished && at === parts.length - 1));
}

type Piece = Pick<KanaWord, "from" | "text">;

function isWithin(inner: Piece, outer: Piece): boolean {
  return inner.from >= outer.from && inner.from + inner.text.length <= outer.from + outer.text.length;
}

function toWord(text: string, isOpen: boolean, otherKana?: string): ContentWord[] {
  const phrase = stepsOf(text, isOpen);
  const run = phrase.every(({ kind }) => kind === "pair") && { run: text };
  return phrase.length > 0 ? [{ phrase, ...run, ...(otherKana !== undefined && { otherKana }) }] : [];
}

/** An identifier as one term, if it is all there is; in a path, its parts. */
function stepsOf(text: string, isOpen: boolean): Phrase {
  const terms = wantedOf(text, 0, isOpen);
  const [whole, ...parts] = terms;
  const isOne = whole?.kind === "whole" && parts.every(({ kind }) => kind === "part");
  if (!isOne) return terms.filter(isStep);
  return [isOpen ? { ...whole, beginning: whole.surface.replaceAll(/[-_]/gu, "") } : whole];
}
