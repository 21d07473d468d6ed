/** The shared database of the config, for commands that work on it as a whole. */
import { ResourceError } from "../errors.ts";
import type { Runtime } from "../runtime.ts";
import type { SharedDatabase } from "../state/database.ts";
import type { CommandContext } from "./command.ts";

/** Time limit of one statement, and of a pause in a transaction: a slow disk or pipe may delay a backup. */
const longMs = 600_000;

export interface StateDatabase {
  readonly database: SharedDatabase;
  readonly runtime: Runtime;
  /** Folder with the state of this machine. */
  readonly stateFolder: string;
  /** The config's file, without links. */
  readonly file: string;
  /** Names of the mounts that this config indexes, also of those that are left out for now. */
  readonly indexed: readonly string[];
}

/** Runs work with the database, and closes it afterwards. */
export async function withStateDatabase<T>(
  config: string | undefined,
  world: CommandContext,
  work: (state: StateDatabase) => Promise<T>,
): Promise<T> {
  const { findConfigState, untrustedState } = await import("./config-state.ts");
  const { loadConfig } = await import("../config/load-config.ts");
  const { createRuntime, logLevel } = await import("../server/runtime.ts");
  const { openDatabase } = await import("../state/open-database.ts");
  const { origin, state: stateFolder, file } = await findConfigState(config, world);
  const loaded = await loadConfig(origin, { from: world.folder, env: world.env, stateFolder });
  const withheld = "untrusted" in loaded || loaded.config.withheld.some(({ settings }) => settings.includes("state"));
  if (withheld) throw untrustedState();
  const { server, mounts, faulty, search } = loaded.config;
  const indexed = search.enabled === false ? [] : [...mounts.filter((mount) => mount.search !== false), ...faulty];
  const url = server.state;
  if (url === undefined)
    throw new ResourceError(
      "not-found",
      "the config has no server.state; add the URL of a PostgreSQL database, such as postgres://user@host/database",
    );
  const runtime = createRuntime(world.err, logLevel(world.env), world.env);
  const database = openDatabase({ url, runtime, timeoutMs: longMs, maxConnections: 3 });
  try {
    return await work({ database, runtime, stateFolder, file, indexed: indexed.map(({ name }) => name) });
  } finally {
    await database.close();
  }
}
