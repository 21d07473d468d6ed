/** Opens the sources of a config's mounts, and reuses those that did not change. */
import { realpathSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import type { Config, MountConfig } from "../config/config.ts";
import { ResourceError } from "../errors.ts";
import { stack } from "../layer.ts";
import { standardLayers } from "../layers/standard.ts";
import { withMembers } from "../lib/with-members.ts";
import { createRoutes, type Mount } from "../router/route.ts";
import type { Source, Runtime } from "../source.ts";
import type { ServedMount } from "./locate.ts";
import { mountRuntime } from "./mount-runtime.ts";
import type { SearchedMount } from "./server-index.ts";

export interface OpenMount {
  readonly config: MountConfig;
  /** The mount for the router. It cannot close the source, which may outlive the router. */
  readonly mount: Mount;
  close(): Promise<void>;
}

/**
 * Reuses unchanged mounts. `dropped` are previous mounts that are no longer needed; they are still open. If a mount cannot be opened,
 * closes all that were opened by this call.
 */
export async function openMounts(config: Config, before: readonly OpenMount[], runtime: Runtime) {
  const bases = config.mounts.map((mount) => baseOf(mount, config));
  refuseCollisions(config, bases);
  const opened: OpenMount[] = [];
  try {
    const all: OpenMount[] = [];
    for (const [index, mount] of config.mounts.entries()) {
      const reused = before.find((other) => isSame(other.config, mount));
      const open = reused ?? (await openSource(mount, config, runtime));
      if (!reused) opened.push(open);
      all.push({ ...open, config: mount, mount: toMount(mount, bases[index]!, open.mount.source) });
    }
    const sources = new Set(all.map(({ mount }) => mount.source));
    return { all, dropped: before.filter(({ mount }) => !sources.has(mount.source)) };
  } catch (cause) {
    await Promise.all(opened.map((mount) => mount.close()));
    throw cause;
  }
}

async function openSource(config: MountConfig, whole: Config, runtime: Runtime): Promise<OpenMount> {
  const { name, definition, options, limits, checkTrust } = config;
  const redaction = config.redact ? (await import("./redaction.ts")).createRedaction(runtime) : undefined;
  let source: Source;
  try {
    source = await definition.open(options, { ...mountRuntime(redaction?.runtime ?? runtime, name), checkTrust });
  } catch (cause) {
    throw toRefusal(cause, name, whole);
  }
  const { cacheBytes: maxBytes, ...rest } = limits;
  const layers = standardLayers(runtime, { ...rest, maxBytes, redact: redaction?.layer });
  return {
    config,
    mount: toMount(config, "", withMembers(stack(source, { name }, layers), { close: undefined })),
    async close() {
      try {
        await source.close?.();
      } catch (cause) {
        runtime.log("error", "a source could not be closed", { mount: name, cause });
      }
    },
  };
}

function toMount(config: MountConfig, base: string, source: Source): Mount {
  const { name, scheme, definition, options } = config;
  // A configured scheme replaces the aliases.
  const aliases = scheme === undefined ? (definition.aliases?.(options) ?? []) : [];
  return {
    name,
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
    isDeepStrictEqual(one.bound, other.bound) &&
    isDeepStrictEqual(one.options, other.options) &&
    isDeepStrictEqual(one.limits, other.limits)
  );
}

function baseOf({ name, base, scheme, definition, options }: MountConfig, config: Config): string {
  if (base !== undefined) return base;
  if (scheme !== undefined) return `${scheme}://${encodeURIComponent(name)}/`;
  try {
    return definition.base?.(options) ?? `${definition.scheme}://${encodeURIComponent(name)}/`;
  } catch (cause) {
    throw toRefusal(cause, name, config);
  }
}

/** Runs before anything is opened. */
function refuseCollisions({ mounts, refusal }: Config, bases: readonly string[]): void {
  const nothing: Source = { list: async () => ({ items: [] }), read: async () => [] };
  try {
    createRoutes(mounts.map((mount, index) => toMount(mount, bases[index]!, nothing)));
  } catch (cause) {
    throw cause instanceof ResourceError ? refusal(["mounts"], cause) : cause;
  }
}

function toRefusal(cause: unknown, mount: string, { refusal }: Config): unknown {
  return cause instanceof ResourceError ? refusal(["mounts", mount], cause) : cause;
}

export function isSearched({ config: { search, definition } }: OpenMount): boolean {
  return search ?? definition.searchable ?? true;
}

export function toSearched({ mount: { name, source }, config }: OpenMount): SearchedMount {
  const { definition, options, redact, checkTrust } = config;
  return { name, source, definition, options, redact, onMainThread: checkTrust !== undefined };
}

export function toServed({ mount, config }: OpenMount): ServedMount {
  return { ...mount, folder: folderOf(config) };
}

function folderOf({ definition, options }: MountConfig): string | undefined {
  if (definition.name !== "file") return undefined;
  try {
    return realpathSync.native((options as { readonly root: string }).root);
  } catch {
    // Missing for now; its URIs stay valid.
    return undefined;
  }
}
