/** One search through the index and every mount that can be searched itself. */
import { invalid, notFound, ResourceError, toResourceError } from "../errors.ts";
import type { Call, Hit, Resources, SearchAsk } from "../resources.ts";
import type { SourceHit } from "../source.ts";
import { describe, withdrawn } from "./doors.ts";
import type { Doors } from "./doors.ts";
import type { FairIndex } from "./fair-index.ts";
import type { Reading } from "./reading.ts";
import type { Mounted, Place } from "./route.ts";

const maxLimit = 10_000;
/** Where so many hits in a row are hidden, the rest is not looked at. */
const deepestLook = 65_536;
/** How little the rank counts further down: the usual constant of reciprocal rank fusion. */
const fusion = 60;
/** So many hits are looked up at a time. */
const lookups = 8;

/** What a search is for, once it is understood. */
interface Asked extends Pick<SearchAsk, "text" | "typing"> {
  readonly limit: number;
  readonly within: Place | undefined;
}

interface Found extends SourceHit {
  readonly mount: Mounted;
}

/** What one of those asked has found, best first, and how much of each mount it looked through. */
interface Answer {
  readonly hits: readonly Hit[];
  readonly ready: ReadonlyMap<Mounted, number>;
}

export function createSearching(
  doors: Doors,
  { findEntry }: Pick<Reading, "findEntry">,
  index?: FairIndex,
): Pick<Resources, "search"> {
  function toHit({ mount, entry, ...found }: Found, { within }: Asked, call: Call): Hit | undefined {
    if (within && !isBelow(entry.path, within.at.path)) return undefined;
    const resource = doors.show(entry, mount, call);
    return resource && { ...found, resource };
  }

  /**
   * What the index knows from before may be gone by now, or no longer be for anyone. While that is not sure, the source is asked, and a
   * piece of the text is shown only where the text is still the same.
   */
  async function confirmed(found: Found, asked: Asked, call: Call): Promise<Hit | undefined> {
    const hit = toHit(found, asked, call);
    const { mount, entry: indexed } = found;
    if (hit === undefined || index?.ready(mount.name) === 1 || !mount.source.stat) return hit;
    const { uri } = hit.resource;
    const { path, query, version } = indexed;
    try {
      const entry = await findEntry({ mount, at: { path, ...(query && { query }) } }, uri, call);
      const resource = describe(uri, entry, mount, doors.isOpen);
      if (entry.version === undefined || entry.version === version) return { ...hit, resource };
      return { resource, score: hit.score };
    } catch (cause) {
      if (toResourceError(cause).kind === "not-found") return undefined;
      if (call.signal.aborted) throw withdrawn(cause);
      return { resource: hit.resource, score: hit.score };
    }
  }

  async function searchMount(mount: Mounted, asked: Asked, call: Call): Promise<Answer> {
    const path = asked.within?.at.path;
    const { text } = asked;
    try {
      const hits = await visible(
        async (limit) => {
          const found = (await mount.source.search?.({ text, limit, ...(path && { within: path }) }, call)) ?? [];
          return found.map((hit) => ({ ...hit, mount }));
        },
        async (found) => toHit(found, asked, call),
        asked,
        call,
      );
      return { hits, ready: new Map([[mount, 1]]) };
    } catch (cause) {
      if (call.signal.aborted) throw withdrawn(cause);
      doors.tools.log("warn", "a mount could not be searched", { mount: mount.name, cause });
      return { hits: [], ready: new Map() };
    }
  }

  async function searchIndex(mounts: readonly Mounted[], asked: Asked, call: Call): Promise<Answer> {
    const byName = new Map(mounts.map((mount) => [mount.name, mount]));
    const path = asked.within?.at.path;
    const { text, typing } = asked;
    const ask = {
      text,
      mounts: [...byName.keys()],
      ...(path && { within: path }),
      ...(typing !== undefined && { typing }),
    };
    try {
      const hits = await visible(
        async (limit) => {
          const found = (await index?.search({ ...ask, limit }, call)) ?? [];
          return found.flatMap(({ mount: name, ...hit }) => {
            const mount = byName.get(name);
            return mount ? [{ ...hit, mount }] : [];
          });
        },
        (found) => confirmed(found, asked, call),
        asked,
        call,
      );
      return { hits, ready: new Map(mounts.map((mount) => [mount, index?.ready(mount.name) ?? 0])) };
    } catch (cause) {
      if (call.signal.aborted) throw withdrawn(cause);
      if (cause instanceof ResourceError && (cause.kind === "invalid" || cause.kind === "busy")) throw cause;
      doors.tools.log("warn", "the index could not be searched", { cause });
      return { hits: [], ready: new Map() };
    }
  }

  async function placeWithin(uri: string | undefined, call: Call): Promise<Place | undefined> {
    if (uri === undefined) return undefined;
    const place = doors.place(uri, call);
    await findEntry(place, uri, call);
    if (place.at.query) throw notFound(uri);
    return place;
  }

  return {
    async search({ text, limit, within: withinUri, typing }, call) {
      if (!Number.isInteger(limit) || limit < 1) throw invalid("the limit of a search must be a whole number from 1");
      const within = await placeWithin(withinUri, call);
      const asked: Asked = {
        text,
        limit: Math.min(limit, maxLimit),
        within,
        ...(typing !== undefined && { typing }),
      };
      const entered = doors.routes.mounts.filter((mount) =>
        within ? mount === within.mount : doors.mayEnter(call, mount),
      );
      const indexed = entered.filter(({ name }) => index?.ready(name) !== undefined);
      const searched = entered.filter(({ source }) => source.search);
      const all = new Set([...indexed, ...searched]);
      if (all.size === 0) throw new ResourceError("unsupported", "nothing here can be searched");

      const answers = await Promise.all([
        ...(indexed.length > 0 ? [searchIndex(indexed, asked, call)] : []),
        ...searched.map((mount) => searchMount(mount, asked, call)),
      ]);
      const share = [...all].map((mount) => Math.max(0, ...answers.map(({ ready }) => ready.get(mount) ?? 0)));
      return {
        hits: fuse(answers.map(({ hits }) => hits)).slice(0, asked.limit),
        ready: share.reduce((sum, each) => sum + each, 0) / all.size,
      };
    },
  };
}

