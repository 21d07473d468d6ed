/** Runs a query on the shared index: reads the passages that can be among the best, and ranks them as the embedded index does. */
import { unavailable } from "../../errors.ts";
import { findPassages, lookUp, worth } from "../find-passages.ts";
import { openLookup } from "../lookup.ts";
import { parseQuery, type ParsedQuery } from "../query.ts";
import { score } from "../score.ts";
import type { SharedSql } from "../../state/database.ts";
import type { StoreHit, StoreQuery } from "../store.ts";
import { createCandidateView, createFetched, type CandidateView } from "./candidate-view.ts";
import { createDictionary, type DictionaryTerm } from "./dictionary.ts";
import { openDocumentFilter } from "./document-filter.ts";
import { countPassagesOf, fetchLatest, fetchPassagesOf, fetchSets, type FetchOptions } from "./fetch-candidates.ts";
import { planAll, planMatches, planNames, planSimilar, type PlanOptions } from "./plan-candidates.ts";
import { indexIdentity } from "./tables.ts";
import { groupQuery, readTerms, type QueryGroups } from "./term-groups.ts";
import { indexVersion, removingVersion } from "./version.ts";
import { createViewTexts } from "./view-texts.ts";
import type { createVisibleMounts } from "./visible-mounts.ts";

/** A query whose terms have fewer occurrences is answered from all of them. */
const completeUpTo = 3000;
/** Approximate number of passages in a set of candidates, first and if there were too few. */
const targets = [600, 5000];
/** Matches come first in the results: more of them are read. */
const matchFactor = 2;
/** The same with a filter, which leaves fewer of them. */
const filteredTargets = [600, 20_000, Infinity];
/** If the documents that pass a filter have fewer passages, all of these are read. */
const maxOfFew = 24_000;
/** Maximum number of passages of one set: the strongest occurrences are taken first. */
const maxOfSet = 2500;
/** Documents that are enough to choose the best from. */
const enoughDocuments = 64;
/** Documents of which all passages are read, and how many of them at most. */
const completedDocuments = 256;
const maxOfDocuments = 8000;
/** Documents whose texts are probably shown or compared. */
const expectedReadings = 48;
/** A query without words checks its documents in parts of this size. */
const documentsAtOnce = 1024;
const passagesAtOnce = 4096;
/** A query is run again while it needs texts that are not read yet: those that it needs depend on those that it has. */
const maxRounds = 12;
const usualRounds = 2;

export async function searchPassages(
  sql: SharedSql,
  openMounts: ReturnType<typeof createVisibleMounts>,
  request: StoreQuery,
  countRows?: (rows: number) => void,
): Promise<readonly StoreHit[]> {
  const now = Date.now();
  const query = parseQuery(request.text, { typing: request.typing ?? false, now });
  const opening = readMounts(sql, request.visibility?.file).then((rows) => openMounts(sql, rows, request.visibility));
  const dictionary = createDictionary(sql, opening);
  // Both are sent in one round trip.
  const [visible] = await Promise.all([opening, readTerms(dictionary, query)]);
  const totals = {
    passages: visible.mounts.reduce((sum, { passages }) => sum + passages, 0),
    tokens: visible.mounts.reduce((sum, { tokens }) => sum + tokens, 0),
  };
  const searched = visible.mounts.filter(({ name }) => isSearched(name, query, request));
  const mounts = searched.map(({ id }) => id);
  const bits = visible.isWhole ? undefined : request.visibility?.bits;
  const filter = await openDocumentFilter(sql, query, request, mounts, bits);
  const none = createCandidateView([], dictionary.known, totals);
  const groups = groupQuery(query, dictionary.known, none.terms, new Set(mounts));
  const options: FetchOptions = { sql, mounts, filter, excluded: groups.excluded };
  const nameOf = (mount: number): string => searched.find(({ id }) => id === mount)!.name;
  let isCounted = false;
  const count = (rows: number): void => {
    if (!isCounted) countRows?.(rows);
    isCounted = true;
  };
  const run = (view: CandidateView, latest?: readonly number[]): Promise<readonly StoreHit[]> =>
    runOn(view, query, request, createViewTexts(options, view, nameOf, now, latest), count);
  const toView = (fetched: ReturnType<typeof createFetched>): CandidateView =>
    createCandidateView(fetched.sorted(), dictionary.known, totals);
  if (mounts.length === 0 || filter.few?.length === 0) return run(none);
  const elements = [
    ...new Set([...dictionary.known.values()].flatMap((term) => term.counts.map(({ element }) => element))),
  ];
  if (query.wanted.length === 0)
    return findLatest(options, elements, request.limit, (fetched, latest) => {
      const view = toView(fetched);
      return run(
        view,
        latest.flatMap((id) => view.idOf(id) ?? []),
      );
    });

  const enough = Math.max(enoughDocuments, request.limit * 3);
  const fetched = createFetched();
  const rounds = await planRounds(options, groups, query, elements, request.limit, {
    passages: searched.reduce((sum, { passages }) => sum + passages, 0),
    enough,
  });
  for (const [at, { fetch, isExact }] of rounds.entries()) {
    const isCut = await fetch(fetched);
    const isLast = !isCut || at === rounds.length - 1;
    if (!isLast && fetched.size < enough) continue;
    if (!isExact) await complete(options, query, dictionary.known, totals, elements, fetched, request.limit);
    const hits = await run(toView(fetched));
    // Passages of few documents, or documents for another audience, may be all that was read.
    const mayMiss = filter.few !== undefined && groups.words !== undefined && !hits.some(({ isMatch }) => isMatch);
    const isEnough = hits.length >= request.limit && !mayMiss;
    if (isLast || isEnough) return hits;
  }
  return run(none);
}

