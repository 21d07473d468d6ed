/** Opens what the instances of a server share to read it: creates nothing, and is not listed as an instance. */
import { randomUUID } from "node:crypto";
import type { Runtime } from "../runtime.ts";
import { createMemoryBus } from "./memory-bus.ts";
import { readMigrations } from "./migrate.ts";
import { openDatabase } from "./open-database.ts";
import { createPostgresLeases } from "./postgres-leases.ts";
import { createPostgresStore } from "./postgres-store.ts";
import type { SharedState } from "./shared-state.ts";
import type { Store } from "./store.ts";
import { stateMigrations } from "./tables.ts";

/** The database refuses every change. Before the tables exist, there are no records. */
export async function readSharedState(
  url: string,
  { monotonicMs, wait }: Pick<Runtime, "monotonicMs" | "wait">,
): Promise<SharedState> {
  const instance = randomUUID();
  // A change that is refused is no problem of the server.
  const runtime = { monotonicMs, wait, log: () => undefined };
  const database = openDatabase({ url, runtime, isReadOnly: true });
  try {
    const { applied } = await readMigrations(database, stateMigrations);
    const hasRecords = applied.some(({ area }) => area === "state");
    const store = hasRecords ? createPostgresStore({ database, runtime }) : emptyStore;
    const bus = createMemoryBus(runtime);
    const leases = createPostgresLeases({ database, instance, runtime });
    return {
      instance,
      database,
      databaseProblem: undefined,
      store,
      bus,
      leases,
      // Nothing is stored at the end.
      prepareToClose: () => undefined,
      async close() {
        for (const each of [leases, bus, store, database]) await each.close();
      },
    };
  } catch (cause) {
    await database.close();
    throw cause;
  }
}

/** Nothing is stored, and nothing can be. */
const emptyStore: Store = {
  get: async () => undefined,
  list: async () => [],
  put: async () => undefined,
  remove: async () => false,
  append: async () => undefined,
  async *read() {},
  trim: async () => undefined,
  follow: async () => undefined,
  close: async () => undefined,
};
