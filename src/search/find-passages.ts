/** From a question to hits: look up, score, look again, cut the snippets. */
import { createAdmission, type Admission, type Admitted } from "./admission.ts";
import { conditionOf } from "./filters.ts";
import { isFunctionPair, isFunctionWord } from "./function-words.ts";
import { createGate, type Gate, type Place } from "./gate.ts";
import type { Index } from "./index-documents.ts";
import { openLookup, type Found, type Lookup } from "./lookup.ts";
import { createMatcher, type Match } from "./matches.ts";
import { readQuestion, type Wanted } from "./query.ts";
import { secondLook } from "./rerank.ts";
import { score, type Scores } from "./score.ts";
import type { Segment } from "./segments.ts";
import { snippetOf } from "./snippet.ts";
import type { StoreAsk, StoreHit } from "./store.ts";
import type { KeptPassage } from "./texts.ts";
import { tokensOf } from "./tokens.ts";
import { weights } from "./weights.ts";

/** A document that may be shown, and the id of the passage that is. */
interface Candidate {
  readonly document: Admitted;
  readonly passage: number;
  readonly score: number;
}

interface Looked extends Candidate {
  readonly kept: KeptPassage;
  readonly matches: readonly Match[];
}

/** So many get a second look, and so many are asked of each ranking that is fused. */
const secondLooks = 24;
/** Of a long question the rarest terms say most of it. */
const maxTerms = 64;
/** Softens the first ranks of rankings that are fused, as is usual. */
const fusionOffset = 60;

export function findPassages(index: Index, ask: StoreAsk, now = Date.now()): readonly StoreHit[] {
  const question = readQuestion(ask.text, { typing: ask.typing ?? false, now });
  const condition = conditionOf(question, ask);
  const admission = createAdmission(index.database, condition, now);
  const lookup = openLookup(index.segments);
  const found = lookUp(lookup, question.wanted);
  const gate = createGate(index.texts, lookup, question, ask.maySee, admission.ifFew());
  const count = Math.max(secondLooks, ask.limit);
  const first =
    question.wanted.length === 0
      ? chooseLatest(lookup, admission, gate, ask.limit)
      : choose(score(lookup, found, worth, gate.isOut), admission, gate, count);
  const matcher = createMatcher(found);
  const look = (candidate: Candidate): Looked => {
    const kept = index.texts.passage(candidate.passage)!;
    return { ...candidate, kept, matches: matcher(tokensOf(kept.text)) };
  };
  let looked = first.map(look).map((one) => ({
    ...one,
    score: (one.score + secondLook(found, one.matches, worth)) * one.document.boost,
  }));
  if (question.wanted.length > 0) looked.sort((left, right) => right.score - left.score);
  if (ask.vector && question.wanted.length > 0) {
    const near = choosePlaces(places(lookup, index.vectors.nearest(ask.vector, count * 4)), admission, gate, count);
    looked = fuse(looked, near).map((one) => ("kept" in one ? one : look(one)));
  }
  return looked.slice(0, ask.limit).map(({ document, score: total, kept, matches }) => {
    const { from, to, marks } = snippetOf(kept.text, matches);
    return {
      mount: document.mount,
      entry: index.texts.entry(document.id),
      score: total,
      snippet: kept.text.slice(from, to),
      offset: kept.from + from,
      marks,
      lines: kept.lines,
    };
  });
}

/** Each term once, the rarest if there are many, in the order of the question. */
function lookUp(lookup: Lookup, wanted: readonly Wanted[]): Found[] {
  const known = new Map<string, Found | undefined>();
  for (const one of wanted) {
    const key = `${one.beginning ?? ""}\0${one.term}`;
    if (!known.has(key)) known.set(key, lookup.find(one));
  }
  const found = [...known.values()].filter((one) => one !== undefined);
  if (found.length <= maxTerms) return found;
  const least = found.map(({ idf }) => idf).sort((left, right) => right - left)[maxTerms - 1]!;
  return found.filter(({ idf }) => idf >= least).slice(0, maxTerms);
}

/** How much it says that a term stands somewhere. */
function worth({ wanted: { kind, surface }, isGuess, idf }: Found): number {
  let weight = idf;
  if (isGuess) weight *= weights.guess;
  if (kind === "part") weight *= weights.part;
  if (kind === "pair")
    weight *= isFunctionPair(surface)
      ? weights.functionPair
      : kanaOnly.test(surface)
        ? weights.kana
        : hasKana.test(surface)
          ? weights.halfKana
          : 1;
  else if (isFunctionWord(surface)) weight *= weights.functionWord;
  return weight;
}

const kanaOnly = /^[\u3041-\u309f\u30fc]+$/u;
const hasKana = /[\u3041-\u309f\u30fc]/u;

/** The best that may be shown. */
function choose(scores: Scores, admission: Admission, gate: Gate, count: number): Candidate[] {
  for (let take = count * 2; ; take *= 8) {
    const top = scores.top(take);
    const chosen = choosePlaces(top, admission, gate, count);
    if (chosen.length === count || top.length < take) return chosen;
  }
}

function choosePlaces(
  ranked: readonly (Place & { readonly score: number })[],
  admission: Admission,
  gate: Gate,
  count: number,
): Candidate[] {
  const admitted = admission.admit(ranked.map(({ segment, document }) => segment.documents[document]!));
  const chosen: Candidate[] = [];
  for (const place of ranked) {
    const { segment, document } = place;
    const known = admitted.get(segment.documents[document]!);
    const passage = known && gate.pass(place, known);
    if (passage === undefined) continue;
    chosen.push({ document: known!, passage: known!.id + passage - segment.starts[document]!, score: place.score });
    if (chosen.length === count) break;
  }
  return chosen;
}

/** Where nothing is looked for, only kept out: what counts most. */
function chooseLatest(lookup: Lookup, admission: Admission, gate: Gate, count: number): Candidate[] {
  for (let take = count * 2; ; take *= 8) {
    const latest = admission.latest(take);
    const chosen = choosePlaces(places(lookup, latest), admission, gate, count);
    if (chosen.length === count || latest.length < take) return chosen;
  }
}

/** Where passages stand, each document once, in the order of its first passage here. */
function places({ segments }: Lookup, passages: readonly number[]): (Place & { readonly score: number })[] {
  const seen = new Set<number>();
  const found: (Place & { readonly score: number })[] = [];
  for (const id of passages) {
    const segment = segments.find(({ first, last }) => first <= id && id <= last);
    if (!segment) continue;
    const document = lastUpTo(segment.documents, id);
    const start = segment.starts[document]!;
    const passage = start + id - segment.documents[document]!;
    if (passage >= segment.starts[document + 1]! || seen.has(segment.documents[document]!)) continue;
    seen.add(segment.documents[document]!);
    found.push({ segment, document, passage, score: 0 });
  }
  return found;
}

function lastUpTo(ids: Segment["documents"], id: number): number {
  let low = 0;
  let high = ids.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (ids[middle]! <= id) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Reciprocal ranks, added up. */
function fuse(words: readonly Looked[], meanings: readonly Candidate[]): (Looked | Candidate)[] {
  const fused = new Map<number, Looked | Candidate>();
  for (const ranking of [words, meanings])
    ranking.forEach((one, rank) => {
      const known = fused.get(one.document.id);
      const share = one.document.boost / (fusionOffset + rank + 1);
      fused.set(one.document.id, { ...(known ?? one), score: (known?.score ?? 0) + share });
    });
  return [...fused.values()].sort((left, right) => right.score - left.score);
}
