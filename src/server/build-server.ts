/** Builds a server from a config: mounts, index and sets, combined into one Resources. */
import { isDeepStrictEqual } from "node:util";
import { openPolicy, type Policy } from "../access/policy.ts";
import { createQuotas } from "../access/quotas.ts";
import type { Config } from "../config/config.ts";
import { quote } from "../errors.ts";
import { createCacheStats } from "../layers/cache.ts";
import { isDoneWithin } from "../lib/is-done-within.ts";
import type { Resources } from "../resources.ts";
import { createResources } from "../router/create-resources.ts";
import { createRoutes, type Routes } from "../router/route.ts";
import type { Runtime } from "../source.ts";
import { createSharedCache } from "../state/shared-cache.ts";
import type { SharedState } from "../state/shared-state.ts";
import { createActivityLog } from "./activity-log.ts";
import { builtInMounts, withBuiltInMounts } from "./built-in-mounts.ts";
import type { Applied, ConfigFile } from "./config-file.ts";
import { createDeliveryLog } from "./delivery-log.ts";
import { leftOutMounts } from "./left-out-mounts.ts";
import { locate } from "./locate.ts";
import { createMountHealth } from "./mount-health.ts";
import { isSearched, type OpenMount, openMounts, toSearched, toServed, type UnopenedMount } from "./open-mounts.ts";
import type { Server } from "./open-server.ts";
import type { ResourcesBuild } from "./reloadable-resources.ts";
import type { Project } from "./search/index-location.ts";
import { createServerIndex } from "./server-index.ts";
import type { SavedSets } from "./sets/saved-sets.ts";
import { createServerSets } from "./sets/server-sets.ts";

export interface BuildServerOptions {
  readonly config: Config;
  /** What the index belongs to. */
  readonly project: Project;
  /** The file that the config comes from, if there is one: its changes take effect. */
  readonly file?: ConfigFile | undefined;
  readonly runtime: Runtime;
  /** The last lines of the log, without secrets. Absent if the program keeps its own log. */
  readonly recentLog?: () => readonly string[];
  /** Folder of stored tokens, sets and trust. */
  readonly stateFolder: string;
  /** Folder of the index. */
  readonly cacheFolder: string;
  cursorKey(): Uint8Array;
  /** Replaces the rules of the config. */
  readonly policy?: Policy | undefined;
  /** Base folder of paths in requests of the command line. */
  readonly currentFolder: string;
  /** What the instances of this server share; closed by the opener. Default: this process is the only one. */
  readonly shared?: SharedState | undefined;
  /** Whether changes of the config and of indexed resources take effect while the server is open. */
  readonly live: boolean;
  /** Whether sets that other processes save are noticed. Default: if `live`. */
  readonly followsSets?: boolean;
  /** The picker as an app, in one file. Default: the one in the package. */
  readonly pickerApp?: string | undefined;
  /** Called when a changed config took effect. */
  readonly reloaded?: (() => void) | undefined;
}

/** An unused source stays open this long for running requests: no request takes longer. */
const retireMs = 30_000;
/** Time for the index to end what it reads before the sources are closed. */
const indexMs = 3000;

/** If it throws, everything that it opened is closed. */
export async function buildServer(options: BuildServerOptions): Promise<Server> {
  const opened: (() => Promise<void>)[] = [];
  try {
    return await build(options, (close) => void opened.push(close));
  } catch (cause) {
    for (const close of opened.toReversed()) await close();
    throw cause;
  }
}

