/** How far the models agree, measured in the same way for Japanese and for English. */
import { tokenize } from "../../search/tokens.ts";
import type { ModelsResult } from "./result.ts";

export interface Agreement {
  /** How `recomputed` is calculated. */
  readonly method: string;
  /** The mean of the agreement that the producer reports for its votes. */
  readonly producer: number;
  /** The mean of the recomputed agreement of the votes below. */
  readonly recomputed: number;
  readonly votes: readonly VoteAgreement[];
}

interface VoteAgreement {
  readonly provider: string;
  readonly model: string;
  readonly producer: number;
  /** The mean of the two below, each compared with the consensus. */
  readonly recomputed: number;
  readonly segments: number;
  readonly bigrams: number;
}

/** Only the beginning of a longer text is compared. */
const maxLength = 8000;
const method = `Dice coefficient with the consensus, mean of word segments (Intl.Segmenter) and of words and bigrams (as searched, in the kana as written), first ${maxLength} characters, ICU ${process.versions["icu"] ?? ""}`;

export function measureAgreement({ consensus, llm_votes }: ModelsResult): Agreement {
  const agreed = measured(consensus.content);
  const votes = llm_votes.map(({ provider, model, agreement_score, response }): VoteAgreement => {
    const own = measured(response.content);
    const segments = dice(own.segments, agreed.segments);
    const bigrams = dice(own.bigrams, agreed.bigrams);
    return { provider, model, producer: agreement_score, recomputed: (segments + bigrams) / 2, segments, bigrams };
  });
  const mean = (pick: (vote: VoteAgreement) => number) =>
    votes.reduce((sum, vote) => sum + pick(vote), 0) / votes.length;
  return { method, producer: mean((vote) => vote.producer), recomputed: mean((vote) => vote.recomputed), votes };
}

type Bag = ReadonlyMap<string, number>;

function measured(text: string): { readonly segments: Bag; readonly bigrams: Bag } {
  const cut = text.slice(0, maxLength);
  return { segments: bagOf(segmentsOf(cut)), bigrams: bagOf(tokenize(cut).map(({ term }) => term)) };
}

let segmenter: Intl.Segmenter | undefined;

function* segmentsOf(text: string): Generator<string> {
  segmenter ??= new Intl.Segmenter("ja", { granularity: "word" });
  for (const { segment, isWordLike } of segmenter.segment(text.normalize("NFKC").toLowerCase()))
    if (isWordLike) yield segment;
}

function bagOf(terms: Iterable<string>): Bag {
  const bag = new Map<string, number>();
  for (const term of terms) bag.set(term, (bag.get(term) ?? 0) + 1);
  return bag;
}

/** Twice the shared tokens divided by all tokens. Two texts without tokens agree only if both are empty. */
function dice(one: Bag, other: Bag): number {
  let all = 0;
  for (const bag of [one, other]) for (const count of bag.values()) all += count;
  if (all === 0) return 1;
  let shared = 0;
  for (const [term, count] of one) shared += Math.min(count, other.get(term) ?? 0);
  return (2 * shared) / all;
}
