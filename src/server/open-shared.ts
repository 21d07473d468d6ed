/** Opens what the instances of a server share, if its config names a database. */
import { readFileSync } from "node:fs";
import type { ServerSettings } from "../config/schema.ts";
import type { Runtime } from "../runtime.ts";
import type { SharedState } from "../state/shared-state.ts";

interface OpenSharedOptions {
  readonly runtime: Runtime;
  /** The config's file: all instances should have the same. */
  readonly config?: string | undefined;
  /** How long to wait for a database that is not there yet. Default: as a server does. */
  readonly startMs?: number | undefined;
}

/** A command does not wait as long as a server, which is perhaps started together with its database. */
export const commandStartMs = 3000;

export async function openShared(
  { state, bus }: Pick<ServerSettings, "state" | "bus">,
  { runtime, config, startMs }: OpenSharedOptions,
): Promise<SharedState | undefined> {
  if (state === undefined) return undefined;
  const [{ openSharedState }, { searchMigrations: migrations }, { readManifest }] = await Promise.all([
    import("../state/open-shared-state.ts"),
    import("../search/postgres/tables.ts"),
    import("../lib/package-files.ts"),
  ]);
  const { version } = await readManifest();
  return openSharedState({ state, bus, runtime, migrations, version, config: config && digestOf(config), startMs });
}

function digestOf(file: string): string {
  const { hash } = process.getBuiltinModule("node:crypto");
  return hash("sha256", readFileSync(file), "hex").slice(0, 16);
}
