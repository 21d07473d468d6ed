/** Opens a server from a config file or folders. */
import { realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Writable } from "node:stream";
import type { AccessDecision, Policy } from "../access/policy.ts";
import type { Quotas } from "../access/quotas.ts";
import type { AccessSettings } from "../config/access.ts";
import type { Config } from "../config/config.ts";
import { configIn, findConfig } from "../config/find-config.ts";
import type { ConfigContext, ConfigOrigin } from "../config/load-config.ts";
import type { ServerSettings } from "../config/schema.ts";
import { invalid } from "../errors.ts";
import type { CacheStats } from "../layers/cache.ts";
import { withMembers } from "../lib/with-members.ts";
import { cacheFolder, homeFolder, stateFolder, systemPathsOf } from "../lib/system-paths.ts";
import type { Call, Caller, Resources } from "../resources.ts";
import type { Runtime } from "../source.ts";
import type { SharedState } from "../state/shared-state.ts";
import type { ActivityLog } from "./activity-log.ts";
import { buildServer } from "./build-server.ts";
import { cleanUp } from "./clean-up.ts";
import type { ConfigFile } from "./config-file.ts";
import { freshCursorKey, loadCursorKey, loadSharedCursorKey } from "./cursor-key.ts";
import type { DeliveryLog } from "./delivery-log.ts";
import { createFolderConfig } from "./folder-config.ts";
import type { ServedMount } from "./locate.ts";
import type { MountHealth } from "./mount-health.ts";
import type { UnopenedMount } from "./open-mounts.ts";
import { createRecentLines } from "./recent-lines.ts";
import { createRuntime, logFormat, logLevel } from "./runtime.ts";
import type { ServerIndex } from "./server-index.ts";
import type { Sets } from "./sets.ts";

export interface OpenServerOptions {
  /** As the user named them; empty means the nearest config, else the current folder. */
  readonly folders: readonly string[];
  /** The config file, as the user named it. */
  readonly config?: string;
  /** The current folder. */
  readonly from: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Destination of the log. */
  readonly err: Pick<Writable, "write">;
  /** Whether changes of the config and of indexed resources take effect while the server is open. */
  readonly live?: boolean;
  /** The picker as an app, in one file. Default: the one in the package. */
  readonly pickerApp?: string;
  /** Called when a changed config took effect. */
  readonly reloaded?: () => void;
  /** @internal What instances share is only read, and nothing is created for it: for doctor. */
  readonly readsShared?: boolean;
}

/** Members marked as internal are for the command `pressmark`, and are not in the published types. */
export interface Server {
  readonly resources: Resources;
  /** @internal The current mounts: a config may change. */
  readonly mounts: readonly ServedMount[];
  /** @internal Mounts of the current config that have problems. They are left out, or stay as they were before the config changed. */
  readonly faulty: readonly UnopenedMount[];
  /** Who may see what, by the current rules. */
  readonly policy: Policy;
  /** @internal Named callers and rules of the current config; undefined if they need trust first. */
  readonly access: AccessSettings | undefined;
  /** @internal How much each caller may use, by the current config. */
  readonly quotas: Quotas;
  /** @internal The same limits for machines that ask without being callers. Apart, so that any number of them changes nothing for callers. */
  readonly visitorQuotas: Pick<Quotas, "begin">;
  /** @internal What the read caches of all mounts do. */
  readonly cacheStats: CacheStats;
  /** Folder of stored tokens, sets and trust. */
  readonly stateFolder: string;
  /** @internal The search index. */
  readonly index: ServerIndex;
  /** @internal Whether each mount responds. */
  readonly health: MountHealth;
  /** @internal Named sets of resources. */
  readonly sets: Sets;
  /** @internal Connected clients and recent reads; written by the transport. */
  readonly register: ActivityLog;
  /** @internal Absent if the config turns it off. */
  readonly deliveries?: DeliveryLog;
  /** @internal Server settings of the config at the time of opening. */
  readonly settings: ServerSettings;
  /** @internal How callers sign in, by the current config. */
  readonly auth: ServerSettings["auth"];
  /** @internal Server settings that were left out because the config is not trusted. */
  readonly withheld: readonly string[];
  /** The config's file, if there is one. */
  readonly config?: string;
  readonly runtime: Runtime;
  /** @internal What the instances of this server share. Absent for a single process. */
  readonly shared?: SharedState;
  /** Whether a caller may see a URI, and which rule decides. Undefined if no mount serves it. */
  explain(caller: Caller, uri: string): (AccessDecision & { readonly mount: string }) | undefined;
  /** Resolves a URI, an absolute path, or a path within one of the folders or the current folder. */
  locate(where: string, call: Call): Promise<string>;
  /** Stops everything and releases all resources. */
  close(): Promise<void>;
}

