/** Opens the sources of a config's mounts, and reuses those that did not change. */
import { realpathSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import type { Config, FaultyMount, MountConfig } from "../config/config.ts";
import { mountBase } from "../config/mount-base.ts";
import { ConfigError } from "../config/problem.ts";
import { ResourceError } from "../errors.ts";
import { stack } from "../layer.ts";
import { annotateLayers } from "../layers/annotate.ts";
import type { CacheStats } from "../layers/cache.ts";
import { standardLayers } from "../layers/standard.ts";
import { onOneLine } from "../lib/on-one-line.ts";
import { realPath } from "../lib/real-path.ts";
import { withMembers } from "../lib/with-members.ts";
import { createRoutes, type Mount } from "../router/route.ts";
import type { Source, Runtime, SharedCache } from "../source.ts";
import { leftOutMounts } from "./left-out-mounts.ts";
import type { ServedMount } from "./locate.ts";
import { mountRuntime } from "./mount-runtime.ts";
import { observe } from "./observe.ts";
import type { SearchedMount } from "./server-index.ts";
import { withSharedDatabase } from "./shared-mount-options.ts";

export interface OpenMount {
  readonly config: MountConfig;
  /** The mount for the router. It cannot close the source, which may outlive the router. */
  readonly mount: Mount;
  close(): Promise<void>;
}

/** A config in effect, and its mounts. */
interface OpenedConfig {
  readonly config: Config;
  readonly open: readonly OpenMount[];
}

/** A faulty mount of a server. */
export interface UnopenedMount extends FaultyMount {
  /** Whether it is still served as it was before the config changed. */
  readonly isKept: boolean;
}

/** Lets instances share what the source of a mount reports. */
export type ShareMount = (source: Source, config: MountConfig) => Source;

interface OpenMountsOptions {
  /** The config in effect. */
  readonly current?: OpenedConfig;
  /** Counts the reads of all caches. */
  readonly cacheStats?: CacheStats | undefined;
  readonly share?: ShareMount | undefined;
  /** What a source shares with its instances elsewhere. Absent if there are none. */
  readonly sharedCacheOf?: ((source: string) => SharedCache) | undefined;
}

export interface OpenMounts {
  readonly all: readonly OpenMount[];
  /** Mounts with problems in the config, and mounts that cannot be opened. */
  readonly faulty: readonly UnopenedMount[];
  /** Whether a source was opened for it that was not open before. */
  readonly hasOpened: boolean;
  /** Previous mounts that are no longer needed; they are still open. */
  readonly dropped: readonly OpenMount[];
}

/** Codes of errors about missing files, folders and packages. */
const absenceCodes: ReadonlySet<string> = new Set(["ENOENT", "ERR_MODULE_NOT_FOUND"]);

const noSource: Source = { list: async () => ({ items: [] }), read: async () => [] };

/**
 * Reuses unchanged mounts. A mount of a config file that cannot be opened is left out; if it was open before, it may stay as it was.
 * If nothing can be served at the start, throws and closes all that were opened by this call.
 */
export async function openMounts(
  config: Config,
  runtime: Runtime,
  { current, cacheStats, share = (source) => source, sharedCacheOf }: OpenMountsOptions = {},
): Promise<OpenMounts> {
  const before = current?.open ?? [];
  const all: OpenMount[] = [];
  const opened: OpenMount[] = [];
  const faulty: UnopenedMount[] = config.faulty.map((mount) => ({ ...mount, isKept: false }));

  /** Throws if it shares URIs with another mount, also if that one is left out. */
  function checkCollisions(mount: Mount): void {
    const others = leftOutMounts(faulty).filter(({ name }) => name !== mount.name);
    createRoutes([...all.map((each) => each.mount), ...others, mount]);
  }

  function isFree(mount: Mount): boolean {
    try {
      checkCollisions(mount);
      return true;
    } catch {
      return false;
    }
  }

  async function open(settings: MountConfig, base: string): Promise<OpenMount> {
    checkCollisions(toMount(settings, base, noSource));
    const reused = before.find((other) => isSame(other.config, settings));
    const options = await withSharedDatabase(settings, config.server.state);
    const own = { ...runtime, sharedCache: sharedCacheOf?.(settings.definition.name) };
    const source = reused ?? (await openSource(settings, options, own, share, cacheStats));
    if (!reused) opened.push(source);
    return { ...source, config: settings, mount: toMount(settings, base, source.mount.source) };
  }

  /**
   * The mount as it was, if that is safe. Other rules may be meant for the new content of the mount. In a config that was found, each
   * change of a mount ends its grant.
   */
  function previous({ name, redact }: FaultyMount): OpenMount | undefined {
    if (!current || !isDeepStrictEqual(accessOf(config), accessOf(current.config))) return undefined;
    const known = before.find(({ mount }) => mount.name === name);
    if (!known || known.config.bound !== undefined || (redact && !known.config.redact)) return undefined;
    return isFree(known.mount) ? known : undefined;
  }

  try {
    for (const settings of config.mounts) {
      let base: string | undefined;
      try {
        base = baseOf(settings);
        all.push(await open(settings, base));
      } catch (cause) {
        if (config.file === undefined) throw config.refusal(["mounts", settings.name], toRefused(cause));
        base ??= missingBase(settings);
        const isTaken = base !== undefined && !isFree(toMount(settings, base, noSource));
        faulty.push(toFaulty(settings, { base, isTaken }, cause, config));
      }
    }
    for (const [index, mount] of faulty.entries()) {
      const kept = previous(mount);
      if (!kept) continue;
      all.push(kept);
      faulty[index] = { ...mount, isKept: true };
    }
    // A running server has to drop what it may no longer serve, even if nothing is left.
    if (!current && all.length === 0 && config.file !== undefined && faulty.length > 0)
      throw new ConfigError(
        config.file,
        faulty.flatMap(({ problems }) => problems),
      );
    const sources = new Set(all.map(({ mount }) => mount.source));
    return {
      all,
      faulty,
      hasOpened: opened.length > 0,
      dropped: before.filter(({ mount }) => !sources.has(mount.source)),
    };
  } catch (cause) {
    await Promise.all(opened.map((mount) => mount.close()));
    throw cause;
  }
}

/** The settings that decide about access: rules, callers and authentication. */
function accessOf({ access, server: { auth } }: Config): readonly unknown[] {
  return [access, auth];
}

/** The URI prefix of a folder that does not exist. */
function missingBase({ definition, options }: MountConfig): string | undefined {
  return definition.name === "file" ? pathToFileURL(`${realPath(rootOf(options))}/`).href : undefined;
}

function toFaulty(
  { name, optional = false, redact = false }: MountConfig,
  { base, isTaken }: { readonly base: string | undefined; readonly isTaken: boolean },
  cause: unknown,
  { refusal }: Config,
): UnopenedMount {
  const { message } = refusal(["mounts", name], toRefused(cause));
  const isExpected = optional && !isTaken && isAbsence(cause);
  return { name, problems: [message], isExpected, base: isTaken ? undefined : base, redact, isKept: false };
}

function toRefused(cause: unknown): ResourceError {
  if (cause instanceof ResourceError) return cause;
  return new ResourceError("invalid", `cannot be opened: ${onOneLine(String(cause))}`, { cause });
}

/** Whether a backend cannot be reached, or a file, folder or package is missing. Anything else is a mistake in the config. */
function isAbsence(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  if (cause instanceof ResourceError && cause.kind === "unavailable") return true;
  return absenceCodes.has((cause as NodeJS.ErrnoException).code ?? "") || isAbsence(cause.cause);
}

async function openSource(
  config: MountConfig,
  options: unknown,
  runtime: Runtime,
  share: ShareMount,
  cacheStats?: CacheStats,
): Promise<OpenMount> {
  const { name, definition, limits, checkTrust } = config;
  const redaction = config.redact ? (await import("./redaction.ts")).createRedaction(runtime) : undefined;
  const source = await definition.open(options, { ...mountRuntime(redaction?.runtime ?? runtime, name), checkTrust });
  const { cacheBytes: maxBytes, ...rest } = limits;
  const redact = redaction?.layer;
  const closing = new AbortController();
  const layers = [
    observe(definition.name),
    ...annotateLayers(config),
    ...(config.layers
      ? [...(redact ? [redact] : []), ...config.layers(runtime)]
      : standardLayers(runtime, { ...rest, maxBytes, redact, stats: cacheStats, unused: closing.signal })),
  ];
  const layered = stack(source, { name }, layers);
  const shared = share(layered, config);
  return {
    config,
    mount: toMount(config, "", withMembers(shared, { close: undefined })),
    async close() {
      closing.abort();
      try {
        // Layers of a program need not pass it on.
        await (shared === layered ? source : shared).close?.();
      } catch (cause) {
        runtime.log("error", "a source could not be closed", { mount: name, cause });
      }
    },
  };
}

function toMount(config: MountConfig, base: string, source: Source): Mount {
  const { name, title, description, scheme, definition, options } = config;
  // A configured scheme replaces the aliases.
  const aliases = scheme === undefined ? (definition.aliases?.(options) ?? []) : [];
  return {
    name,
    title,
    description,
    base,
    source,
    verbatim: definition.verbatim,
    aliases,
    freshness: freshnessOf(config),
  };
}

/** Content read with credentials is always private. */
function freshnessOf({ definition, options, freshness, isReferred }: MountConfig): Mount["freshness"] {
  const { ttlMs, scope } = freshness ?? {};
  const isPrivate = isReferred || definition.usesCredentials?.(options);
  if (!freshness && !isPrivate) return undefined;
  const effective = isPrivate ? "private" : scope;
  return { ttlMs, scope: effective };
}

/** Whether the open source of one mount can serve the other. */
function isSame(one: MountConfig, other: MountConfig): boolean {
  return (
    one.name === other.name &&
    one.definition === other.definition &&
    one.redact === other.redact &&
    one.priority === other.priority &&
    isDeepStrictEqual(one.audience, other.audience) &&
    isDeepStrictEqual(one.bound, other.bound) &&
    isDeepStrictEqual(one.options, other.options) &&
    isDeepStrictEqual(one.limits, other.limits)
  );
}

function baseOf({ name, base, scheme, definition, options }: MountConfig): string {
  if (base !== undefined) return base;
  if (scheme !== undefined) return mountBase(scheme, name);
  return definition.base?.(options) ?? mountBase(definition.scheme, name);
}

export function isSearched({ config: { search, definition } }: OpenMount): boolean {
  return search ?? definition.searchable ?? true;
}

export function toSearched({ mount: { name, source }, config }: OpenMount): SearchedMount {
  const { definition, options, redact, priority, audience, checkTrust } = config;
  const onMainThread = checkTrust !== undefined;
  return { name, source, definition, options, redact, annotations: { priority, audience }, onMainThread };
}

export function toServed({ mount, config }: OpenMount): ServedMount {
  const { priority, audience, optional: isOptional, definition } = config;
  return { ...mount, folder: folderOf(config), priority, audience, isOptional, summary: definition.summary };
}

/** Of a file mount. */
function rootOf(options: unknown): string {
  return (options as { readonly root: string }).root;
}

function folderOf({ definition, options }: MountConfig): string | undefined {
  if (definition.name !== "file") return undefined;
  try {
    return realpathSync.native(rootOf(options));
  } catch {
    // Missing for now; its URIs stay valid.
    return undefined;
  }
}
