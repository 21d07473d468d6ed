/** From the mounts of a config to sources that are open, each once for as long as nothing about it changes. */
import { isDeepStrictEqual } from "node:util";
import { type Config, type MountConfig } from "../config/config.ts";
import { ResourceError } from "../errors.ts";
import { stack } from "../layer.ts";
import { standardLayers } from "../layers/standard.ts";
import { createRoutes, type Mount } from "../router/route.ts";
import type { Source, Runtime } from "../source.ts";

export interface OpenMount {
  readonly config: MountConfig;
  /** What the router is given. It cannot close the source, which may outlive it. */
  readonly mount: Mount;
  close(): Promise<void>;
}

export interface OpenMounts {
  readonly all: readonly OpenMount[];
  /** Those of before that are needed no longer. They are still open. */
  readonly dropped: readonly OpenMount[];
}

/** Mounts that are as before are kept. When one cannot be opened, none that was opened for this stays open. */
export async function openMounts(config: Config, before: readonly OpenMount[], runtime: Runtime): Promise<OpenMounts> {
  const bases = config.mounts.map((mount) => baseOf(mount, config));
  refuseCollisions(config, bases);
  const opened: OpenMount[] = [];
  try {
    const all: OpenMount[] = [];
    for (const [index, mount] of config.mounts.entries()) {
      const kept = before.find((other) => isSame(other.config, mount));
      const open = kept ?? (await openSource(mount, config, runtime));
      if (!kept) opened.push(open);
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
    source = await definition.open(options, { ...(redaction?.runtime ?? runtime), ...(checkTrust && { checkTrust }) });
  } catch (cause) {
    throw toRefusal(cause, name, whole);
  }
  const { cacheBytes, ...rest } = limits;
  const layers = standardLayers(runtime, {
    ...(Object.fromEntries(Object.entries(rest).filter(([, limit]) => limit !== undefined)) as object),
    ...(cacheBytes !== undefined && { maxBytes: cacheBytes }),
    ...(redaction && { redact: redaction.layer }),
  });
  // A copy by value would freeze the templates, which a gateway learns later.
  const { close: _close, ...members } = Object.getOwnPropertyDescriptors(stack(source, { name }, layers));
  return {
    config,
    mount: toMount(config, "", Object.defineProperties({}, members) as Source),
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
  const freshness = freshnessOf(config);
  // Who names a scheme wants no other.
  const aliases = scheme === undefined ? (definition.aliases?.(options) ?? []) : [];
  return {
    name,
    base,
    source,
    ...(definition.verbatim && { verbatim: true }),
    ...(aliases.length > 0 && { aliases }),
    ...(freshness && { freshness }),
  };
}

/** What was had with credentials is for whoever they belong to, whatever is said of it. */
function freshnessOf({ definition, options, freshness, isReferred }: MountConfig): Mount["freshness"] {
  const { ttlMs, scope } = freshness ?? {};
  const isPrivate = isReferred || definition.usesCredentials?.(options);
  if (!freshness && !isPrivate) return undefined;
  const said = isPrivate ? "private" : scope;
  return { ...(ttlMs !== undefined && { ttlMs }), ...(said && { scope: said }) };
}

/** Whether an open source of the one serves for the other. */
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

function baseOf({ name, scheme, definition, options }: MountConfig, config: Config): string {
  if (scheme !== undefined) return `${scheme}://${encodeURIComponent(name)}/`;
  try {
    return definition.base?.(options) ?? `${definition.scheme}://${encodeURIComponent(name)}/`;
  } catch (cause) {
    throw toRefusal(cause, name, config);
  }
}

/** Before anything is opened. */
function refuseCollisions({ mounts, refusal }: Config, bases: readonly string[]): void {
  const nothing: Source = { list: async () => ({ items: [] }), read: async () => [] };
  try {
    createRoutes(mounts.map((mount, index) => toMount(mount, bases[index]!, nothing)));
  } catch (cause) {
    throw cause instanceof ResourceError ? refusal(["mounts"], cause.message) : cause;
  }
}

function toRefusal(cause: unknown, mount: string, { refusal }: Config): unknown {
  return cause instanceof ResourceError ? refusal(["mounts", mount], cause.message) : cause;
}
