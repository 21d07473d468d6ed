/** The passages that were fetched for a query, as an index that is ranked like the embedded one. */
import type { SearchedTerms } from "../lookup.ts";
import { createListWriter, listsOf, type List } from "../lists.ts";
import type { Segment } from "../segments.ts";
import type { DictionaryTerm } from "./dictionary.ts";
import { eachOccurrence, readPostings, type ReadPostings } from "./postings.ts";

/** Passages by document and ordinal, each once. */
export function createFetched() {
  const all = new Map<number, ReadPostings>();
  return {
    get size(): number {
      return all.size;
    },
    /** Returns the number of passages in the bytes, including those that were known. */
    add(bytes: Uint8Array | null | undefined): number {
      if (!bytes) return 0;
      const read = readPostings(bytes);
      for (const one of read) all.set(one.document * maxOrdinals + one.ordinal, one);
      return read.length;
    },
    /** In the order of documents and their passages. */
    sorted: (): ReadPostings[] =>
      [...all.values()].sort((left, right) => left.document - right.document || left.ordinal - right.ordinal),
  };
}

const maxOrdinals = 2 ** 21;

export type CandidateView = ReturnType<typeof createCandidateView>;

/**
 * Ids of the view are positions of passages, from 1; the id of a document is that of its first fetched passage. Counts of terms are those of
 * the whole index.
 */
export function createCandidateView(
  passages: readonly ReadPostings[],
  dictionary: ReadonlyMap<string, DictionaryTerm>,
  totals: { readonly passages: number; readonly tokens: number },
) {
  const starts: number[] = [];
  const owners = new Uint32Array(passages.length);
  passages.forEach(({ document }, at) => {
    if (at === 0 || passages[at - 1]!.document !== document) starts.push(at);
    owners[at] = starts.length - 1;
  });
  const segment: Segment = {
    id: 0,
    first: 1,
    last: passages.length,
    documents: Uint32Array.from(starts, (start) => start + 1),
    starts: Uint32Array.from([...starts, passages.length]),
    owners,
    lengths: Uint8Array.from(passages, ({ length }) => length),
    tokens: 0,
    terms: [],
    firstBlock: 0,
  };
  const wanted = Uint32Array.from(dictionary.values(), ({ id }) => id).sort();
  const occurrences = new Map<number, number[]>();
  passages.forEach((passage, at) =>
    eachOccurrence(passage, wanted, (term, field, times) => {
      let own = occurrences.get(term);
      if (!own) occurrences.set(term, (own = []));
      own.push(at, field, times);
    }),
  );
  const sortedTerms = [...dictionary.keys()].sort();
  const lists = new Map<string, readonly List[]>();
  const writer = createListWriter();

  function find(_: Segment, term: string): readonly List[] {
    let known = lists.get(term);
    if (!known) lists.set(term, (known = listsFor(term)));
    return known;
  }

  function listsFor(term: string): readonly List[] {
    const entry = dictionary.get(term);
    if (!entry) return [];
    const own = occurrences.get(entry.id) ?? [];
    for (let at = 0; at < own.length; at += 3) {
      const field = own[at + 1]!;
      writer.add(field, field <= 1 ? own[at]! : owners[own[at]!]!, own[at + 2]!);
    }
    const bytes = writer.take().slice();
    const here = bytes.length === 0 ? [] : listsOf(bytes, 0, bytes.length);
    return entry.byField.flatMap((visible, field): List | [] => {
      if (visible === 0) return [];
      const list = here.find((one) => one.field === field) ?? { field, count: 0, last: -1, bytes, from: 0, to: 0 };
      return { ...list, visible };
    });
  }

  const terms: SearchedTerms = {
    segments: [segment],
    passages: totals.passages,
    tokens: totals.tokens,
    masksOf: () => undefined,
    find,
    eachTerm(_, beginning, take) {
      for (const term of sortedTerms) if (term.startsWith(beginning) && !take(term, () => find(segment, term))) return;
    },
  };
  return {
    terms,
    segment,
    /** The passage with an id of the view. */
    passage: (id: number): ReadPostings => passages[id - 1]!,
    /** The id of a document in the view; undefined if none of its passages was fetched. */
    idOf(document: number): number | undefined {
      let low = 0;
      let high = starts.length - 1;
      while (low <= high) {
        const middle = (low + high) >> 1;
        const here = passages[starts[middle]!]!.document;
        if (here === document) return starts[middle]! + 1;
        if (here < document) low = middle + 1;
        else high = middle - 1;
      }
      return undefined;
    },
  };
}
