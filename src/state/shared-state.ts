/** What the instances of a server share: database, records, bus and leases. */
import type { Bus } from "./bus.ts";
import type { SharedDatabase } from "./database.ts";
import type { Leases } from "./leases.ts";
import type { Store } from "./store.ts";

export interface SharedState {
  /** Random for each process. */
  readonly instance: string;
  readonly database: SharedDatabase;
  readonly store: Store;
  readonly bus: Bus;
  readonly leases: Leases;
  close(): Promise<void>;
}
