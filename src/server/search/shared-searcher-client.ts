/** Searches the shared index on the main thread: the database does most of the work. */
import { openPostgresIndexStore } from "../../search/postgres/postgres-index-store.ts";
import { createSharedSearcher } from "../../search/shared-searcher.ts";
import type { SharedState } from "../../state/shared-state.ts";
import type { SearcherClient } from "./searcher-client.ts";

export function createSharedSearcherClient({ database, store }: SharedState): SearcherClient {
  const { search } = createSharedSearcher({ index: openPostgresIndexStore({ database }), records: store });
  return { search, close: async () => undefined };
}
