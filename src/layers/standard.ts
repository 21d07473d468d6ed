/** The standard layers of every mount. */
import { stack } from "../layer.ts";
import type { Layer } from "../layer.ts";
import type { Source, Runtime } from "../source.ts";
import { cache } from "./cache.ts";
import type { CacheOptions } from "./cache.ts";
import { explain } from "./explain.ts";
import { limit } from "./limit.ts";
import type { LimitOptions } from "./limit.ts";
import { retry } from "./retry.ts";
import type { RetryOptions } from "./retry.ts";
import { timeout } from "./timeout.ts";
import type { TimeoutOptions } from "./timeout.ts";

export interface StandardOptions extends CacheOptions, RetryOptions, TimeoutOptions, LimitOptions {
  /** The layer that masks secrets, if the mount does so. */
  readonly redact?: Layer;
}

/**
 * From the outside in. Errors are explained after every layer that may recover from them.
 * One deadline covers the whole call: the requests of the cache, all attempts, and waiting for a slot. The cache holds masked
 * content, and a cached result needs no slot. A read shared by several callers has its own deadline, because the last of them
 * may join late.
 */
export function standardLayers(runtime: Runtime, options: StandardOptions = {}): readonly Layer[] {
  return [
    explain(),
    timeout(options),
    cache(options),
    ...(options.redact ? [options.redact] : []),
    timeout(options),
    retry(runtime, options),
    limit(options),
  ];
}

/** The same for the index, which reads everything once: without a cache, and the deadline that covers its requests. */
export function indexLayers(
  runtime: Runtime,
  options: Omit<StandardOptions, keyof CacheOptions> = {},
): readonly Layer[] {
  return [
    explain(),
    ...(options.redact ? [options.redact] : []),
    timeout(options),
    retry(runtime, options),
    limit(options),
  ];
}

export function withStandardLayers(
  source: Source,
  mount: { readonly name: string },
  runtime: Runtime,
  options: StandardOptions = {},
): Source {
  return stack(source, mount, standardLayers(runtime, options));
}
