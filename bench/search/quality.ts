/** How well questions are answered. */
import type { Contestant } from "./contestants.ts";
import type { Asked, Passage } from "./sets.ts";

export interface Quality {
  /** One document answers, so this is 1 / log2(1 + rank) up to the tenth, on average. */
  readonly ndcg: number;
  /** How often the answer is first. */
  readonly first: number;
  /** How often it is among the first ten. */
  readonly recall: number;
}

export function measure({ ask }: Contestant, questions: readonly Asked[]): Quality {
  const ranks = questions.map(({ text, answer }) => ask(text, 10).indexOf(answer));
  const mean = (worth: (rank: number) => number): number =>
    ranks.reduce((sum, rank) => sum + (rank === -1 ? 0 : worth(rank)), 0) / Math.max(1, ranks.length);
  return {
    ndcg: mean((rank) => 1 / Math.log2(rank + 2)),
    first: mean((rank) => (rank === 0 ? 1 : 0)),
    recall: mean(() => 1),
  };
}

/** Of every word of one and two characters of the documents, which share of those that hold it is found. */
export function shortWordRecall({ ask }: Contestant, documents: readonly Passage[]): number {
  const words = new Set<string>();
  for (const { text } of documents)
    for (const run of text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+/gu) ?? [])
      for (let at = 0; at < run.length; at += 1) {
        words.add(run.slice(at, at + 1));
        if (at + 1 < run.length) words.add(run.slice(at, at + 2));
      }
  let found = 0;
  let all = 0;
  for (const word of words) {
    const holding = documents.filter(({ text }) => text.includes(word)).map(({ path }) => path);
    const hits = new Set(ask(word, documents.length));
    all += holding.length;
    found += holding.filter((path) => hits.has(path)).length;
  }
  return found / all;
}
