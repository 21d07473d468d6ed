/** One search through every mount that can. */
import { invalid, notFound, ResourceError } from "../errors.ts";
import type { Call, Hit, Resources } from "../resources.ts";
import type { SourceHit } from "../source.ts";
import { withdrawn } from "./doors.ts";
import type { Doors } from "./doors.ts";
import type { Reading } from "./reading.ts";
import type { Mounted, Place } from "./route.ts";

const maxLimit = 10_000;
/** Where so many hits in a row are hidden, the rest is not looked at. */
const deepestLook = 65_536;

export function createSearching(doors: Doors, { findEntry }: Pick<Reading, "findEntry">): Pick<Resources, "search"> {
  /** The best that the caller may see: as many as wanted, however many others stand between. */
  async function searchMount(mount: Mounted, text: string, limit: number, within: Place | undefined, call: Call) {
    for (let wanted = limit; ; wanted *= 2) {
      const ask = { text, limit: wanted, ...(within?.at.path && { within: within.at.path }) };
      const found = (await mount.source.search?.(ask, call)) ?? [];
      const hits = found.flatMap((hit) => toHit(hit, mount, within, call) ?? []);
      if (hits.length >= limit || found.length < wanted || wanted >= deepestLook) return hits.slice(0, limit);
      if (call.signal.aborted) throw withdrawn();
    }
  }

  function toHit(
    { entry, ...found }: SourceHit,
    mount: Mounted,
    within: Place | undefined,
    call: Call,
  ): Hit | undefined {
    if (within && !isBelow(entry.path, within.at.path)) return undefined;
    const resource = doors.show(entry, mount, call);
    return resource && { ...found, resource };
  }

  async function placeWithin(uri: string | undefined, call: Call): Promise<Place | undefined> {
    if (uri === undefined) return undefined;
    const place = doors.place(uri, call);
    await findEntry(place, uri, call);
    if (place.at.query) throw notFound(uri);
    return place;
  }

  return {
    async search({ text, limit, within: withinUri }, call) {
      if (!Number.isInteger(limit) || limit < 1) throw invalid("the limit of a search must be a whole number from 1");
      const most = Math.min(limit, maxLimit);
      const within = await placeWithin(withinUri, call);
      const searched = doors.routes.mounts.filter(
        (mount) => mount.source.search && (within ? mount === within.mount : doors.mayEnter(call, mount)),
      );
      if (searched.length === 0) throw new ResourceError("unsupported", "nothing here can be searched");

      let ready = 0;
      const found = await Promise.all(
        searched.map(async (mount) => {
          try {
            const hits = await searchMount(mount, text, most, within, call);
            ready += 1;
            return hits;
          } catch (cause) {
            if (call.signal.aborted) throw withdrawn(cause);
            doors.tools.log("warn", "a mount could not be searched", { mount: mount.name, cause });
            return [];
          }
        }),
      );
      // Sorting is stable: equal scores stay in the order of their mounts.
      const hits = found.flat().sort((left, right) => right.score - left.score);
      return { hits: hits.slice(0, most), ready: ready / searched.length };
    },
  };
}

function isBelow(path: string, above: string): boolean {
  return above === "" || path === above || path.startsWith(`${above}/`);
}
