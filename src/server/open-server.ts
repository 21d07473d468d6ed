/** Opens a server from a config file or folders: mounts, index and sets, combined into one Resources. */
import { realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Writable } from "node:stream";
import { isDeepStrictEqual } from "node:util";
import { type AccessDecision, openPolicy, type Policy } from "../access/policy.ts";
import { createQuotas, type Quotas } from "../access/quotas.ts";
import type { Config } from "../config/config.ts";
import type { AccessSettings } from "../config/access.ts";
import { configIn, findConfig } from "../config/find-config.ts";
import type { ConfigContext, ConfigOrigin } from "../config/load-config.ts";
import type { ServerSettings } from "../config/schema.ts";
import { invalid, quote } from "../errors.ts";
import { cacheFolder, homeFolder, stateFolder, systemPathsOf } from "../lib/system-paths.ts";
import type { Call, Caller, Resources } from "../resources.ts";
import { createResources } from "../router/create-resources.ts";
import { createRoutes, type Routes } from "../router/route.ts";
import type { Runtime } from "../source.ts";
import { type ActivityLog, createActivityLog } from "./activity-log.ts";
import { createDeliveryLog, type DeliveryLog } from "./delivery-log.ts";
import { builtInMounts, withBuiltInMounts } from "./built-in-mounts.ts";
import { cleanUp } from "./clean-up.ts";
import type { Applied, ConfigFile } from "./config-file.ts";
import { loadCursorKey } from "./cursor-key.ts";
import { createFolderConfig } from "./folder-config.ts";
import { locate, type ServedMount } from "./locate.ts";
import { leftOutMounts } from "./left-out-mounts.ts";
import { isSearched, type OpenMount, openMounts, toSearched, toServed, type UnopenedMount } from "./open-mounts.ts";
import type { ResourcesBuild } from "./reloadable-resources.ts";
import { createRuntime, logLevel } from "./runtime.ts";
import { createServerIndex, type ServerIndex } from "./server-index.ts";
import type { Sets } from "./sets.ts";
import { createServerSets } from "./sets/server-sets.ts";

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
  /** Folder of stored tokens, sets and trust. */
  readonly stateFolder: string;
  /** @internal The search index. */
  readonly index: ServerIndex;
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
  /** Whether a caller may see a URI, and which rule decides. Undefined if no mount serves it. */
  explain(caller: Caller, uri: string): (AccessDecision & { readonly mount: string }) | undefined;
  /** Resolves a URI, an absolute path, or a path within one of the folders or the current folder. */
  locate(where: string, call: Call): Promise<string>;
  /** Stops everything and releases all resources. */
  close(): Promise<void>;
}

/** An unused source stays open this long for running requests: no request takes longer. */
const retireMs = 30_000;