/** Calls `opens` with what closes each thing that it opens. */
async function build(options: BuildServerOptions, opens: (close: () => Promise<void>) => void): Promise<Server> {
  const { config: first, project, file, stateFolder, cursorKey, live, shared } = options;
  // Sources use the server once it is open.
  const runtime = {
    ...options.runtime,
    resources: {
      read: (uri, call) => resources.read(uri, call),
      stat: (uri, call) => resources.stat(uri, call),
      watch: (filter, call) => resources.watch(filter, call),
    },
  } satisfies Runtime;
  let config = first;
  const cacheStats = createCacheStats();
  const share = live && shared ? (await import("./share-mount.ts")).createMountSharing(shared, runtime) : undefined;
  const sharedCacheOf = shared && ((source: string) => createSharedCache(shared, source));
  let { all: open, faulty } = await openMounts(config, runtime, { cacheStats, share, sharedCacheOf });
  opens(async () => void (await Promise.all(open.map((mount) => mount.close()))));
  logFaulty(faulty, [], runtime);
  const served = () => open.map(toServed);
  let rules = options.policy ?? (await policyOf(config));
  // Also holds for a build that still delivers changes after a reload.
  const policy = {
    maySee: (caller, mount, at, files) => policyFor(mount).maySee(caller, mount, at, files),
    explain: (caller, mount, at, files) => policyFor(mount).explain?.(caller, mount, at, files) ?? { isAllowed: true },
    maySeeAll(caller, mount, at) {
      const deciding = policyFor(mount);
      return deciding === openPolicy || (deciding.maySeeAll?.(caller, mount, at) ?? false);
    },
    // Built-in mounts are not indexed.
    visibilityKey: (caller) => rules.visibilityKey?.(caller),
    filesFor: (caller, mount, at) => policyFor(mount).filesFor?.(caller, mount, at),
    mayWrite: (caller, mount) => rules.mayWrite?.(caller, mount) ?? true,
  } satisfies Policy;
  let shownPolicy: Policy = policy;
  const index = createServerIndex({
    cacheFolder: options.cacheFolder,
    project,
    runtime,
    live,
    // A single command uses an index of its own.
    shared: live && shared && first.server.state !== undefined ? { state: shared, url: first.server.state } : undefined,
  });
  opens(() => index.close());
  const register = createActivityLog(runtime);
  const deliveries = config.server.activity === false ? undefined : createDeliveryLog(runtime);
  const quotas = createQuotas(runtime);
  const visitorQuotas = createQuotas(runtime);
  for (const each of [quotas, visitorQuotas]) each.reload(config.quotas);
  const health = createMountHealth({ mounts: served, runtime });
  const own = builtInMounts({
    index,
    register,
    deliveries,
    quotas,
    mounts: served,
    faulty: () => faulty,
    health,
    shared,
    pickerApp: options.pickerApp,
    recentLog: options.recentLog,
  });
  const { sets, ...setsOfServer } = createServerSets({
    policy,
    // A set names resources of mounts that are left out, and says that they cannot be read.
    mounts: () => [...served(), ...leftOutMounts(faulty)],
    configured: () => config,
    stateFolder,
    project,
    runtime,
    live: options.followsSets ?? live,
    saved: shared && (await openSets(shared, options.runtime)),
  });
  opens(setsOfServer.close);
  const builtInNames = new Set([...own, ...setsOfServer.mounts()].map(({ name }) => name));
  let builtRoutes: Routes | undefined;
  serveIndex();
  const closing = new AbortController();
  const retiring = new Set<Promise<void>>();
  const built = buildNow();
  opens(built.close);
  const reloadable =
    live && file ? (await import("./reloadable-resources.ts")).createReloadableResources(built, runtime) : undefined;
  const resources: Resources = reloadable ?? built.resources;
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
    const { close, ...local } = createResources({
      mounts,
      policy: rules === openPolicy ? openPolicy : policy,
      runtime,
      index,
      cursorKey: file ? keyFor(open, cursorKey()) : cursorKey(),
      pageSize: config.server.pageSize,
    });
    return { resources: local, close, answersFor: (uri) => routes.find(uri)?.mount.source };
  }

  /** Serves the next config. A retry that finds nothing new is ignored. */
  async function apply(next: Config, isRetry: boolean): Promise<Applied> {
    const {
      all,
      faulty: nextFaulty,
      hasOpened,
      dropped,
    } = await openMounts(next, runtime, { cacheStats, share, sharedCacheOf, current: { config, open } });
    if (isRetry && !hasOpened && dropped.length === 0 && isDeepStrictEqual(faulty, nextFaulty)) return "ignored";
    const before = { config, open, faulty };
    if (!isDeepStrictEqual(config.access, next.access)) {
      rules = options.policy ?? (await policyOf(next));
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
    cacheStats,
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
    stateFolder,
    index,
    health,
    sets,
    register,
    deliveries,
    settings: first.server,
    withheld: first.withheld.flatMap(({ part, settings }) => (part === "server" ? settings : [])),
    config: first.file,
    runtime,
    shared,
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
    locate: (where, call) => locate(where, options.currentFolder, served(), resources, call),
    async close() {
      closing.abort();
      await following;
      await setsOfServer.close();
      const indexEnded = index.close();
      if (!(await isDoneWithin(indexEnded, indexMs, runtime.wait)))
        runtime.log("warn", "the search index takes long to close, perhaps because a source ignores its signal");
      await (reloadable ?? built).close();
      await Promise.all([...retiring, ...open.map((mount) => mount.close())]);
      await indexEnded;
    },
  };
}

/** Without rules everyone sees everything; with rules that need trust, only the owner does. */
async function policyOf({ access }: Config): Promise<Policy> {
  if (access?.rules.length === 0) return openPolicy;
  const { createRulesPolicy } = await import("../access/rules.ts");
  return createRulesPolicy(access?.rules ?? []);
}

async function openSets({ store }: SharedState, runtime: Runtime): Promise<SavedSets> {
  return (await import("./sets/shared-sets.ts")).openSharedSets(store, runtime);
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
