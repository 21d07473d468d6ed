/**
 * Removes endings of English words, after M. F. Porter, "An algorithm for suffix stripping" (1980). The rules for short words and for the last y
 * are those of his later stemmer: https://snowballstem.org/algorithms/english/stemmer.html
 */
import { isFunctionWord } from "./function-words.ts";

const cache = new Map<string, string>();

/** For lowercase words of a to z; others are returned unchanged. */
export function stem(word: string): string {
  if (word.length < 3 || word.length > 32) return word;
  let known = cache.get(word);
  if (known === undefined) {
    known = /^[a-z]+$/.test(word) ? strip(word) : word;
    if (cache.size >= 32_768) cache.clear();
    cache.set(word, known);
  }
  return known;
}

function strip(word: string): string {
  if (unchanged.has(word)) return word;
  if (word.length === 3) return isFunctionWord(word) ? word : replaceY(word.replace(/([aeiou][^aeious])s$/, "$1"));
  let at = dropPlural(word);
  at = dropPast(at);
  at = replaceY(at);
  at = swap(at, seconds, 0);
  at = swap(at, thirds, 0);
  at = swap(at, fourths, 1);
  return dropEnd(at);
}

const unchanged: ReadonlySet<string> = new Set(["news", "this"]);

/** "try" and "tries" have one stem; "key" and "by" keep their y. */
function replaceY(word: string): string {
  return word.replace(/(.[^aeiou])y$/, "$1i");
}

function dropPlural(word: string): string {
  if (/^.ies$/.test(word)) return word.slice(0, -1);
  if (word.endsWith("sses") || word.endsWith("ies")) return word.slice(0, -2);
  return word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}

function dropPast(word: string): string {
  if (/^.ied$/.test(word)) return word.slice(0, -1);
  if (word.endsWith("eed")) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const ending = word.endsWith("ed") ? 2 : word.endsWith("ing") ? 3 : 0;
  const base = word.slice(0, word.length - ending);
  if (ending === 0 || !hasVowel(base)) return word;
  if (/(?:at|bl|iz)$/.test(base)) return `${base}e`;
  if (/([^aeiou])\1$/.test(base) && !/[lsz]$|^[aeo]..$/.test(base)) return base.slice(0, -1);
  return measure(base) === 1 && endsShort(base) ? `${base}e` : base;
}

function dropEnd(word: string): string {
  let at = word;
  if (at.endsWith("e")) {
    const base = at.slice(0, -1);
    const m = measure(base);
    if (m > 1 || (m === 1 && !endsShort(base))) at = base;
  }
  return at.endsWith("ll") && measure(at) > 1 ? at.slice(0, -1) : at;
}

/** Only the first matching ending counts, whether or not enough of the word is left. */
function swap(word: string, all: ReturnType<typeof endings>, least: number): string {
  for (const [ending, instead] of all) {
    if (!word.endsWith(ending)) continue;
    const base = word.slice(0, -ending.length);
    if (measure(base) <= least) return word;
    return ending === "ion" && !/[st]$/.test(base) ? word : base + instead;
  }
  return word;
}

/** Number of vowel sequences followed by a consonant. */
function measure(word: string): number {
  let count = 0;
  let wasVowel = false;
  for (let at = 0; at < word.length; at += 1) {
    const vowel = isVowel(word, at);
    if (wasVowel && !vowel) count += 1;
    wasVowel = vowel;
  }
  return count;
}

function isVowel(word: string, at: number): boolean {
  const letter = word[at]!;
  if (letter === "y") return at > 0 && !isVowel(word, at - 1);
  return letter === "a" || letter === "e" || letter === "i" || letter === "o" || letter === "u";
}

function hasVowel(word: string): boolean {
  for (let at = 0; at < word.length; at += 1) if (isVowel(word, at)) return true;
  return false;
}

/** Ends in consonant, vowel, consonant other than w, x or y; or is a vowel and a consonant. */
function endsShort(word: string): boolean {
  const last = word.length - 1;
  if (last === 1) return isVowel(word, 0) && !isVowel(word, 1);
  return (
    last >= 2 && !isVowel(word, last) && isVowel(word, last - 1) && !isVowel(word, last - 2) && !/[wxy]$/.test(word)
  );
}

/** Reads a list of `ending:replacement`. */
function endings(list: string): (readonly [ending: string, instead: string])[] {
  return list.split(" ").map((pair) => pair.split(":") as [string, string]);
}

const seconds = endings(
  "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e ousli:ous " +
    "ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive " +
    "biliti:ble logi:log",
);

const thirds = endings("icate:ic ative: alize:al iciti:ic ical:ic ful: ness:");

const fourths = endings(
  "al: ance: ence: er: ic: able: ible: ant: ement: ment: ent: ion: ou: ism: ate: iti: ous: ive: ize:",
);
