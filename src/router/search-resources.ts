/** Searches the index and every mount with its own search. */
import { cancelled, invalid, notFound, ResourceError, toResourceError, unsupported } from "../errors.ts";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import {
  directoryType,
  serverCaller,
  type Call,
  type MountFailure,
  type Hit,
  type Resources,
  type SearchRequest,
} from "../resources.ts";
import {
  firstWithMatch,
  createLocationMatcher,
  createQueryMatcher,
  matching,
  named,
  similar,
  type Tier,
} from "../search/query-match.ts";
import { type SourceHit, toSourceHits } from "../source.ts";
import type { Access } from "./access.ts";
import type { FairIndex } from "./fair-index.ts";
import { namedUris } from "./named-uris.ts";
import type { ResourceReader } from "./read-resource.ts";
import type { RoutedMount, Location } from "./route.ts";

const maxLimit = 10_000;
/** After so many hidden hits in a row, the search stops. */
const deepestLook = 65_536;
/** Weight of lower ranks: the usual constant of reciprocal rank fusion. */
const fusion = 60;
/** Number of hits to check concurrently. */
const lookups = 8;
/** A reachability check is reused for this many times its own duration, up to a maximum. */
const reachedTimes = 20;
const longestReachedMs = 2000;
/** A slower mount is not waited for: its hits are shown with a note that they may be out of date. */
const patienceMs = 1000;

/** A validated search request. */
interface ValidSearch extends Pick<SearchRequest, "text" | "typing"> {
  readonly limit: number;
  readonly within: Location | undefined;
  /** The tier of a hit, by what is shown of it. */
  readonly tierOf: ReturnType<typeof createQueryMatcher>;
  readonly isLocation: ReturnType<typeof createLocationMatcher>;
}

interface Found extends SourceHit {
  readonly mount: RoutedMount;
  /** Given by the index. */
  readonly tier?: Tier;
}

/** A hit with its place among those of all searchers. */
interface RankedHit extends Hit {
  readonly tier: Tier;
}

/** State of the mounts during a search of the index: the share of each that is indexed, and errors. */
interface IndexState {
  /** Mounts whose source filters what it shows to this caller. */
  readonly filtered: ReadonlySet<RoutedMount>;
  readonly ready: Map<RoutedMount, number>;
  readonly failures: Map<RoutedMount, string>;
}

/** Whether a mount currently responds, and the message if it does not. */
interface Reach {
  readonly state: "ok" | "slow" | "down";
  readonly message?: string;
}

/** The hits of one searcher, best first, the share of each mount that it searched, and errors. */
interface SearcherResult {
  readonly hits: readonly RankedHit[];
  readonly ready: ReadonlyMap<RoutedMount, number>;
  readonly failures: ReadonlyMap<RoutedMount, string>;
}

// The error message of the source may name an entry that not everyone may know of.
const slow: Reach = { state: "slow", message: "it responds slowly; its results may be out of date" };
const down: Reach = { state: "down", message: "it cannot be read at present, so its results are not shown" };

