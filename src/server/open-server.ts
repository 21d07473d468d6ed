/** From folders, or from a config, to a house: each a mount with the standard layers, all of them as one Resources. */
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
import { createServerIndex, type ServerIndex } from "./server-index.ts";
import { locate, type Located } from "./locate.ts";
import { builtInMounts } from "./built-in-mounts.ts";
import type { SearchedMount } from "./search/index-threads.ts";
import { openSkillsMount } from "./skills-mount.ts";
import type { Sets } from "./sets.ts";
import { createServerSets } from "./sets/server-sets.ts";
import { cacheFolder, homeFolder, stateFolder } from "./state-folder.ts";
import { createActivityLog, type ActivityLog } from "./activity-log.ts";
import { createRuntime, logLevel } from "./runtime.ts";

/** A larger file is listed and not read: it would fill a model's context many times over. */
const maxBytes = 5 * 1024 * 1024;

export interface OpenServerOptions {
  /** As the person named them; none means the config that is found from where they stand, or else the folder they stand in. */
  readonly folders: readonly string[];
  /** The config, as the person named it. */
  readonly config?: string | undefined;
  /** Where the person stands. */
  readonly from: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the log goes. */
  readonly err: Pick<Writable, "write">;
  /** Whether changes of the config, and of what is indexed, take effect while the house is open. */
  readonly live?: boolean;
  /** The picker as an app, in one file; with the package unless said. */
  readonly pickerApp?: string;
}

export interface ServedMount {
  readonly name: string;
  readonly base: string;
  /** What its addresses are paths in, where that is a folder. */
  readonly folder?: string;
  /** As it is asked by the house, layers and all; who asks it here is asked no questions by a policy. */
  readonly source: Source;
}

export interface Server {
  readonly resources: Resources;
  /** Those of now: a config may change. */
  readonly mounts: readonly ServedMount[];
  /** Who may see what of them. */
  readonly policy: Policy;
  /** What is searched in. */
  readonly index: ServerIndex;
  /** Named choices of its resources. */
  readonly sets: Sets;
  /** Who is connected and what was read; for whoever serves the house to keep. */
  readonly register: ActivityLog;
  /** What the config says of the server, as it was when the house was opened. */
  readonly settings: ServerSettings;
  /** Settings of the server that the config has and that were left out, because it is not trusted. */
  readonly withheld?: readonly string[];
  /** The config's file, where there is one. */
  readonly config?: string;
  readonly runtime: Runtime;
  /** The URI that a person means by a URI, by a path within one of the folders, or by an absolute path. */
  locate(where: string, call: Call): Promise<string>;
  /** Afterwards nothing of the house runs or is held. */
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
 * The config that counts: the one that was named; with a single folder, the one in it; without any folder, the nearest one upwards.
 * Folders that are named together are served as they are.
 */
export function chooseConfig({
  folders,
  config,
  from,
  env,
}: Pick<OpenServerOptions, "folders" | "config" | "from" | "env">): ConfigOrigin | undefined {
  if (config !== undefined) {
    if (folders.length > 0) throw invalid("name folders or a config, not both: the config names its own folders");
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

/** The mounts that this caller may know of. */
export function mountsFor(
  { mounts, policy }: Pick<Server, "mounts" | "policy">,
  caller: Caller,
): readonly ServedMount[] {
  return mounts.filter(({ name }) => policy.maySee(caller, name, { path: "" }));
}

export function toServedMount({ name, base, source }: Mount, folder: string | undefined): ServedMount {
  return { name, base, source, ...(folder !== undefined && { folder }) };
}
