/** Sets outside the config that all instances of a server share. */
import { isDeepStrictEqual } from "node:util";
import type { Runtime } from "../../runtime.ts";
import { createCachedRecords } from "../../state/cached-records.ts";
import type { RecordValue, Store } from "../../state/store.ts";
import { type SavedSet, type SavedSets, toSet } from "./saved-sets.ts";

/** Records of this kind have the name and the owner of a set as their key. */
export const setKind = "sets";

export function setKey({ name, owner }: Pick<SavedSet, "name" | "owner">): string {
  return JSON.stringify(owner === undefined ? [name] : [name, owner]);
}

/** Reads use the memory; a change is known here as soon as it is stored. */
export async function openSharedSets(
  store: Store,
  runtime: Pick<Runtime, "monotonicMs" | "wait" | "log">,
): Promise<SavedSets> {
  const known = createCachedRecords(store, setKind, runtime);
  await known.load();

  async function write(set: SavedSet, options?: { readonly ifVersion: string | undefined }): Promise<boolean> {
    const stored = await store.put(setKind, setKey(set), toSetRecord(set), options);
    await known.load();
    return stored !== undefined;
  }

  return {
    location: "the shared state",
    load: () => known.load(),

    all: () =>
      known.records.flatMap(({ key, value }) => {
        const set = toSet(value);
        if (!set) runtime.log("warn", "a saved set is invalid and left out", { record: key });
        return set ?? [];
      }),

    put: async (set) => void (await write(set)),
    create: (set) => write(set, { ifVersion: undefined }),

    async replace(set, before) {
      const found = await store.get(setKind, setKey(set));
      if (!found || !isDeepStrictEqual(toSet(found.value), toSet(before))) return false;
      return write(set, { ifVersion: found.version });
    },

    async remove(set) {
      const existed = await store.remove(setKind, setKey(set));
      await known.load();
      return existed;
    },

    follow: (changed, signal) => known.follow(changed, signal),
  };
}

/** What is stored of a set. */
export function toSetRecord({ name, owner, title, description, resources }: SavedSet): RecordValue {
  return {
    name,
    resources,
    ...(owner !== undefined && { owner }),
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
  };
}