interface MountRow {
  readonly id: number;
  readonly name: string;
  readonly documents: number;
  readonly passages: number;
  readonly tokens: number;
  readonly changes: number;
  readonly terms_freed: number;
}

interface FetchRound {
  /** Adds passages. Returns whether candidates may have been left out. */
  fetch(fetched: ReturnType<typeof createFetched>): Promise<boolean>;
  /** True if the other passages of the documents change nothing. */
  readonly isExact: boolean;
}

/** `identity` is that of the index whose documents were decided. */
async function readMounts(sql: SharedSql, identity: string | undefined): Promise<readonly MountRow[]> {
  const rows = await sql.query<MountRow & { version: string; identity?: string }>(
    // For the statements that follow: the planner does not know how many rows are wanted, and a worker takes longer to start than most searches.
    `select set_config('enable_seqscan', 'off', true), set_config('max_parallel_workers_per_gather', '0', true),
       set_config('work_mem', '32MB', true), set_config('enable_material', 'off', true),
       a.version, ${identity === undefined ? "" : `${indexIdentity} as identity, `}m.id, m.name, m.documents, m.passages, m.tokens, m.changes, a.terms_freed from search_about a left join search_mounts m on true`,
  );
  if (rows[0]?.version === removingVersion)
    throw unavailable(
      "the shared search index of an older version is being removed, and then built again; search again later",
    );
  if (rows[0]?.version !== indexVersion && rows[0]?.version !== "")
    throw unavailable(
      "the shared search index was made by another version of Pressmark or Node; searches work again when all instances have the same version",
    );
  if (rows[0]?.identity !== identity)
    throw unavailable("the shared database was started again or restored during this search; search again");
  return rows.filter(({ id }) => id !== null);
}

function isSearched(
  name: string,
  { filters }: Pick<ParsedQuery, "filters">,
  { mounts }: Pick<StoreQuery, "mounts">,
): boolean {
  const named = filters.filter((filter) => filter.name === "source");
  const wanted = named.filter(({ isNot }) => !isNot);
  return (
    (mounts?.includes(name) ?? true) &&
    (wanted.length === 0 || wanted.some(({ value }) => value === name)) &&
    !named.some(({ isNot, value }) => isNot && value === name)
  );
}

/** Each round reads more than the one before. */
async function planRounds(
  options: FetchOptions,
  groups: QueryGroups,
  query: ParsedQuery,
  elements: readonly number[],
  limit: number,
  { passages, enough }: { readonly passages: number; readonly enough: number },
): Promise<readonly FetchRound[]> {
  if (groups.all.length === 0) return [];
  const { few, isOpen } = options.filter;
  const most = Math.max(completeUpTo, limit * 8);
  const all = planAll(groups, most);
  if (all)
    return [
      {
        async fetch(fetched) {
          fetched.add(await fetchSets(options, [all], 2 * most));
          return false;
        },
        isExact: query.nots.length === 0,
      },
    ];
  if (few && (await countPassagesOf(options, few)) <= maxOfFew)
    return [
      {
        async fetch(fetched) {
          fetched.add(await fetchPassagesOf(options, few, elements));
          return false;
        },
        isExact: true,
      },
    ];
  return (isOpen ? targets : filteredTargets).map((target, at): FetchRound => {
    const plan = { passages, target, least: at === 0 ? 0 : enough };
    // Few documents bound what is read.
    const isWhole = few !== undefined && target === Infinity;
    return {
      fetch: (fetched) =>
        fetchPlanned(options, groups, isWhole ? { ...plan, maxReads: Infinity } : plan, query, fetched, limit),
      isExact: false,
    };
  });
}

/**
 * Runs a query without words: its documents have an order of their own, so the hits of a part follow those of the part before. `run` gets the
 * passages of a part, and the ids of its documents in their order.
 */
