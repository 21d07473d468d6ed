/** Speed and size with many documents. Their text is made up here, from a fixed seed: words as unevenly spread as in real text. */
import { randomFrom, uneven, word } from "../made-texts.ts";
import type { Contestant } from "./contestants.ts";
import { readSet, type Passage } from "./sets.ts";

export interface Scale {
  /** CPU time of indexing, in seconds. */
  readonly cpu: number;
  readonly seconds: number;
  /** Of the index on the disk, beside the UTF-8 of the texts. */
  readonly size: number;
  /** Of a question, in milliseconds. */
  readonly p50: number;
  readonly p95: number;
}

/** Seven of ten in English, the others in Japanese; about 700 bytes each. */
export function* madeUp(count: number): Generator<Passage> {
  const next = randomFrom(20_261_115);
  const words = Array.from({ length: 60_000 }, () => word(next));
  const clauses = readSet("japanese").documents.flatMap(({ text }) => text.split(/(?<=[、。])/u));
  const kanji = [...new Set(clauses.join("").match(/\p{Script=Han}/gu) ?? [])];
  for (let at = 0; at < count; at += 1) {
    let text = "";
    if (at % 10 < 7)
      while (text.length < 500 + next() * 400) {
        const length = 6 + Math.floor(next() * 12);
        const sentence = Array.from({ length }, () => words[uneven(next, words.length)]!).join(" ");
        text += `${sentence[0]!.toUpperCase()}${sentence.slice(1)}. `;
      }
    else
      while (text.length < 170 + next() * 130) {
        // A compound that few other texts have, as names and terms are.
        const compound = kanji[Math.floor(next() * kanji.length)]! + kanji[Math.floor(next() * kanji.length)]!;
        text += clauses[uneven(next, clauses.length)]! + (next() < 0.3 ? `${compound}は` : "");
      }
    yield { path: `${at % 100}/${at}.txt`, text };
  }
}

/** Half of them two words, half of them sentences, each from some document. */
export function madeUpQuestions(documents: readonly Passage[], count: number): string[] {
  const next = randomFrom(7);
  return Array.from({ length: count }, (_, at) => {
    const { text } = documents[Math.floor(next() * documents.length)]!;
    const pieces = /[a-z]/.test(text) ? text.split(/[ .]+/) : text.split(/[、。]/u);
    const from = Math.floor(next() * Math.max(1, pieces.length - 10));
    const length = /[a-z]/.test(text) ? (at % 2 === 0 ? 2 : 9) : at % 2 === 0 ? 1 : 2;
    return pieces.slice(from, from + length).join(" ");
  });
}

export function measureScale(
  contestant: Contestant,
  documents: readonly Passage[],
  questions: readonly string[],
): Scale {
  const bytes = documents.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  const before = process.cpuUsage();
  const began = performance.now();
  for (let at = 0; at < documents.length; at += 500) contestant.put(documents.slice(at, at + 500));
  const { user, system } = process.cpuUsage(before);
  const seconds = (performance.now() - began) / 1000;
  for (const question of questions.slice(0, 30)) contestant.ask(question, 10);
  const times = questions
    .map((question) => {
      const start = performance.now();
      contestant.ask(question, 10);
      return performance.now() - start;
    })
    .sort((left, right) => left - right);
  return {
    cpu: (user + system) / 1e6,
    seconds,
    size: contestant.bytes() / bytes,
    p50: times[Math.floor(times.length * 0.5)]!,
    p95: times[Math.floor(times.length * 0.95)]!,
  };
}
