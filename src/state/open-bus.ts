/** Opens the bus that fits the config: NATS with `server.bus`, else the shared database, else the memory of the process. */
import { lastingFailure, quote } from "../errors.ts";
import type { Runtime } from "../runtime.ts";
import type { Bus } from "./bus.ts";
import type { SharedDatabase } from "./database.ts";
import { createMemoryBus } from "./memory-bus.ts";
import { createPostgresBus } from "./postgres-bus.ts";
import { readServerId } from "./server-id.ts";

export interface BusOptions {
  /** `nats://…` or `tls://…`. Needs the database, which has the id of the server. */
  readonly url?: string | undefined;
  /** Absent if the server runs alone. */
  readonly database?: SharedDatabase | undefined;
  readonly runtime: Pick<Runtime, "monotonicMs" | "wait" | "log">;
  /** Names the connection for the operator of NATS. */
  readonly instance: string;
}

/**
 * Does not wait for the engine: `publish` and `subscribe` do. Rejects if the URL is not usable, a package is missing, or the database of a
 * server with NATS cannot be read.
 */
export async function openBus({ url, database, runtime, instance }: BusOptions): Promise<Bus> {
  if (url !== undefined && database) {
    const { parseNatsUrl } = await import("./nats-url.ts");
    const target = parseNatsUrl(url);
    const [{ createNatsBus }, { loadNats, streamNames }, { createRaiseFence }] = await Promise.all([
      import("./nats-bus.ts"),
      import("./nats-connection.ts"),
      import("./raise-fence.ts"),
    ]);
    const packages = await loadNats();
    const id = await readServerId(database);
    if (id === undefined)
      throw lastingFailure(`the schema ${quote(database.schema)} has no id of the server; run: pressmark migrate`);
    const names = streamNames(database.schema, id);
    return createNatsBus({ packages, target, names, instance, raiseFence: createRaiseFence(database), runtime });
  }
  return database ? createPostgresBus({ database, runtime }) : createMemoryBus(runtime);
}
