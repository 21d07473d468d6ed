/** The config of a command, and where what is stored per config is: in the state folder, or shared by instances. */
import { denied, ResourceError } from "../errors.ts";
import type { Config } from "../config/config.ts";
import type { ConfigOrigin } from "../config/load-config.ts";
import type { SharedState } from "../state/shared-state.ts";
import type { CommandContext } from "./command.ts";

export async function findConfigState(config: string | undefined, { folder: from, env }: CommandContext) {
  const { chooseConfig } = await import("../server/open-server.ts");
  const { stateFolder, systemPathsOf } = await import("../lib/system-paths.ts");
  const { realPath } = await import("../lib/real-path.ts");
  const origin = chooseConfig({ folders: [], config, from, env });
  if (!origin) throw new ResourceError("not-found", "no config here or above; create one with: pressmark init");
  return { origin, state: stateFolder(systemPathsOf(env)), file: realPath(origin.file) };
}

/** Calls `work` with what the instances of a config share; with undefined if it names no database, or is not trusted to. */
export async function withShared<T>(
  { server, file }: { readonly server: Config["server"]; readonly file: string },
  { err, env }: CommandContext,
  work: (shared: SharedState | undefined) => Promise<T>,
): Promise<T> {
  if (server.state === undefined) return work(undefined);
  const { commandStartMs, openShared } = await import("../server/open-shared.ts");
  const { createRuntime, logLevel } = await import("../server/runtime.ts");
  const runtime = createRuntime(err, logLevel(env), env);
  const shared = await openShared(server, { runtime, config: file, startMs: commandStartMs });
  try {
    return await work(shared);
  } finally {
    await shared?.close();
  }
}

/** Server settings of a config; none if it cannot be loaded or is not trusted: then no server runs with it. */
export async function serverOf(
  origin: ConfigOrigin,
  state: string,
  { folder: from, env }: CommandContext,
): Promise<Config["server"]> {
  const { loadConfig } = await import("../config/load-config.ts");
  const loaded = await loadConfig(origin, { from, env, stateFolder: state }).catch(() => undefined);
  return loaded && "config" in loaded ? loaded.config.server : {};
}

/** As `serverOf`, but throws if it is not known where the server stores its state. */
export async function certainServerOf(
  origin: ConfigOrigin,
  state: string,
  { folder: from, env }: CommandContext,
): Promise<Config["server"]> {
  const { loadConfig } = await import("../config/load-config.ts");
  const loaded = await loadConfig(origin, { from, env, stateFolder: state });
  if ("untrusted" in loaded || loaded.config.withheld.some(({ settings }) => settings.includes("state")))
    throw untrustedState();
  return loaded.config.server;
}

export function untrustedState(): ResourceError {
  return denied("server.state of this config is not trusted yet; review it, then run: pressmark trust");
}