export async function openServer(options: OpenServerOptions): Promise<Server> {
  const { folders, from, env, live = false } = options;
  const plain = createRuntime(options.err, logLevel(env));
  const systemPaths = systemPathsOf(env);
  const state = stateFolder(systemPaths);
  const cursorKey = loadCursorKey(state, plain);
  const origin = chooseConfig(options);
  if (live) {
    const places = folders.length > 0 ? folders : ["."];
    cleanUp(state, origin ? [dirname(origin.file)] : places.map((place) => resolve(from, place)));
  }
  const file = origin && (await openFile(origin, { from, env, stateFolder: state }, plain));
  const { config: first, project } = file ?? (await createFolderConfig(folders, from, plain));

  // Sources use the server once it is open.
  const runtime = {
    ...(file?.runtime ?? plain),
    resources: {
      read: (uri, call) => resources.read(uri, call),
      stat: (uri, call) => resources.stat(uri, call),
      watch: (filter, call) => resources.watch(filter, call),
    },
  } satisfies Runtime;
  let config = first;
  let { all: open, faulty } = await openMounts(config, runtime);
  logFaulty(faulty, [], runtime);
  const served = () => open.map(toServed);
  let rules = await policyOf(config);
  // Also holds for a build that still delivers changes after a reload.
  const policy = {
    maySee: (caller, mount, at, files) => policyFor(mount).maySee(caller, mount, at, files),
    explain: (caller, mount, at, files) => policyFor(mount).explain?.(caller, mount, at, files) ?? { isAllowed: true },
    maySeeAll: (caller, mount, at) => policyFor(mount).maySeeAll?.(caller, mount, at) ?? true,
    // Built-in mounts are not indexed.
    visibilityKey: (caller) => rules.visibilityKey?.(caller),
    filesFor: (caller, mount, at) => policyFor(mount).filesFor?.(caller, mount, at),
    mayWrite: (caller, mount) => rules.mayWrite?.(caller, mount) ?? true,
  } satisfies Policy;
  let shownPolicy: Policy = policy;
  const index = createServerIndex({ cacheFolder: cacheFolder(systemPaths), project, runtime, live });
  const register = createActivityLog(runtime);
  const deliveries = config.server.activity === false ? undefined : createDeliveryLog(runtime);
  const quotas = createQuotas(runtime);
  const visitorQuotas = createQuotas(runtime);
  for (const each of [quotas, visitorQuotas]) each.reload(config.quotas);
  const own = builtInMounts({
    index,
    register,
    deliveries,
    quotas,
    mounts: served,
    faulty: () => faulty,
    runtime,
    pickerApp: options.pickerApp,
  });
  const { sets, ...setsOfServer } = createServerSets({
    policy,
    // A set names resources of mounts that are left out, and says that they cannot be read.
    mounts: () => [...served(), ...leftOutMounts(faulty)],
    configured: () => config,
    stateFolder: state,
    project,
    runtime,
    live,
  });
  const builtInNames = new Set([...own, ...setsOfServer.mounts()].map(({ name }) => name));
  let builtRoutes: Routes | undefined;
  serveIndex();
  const closing = new AbortController();
  const retiring = new Set<Promise<void>>();
  const build = buildNow();
  const reloadable =
    live && file ? (await import("./reloadable-resources.ts")).createReloadableResources(build, runtime) : undefined;
  const resources: Resources = reloadable ?? build.resources;
  const following = reloadable && file?.follow(apply, closing.signal, () => faulty.length > 0);

  /** Built-in mounts decide by themselves: a set shows only members that the caller may see, the status only to the owner. */
  function policyFor(mount: string): Policy {
    return builtInNames.has(mount) ? openPolicy : rules;
  }

  function serveIndex(): void {
    index.serve(
      open.filter(isSearched).map(toSearched),
      config.search,
      faulty.map(({ name }) => name),
    );
  }

  function buildNow(): ResourcesBuild {
    const mounts = withBuiltInMounts(
      [...open.map(({ mount }) => mount), ...leftOutMounts(faulty)],
      [...own, ...setsOfServer.mounts()],
    );
    const routes = (builtRoutes = createRoutes(mounts));
    const { close, ...built } = createResources({
      mounts,
      policy: rules === openPolicy ? openPolicy : policy,
      runtime,
      index,
      cursorKey: file ? keyFor(open, cursorKey()) : cursorKey(),
      pageSize: config.server.pageSize,
    });
    return { resources: built, close, answersFor: (uri) => routes.find(uri)?.mount.source };
  }

  /** Serves the next config. A retry that finds nothing new is ignored. */
  async function apply(next: Config, isRetry: boolean): Promise<Applied> {
    const { all, faulty: nextFaulty, hasOpened, dropped } = await openMounts(next, runtime, { config, open });
    if (isRetry && !hasOpened && dropped.length === 0 && isDeepStrictEqual(faulty, nextFaulty)) return "ignored";
    const before = { config, open, faulty };
    if (!isDeepStrictEqual(config.access, next.access)) {
      rules = await policyOf(next);
      // Another object: what was found under the earlier rules is looked up again.
      shownPolicy = { ...policy };
    }
    for (const each of [quotas, visitorQuotas]) each.reload(next.quotas);
    config = next;
    open = all;
    faulty = nextFaulty;
    logFaulty(faulty, before.faulty, runtime);
    serveIndex();
    const isAlike = isBuiltAlike(before, { config, open, faulty });
    options.reloaded?.();
    if (isAlike && isDeepStrictEqual(before.config.sets, config.sets)) return "alike";
    if (!isAlike) await reloadable?.swap(buildNow());
    sets.changed();
    for (const mount of dropped) retire(mount);
    return "changed";
  }

  function retire(mount: OpenMount): void {
    const retired = runtime
      .wait(retireMs, closing.signal)
      .catch(() => undefined)
      .then(() => mount.close())
      .finally(() => retiring.delete(retired));
    retiring.add(retired);
  }

  return {
    resources,
    quotas,
    visitorQuotas,
    get mounts() {
      return served();
    },
    get faulty() {
      return faulty;
    },
    get policy() {
      return shownPolicy;
    },
    get access() {
      return config.access;
    },
    get auth() {
      return config.server.auth;
    },
    stateFolder: state,
    index,
    sets,
    register,
    deliveries,
    settings: first.server,
    withheld: first.withheld.flatMap(({ part, settings }) => (part === "server" ? settings : [])),
    config: first.file,
    runtime,
    explain(caller, uri) {
      const found = builtRoutes?.find(uri);
      if (!found) return undefined;
      const { mount, at } = found;
      const decision = policy.explain(caller, mount.name, at, mount.source.filesOf?.(at));
      const shown = mount.source.overviewOf?.(at);
      const isHidden =
        mount.source.maySee?.(caller, at) === false || (shown && !policy.maySeeAll(caller, mount.name, shown));
      return { mount: mount.name, ...(isHidden ? { isAllowed: false } : decision) };
    },
    locate: (where, call) => locate(where, currentFolder(options), served(), resources, call),
    async close() {
      closing.abort();
      await following;
      await setsOfServer.close();
      await index.close();
      await (reloadable ?? build).close();
      await Promise.all([...retiring, ...open.map((mount) => mount.close())]);
    },
  };
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

/** Without rules everyone sees everything; with rules that need trust, only the owner does. */
async function policyOf({ access }: Config): Promise<Policy> {
  if (access?.rules.length === 0) return openPolicy;
  const { createRulesPolicy } = await import("../access/rules.ts");
  return createRulesPolicy(access?.rules ?? []);
}

/** @internal The mounts that this caller may see. */
export function mountsFor(
  { mounts, policy }: Pick<Server, "mounts" | "policy">,
  caller: Caller,
): readonly ServedMount[] {
  const root = { path: "" };
  return mounts.filter(({ name, source }) => policy.maySee(caller, name, root, source.filesOf?.(root)));
}

/** Ties cursors to the mounts that they were issued for: another source may interpret them differently. */
function keyFor(open: readonly OpenMount[], key: Uint8Array): Uint8Array {
  const mounts = open.map(({ mount, config: { definition, options } }) => [
    mount.name,
    mount.base,
    definition.name,
    options,
  ]);
  const { createHmac } = process.getBuiltinModule("node:crypto");
  return createHmac("sha256", key).update(JSON.stringify(mounts)).digest();
}

/** Logs problems that are new. Those of a machine that lacks an optional mount are no warning. */
function logFaulty(now: readonly UnopenedMount[], before: readonly UnopenedMount[], { log }: Runtime): void {
  const known = new Set(before.flatMap(({ problems }) => problems));
  for (const { name, problems, isExpected, isKept } of now) {
    const effect = isKept ? "stays as it was" : isExpected ? "is optional and left out" : "is left out";
    for (const problem of problems)
      if (!known.has(problem)) log(isExpected ? "info" : "warn", `the mount ${quote(name, 64)} ${effect}: ${problem}`);
  }
}

interface Built {
  readonly config: Config;
  readonly open: readonly OpenMount[];
  readonly faulty: readonly UnopenedMount[];
}

function isBuiltAlike(one: Built, other: Built): boolean {
  const looks = ({ config, open, faulty }: Built) => [
    config.server.pageSize,
    config.server.zed,
    config.access?.rules,
    config.search,
    ...faulty.map(({ name, base, isKept, isExpected }) => ({ name, base, isKept, isExpected })),
    ...open.map((each) => {
      const { name, title, description, base, freshness } = each.mount;
      return { name, title, description, base, freshness, isSearched: isSearched(each) };
    }),
  ];
  const sources = ({ open }: Built) => open.map(({ mount }) => mount.source);
  const [ours, theirs] = [sources(one), sources(other)];
  return isDeepStrictEqual(looks(one), looks(other)) && ours.every((source, index) => source === theirs[index]);
}
