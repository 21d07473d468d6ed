/** Texts and documents for the passages of a view. What is not there yet is noted, and read before the query is run again. */
import type { Admission, Admitted } from "../admission.ts";
import type { PassageReader } from "../texts.ts";
import type { CandidateView } from "./candidate-view.ts";
import { fetchDocuments, fetchTexts, type FetchedDocument, type FetchOptions } from "./fetch-candidates.ts";
import type { KeptPassage } from "../texts.ts";

/** Texts and documents that are read at once. */
const maxAtOnce = 512;

export function createViewTexts(
  options: FetchOptions,
  view: CandidateView,
  nameOf: (mount: number) => string,
  now: number,
  /** Documents in the order of a query without words, by id of the view. */
  latest: readonly number[] = [],
) {
  const texts = new Map<number, KeptPassage>();
  const documents = new Map<number, FetchedDocument>();
  const missingTexts = new Set<number>();
  const missingDocuments = new Set<number>();

  function document(id: number): FetchedDocument | undefined {
    const known = documents.get(id);
    if (!known) missingDocuments.add(id);
    return known;
  }

  const reader: PassageReader = {
    passage(id) {
      const known = texts.get(id);
      if (known) return known;
      missingTexts.add(id);
      return { from: 0, to: 0, lines: [1, 1], heading: "", text: "" };
    },
    entry: (id) => document(id)?.entry ?? { path: "" },
  };
  const admission: Admission = {
    admit: (ids) =>
      new Map(
        ids.flatMap((id): [number, Admitted][] => {
          const known = document(id);
          return known ? [[id, { id, mount: known.mount, boost: known.boost }]] : [];
        }),
      ),
    pathsOf: (ids) =>
      new Map(
        ids.flatMap((id): [number, string][] => {
          const known = document(id);
          return known ? [[id, known.path]] : [];
        }),
      ),
    ifFew: () => undefined,
    latest: (limit) => latest.slice(0, limit),
  };

  /** One passage of each document after the other: the first one that has a phrase makes the others of its document unnecessary. */
  function inTurns(ids: readonly number[]): readonly number[] {
    if (ids.length <= maxAtOnce) return ids;
    const turns = new Map<number, number>();
    return ids
      .map((id) => {
        const { document: of } = view.passage(id);
        const turn = turns.get(of) ?? 0;
        turns.set(of, turn + 1);
        return { id, turn };
      })
      .sort((left, right) => left.turn - right.turn)
      .map(({ id }) => id);
  }

  async function read(textIds: readonly number[], documentIds: readonly number[]): Promise<void> {
    const byId = new Map(documentIds.map((id) => [view.passage(id).document, id]));
    // Both are sent in one round trip.
    const [foundDocuments, foundTexts] = await Promise.all([
      byId.size > 0 ? fetchDocuments(options.sql, [...byId.keys()], nameOf, now) : [],
      textIds.length > 0 ? fetchTexts(options, textIds.map(view.passage)) : [],
    ]);
    for (const [real, one] of foundDocuments) documents.set(byId.get(real)!, one);
    textIds.forEach((id, at) => {
      if (foundTexts[at]) texts.set(id, foundTexts[at]);
    });
  }

  return {
    reader,
    admission,
    read,
    /** Reads what was missing; returns false if nothing was. */
    async readMissing(): Promise<boolean> {
      if (missingTexts.size + missingDocuments.size === 0) return false;
      await read(inTurns([...missingTexts]).slice(0, maxAtOnce), [...missingDocuments].slice(0, maxAtOnce));
      missingTexts.clear();
      missingDocuments.clear();
      return true;
    },
  };
}
