/** Opens the bus that fits the config: NATS with `server.bus`, else the shared database, else the memory of the process. */
import type { Runtime } from "../runtime.ts";
import type { Bus } from "./bus.ts";
import type { SharedDatabase } from "./database.ts";
import { createMemoryBus } from "./memory-bus.ts";
import { createPostgresBus } from "./postgres-bus.ts";

export interface BusOptions {
  /** `nats://…` or `tls://…`. */
  readonly url?: string | undefined;
  /** Absent if the server runs alone. */
  readonly database?: SharedDatabase | undefined;
  readonly runtime: Pick<Runtime, "monotonicMs" | "wait" | "log">;
  /** Names the connection for the operator of NATS. */
  readonly instance: string;
}

/** Does not wait for the engine: `publish` and `subscribe` do. Rejects if the URL is not usable or a package is missing. */
export async function openBus({ url, database, runtime, instance }: BusOptions): Promise<Bus> {
  if (url !== undefined) {
    const { parseNatsUrl } = await import("./nats-url.ts");
    const target = parseNatsUrl(url);
    const [{ createNatsBus }, { loadNats }] = await Promise.all([
      import("./nats-bus.ts"),
      import("./nats-connection.ts"),
    ]);
    const packages = await loadNats();
    return createNatsBus({ packages, target, schema: database?.schema ?? "pressmark", instance, runtime });
  }
  return database ? createPostgresBus({ database, runtime }) : createMemoryBus(runtime);
}