export function createSearch(
  access: Access,
  { findEntry }: Pick<ResourceReader, "findEntry">,
  index?: FairIndex,
): Pick<Resources, "search"> {
  function toHit(found: Found, wanted: ValidSearch, call: Call): RankedHit | undefined {
    const { mount, entry, tier, ...hit } = found;
    const { within } = wanted;
    if (within && !isBelow(entry.path, within.at.path)) return undefined;
    const resource = access.show(entry, mount, call);
    if (resource === undefined) return undefined;
    const isKnown = tier !== undefined && !wanted.isLocation(entry);
    return isKnown ? { ...hit, resource, tier } : withTier({ ...hit, resource }, entry.path, wanted);
  }

  const reached = new WeakMap<RoutedMount, { freshUntilMs: number; readonly reach: Promise<Reach> }>();

  /** Checks one hit, or lists one entry, to learn whether the mount can be read. */
  async function reachOf({ mount, entry }: Found): Promise<Reach> {
    if (index?.hasJustRead?.(mount.name)) return { state: "ok" };
    const begunMs = monotonicMs();
    const known = reached.get(mount);
    if (known && begunMs < known.freshUntilMs) return known.reach;
    const reach = look(mount, entry);
    const next = { freshUntilMs: Infinity, reach };
    reached.set(mount, next);
    void reach.then(() => {
      const nowMs = monotonicMs();
      next.freshUntilMs = nowMs + Math.min((nowMs - begunMs) * reachedTimes, longestReachedMs);
    });
    return reach;
  }

  async function look({ source }: RoutedMount, { path, query }: Found["entry"]): Promise<Reach> {
    const over = new AbortController();
    // Not on behalf of the caller, because the result is reused for others.
    const call: Call = { caller: serverCaller, signal: over.signal };
    const checked = source.stat ? source.stat({ path, query }, call) : source.list({ limit: 1 }, call);
    const answered = checked.then(
      (): Reach => ({ state: "ok" }),
      (cause: unknown): Reach => {
        const { kind } = toResourceError(cause);
        if (kind === "busy") return slow;
        return kind === "unavailable" || kind === "unexpected" ? down : { state: "ok" };
      },
    );
    const late = access.runtime.wait(patienceMs, over.signal).then(
      () => slow,
      () => slow,
    );
    try {
      return await Promise.race([answered, late]);
    } finally {
      over.abort();
    }
  }

  /**
   * An indexed entry may be gone or hidden by now. While the index is incomplete, the source is checked, and a snippet is shown only
   * if the text is unchanged. No hits are shown of a mount that cannot be read.
   */
  async function confirmed(
    found: Found,
    wanted: ValidSearch,
    known: IndexState,
    call: Call,
  ): Promise<RankedHit | undefined> {
    const { mount, entry: indexed } = found;
    const hit = access.mayFind(call, mount, indexed) ? toHit(found, wanted, call) : undefined;
    if (hit === undefined) return undefined;
    const { state, message } = await reachOf(found);
    if (message !== undefined) known.failures.set(mount, message);
    if (state !== "ok") known.ready.set(mount, state === "down" ? 0 : Math.min(known.ready.get(mount) ?? 0, 0.99));
    if (state === "down") return undefined;
    // The index describes a resource as those see it who may see everything.
    const isFiltered = known.filtered.has(mount);
    if (!isFiltered && (known.ready.get(mount) === 1 || !mount.source.stat)) return hit;
    const { path, query, version } = indexed;
    // Of a text that may have changed, only the name is known to match. In a filtered mount, nothing may tell more than that.
    const bare = (resource: Hit["resource"]): RankedHit => {
      const { score, tier } = hit;
      const shown = withTier({ resource, score }, path, wanted);
      return shown.isMatch || isFiltered || !hit.isMatch ? shown : { resource, score, tier };
    };
    const unsure = isFiltered ? undefined : bare(hit.resource);
    if (state === "slow") return unsure;
    const { uri } = hit.resource;
    try {
      const entry = await findEntry({ mount, at: { path, query } }, uri, call);
      const resource = access.describe(uri, entry, mount, call);
      if (entry.version === undefined || entry.version === version) return { ...hit, resource };
      return bare(resource);
    } catch (cause) {
      if (call.signal.aborted) throw cancelled(cause);
      const failure = toResourceError(cause);
      if (failure.kind === "not-found") return undefined;
      known.failures.set(mount, failure.message);
      return failure.kind === "busy" ? unsure : undefined;
    }
  }

  function readyOf({ name }: RoutedMount): number {
    return index?.ready(name) ?? 0;
  }

  async function searchMount(mount: RoutedMount, wanted: ValidSearch, call: Call): Promise<SearcherResult> {
    const path = wanted.within?.at.path;
    const { text } = wanted;
    let ready = 1;
    const failures = new Map<RoutedMount, string>();
    try {
      const hits = await visible(
        async (limit) => {
          const found = toSourceHits(await mount.source.search!({ text, limit, ...(path && { within: path }) }, call));
          ready = Math.min(ready, found.ready);
          if (found.failure !== undefined) failures.set(mount, found.failure);
          return found.hits.map((hit) => ({ ...hit, mount }));
        },
        async (found) => toHit(found, wanted, call),
        wanted,
        call,
      );
      return { hits, ready: new Map([[mount, ready]]), failures };
    } catch (cause) {
      if (call.signal.aborted) throw cancelled(cause);
      access.runtime.log("warn", "a mount could not be searched", { mount: mount.name, cause });
      failures.set(mount, toResourceError(cause).message);
      return { hits: [], ready: new Map([[mount, 0]]), failures };
    }
  }

  async function searchIndex(mounts: readonly RoutedMount[], wanted: ValidSearch, call: Call): Promise<SearcherResult> {
    const byName = new Map(mounts.map((mount) => [mount.name, mount]));
    await index?.awaitFirstPass?.([...byName.keys()], call.signal);
    const filtered = new Set(mounts.filter((mount) => access.isFiltered(call, mount)));
    await learnFiles(filtered, call);
    const path = wanted.within?.at.path;
    const { text, typing } = wanted;
    const query = {
      text,
      mounts: [...byName.keys()],
      ...(path && { within: path }),
      typing,
    };
    // Taken before the search: what becomes ready meanwhile may not have been searched.
    const known: IndexState = {
      filtered,
      ready: new Map(mounts.map((mount) => [mount, readyOf(mount)])),
      failures: new Map(),
    };
    try {
      const hits = await visible(
        async (limit) => {
          const isRepeated = limit > wanted.limit && { isRepeated: true };
          const found = (await index?.search({ ...query, limit, ...isRepeated }, call)) ?? [];
          return found.flatMap(({ mount: name, ...hit }) => {
            const mount = byName.get(name);
            return mount ? [{ ...hit, mount }] : [];
          });
        },
        (found) => confirmed(found, wanted, known, call),
        wanted,
        call,
      );
      for (const [mount, ready] of known.ready) {
        known.ready.set(mount, Math.min(ready, readyOf(mount)));
        const problem = index?.problem(mount.name);
        if (problem !== undefined) known.failures.set(mount, problem);
      }
      return { hits, ready: known.ready, failures: known.failures };
    } catch (cause) {
      if (call.signal.aborted) throw cancelled(cause);
      if (cause instanceof ResourceError && (cause.kind === "invalid" || cause.kind === "busy")) throw cause;
      access.runtime.log("warn", "the index could not be searched", { cause });
      const { message } = toResourceError(cause);
      const ready = new Map(mounts.map((mount) => [mount, 0]));
      return { hits: [], ready, failures: new Map(mounts.map((mount) => [mount, message])) };
    }
  }

  /** A mount that fails here, or is slow, shows no hits whose files it does not know. */
  async function learnFiles(filtered: ReadonlySet<RoutedMount>, call: Call): Promise<void> {
    const learning = [...filtered].filter(({ source }) => source.learnFiles);
    await settledSoon(learning.map(async ({ source }) => source.learnFiles?.(call)));
  }

  /** The hits of the query as a location. A mount that fails here, or is slow, has none. */
  async function searchLocations(
    mounts: readonly RoutedMount[],
    { text, within }: ValidSearch,
    call: Call,
  ): Promise<SearcherResult> {
    const hits: RankedHit[] = [];
    const looks = namedUris(text, mounts, access.routes).map(async (uri) => {
      const { mount, at } = access.place(uri, call);
      const { source } = mount;
      if (!mounts.includes(mount) || at.query || (within && !isBelow(at.path, within.at.path))) return;
      if (!source.stat || source.lists?.(at) === false) return;
      const entry = await findEntry({ mount, at }, uri, call);
      const resource = entry.mimeType === directoryType ? undefined : access.show(entry, mount, call);
      if (resource) hits.push({ resource, score: 1, tier: named, isMatch: true });
    });
    await settledSoon(looks);
    return { hits: [...hits], ready: new Map(), failures: new Map() };
  }

  /** Resolves when all are settled, or after a short wait. */
  async function settledSoon(all: readonly Promise<void>[]): Promise<void> {
    if (all.length === 0) return;
    const over = new AbortController();
    const late = access.runtime.wait(patienceMs, over.signal).catch(() => undefined);
    await Promise.race([Promise.allSettled(all), late]);
    over.abort();
  }

  async function placeWithin(uri: string | undefined, call: Call): Promise<Location | undefined> {
    if (uri === undefined) return undefined;
    const place = access.place(uri, call);
    await findEntry(place, uri, call);
    if (place.at.query) throw notFound(uri);
    return place;
  }

  return {
    async search({ text, limit, within: withinUri, typing }, call) {
      if (!Number.isInteger(limit) || limit < 1) throw invalid("the search limit must be an integer of at least 1");
      const within = await placeWithin(withinUri, call);
      const wanted: ValidSearch = {
        text,
        limit: Math.min(limit, maxLimit),
        within,
        typing,
        tierOf: createQueryMatcher(text, typing),
        isLocation: createLocationMatcher(text),
      };
      const entered = access.routes.mounts.filter((mount) =>
        within ? mount === within.mount : access.mayEnter(call, mount),
      );
      const indexed = entered.filter(({ name }) => index?.ready(name) !== undefined);
      const searched = entered.filter(({ source }) => source.search);
      const leftOut = entered.filter((mount) => mount.leftOut !== undefined);
      const all = new Set([...indexed, ...searched]);
      if (all.size + leftOut.length === 0) throw unsupported("no mount can be searched");
      const unindexed = entered.filter((mount) => !all.has(mount));

      const results = await Promise.all([
        ...(indexed.length > 0 ? [searchIndex(indexed, wanted, call)] : []),
        ...searched.map((mount) => searchMount(mount, wanted, call)),
        searchLocations(indexed, wanted, call),
      ]);
      const share = (mount: RoutedMount): number => {
        const shares = results.flatMap(({ ready }) => ready.get(mount) ?? []);
        // The index and the mount's own search find different things there.
        return mount.source.listIndexed ? Math.min(...shares) : Math.max(...shares);
      };
      const failures: MountFailure[] = [];
      const fail = ({ name }: RoutedMount, message: string | undefined): void => {
        if (message !== undefined) failures.push({ mount: name, message });
      };
      for (const mount of all)
        if (share(mount) < 1) fail(mount, results.map((result) => result.failures.get(mount)).find(Boolean));
      for (const mount of leftOut) fail(mount, mount.leftOut);
      for (const mount of unindexed) fail(mount, index?.problem(mount.name));
      return {
        hits: firstWithMatch(fuse(results.map(({ hits }) => hits)), wanted.limit),
        ready: all.size === 0 ? 0 : [...all].reduce((sum, mount) => sum + share(mount), 0) / all.size,
        ...(failures.length > 0 && { failures }),
      };
    },
  };
}

