/** Many sources as one house. */
import type { Policy } from "../access/policy.ts";
import { invalid } from "../errors.ts";
import type { Freshness, Resources } from "../resources.ts";
import type { SearchIndex } from "../search/search-index.ts";
import type { Tools } from "../source.ts";
import { createActions } from "./actions.ts";
import { createCompleting } from "./completing.ts";
import { createCursors } from "./cursor.ts";
import { createDoors } from "./doors.ts";
import { createFairIndex } from "./fair-index.ts";
import { createListing } from "./listing.ts";
import { createReading } from "./reading.ts";
import { createRoutes } from "./route.ts";
import type { Mount } from "./route.ts";
import { createSearching } from "./searching.ts";
import { createSkills } from "./skills.ts";
import { createWatching } from "./watching.ts";

export interface House extends Resources {
  /** Ends every watch and closes every source. Afterwards nothing of the house runs. */
  close(): Promise<void>;
}

export interface HouseOptions {
  readonly mounts: readonly Mount[];
  readonly policy: Policy;
  readonly tools: Tools;
  /** 32 bytes. With the same key, cursors outlive a restart. */
  readonly cursorKey: Uint8Array;
  /** Searched beside the sources that can be searched themselves. */
  readonly index?: SearchIndex;
  /** How many entries the first page of a list holds; 1000 unless said. */
  readonly pageSize?: number;
  /** Nothing is kept, and by no one else, unless said. */
  readonly listFreshness?: Freshness;
}

/** Mounts that share URIs or names throw "invalid". */
export function createResources(options: HouseOptions): House {
  const { mounts, policy, tools, cursorKey, pageSize = 1000 } = options;
  const index = options.index && createFairIndex(options.index);
  if (!Number.isInteger(pageSize) || pageSize < 1) throw invalid("the size of a page must be a whole number from 1");
  const doors = createDoors(createRoutes(mounts), policy, tools);
  const { findEntry, ...reading } = createReading(doors);
  const { close: closeWatching, ...watching } = createWatching(doors, { findEntry });
  let closing: Promise<void> | undefined;

  async function closeAll(): Promise<void> {
    closeWatching();
    await Promise.all(
      mounts.map(async ({ name, source }) => {
        try {
          await source.close?.();
        } catch (cause) {
          tools.log("error", "a source could not be closed", { mount: name, cause });
        }
      }),
    );
  }

  return {
    ...createListing(doors, { cursors: createCursors(cursorKey), pageSize, findEntry }),
    ...reading,
    ...createCompleting(doors, reading, index),
    ...createSearching(doors, { findEntry }, index),
    ...createSkills(doors),
    ...createActions(doors),
    ...watching,
    listFreshness: options.listFreshness ?? { ttlMs: 0, scope: "private" },
    close: () => (closing ??= closeAll()),
  };
}
