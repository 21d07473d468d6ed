/** What the instances of a server share: database, records, bus and leases. */
import type { Bus } from "./bus.ts";
import type { SharedDatabase } from "./database.ts";
import type { Leases } from "./leases.ts";
import type { Store } from "./store.ts";

export interface SharedState {
  /** Unique for each process: host, process id and a random part. */
  readonly instance: string;
  readonly database: SharedDatabase;
  readonly store: Store;
  readonly bus: Bus;
  readonly leases: Leases;
  /** Why the database did not answer when it was last asked, a few seconds ago. Undefined if it did. */
  readonly databaseProblem: string | undefined;
  /**
   * For a server that stops: from now on nothing waits long for a database that does not respond. What waits is cancelled, and what this instance
   * holds there expires by itself.
   */
  prepareToClose(): void;
  close(): Promise<void>;
}
