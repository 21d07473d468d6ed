/** Opens the server that a config describes, and reloads it when the config changes. */
import { createHmac } from "node:crypto";
import { realpathSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { openPolicy } from "../access/policy.ts";
import type { Config, MountConfig } from "../config/config.ts";
import { type ConfigOrigin, type ConfigContext, labelOf, loadConfig, trustCommand } from "../config/load-config.ts";
import { ConfigError } from "../config/problem.ts";
import type { ServerSettings } from "../config/schema.ts";
import { serverReasons } from "../config/permissions.ts";
import { asksFor, createTrustStore, leftOut, notUsed, type Permission, realPath } from "../config/trust.ts";
import { ResourceError } from "../errors.ts";
import { createResources } from "../router/create-resources.ts";
import { createRoutes } from "../router/route.ts";
import type { Runtime } from "../source.ts";
import { watchFile } from "./watch-file.ts";
import { createLogRedaction } from "./log-redaction.ts";
import { createServerIndex, type SearchedMount } from "./server-index.ts";
import { createReloadableResources, type ResourcesBuild } from "./reloadable-resources.ts";
import { locate } from "./locate.ts";
import { type Server, type ServedMount, toServedMount } from "./open-server.ts";
import { type OpenMount, openMounts } from "./open-mounts.ts";
import { builtInMounts, withBuiltInMounts } from "./built-in-mounts.ts";
import { createServerSets } from "./sets/server-sets.ts";
import { createActivityLog } from "./activity-log.ts";

export interface ConfiguredOptions {
  readonly origin: ConfigOrigin;
  readonly world: ConfigContext;
  readonly runtime: Runtime;
  /** 32 bytes. */
  readonly cursorKey: Uint8Array;
  /** Folder for the index. */
  readonly cacheFolder: string;
  /** Whether changes of the config and of indexed resources take effect while the server is open. */
  readonly live: boolean;
  /** The picker as an app, in one file. Default: the one in the package. */
  readonly pickerApp?: string;
}

/** An unused source stays open this long for running requests: no request takes longer. */
const retireMs = 30_000;

/** Undefined if the config must be trusted first; the reason is logged. */
export async function openConfiguredServer(options: ConfiguredOptions): Promise<Server | undefined> {
  const { origin, world, live } = options;
  const label = labelOf(origin.file, world.from);
  const secrets = createLogRedaction(options.runtime);
  // Sources use the server once it is open.
  const runtime: Runtime = {
    ...secrets.runtime,
    pressmark: {
      read: (uri, call) => pressmark.read(uri, call),
      stat: (uri, call) => pressmark.stat(uri, call),
      watch: (filter, call) => pressmark.watch(filter, call),
    },
  };
  const loaded = await loadConfig(origin, world);
  if ("untrusted" in loaded) {
    runtime.log("warn", untrustedSentence(label, loaded.untrusted, origin, world));
    return undefined;
  }

  let config = loaded.config;
  secrets.keep(config);
  sayWithheld(config);
  if (config.mounts.length === 0)
    throw new ResourceError(
      "denied",
      `nothing in ${label} may be served before it is trusted; review it, then run: ${trustCommand(origin.file, world.from)}`,
    );
  let open: readonly OpenMount[] = (await openMounts(config, [], runtime)).all;
  const project = { config: realPath(origin.file) };
  const index = createServerIndex({ cacheFolder: options.cacheFolder, project, runtime, live });
  const register = createActivityLog(runtime);
  const own = builtInMounts({ index, register, mounts: servedMounts, runtime, pickerApp: options.pickerApp });
  serveIndex();
  const closing = new AbortController();
  const trusted = createTrustStore(world.stateFolder);
  let reloading: Promise<void> = Promise.resolve();
  const started = config.server;
  const retiring = new Set<Promise<void>>();
  const pressmark = createReloadableResources(build(), runtime);
  const located = () => open.map(({ mount, config: each }) => ({ mount, ...folderOf(each) }));
  const { resources, ...choice } = createServerSets({
    resources: pressmark,
    policy: openPolicy,
    mounts: located,
    configured: () => ({ sets: config.sets, folder: realPath(config.folder), zed: config.server.zed ?? false }),
    stateFolder: world.stateFolder,
    project,
    runtime,
    live,
  });
  const followed = live ? [origin.file, ...(origin.named ? [] : [trusted.placeOf(origin.file)])] : [];
  const following = Promise.all(
    followed.map((file) => watchFile(file, reloadInOrder, { runtime, signal: closing.signal })),
  );

  function servedMounts(): readonly ServedMount[] {
    return located().map(({ mount, folder }) => toServedMount(mount, folder));
  }

  function serveIndex(): void {
    index.serve(open.filter(isSearched).map(toSearched), config.search);
  }

  function build(): ResourcesBuild {
    const mounts = withBuiltInMounts(
      open.map(({ mount }) => mount),
      own,
    );
    const routes = createRoutes(mounts);
    const { pageSize } = config.server;
    const { close, ...built } = createResources({
      mounts,
      policy: openPolicy,
      runtime,
      index,
      cursorKey: keyFor(open, options.cursorKey),
      pageSize,
    });
    return { resources: built, close, answersFor: (uri) => routes.find(uri)?.mount.source };
  }

  /** Runs reloads one after the other: the config and its trust may change at the same time. */
  function reloadInOrder(): Promise<void> {
    return (reloading = reloading.then(reload));
  }

  async function reload(): Promise<void> {
    try {
      await rebuild();
    } catch (cause) {
      const lines = cause instanceof ConfigError ? cause.lines : [`${label}: cannot be used`];
      for (const line of lines) runtime.log("error", line, cause instanceof ConfigError ? {} : { cause });
      runtime.log("error", "the config has problems, so the previous config stays in effect", { config: label });
    }
  }

  async function rebuild(): Promise<void> {
    const next = await loadConfig(origin, world);
    if ("untrusted" in next) {
      runtime.log(
        "warn",
        `${untrustedSentence(label, next.untrusted, origin, world)} The previous config stays in effect.`,
      );
      return;
    }
    const others = origin.named ? false : lettingIn(started);
    if (others !== false && !isDeepStrictEqual(others, lettingIn(next.config.server))) {
      // Other machines were let in by a grant for what was served at that time.
      sayWithheld(next.config);
      runtime.log(
        "warn",
        `${label} changes what other machines are served, or which machines may connect. The previous config stays in effect until the new one is trusted and the server restarted.`,
      );
      return;
    }
    secrets.keep(next.config);
    const { all, dropped } = await openMounts(next.config, open, runtime);
    const before = { config, open };
    config = next.config;
    open = all;
    sayWithheld(config);
    sayRestart(before.config.server, config.server);
    serveIndex();
    const isAlike = isBuiltAlike(before, { config, open });
    if (isAlike && isChosenAlike(before.config, config)) return;
    if (!isAlike) await pressmark.swap(build());
    choice.sets.changed();
    for (const mount of dropped) retire(mount);
    runtime.log("info", "the config changed and is in effect", { config: label });
  }

  function retire(mount: OpenMount): void {
    const retired = runtime
      .wait(retireMs, closing.signal)
      .catch(() => undefined)
      .then(() => mount.close())
      .finally(() => retiring.delete(retired));
    retiring.add(retired);
  }

  function sayWithheld({ withheld }: Config): void {
    for (const permission of withheld)
      runtime.log(
        "warn",
        `${label} ${asksFor(permission)}, ${leftOut(permission)}; run: ${trustCommand(origin.file, world.from)}`,
      );
  }

  function sayRestart(before: ServerSettings, now: ServerSettings): void {
    for (const setting of ["host", "port", "allowedHosts", "allowedOrigins", "token", "tools"] as const)
      if (live && !isDeepStrictEqual(before[setting], now[setting]))
        runtime.log("warn", `server.${setting} has changed, which takes effect after a restart`, { config: label });
  }

  return {
    resources,
    get mounts() {
      return servedMounts();
    },
    policy: openPolicy,
    index,
    sets: choice.sets,
    register,
    settings: started,
    withheld: config.withheld.flatMap(({ part, settings }) => (part === "server" ? settings : [])),
    config: config.file,
    runtime,
    locate: (where, call) => locate(where, located(), resources, call),
    async close() {
      closing.abort();
      await following;
      await choice.close();
      await index.close();
      await pressmark.close();
      await Promise.all([...retiring, ...open.map((mount) => mount.close())]);
    },
  };
}

/** Settings that let in other machines and pages; false if there are none. */
function lettingIn(settings: ServerSettings): false | readonly unknown[] {
  const { host = [], allowedHosts = [], allowedOrigins = [] } = serverReasons(settings);
  const isOpen = host.length + allowedHosts.length + allowedOrigins.length > 0;
  return isOpen && [host, allowedHosts, allowedOrigins, settings.token];
}

function untrustedSentence(
  label: string,
  permission: Permission,
  { file }: ConfigOrigin,
  { from }: ConfigContext,
): string {
  return `${label} ${asksFor(permission)}, ${notUsed(permission)}; review it, then run: ${trustCommand(file, from)}`;
}

/** Ties cursors to the mounts that they were issued for: another source may interpret them differently. */
function keyFor(open: readonly OpenMount[], key: Uint8Array): Uint8Array {
  const mounts = open.map(({ mount, config: { definition, options } }) => [
    mount.name,
    mount.base,
    definition.name,
    options,
  ]);
  return createHmac("sha256", key).update(JSON.stringify(mounts)).digest();
}

function isSearched({ config: { search, definition } }: OpenMount): boolean {
  return search ?? definition.searchable ?? true;
}

function toSearched({ mount: { name, source }, config }: OpenMount): SearchedMount {
  const { definition, options, redact, checkTrust } = config;
  return { name, source, definition, options, ...(redact && { redact }), ...(checkTrust && { onMainThread: true }) };
}

interface Built {
  readonly config: Config;
  readonly open: readonly OpenMount[];
}

function isBuiltAlike(one: Built, other: Built): boolean {
  const looks = ({ config, open }: Built) => [
    config.server.pageSize,
    config.search,
    ...open.map((each) => {
      const { name, base, freshness } = each.mount;
      return { name, base, freshness, isSearched: isSearched(each) };
    }),
  ];
  const sources = ({ open }: Built) => open.map(({ mount }) => mount.source);
  const [ours, theirs] = [sources(one), sources(other)];
  return isDeepStrictEqual(looks(one), looks(other)) && ours.every((source, index) => source === theirs[index]);
}

function isChosenAlike(one: Config, other: Config): boolean {
  return isDeepStrictEqual(one.sets, other.sets) && one.server.zed === other.server.zed;
}

function folderOf({ definition, options }: MountConfig): { readonly folder?: string } {
  if (definition.name !== "file") return {};
  try {
    return { folder: realpathSync.native((options as { readonly root: string }).root) };
  } catch {
    // Missing for now; its URIs stay valid.
    return {};
  }
}
