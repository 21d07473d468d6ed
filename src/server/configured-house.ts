/** A house as its config says, and as it says next when it changes. */
import { createHmac } from "node:crypto";
import { realpathSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { openPolicy } from "../access/policy.ts";
import type { Config, MountConfig } from "../config/config.ts";
import { type ConfigOrigin, type ConfigWorld, labelOf, loadConfig, trustCommand } from "../config/load-config.ts";
import { ConfigError } from "../config/problem.ts";
import type { ServerSettings } from "../config/schema.ts";
import { serverReasons } from "../config/permissions.ts";
import { asksFor, createTrustStore, leftOut, notUsed, type Permission, realPath } from "../config/trust.ts";
import { ResourceError } from "../errors.ts";
import { createResources } from "../router/create-resources.ts";
import { createRoutes } from "../router/route.ts";
import type { Tools } from "../source.ts";
import { followFile } from "./follow-file.ts";
import { createDiscretion } from "./discretion.ts";
import { createHouseIndex } from "./house-index.ts";
import { createLiveHouse, type Furnishing } from "./live-house.ts";
import { locate } from "./locate.ts";
import { type House, type HouseMount, toHouseMount } from "./open-house.ts";
import { type OpenMount, openMounts } from "./open-mounts.ts";
import { ownMounts, withOwnMounts } from "./own-mounts.ts";
import { createHouseSets } from "./sets/house-sets.ts";
import type { SearchedMount } from "./search/kept-index.ts";
import { createRegister } from "./status-register.ts";

export interface ConfiguredOptions {
  readonly origin: ConfigOrigin;
  readonly world: ConfigWorld;
  readonly tools: Tools;
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
export async function openConfiguredHouse(options: ConfiguredOptions): Promise<House | undefined> {
  const { origin, world, live } = options;
  const label = labelOf(origin.file, world.from);
  const secrets = createDiscretion(options.tools);
  // Sources ask the house they stand in once it is there.
  const tools: Tools = {
    ...secrets.tools,
    house: {
      read: (uri, call) => house.read(uri, call),
      stat: (uri, call) => house.stat(uri, call),
      watch: (filter, call) => house.watch(filter, call),
    },
  };
  const loaded = await loadConfig(origin, world);
  if ("untrusted" in loaded) {
    tools.log("warn", untrustedSentence(label, loaded.untrusted, origin, world));
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
  let open: readonly OpenMount[] = (await openMounts(config, [], tools)).all;
  const project = { config: realPath(origin.file) };
  const index = createHouseIndex({ cacheFolder: options.cacheFolder, project, tools, live });
  const register = createRegister(tools);
  const own = ownMounts({ index, register, mounts: houseMounts, tools, pickerApp: options.pickerApp });
  serveIndex();
  const closing = new AbortController();
  const trusted = createTrustStore(world.stateFolder);
  let reloading: Promise<void> = Promise.resolve();
  const started = config.server;
  const retiring = new Set<Promise<void>>();
  const house = createLiveHouse(furnish(), tools);
  const located = () => open.map(({ mount, config: each }) => ({ mount, ...folderOf(each) }));
  const { resources, ...choice } = createHouseSets({
    resources: house,
    policy: openPolicy,
    mounts: located,
    configured: () => ({ sets: config.sets, folder: realPath(config.folder), zed: config.server.zed ?? false }),
    stateFolder: world.stateFolder,
    project,
    tools,
    live,
  });
  const followed = live ? [origin.file, ...(origin.named ? [] : [trusted.placeOf(origin.file)])] : [];
  const following = Promise.all(
    followed.map((file) => followFile(file, reloadInTurn, { tools, signal: closing.signal })),
  );

  function houseMounts(): readonly HouseMount[] {
    return located().map(({ mount, folder }) => toHouseMount(mount, folder));
  }

  function serveIndex(): void {
    index.serve(open.filter(isSearched).map(toSearched), config.search);
  }

  function furnish(): Furnishing {
    const mounts = withOwnMounts(
      open.map(({ mount }) => mount),
      own,
    );
    const routes = createRoutes(mounts);
    const { pageSize } = config.server;
    const { close, ...furnished } = createResources({
      mounts,
      policy: openPolicy,
      tools,
      index,
      cursorKey: keyFor(open, options.cursorKey),
      ...(pageSize !== undefined && { pageSize }),
    });
    return { resources: furnished, close, answersFor: (uri) => routes.find(uri)?.mount.source };
  }

  /** The config and what it is trusted with may change at the same time. */
  function reloadInTurn(): Promise<void> {
    return (reloading = reloading.then(reload));
  }

  async function reload(): Promise<void> {
    try {
      await refurnish();
    } catch (cause) {
      const lines = cause instanceof ConfigError ? cause.lines : [`${label}: cannot be used`];
      for (const line of lines) tools.log("error", line, cause instanceof ConfigError ? {} : { cause });
      tools.log("error", "the config has problems, so what was served before is still served", { config: label });
    }
  }

  async function refurnish(): Promise<void> {
    const next = await loadConfig(origin, world);
    if ("untrusted" in next) {
      tools.log(
        "warn",
        `${untrustedSentence(label, next.untrusted, origin, world)} What was served before is still served.`,
      );
      return;
    }
    const others = origin.named ? false : lettingIn(started);
    if (others !== false && !isDeepStrictEqual(others, lettingIn(next.config.server))) {
      // The trust that others are let in with is for what was served to them then.
      sayWithheld(next.config);
      tools.log(
        "warn",
        `${label} changes what others are served, or who they are. What was served before is still served, until it is trusted and started anew.`,
      );
      return;
    }
    secrets.keep(next.config);
    const { all, dropped } = await openMounts(next.config, open, tools);
    const before = { config, open };
    config = next.config;
    open = all;
    sayWithheld(config);
    sayRestart(before.config.server, config.server);
    serveIndex();
    const isAlike = isFurnishedAlike(before, { config, open });
    if (isAlike && isChosenAlike(before.config, config)) return;
    if (!isAlike) await house.swap(furnish());
    choice.sets.changed();
    for (const mount of dropped) retire(mount);
    tools.log("info", "the config changed and is in effect", { config: label });
  }

  function retire(mount: OpenMount): void {
    const retired = tools
      .wait(retireMs, closing.signal)
      .catch(() => undefined)
      .then(() => mount.close())
      .finally(() => retiring.delete(retired));
    retiring.add(retired);
  }

  function sayWithheld({ withheld }: Config): void {
    for (const permission of withheld)
      tools.log(
        "warn",
        `${label} ${asksFor(permission)}, ${leftOut(permission)}; type: ${trustCommand(origin.file, world.from)}`,
      );
  }

  function sayRestart(before: ServerSettings, now: ServerSettings): void {
    for (const setting of ["host", "port", "allowedHosts", "allowedOrigins", "token", "tools"] as const)
      if (live && !isDeepStrictEqual(before[setting], now[setting]))
        tools.log("warn", `server.${setting} has changed, which takes effect after a restart`, { config: label });
  }

  return {
    resources,
    get mounts() {
      return houseMounts();
    },
    policy: openPolicy,
    index,
    sets: choice.sets,
    register,
    settings: started,
    withheld: config.withheld.flatMap(({ part, settings }) => (part === "server" ? settings : [])),
    config: config.file,
    tools,
    locate: (where, call) => locate(where, located(), resources, call),
    async close() {
      closing.abort();
      await following;
      await choice.close();
      await index.close();
      await house.close();
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
  { from }: ConfigWorld,
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
  return { name, source, definition, options, ...(redact && { redact }), ...(checkTrust && { inHouse: true }) };
}

interface Furnished {
  readonly config: Config;
  readonly open: readonly OpenMount[];
}

function isFurnishedAlike(one: Furnished, other: Furnished): boolean {
  const looks = ({ config, open }: Furnished) => [
    config.server.pageSize,
    config.search,
    ...open.map((each) => {
      const { name, base, freshness } = each.mount;
      return { name, base, freshness, isSearched: isSearched(each) };
    }),
  ];
  const sources = ({ open }: Furnished) => open.map(({ mount }) => mount.source);
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
