/** Searches the shared index on the main thread: the database does most of the work. */
import { openPostgresIndexStore } from "../../search/postgres/postgres-index-store.ts";
import { createSharedSearcher } from "../../search/shared-searcher.ts";
import { databaseForCallers } from "../../state/database-for-callers.ts";
import { limitConnections } from "../../state/limit-connections.ts";
import type { SharedState } from "../../state/shared-state.ts";
import type { SearcherClient } from "./searcher-client.ts";

/** Of the five connections: leases, tokens and messages must not wait for searches, some of which take seconds. */
const maxConnections = 3;

export function createSharedSearcherClient({ database, store }: SharedState): SearcherClient {
  const index = openPostgresIndexStore({ database: limitConnections(databaseForCallers(database), maxConnections) });
  const { search } = createSharedSearcher({ index, records: store });
  return { search, close: async () => undefined };
}
