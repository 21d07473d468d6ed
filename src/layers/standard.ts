/** The stack that every mount gets. */
import { stack } from "../layer.ts";
import type { Layer } from "../layer.ts";
import type { Source, Runtime } from "../source.ts";
import { cache } from "./cache.ts";
import type { CacheOptions } from "./cache.ts";
import { explain } from "./explain.ts";
import { limit } from "./limit.ts";
import type { LimitOptions } from "./limit.ts";
import { observe } from "./observe.ts";
import type { Observation } from "./observe.ts";
import { retry } from "./retry.ts";
import type { RetryOptions } from "./retry.ts";
import { timeout } from "./timeout.ts";
import type { TimeoutOptions } from "./timeout.ts";

export interface StandardOptions extends CacheOptions, RetryOptions, TimeoutOptions, LimitOptions {
  readonly observe?: (observation: Observation) => void;
  /** Present where what looks like a secret is masked: what masks it. */
  readonly redact?: Layer;
}

/**
 * From the outside in: what is observed is what the caller gets. Errors are explained after everything that may turn them into
 * an answer has had its turn. One deadline holds for all that a question takes: the questions of the cache, all attempts, and waiting
 * for a place. What the cache holds is masked already, and what it answers is not limited. What it asks for several callers at once has a deadline of
 * its own, as the last of them may come late.
 */
export function standardLayers(runtime: Runtime, options: StandardOptions = {}): readonly Layer[] {
  return [
    ...(options.observe ? [observe(options.observe)] : []),
    explain(),
    timeout(options),
    cache(options),
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