/** What a source does not say about its own hits is decided by what the caller is shown of them. */
function withTier(hit: Hit, path: string, { tierOf, isLocation }: ValidSearch): RankedHit {
  if (isLocation({ path })) return { ...hit, tier: named, isMatch: true };
  const { resource, snippet, isMatch } = hit;
  const { name, title, description, mimeType } = resource;
  const tier = isMatch === false ? similar : tierOf({ path, name, title, description, mimeType, snippet });
  return isMatch ? { ...hit, tier: Math.max(tier, matching) as Tier } : { ...hit, tier, isMatch: tier >= matching };
}

/** The best hits that the caller may see: as many as requested, however many hidden ones stand between. */
async function visible(
  query: (limit: number) => Promise<readonly Found[]>,
  show: (found: Found) => Promise<RankedHit | undefined>,
  { limit }: ValidSearch,
  call: Call,
): Promise<RankedHit[]> {
  for (let wanted = limit; ; wanted *= 2) {
    const found = await query(wanted);
    const hits: RankedHit[] = [];
    for (let at = 0; at < found.length && hits.length < limit; at += lookups) {
      const shown = await Promise.all(found.slice(at, at + lookups).map(show));
      hits.push(...shown.filter((hit) => hit !== undefined));
    }
    if (hits.length >= limit || found.length < wanted || wanted >= deepestLook) return firstWithMatch(hits, limit);
    if (call.signal.aborted) throw cancelled();
  }
}