async function findLatest(
  options: FetchOptions,
  elements: readonly number[],
  limit: number,
  run: (fetched: ReturnType<typeof createFetched>, latest: readonly number[]) => Promise<readonly StoreHit[]>,
): Promise<readonly StoreHit[]> {
  const hits: StoreHit[] = [];
  let next = 0;
  for (let count = Math.max(64, limit * 2); ; count *= 8) {
    const latest = await fetchLatest(options, count);
    while (next < latest.length) {
      const part: number[] = [];
      let passages = 0;
      while (next < latest.length && part.length < documentsAtOnce && passages < passagesAtOnce) {
        const one = latest[next++]!;
        part.push(one.document);
        // Of a document, the first passage is enough if no phrase is looked for.
        if (elements.length > 0) passages += one.passages;
      }
      const fetched = createFetched();
      fetched.add(await fetchPassagesOf(options, part, elements, { isFirstEnough: true }));
      hits.push(...(await run(fetched, part)));
      if (hits.length >= limit) return hits.slice(0, limit);
    }
    if (latest.length < count) return hits;
  }
}

/** Returns whether candidates may have been left out. */
async function fetchPlanned(
  options: FetchOptions,
  groups: QueryGroups,
  plan: PlanOptions,
  query: ParsedQuery,
  fetched: ReturnType<typeof createFetched>,
  limit: number,
): Promise<boolean> {
  const matches = planMatches(groups, { ...plan, target: plan.target * matchFactor });
  const names = query.whole !== undefined && matches && !matches.isEveryMatch ? planNames(groups, plan) : undefined;
  const first = [matches, names].filter((set) => set !== undefined);
  const matching = fetched.add(await fetchSets(options, first, Math.max(maxOfSet, limit * 3)));
  const isCut = first.some((set) => set.isCut);
  // Documents with all words come first, whatever the others are.
  if (matching >= Math.max(enoughDocuments, limit * 4)) return isCut;
  const similar = planSimilar(groups, plan);
  fetched.add(await fetchSets(options, similar, Math.max(maxOfSet, limit * 3)));
  return isCut || similar.some((set) => set.isCut);
}

/** Reads the other passages of the best documents: a document is also ranked by them. */
async function complete(
  options: FetchOptions,
  query: ParsedQuery,
  known: ReadonlyMap<string, DictionaryTerm>,
  totals: { readonly passages: number; readonly tokens: number },
  elements: readonly number[],
  fetched: ReturnType<typeof createFetched>,
  limit: number,
): Promise<void> {
  const passages = fetched.sorted();
  if (passages.every(({ siblings }) => siblings === 1)) return;
  const view = createCandidateView(passages, known, totals);
  const { starts } = view.segment;
  const incomplete = rankedIn(view, query, Math.max(completedDocuments, limit * 2)).flatMap(({ document }) => {
    const first = view.passage(starts[document]! + 1);
    return first.siblings > starts[document + 1]! - starts[document]! ? first.document : [];
  });
  if (incomplete.length > 0)
    fetched.add(await fetchPassagesOf(options, incomplete, elements, { most: maxOfDocuments }));
}

/** The best documents of a view by the index alone. */
function rankedIn(view: CandidateView, query: ParsedQuery, count: number) {
  const lookup = openLookup(view.terms);
  const { found } = lookUp(lookup, query, { passage: () => undefined, entry: () => ({ path: "" }) });
  return score(lookup, found, worth, () => false)(count, () => 0);
}

/** Runs the query until everything that it reads is there. */
async function runOn(
  view: CandidateView,
  query: ParsedQuery,
  request: StoreQuery,
  texts: ReturnType<typeof createViewTexts>,
  countRows: (rows: number) => void,
): Promise<readonly StoreHit[]> {
  if (query.wanted.length > 0) {
    const first = rankedIn(view, query, Math.max(expectedReadings, request.limit));
    await texts.read(
      first.map(({ passage }) => passage + 1),
      first.map(({ document }) => view.segment.documents[document]!),
    );
  }
  const index = { terms: view.terms, texts: texts.reader, admission: texts.admission, nearest: () => [] };
  const { vector: _, visibility: __, ...asked } = request;
  const find = (limit: number, count?: (rows: number) => void): readonly StoreHit[] =>
    findPassages(index, query, { ...asked, limit }, count);
  for (let round = 0; ; round += 1) {
    // A text that is not read yet excludes nothing, so each run ends early: look at more documents if the first ones are excluded one after the other.
    const limit = request.limit * 2 ** Math.max(0, round - usualRounds);
    const hits = find(limit, round === 0 ? countRows : undefined);
    if ((await texts.readMissing()) && round < maxRounds) continue;
    return limit === request.limit ? hits : find(request.limit);
  }
}
