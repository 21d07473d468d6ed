/** A house as its config says, and as it says next when it changes. */
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
import { createServerIndex } from "./server-index.ts";
import { createReloadableResources, type ResourcesBuild } from "./reloadable-resources.ts";
import { locate } from "./locate.ts";
import { type Server, type ServedMount, toServedMount } from "./open-server.ts";
import { type OpenMount, openMounts } from "./open-mounts.ts";
import { builtInMounts, withBuiltInMounts } from "./built-in-mounts.ts";
import { createServerSets } from "./sets/server-sets.ts";
import type { SearchedMount } from "./search/index-threads.ts";
import { createActivityLog } from "./activity-log.ts";

export interface ConfiguredOptions {
  readonly origin: ConfigOrigin;
  readonly world: ConfigContext;
  readonly runtime: Runtime;
  /** 32 bytes. */
  readonly cursorKey: Uint8Array;
  /** Where the index may stand. */
  readonly cacheFolder: string;
  /** Whether changes of the file, and of what is indexed, take effect while the house is open. */
  readonly live: boolean;
  /** The picker as an app, in one file; with the package unless said. */
  readonly pickerApp?: string | undefined;
}

/** For so long a source that is needed no longer stays open for what is under way: no question takes longer. */
const retireMs = 30_000;

/** Undefined, and said why, where the config may not be believed until it is trusted. */
export async function openConfiguredServer(options: ConfiguredOptions): Promise<Server | undefined> {
  const { origin, world, live } = options;
  const label = labelOf(origin.file, world.from);
  const secrets = createLogRedaction(options.runtime);
  // Sources ask the house they stand in once it is there.
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
      `nothing of ${label} may be served before it is trusted; look at it, then type: ${trustCommand(origin.file, world.from)}`,
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
      ...(pageSize !== undefined && { pageSize }),
    });
    return { resources: built, close, answersFor: (uri) => routes.find(uri)?.mount.source };
  }

  /** The config and what it is trusted with may change at the same time. */
  function reloadInOrder(): Promise<void> {
    return (reloading = reloading.then(reload));
  }

  async function reload(): Promise<void> {
    try {
      await rebuild();
    } catch (cause) {
      const lines = cause instanceof ConfigError ? cause.lines : [`${label}: cannot be used`];
      for (const line of lines) runtime.log("error", line, cause instanceof ConfigError ? {} : { cause });
      runtime.log("error", "the config has problems, so what was served before is still served", { config: label });
    }
  }

  async function rebuild(): Promise<void> {
    const next = await loadConfig(origin, world);
    if ("untrusted" in next) {
      runtime.log(
        "warn",
        `${untrustedSentence(label, next.untrusted, origin, world)} What was served before is still served.`,
      );
      return;
    }
    const others = origin.named ? false : lettingIn(started);
    if (others !== false && !isDeepStrictEqual(others, lettingIn(next.config.server))) {
      // The trust that others are let in with is for what was served to them then.
      sayWithheld(next.config);
      runtime.log(
        "warn",
        `${label} changes what others are served, or who they are. What was served before is still served, until it is trusted and started anew.`,
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
        `${label} ${asksFor(permission)}, ${leftOut(permission)}; type: ${trustCommand(origin.file, world.from)}`,
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

/** How other machines and pages are let in; false where they are not. */
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
  return `${label} ${asksFor(permission)}, ${notUsed(permission)}; look at it, then type: ${trustCommand(file, from)}`;
}

/** A cursor may mean another thing to another source: it fits the mounts that it was given for, and no others. */
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
    // Gone for now; its URIs still lead there.
    return {};
  }
}
