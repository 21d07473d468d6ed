/** Opens, in the indexer thread, what an instance needs to write the shared index. */
import { openPostgresIndexStore } from "../../search/postgres/postgres-index-store.ts";
import { createSharedIndexer, type SharedIndexerOptions } from "../../search/shared-indexer.ts";
import { limitConnections } from "../../state/limit-connections.ts";
import { openDatabase } from "../../state/open-database.ts";
import { createPostgresLeases } from "../../state/postgres-leases.ts";
import { createPostgresStore } from "../../state/postgres-store.ts";
import { createSharedCache } from "../../state/shared-cache.ts";
import { createClosingWatch } from "../../state/watch-closing.ts";
import type { SharedIndexLocation } from "./messages.ts";

const maxConnections = 4;
/** Writers take turns anyway, and one that waits for its turn has a connection: leases and the status of the mounts need the others. */
const maxWriting = 2;
/** The main thread waits three seconds for this one to close. */
const silentMs = 1500;

type IndexerSettings = Omit<SharedIndexerOptions, "instance" | "numbering" | "leases" | "records" | "openWriter">;

/** With connections of its own: a batch that is written delays no search. */
export function openSharedIndexer({ url, instance, numbering }: SharedIndexLocation, settings: IndexerSettings) {
  const { runtime } = settings;
  const database = openDatabase({ url, runtime, maxConnections });
  const forWriters = limitConnections(database, maxWriting);
  const leases = createPostgresLeases({ database, instance, runtime });
  const records = createPostgresStore({ database, runtime });
  const { counts } = openPostgresIndexStore({ database });
  let hasGivenUp = false;
  // The main thread notices the same, and logs it.
  const closingWatch = createClosingWatch({ database, runtime, silentMs, gaveUp: () => void (hasGivenUp = true) });
  const { close, ...indexer } = createSharedIndexer({
    ...settings,
    instance,
    numbering,
    leases,
    records,
    openWriter: (fence) => ({ ...openPostgresIndexStore({ database: forWriters, fence }), counts }),
  });
  return {
    ...indexer,
    check: undefined,
    /** For a source that this thread opens. */
    sharedCacheOf: (source: string) => createSharedCache({ store: records, leases }, source),
    async close(): Promise<void> {
      closingWatch.begin();
      await close().catch((cause: unknown) => {
        // Statements that waited for the database were cancelled.
        if (!hasGivenUp) throw cause;
      });
      await leases.close();
      await records.close();
      await database.close();
      closingWatch.end();
    },
  };
}
