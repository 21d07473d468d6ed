/** Drops the mounts of the shared index that no config names any more. */
import { randomUUID } from "node:crypto";
import type { Runtime } from "../runtime.ts";
import { dropMount, findUnnamedMounts } from "../search/postgres/drop-mounts.ts";
import type { SharedDatabase } from "../state/database.ts";
import { createPostgresLeases } from "../state/postgres-leases.ts";
import { createPostgresStore } from "../state/postgres-store.ts";

interface DropOptions {
  readonly database: SharedDatabase;
  readonly runtime: Runtime;
  /** Names that are kept besides those of the running instances. */
  readonly indexed: readonly string[];
  /** Whether to drop nothing. */
  readonly isDry: boolean;
}

/** Yields each mount that was dropped, or would be; "held" if an instance still indexes it. */
export async function* dropUnnamedMounts({ database, runtime, indexed, isDry }: DropOptions): AsyncGenerator<{
  readonly name: string;
  readonly state: "pending" | "dropped" | "held";
}> {
  const records = createPostgresStore({ database, runtime });
  const leases = createPostgresLeases({ database, instance: randomUUID(), runtime });
  try {
    for (const name of await findUnnamedMounts({ database, records }, indexed))
      yield { name, state: isDry ? "pending" : (await dropMount(database, leases, name)) ? "dropped" : "held" };
  } finally {
    await leases.close();
    await records.close();
  }
}
