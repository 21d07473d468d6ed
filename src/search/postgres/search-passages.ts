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
import { fetchLatest, fetchPassagesOf, fetchSets, type FetchOptions } from "./fetch-candidates.ts";
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
/** Maximum number of passages of one set: the strongest occurrences are taken first. */
const maxOfSet = 2500;
/** Documents that are enough to choose the best from. */
const enoughDocuments = 64;
/** Documents of which all passages are read, and how many of them at most. */
const completedDocuments = 256;
const maxOfDocuments = 8000;
/** Documents whose texts are probably shown or compared. */
const expectedReadings = 48;
/** A query is run again while it needs texts that are not read yet: those that it needs depend on those that it has. */
const maxRounds = 12;

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
  const run = (view: CandidateView, latest?: readonly number[]): Promise<RunResult> =>
    runOn(view, query, request, createViewTexts(options, view, nameOf, now, latest), countRows);
  const toView = (fetched: ReturnType<typeof createFetched>): CandidateView =>
    createCandidateView(fetched.sorted(), dictionary.known, totals);

  if (mounts.length === 0 || filter.few?.length === 0) return (await run(none)).hits;
  if (query.wanted.length > 0) {
    const inSearched = searched.reduce((sum, { passages }) => sum + passages, 0);
    return (
      await run(toView(await fetchFor(options, query, groups, dictionary.known, totals, inSearched, request.limit)))
    ).hits;
  }
  const elements = [...dictionary.known.values()].flatMap((term) => term.counts.map(({ element }) => element));
  for (let count = Math.max(64, request.limit * 2); ; count *= 8) {
    const latest = await fetchLatest(options, count);
    const fetched = createFetched();
    if (latest.length > 0)
      fetched.add(await fetchPassagesOf(options, latest, elements, latest.length * 4 + maxOfDocuments));
    const view = toView(fetched);
    const { hits, wantedLatest } = await run(
      view,
      latest.flatMap((id) => view.idOf(id) ?? []),
    );
    if (latest.length < count || wantedLatest <= count) return hits;
  }
}

interface MountRow {
  readonly id: number;
  readonly name: string;
  readonly documents: number;
  readonly passages: number;
  readonly tokens: number;
  readonly changes: number;
}

interface RunResult {
  readonly hits: readonly StoreHit[];
  readonly wantedLatest: number;
}

/** `identity` is that of the index whose documents were decided. */
async function readMounts(sql: SharedSql, identity: string | undefined): Promise<readonly MountRow[]> {
  const rows = await sql.query<MountRow & { version: string; identity?: string }>(
    // For the statements that follow: the planner does not know how many rows are wanted, and a worker takes longer to start than most searches.
    `select set_config('enable_seqscan', 'off', true), set_config('max_parallel_workers_per_gather', '0', true),
       set_config('work_mem', '32MB', true), set_config('enable_material', 'off', true),
       a.version, ${identity === undefined ? "" : `${indexIdentity} as identity, `}m.id, m.name, m.documents, m.passages, m.tokens, m.changes from search_about a left join search_mounts m on true`,
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

async function fetchFor(
  options: FetchOptions,
  query: ParsedQuery,
  groups: QueryGroups,
  known: ReadonlyMap<string, DictionaryTerm>,
  totals: { readonly passages: number; readonly tokens: number },
  passages: number,
  limit: number,
): Promise<ReturnType<typeof createFetched>> {
  const fetched = createFetched();
  const elements = [...new Set([...known.values()].flatMap((term) => term.counts.map(({ element }) => element)))];
  if (groups.all.length === 0) return fetched;
  const { few } = options.filter;
  const all = planAll(groups, Math.max(completeUpTo, limit * 8));
  if (all) {
    fetched.add(await fetchSets(options, [all], 2 * Math.max(completeUpTo, limit * 8)));
    if (query.nots.length === 0) return fetched;
  } else if (few) {
    fetched.add(await fetchPassagesOf(options, few, elements, few.length * 4 + maxOfDocuments));
    return fetched;
  } else
    for (const target of options.filter.isOpen ? targets : filteredTargets) {
      const enough = Math.max(enoughDocuments, limit * 3);
      const least = target === targets[0] ? 0 : enough;
      const isCut = await fetchPlanned(options, groups, { passages, target, least }, query, fetched, limit);
      if (!isCut || fetched.size >= enough) break;
    }
  await complete(options, query, known, totals, elements, fetched, limit);
  return fetched;
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
  if (incomplete.length > 0) fetched.add(await fetchPassagesOf(options, incomplete, elements, maxOfDocuments));
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
  countRows?: (rows: number) => void,
): Promise<RunResult> {
  if (query.wanted.length > 0) {
    const first = rankedIn(view, query, Math.max(expectedReadings, request.limit));
    await texts.read(
      first.map(({ passage }) => passage + 1),
      first.map(({ document }) => view.segment.documents[document]!),
    );
  }
  for (let round = 0; ; round += 1) {
    const index = { terms: view.terms, texts: texts.reader, admission: texts.admission, nearest: () => [] };
    const { vector: _, visibility: __, ...asked } = request;
    const hits = findPassages(index, query, asked, round === 0 ? countRows : undefined);
    if (!(await texts.readMissing()) || round >= maxRounds) return { hits, wantedLatest: texts.wantedLatest };
  }
}