/**
 * The tier decides first: what the query names, from whichever searcher, then matches, then similar hits. Scores of different searchers
 * cannot be compared, and those of an index depend on everything in it, including what is hidden from the caller. So within a tier only
 * ranks count: a hit gets its best rank in any list, with score 1 for the first and a little less for each further one. Equal ranks keep the order
 * of the lists, the index first.
 */
function fuse(lists: readonly (readonly RankedHit[])[]): Hit[] {
  const best = new Map<string, RankedHit>();
  for (const list of lists) {
    for (const [rank, hit] of list.entries()) {
      const score = (fusion + 1) / (fusion + 1 + rank);
      const known = best.get(hit.resource.uri);
      // The hit of the index is preferred: it says where the match is.
      if (known === undefined) best.set(hit.resource.uri, { ...hit, score });
      else {
        const tier = Math.max(known.tier, hit.tier) as Tier;
        best.set(hit.resource.uri, {
          ...known,
          score: Math.max(known.score, score),
          tier,
          isMatch: known.isMatch || hit.isMatch,
        });
      }
    }
  }
  let least = 1;
  return [...best.values()]
    .sort((left, right) => right.tier - left.tier || right.score - left.score)
    .map((ranked) => {
      const { tier: _tier, ...hit } = ranked;
      least = Math.min(least, hit.score);
      return { ...hit, score: least };
    });
}

function isBelow(path: string, above: string): boolean {
  return above === "" || path === above || path.startsWith(`${above}/`);
}