/** The best that the caller may see: as many as wanted, however many others stand between. */
async function visible(
  ask: (limit: number) => Promise<readonly Found[]>,
  show: (found: Found) => Promise<Hit | undefined>,
  { limit }: Asked,
  call: Call,
): Promise<Hit[]> {
  for (let wanted = limit; ; wanted *= 2) {
    const found = await ask(wanted);
    const hits: Hit[] = [];
    for (let at = 0; at < found.length && hits.length < limit; at += lookups) {
      const shown = await Promise.all(found.slice(at, at + lookups).map(show));
      hits.push(...shown.filter((hit) => hit !== undefined));
    }
    if (hits.length >= limit || found.length < wanted || wanted >= deepestLook) return hits.slice(0, limit);
    if (call.signal.aborted) throw withdrawn();
  }
}

/**
 * Scores of different makers cannot be compared, and those of an index depend on all that is in it, also on what is hidden from the
 * caller. So the rank counts: a hit stands where the best of those who found it has put it, 1 for the first, and a little less
 * for each place further down. Equal ranks stay in the order of those asked, the index first.
 */
function fuse(lists: readonly (readonly Hit[])[]): Hit[] {
  const best = new Map<string, Hit>();
  for (const list of lists) {
    for (const [rank, hit] of list.entries()) {
      const score = (fusion + 1) / (fusion + 1 + rank);
      const known = best.get(hit.resource.uri);
      // The words of the index are kept: they say where the match is.
      if (known === undefined) best.set(hit.resource.uri, { ...hit, score });
      else if (known.score < score) best.set(hit.resource.uri, { ...known, score });
    }
  }
  return [...best.values()].sort((left, right) => right.score - left.score);
}

function isBelow(path: string, above: string): boolean {
  return above === "" || path === above || path.startsWith(`${above}/`);
}
