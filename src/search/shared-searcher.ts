/** Searches the index that the instances of a server share. */
import type { Store } from "../state/store.ts";
import { keyNote } from "./indexer.ts";
import type { IndexOverview } from "./postgres/postgres-index-store.ts";
import type { SearchFindings, SearchQuestion } from "./searcher.ts";
import { readSharedStatus } from "./shared-status.ts";
import type { IndexStore, StoreHit, StoreQuery } from "./store.ts";
import { createViewerGroups, undecidedAtOnce } from "./viewer-groups.ts";

/** The index as a searcher sees it. */
export interface SharedIndexReader {
  search(query: StoreQuery, count?: (rows: number) => void, signal?: AbortSignal): Promise<readonly StoreHit[]>;
  addresses(...request: Parameters<IndexStore["addresses"]>): Promise<ReturnType<IndexStore["addresses"]>>;
  addressesOf(...request: Parameters<IndexStore["addressesOf"]>): Promise<ReturnType<IndexStore["addressesOf"]>>;
  overview(notes: readonly string[]): Promise<IndexOverview>;
}

export function createSharedSearcher({
  index,
  records,
}: {
  readonly index: SharedIndexReader;
  readonly records: Store;
}) {
  const visibilityOf = createViewerGroups();

  async function search(
    { mounts, viewers, withStatus, ...query }: SearchQuestion,
    signal: AbortSignal,
  ): Promise<SearchFindings> {
    // Read first, so that the results are at least as new.
    const [status, { identity: file, lastDocument, notes }] = await Promise.all([
      withStatus ? readSharedStatus(records, mounts) : undefined,
      index.overview(mounts.map(({ name }) => keyNote(name))),
    ]);
    const names = mounts.filter(({ name, key }) => key === notes.get(keyNote(name))).map(({ name }) => name);
    if (names.length === 0) {
      // Nothing is indexed yet, or the index has another version: the search says so.
      if (mounts.length > 0) await index.search({ ...query, mounts: names }, undefined, signal);
      return { hits: [], file, status };
    }
    const visibility = viewers && visibilityOf(viewers, file);
    if (visibility) {
      const { upTo, postponed } = visibility;
      const again = !viewers.decided && postponed.length > 0;
      const [before, later] = await Promise.all([
        again ? index.addressesOf(postponed) : [],
        lastDocument > upTo ? index.addresses(upTo, undecidedAtOnce) : [],
      ]);
      const documents = [...before, ...later];
      if (documents.length > 0) return { hits: [], file, undecided: { file, after: upTo, again, documents } };
    }
    let rows = 0;
    const hits = await index.search({ ...query, mounts: names, visibility }, (count) => (rows = count), signal);
    return { hits, rows, file, status };
  }

  return { search };
}
