/** Finds what a task quotes exactly: lines of files, as in stack traces, and texts of errors. */
import { isFunctionWord } from "../search/function-words.ts";

/** A line of a file: `at run (src/a.ts:12:3)`, `File "a.py", line 12`, `a.ts の 12 行目`. */
export interface TaskLocation {
  /** With slashes, as written; may begin above the root of a mount. */
  readonly path: string;
  readonly line: number;
}

/** Part of a path of routes: `[id]`, `[[...slug]]`, `(group)`. Not `a.cs(12)`, which names a line, nor `[a.ts](src/a.ts)`. */
export const folderInBrackets = String.raw`\[{1,2}[\p{L}\p{N}_.=-]{1,60}\]{1,2}(?=[/\\.])|(?<![^\s/\\"'\x60])\([\p{L}\p{N}_.-]{1,60}\)(?=[/\\])`;
const maxLocations = 16;
const maxPhrases = 8;
const maxPhraseLength = 300;
const maxLines = 200;
const name = new RegExp(String.raw`(?:[\p{L}\p{N}_@.~+/\\-]|${folderInBrackets})+`, "gu");
const lineAfter = /^(?:(?::line |:|#L|["'`)]?,? (?:on )?line |\()(\d{1,7})|[ 　]?の?[ 　]?(\d{1,7})[ 　]?行)/u;

/** In the order of the text: a stack trace begins with the innermost call, or ends with it in Python. */
export function locationsIn(text: string): readonly TaskLocation[] {
  const found = new Map<string, TaskLocation>();
  for (const { 0: run, index } of text.matchAll(name)) {
    if (found.size === maxLocations) break;
    if (run.length > 300 || !/\.\p{L}[\p{L}\p{N}]{0,7}$/u.test(run)) continue;
    const match = lineAfter.exec(text.slice(index + run.length, index + run.length + 24));
    const line = Number(match?.[1] ?? match?.[2]);
    if (!(line > 0)) continue;
    const path = run.replaceAll("\\", "/");
    found.set(`${path}:${line}`, { path, line });
  }
  return [...found.values()];
}

const quoted =
  /"([^"\n]{4,300})"|'([^'\n]{4,300})'|“([^”\n]{4,300})”|`([^`\n]{4,300})`|「([^」\n]{4,300})」|『([^』\n]{4,300})』/gu;
const errorWord = /(?:error|exception|panic|fatal|エラー|例外)\s?[:：]/iu;
/** Signs and values that a program puts into its messages. */
const value = /["'`“”「」『』:：;,(){}[\]<>\d/\\=]/u;

/** Texts of at least two words with meaning, without the values in them. */
export function phrasesIn(text: string): readonly string[] {
  const texts = Array.from(text.matchAll(quoted), (match) => match.slice(1).find(Boolean) ?? "");
  for (const line of text.split("\n").slice(0, maxLines)) {
    const match = errorWord.exec(line);
    if (match) texts.push(line.slice(match.index + match[0].length));
  }
  const found = new Set<string>();
  for (const one of texts) for (const phrase of piecesOf(one)) if (isDistinct(phrase)) found.add(phrase);
  return [...found].slice(0, maxPhrases);
}

/** Cuts a text at every word with such a sign; signs at the ends of a word belong to no phrase. */
function piecesOf(text: string): readonly string[] {
  const pieces: string[][] = [[]];
  for (const word of text.slice(0, maxPhraseLength).split(/\s/u)) {
    const bare = word
      .replace(/^["'`“「『(<[{]+/u, "")
      .replace(/(?<![.,;:!?。、…"'`”」』)>\]}])[.,;:!?。、…"'`”」』)>\]}]+$/u, "");
    const start = word.indexOf(bare);
    const isWhole = !value.test(bare);
    if (start > 0) pieces.push([]);
    if (isWhole) pieces.at(-1)!.push(bare);
    if (!isWhole || start + bare.length < word.length) pieces.push([]);
  }
  return pieces.map((words) => words.filter((word) => word !== "").join(" "));
}

function isDistinct(phrase: string): boolean {
  const words = phrase.match(/[\p{L}\p{N}_]+/gu) ?? [];
  const dense = phrase.match(/[\p{Script=Han}\p{Script=Katakana}\p{Script=Hiragana}ー]/gu)?.length ?? 0;
  return dense >= 5 || words.filter((word) => word.length > 1 && !isFunctionWord(word.toLowerCase())).length >= 2;
}
