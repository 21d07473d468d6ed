/** Combines many mounted sources into one set of resources. */
import type { Policy } from "../access/policy.ts";
import { invalid } from "../errors.ts";
import type { Freshness, Resources } from "../resources.ts";
import type { SearchIndex } from "../search/search-index.ts";
import type { Runtime } from "../source.ts";
import { createActions } from "./actions.ts";
import { createCompletion } from "./complete-template.ts";
import { createRelayed } from "./relayed.ts";
import { createCursors } from "./cursor.ts";
import { createAccess } from "./access.ts";
import { createFairIndex } from "./fair-index.ts";
import { createListing } from "./list-resources.ts";
import { createResourceReader } from "./read-resource.ts";
import { createRoutes } from "./route.ts";
import type { Mount } from "./route.ts";
import { createSearch } from "./search-resources.ts";
import { createSkills } from "./skills.ts";
import { createResourceWatcher } from "./watch-resources.ts";

export interface LocalResources extends Resources {
  /** Ends every watch and closes every source. Afterwards nothing runs any more. */
  close(): Promise<void>;
}

export interface LocalResourcesOptions {
  readonly mounts: readonly Mount[];
  readonly policy: Policy;
  readonly runtime: Runtime;
  /** 32 bytes. With the same key, cursors survive a restart. */
  readonly cursorKey: Uint8Array;
  /** @internal Searched in addition to the sources that implement `search`. */
  readonly index?: SearchIndex;
  /** Number of entries on the first page of a list. Default: 1000. */
  readonly pageSize?: number;
  /** Default: not cached, and private. */
  readonly listFreshness?: Freshness;
}

/** Throws "invalid" if mounts share URIs or names. */
export function createResources(options: LocalResourcesOptions): LocalResources {
  const { mounts, policy, runtime, cursorKey, pageSize = 1000 } = options;
  if (!Number.isInteger(pageSize) || pageSize < 1) throw invalid("the page size must be an integer of at least 1");
  const access = createAccess(createRoutes(mounts), policy, runtime);
  const index = options.index && createFairIndex(options.index, access);
  const { findEntry, locate, ...reading } = createResourceReader(access);
  const { close: closeWatching, ...watching } = createResourceWatcher(access, { findEntry, locate });
  let closing: Promise<void> | undefined;

  async function closeAll(): Promise<void> {
    closeWatching();
    await Promise.all(
      mounts.map(async ({ name, source }) => {
        try {
          await source.close?.();
        } catch (cause) {
          runtime.log("error", "a source could not be closed", { mount: name, cause });
        }
      }),
    );
  }

  return {
    ...createListing(access, { cursors: createCursors(cursorKey), pageSize, findEntry }),
    ...reading,
    ...createCompletion(access, reading, index),
    ...createSearch(access, { findEntry }, index),
    ...createSkills(access),
    ...createActions(access),
    relayed: createRelayed(access),
    ...watching,
    listFreshness: options.listFreshness ?? { ttlMs: 0, scope: "private" },
    close: () => (closing ??= closeAll()),
  };
}
