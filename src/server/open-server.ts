/** Opens a server from folders or a config: mounts with the standard layers, combined into one Resources. */
import { dirname, resolve } from "node:path";
import type { Writable } from "node:stream";
import { openPolicy, type Policy } from "../access/policy.ts";
import { configIn, findConfig } from "../config/find-config.ts";
import type { ConfigOrigin } from "../config/load-config.ts";
import type { ServerSettings } from "../config/schema.ts";
import { invalid } from "../errors.ts";
import { stack } from "../layer.ts";
import { standardLayers } from "../layers/standard.ts";
import type { Call, Caller, Resources } from "../resources.ts";
import { createResources } from "../router/create-resources.ts";
import type { Mount } from "../router/route.ts";
import type { Source, SourceDefinition, Runtime } from "../source.ts";
import { sources } from "../sources/index.ts";
import { cleanUp } from "./clean-up.ts";
import { loadCursorKey } from "./cursor-key.ts";
import { findFolders } from "./folders.ts";
import { openGitMounts } from "./git-mounts.ts";
import { createServerIndex, type SearchedMount, type ServerIndex } from "./server-index.ts";
import { locate, type Located } from "./locate.ts";
import { builtInMounts } from "./built-in-mounts.ts";
import { openSkillsMount } from "./skills-mount.ts";
import type { Sets } from "./sets.ts";
import { createServerSets } from "./sets/server-sets.ts";
import { cacheFolder, homeFolder, stateFolder } from "./state-folder.ts";
import { createActivityLog, type ActivityLog } from "./activity-log.ts";
import { createRuntime, logLevel } from "./runtime.ts";

/** Larger files are listed but not read: they would not fit a model's context. */
const maxBytes = 5 * 1024 * 1024;

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
}

export interface ServedMount {
  readonly name: string;
  readonly base: string;
  /** The mount's folder, if its addresses are paths. */
  readonly folder?: string;
  /** The source with its layers; no policy is applied here. */
  readonly source: Source;
}

export interface Server {
  readonly resources: Resources;
  /** The current mounts: a config may change. */
  readonly mounts: readonly ServedMount[];
  /** Access policy. */
  readonly policy: Policy;
  /** The search index. */
  readonly index: ServerIndex;
  /** Named sets of resources. */
  readonly sets: Sets;
  /** Connected clients and recent reads; written by the transport. */
  readonly register: ActivityLog;
  /** Server settings of the config at the time of opening. */
  readonly settings: ServerSettings;
  /** Server settings that were left out because the config is not trusted. */
  readonly withheld?: readonly string[];
  /** The config's file, if there is one. */
  readonly config?: string;
  readonly runtime: Runtime;
  /** Resolves a URI, a path within one of the folders, or an absolute path. */
  locate(where: string, call: Call): Promise<string>;
  /** Stops everything and releases all resources. */
  close(): Promise<void>;
}

export async function openServer(options: OpenServerOptions): Promise<Server> {
  const { from, env, err, live = false } = options;
  const runtime = createRuntime(err, logLevel(env));
  const surroundings = { platform: process.platform, home: homeFolder(env), env };
  const state = stateFolder(surroundings);
  const cache = cacheFolder(surroundings);
  const cursorKey = loadCursorKey(state, runtime);
  const origin = chooseConfig(options);
  if (live) {
    const places = options.folders.length > 0 ? options.folders : ["."];
    cleanUp(state, origin ? [dirname(origin.file)] : places.map((place) => resolve(from, place)));
  }
  if (origin) {
    const { openConfiguredServer } = await import("./open-config.ts");
    const world = { from, env, stateFolder: state };
    const { pickerApp } = options;
    const places = { cursorKey: cursorKey(), cacheFolder: cache, pickerApp };
    const pressmark = await openConfiguredServer({ origin, world, runtime, live, ...places });
    if (pressmark) return pressmark;
  }
  return openFolders(options, runtime, cursorKey(), { cache, state });
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

async function openFolders(
  { folders, from, live = false, pickerApp }: OpenServerOptions,
  runtime: Runtime,
  cursorKey: Uint8Array,
  { cache, state }: { readonly cache: string; readonly state: string },
): Promise<Server> {
  const { default: file } = await sources.file();
  const definition = file as SourceDefinition;
  const located: Located[] = [];
  const searched: SearchedMount[] = [];
  const found = findFolders(folders, from);
  for (const { name, path } of found) {
    const options = { root: path, maxBytes };
    const source = stack(await file.open(options, runtime), { name }, standardLayers(runtime));
    located.push({ mount: { name, base: file.base!(options), source }, folder: path });
    searched.push({ name, source, definition, options });
  }
  const project = { folders: located.map(({ folder }) => folder!) };
  const skills = await openSkillsMount(found, runtime);
  if (skills) {
    located.push({ mount: skills.mount });
    searched.push({ ...skills, ...skills.mount });
  }
  const taken = new Set(located.map(({ mount }) => mount.name));
  for (const mount of await openGitMounts(found, runtime, taken)) located.push({ mount });
  const index = createServerIndex({ cacheFolder: cache, project, runtime, live });
  index.serve(searched, {});
  const register = createActivityLog(runtime);
  const servedMounts = located.map(({ mount, folder }) => toServedMount(mount, folder));
  const own = builtInMounts({ index, register, mounts: () => servedMounts, runtime, pickerApp });
  const mounts = [...located.map(({ mount }) => mount), ...own];
  const { close, ...inner } = createResources({ mounts, policy: openPolicy, runtime, cursorKey, index });
  const { resources, ...choice } = createServerSets({
    resources: inner,
    policy: openPolicy,
    mounts: () => located,
    stateFolder: state,
    project,
    runtime,
    live,
  });
  return {
    resources,
    mounts: servedMounts,
    policy: openPolicy,
    index,
    sets: choice.sets,
    register,
    settings: {},
    runtime,
    locate: (where, call) => locate(where, located, resources, call),
    async close() {
      await choice.close();
      await index.close();
      await close();
    },
  };
}

/** The mounts that this caller may see. */
export function mountsFor(
  { mounts, policy }: Pick<Server, "mounts" | "policy">,
  caller: Caller,
): readonly ServedMount[] {
  return mounts.filter(({ name }) => policy.maySee(caller, name, { path: "" }));
}

export function toServedMount({ name, base, source }: Mount, folder: string | undefined): ServedMount {
  return { name, base, source, folder };
}