export async function openServer(options: OpenServerOptions): Promise<Server> {
  const { folders, from, env, live = false, readsShared = false } = options;
  const log = createRecentLines(options.err);
  const plain = createRuntime(log, logLevel(env), undefined, logFormat(env));
  const systemPaths = systemPathsOf(env);
  const state = stateFolder(systemPaths);
  const origin = chooseConfig(options);
  if (live) {
    const places = folders.length > 0 ? folders : ["."];
    cleanUp(state, origin ? [dirname(origin.file)] : places.map((place) => resolve(from, place)));
  }
  const file = origin && (await openFile(origin, { from, env, stateFolder: state }, plain));
  const { config, project } = file ?? (await createFolderConfig(folders, from, plain));
  const runtime = file?.runtime ?? plain;
  const shared = readsShared ? await readSharedOf(config, runtime) : await openSharedOf(config, runtime, live);
  try {
    const server = await buildServer({
      config,
      project,
      file,
      runtime,
      stateFolder: state,
      cacheFolder: cacheFolder(systemPaths),
      cursorKey: readsShared ? freshCursorKey : shared ? await sharedCursorKey(shared) : loadCursorKey(state, plain),
      currentFolder: currentFolder(options),
      shared,
      live,
      pickerApp: options.pickerApp,
      reloaded: options.reloaded,
      recentLog: log.lines,
    });
    return shared ? closedWith(server, shared) : server;
  } catch (cause) {
    await shared?.close();
    throw cause;
  }
}

/** Loaded only if the config asks for it. */
async function openSharedOf(
  { server, file }: Pick<Config, "server" | "file">,
  runtime: Runtime,
  live: boolean,
): Promise<SharedState | undefined> {
  if (server.state === undefined) return undefined;
  const { commandStartMs, openShared } = await import("./open-shared.ts");
  return openShared(server, { runtime, config: file, startMs: live ? undefined : commandStartMs });
}

async function readSharedOf({ server }: Pick<Config, "server">, runtime: Runtime): Promise<SharedState | undefined> {
  if (server.state === undefined) return undefined;
  const { readSharedState } = await import("../state/read-shared-state.ts");
  return readSharedState(server.state, runtime);
}

async function sharedCursorKey({ store }: SharedState): Promise<() => Uint8Array> {
  const key = await loadSharedCursorKey(store);
  return () => key;
}

/** What is shared is closed last. */
function closedWith(server: Server, shared: SharedState): Server {
  return withMembers<Server>(server, {
    async close() {
      shared.prepareToClose();
      try {
        await server.close();
      } finally {
        await shared.close();
      }
    },
  });
}

/** Without links, as the folders of mounts are. A single named folder replaces the current one. */
export function currentFolder({ folders, from }: Pick<OpenServerOptions, "folders" | "from">): string {
  const folder = folders.length === 1 ? resolve(from, folders[0]!) : from;
  try {
    return realpathSync.native(folder);
  } catch {
    return folder;
  }
}

/**
 * Chooses the config: the named one; with a single folder, the one in it; without folders, the nearest one upwards.
 * Several named folders are served without a config.
 */
export function chooseConfig({
  folders,
  config,
  from,
  env,
}: Pick<OpenServerOptions, "folders" | "config" | "from" | "env">): ConfigOrigin | undefined {
  if (config !== undefined) {
    if (folders.length > 0) throw invalid("name folders or a config, not both; the config lists its own folders");
    return { file: resolve(from, config), named: true };
  }
  const [only, ...more] = folders;
  if (more.length > 0) return undefined;
  const file = only === undefined ? findConfig(from, homeFolder(env)) : configIn(resolve(from, only));
  return file === undefined ? undefined : { file, named: false };
}

/** Loaded only if there is a config: the parsers and the schema take longer than the rest of the start. */
async function openFile(origin: ConfigOrigin, world: ConfigContext, plain: Runtime): Promise<ConfigFile | undefined> {
  const { openConfigFile } = await import("./config-file.ts");
  return openConfigFile(origin, world, plain);
}

/** @internal The mounts that this caller may see. */
export function mountsFor(
  { mounts, policy }: Pick<Server, "mounts" | "policy">,
  caller: Caller,
): readonly ServedMount[] {
  const root = { path: "" };
  return mounts.filter(({ name, source }) => policy.maySee(caller, name, root, source.filesOf?.(root)));
}
