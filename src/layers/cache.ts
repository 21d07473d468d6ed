/** Caches reads while the version stays equal, and shares concurrent reads of one address. */
import { unlessAborted } from "../lib/unless-aborted.ts";
import { cancelled } from "../errors.ts";
import { wrapSource } from "../layer.ts";
import type { Layer } from "../layer.ts";
import { Lru } from "../lib/lru.ts";
import { type Call, callerKey } from "../resources.ts";
import type { Address, Part, Source } from "../source.ts";
import { attempt, ownCall } from "./own-call.ts";
import type { OwnCall } from "./own-call.ts";

export interface CacheOptions {
  /** Size of the cache. A body larger than a quarter of it is not cached. */
  readonly maxBytes?: number;
  /** Number of addresses to remember without their content. */
  readonly maxSeen?: number;
  /** @internal Counts what this cache does, together with others. */
  readonly stats?: CacheStats;
  /** @internal Aborted when the cache is no longer used. */
  readonly unused?: AbortSignal;
}

/** What the read caches of a server do. */
export interface CacheStats {
  /** Reads that a cache answered, and those that a source answered. */
  hits: number;
  misses: number;
  /** Returns the size of each cache in use. */
  readonly sizes: Set<() => number>;
}

export function createCacheStats(): CacheStats {
  return { hits: 0, misses: 0, sizes: new Set() };
}

interface CachedRead {
  readonly version: string;
  readonly parts: readonly Part[];
  readonly bytes: number;
}

interface Seen {
  /** Reads until the next request for a version: doubles each time that there was none. */
  readonly pause: number;
  left: number;
}

interface SharedRead {
  readonly answer: Promise<readonly Part[]>;
  readonly call: OwnCall;
  /** Number of callers still waiting. The last one to leave aborts the read. */
  waiting: number;
}

/**
 * While the version of an address is equal, reads return the same objects. The first read of an address costs the source one read
 * and no `stat`; later reads request the version first. Without `stat` or without a version, nothing is cached. Concurrent reads of
 * one address are one read; a caller who leaves does not cancel it for the others.
 */
export function cache(options: CacheOptions = {}): Layer {
  const { maxBytes = 64 * 1024 * 1024, maxSeen = 8192, stats = createCacheStats(), unused } = options;
  return (inner) => {
    const cached = new Lru<string, CachedRead>({ maxSize: maxBytes, sizeOf: ({ bytes }) => bytes });
    const size = () => cached.totalSize;
    stats.sizes.add(size);
    unused?.addEventListener("abort", () => stats.sizes.delete(size), { once: true });
    /** Addresses that were read before and are not cached. */
    const seen = new Lru<string, Seen>({ maxEntries: maxSeen });
    const sharedReads = new Map<string, SharedRead>();

    function store(key: string, version: string, parts: readonly Part[]): void {
      const bytes = sizeOf(parts) + 2 * key.length + 256;
      cached.delete(key);
      if (bytes > maxBytes / 4) return;
      cached.set(key, { version, parts, bytes });
      seen.delete(key);
    }

    function remember(key: string, pause: number): void {
      seen.set(key, { pause, left: pause });
    }

    /** Joins the shared read of this name, or starts it. */
    function share(
      name: string,
      call: Call,
      begin: (call: Call) => Promise<readonly Part[]>,
    ): Promise<readonly Part[]> {
      const running = sharedReads.get(name);
      if (running) return join(name, running, call);
      const own = ownCall(call, (reason) => leave(name, shared, reason));
      const over = (): void => {
        own.release();
        if (sharedReads.get(name) === shared) sharedReads.delete(name);
      };
      const answer = begin(own);
      const shared: SharedRead = { answer, call: own, waiting: 1 };
      sharedReads.set(name, shared);
      answer.then(over, over);
      return answer;
    }

    function join(name: string, shared: SharedRead, call: Call): Promise<readonly Part[]> {
      const { signal } = call;
      if (signal.aborted) return Promise.reject(cancelled(signal.reason));
      shared.waiting += 1;
      return unlessAborted(shared.answer, signal, (reason) => {
        leave(name, shared, reason);
        return cancelled(reason);
      });
    }

    function leave(name: string, shared: SharedRead, reason: unknown): void {
      shared.waiting -= 1;
      if (shared.waiting > 0) return;
      // A new caller must not join a read that is about to be aborted.
      if (sharedReads.get(name) === shared) sharedReads.delete(name);
      shared.call.abort(reason);
    }

    function readPlainly(at: Address, call: Call, key: string): Promise<readonly Part[]> {
      // Without a version, the source may answer two callers differently.
      const who = callerKey(call.caller);
      return share(`c${who.length}:${who}${key}`, call, (own) => readInner(at, own));
    }

    async function readVersion(at: Address, call: Call, key: string, stat: NonNullable<Source["stat"]>) {
      let version: string | undefined;
      try {
        ({ version } = await stat(at, call));
      } catch {
        if (call.signal.aborted) throw cancelled(call.signal.reason);
        // The source may be able to read what it has no `stat` for; if not, its read gives the better error.
        cached.delete(key);
        return readPlainly(at, call, key);
      }
      if (version === undefined) {
        cached.delete(key);
        remember(key, Math.min(64, (seen.get(key)?.pause ?? 0) * 2 || 1));
        return readPlainly(at, call, key);
      }
      const found = cached.get(key);
      if (found?.version === version) {
        stats.hits += 1;
        return found.parts;
      }
      const label = version;
      return share(`v${label.length}:${label}${key}`, call, async (own) => {
        const parts = await readInner(at, own);
        // Cached only if nothing was written in between: the version must belong to the parts that were read.
        const after = await stat(at, own).catch(() => undefined);
        if (after?.version === label) store(key, label, parts);
        return parts;
      });
    }

    const stat = inner.stat?.bind(inner);
    const innerRead = inner.read.bind(inner);
    const readInner = (at: Address, own: Call) => {
      stats.misses += 1;
      return attempt(innerRead, [at, own]) as Promise<readonly Part[]>;
    };

    function read(at: Address, call: Call): Promise<readonly Part[]> {
      if (call.signal.aborted) return Promise.reject(cancelled(call.signal.reason));
      const key = keyOf(at);
      if (stat === undefined) return readPlainly(at, call, key);
      const before = seen.get(key);
      if (cached.has(key) || before?.left === 0) return readVersion(at, call, key, stat);
      if (before) before.left -= 1;
      else remember(key, 0);
      return readPlainly(at, call, key);
    }

    return wrapSource(inner, (operation, method) => (operation === "read" ? read : method));
  };
}

/** Different addresses never have the same key. */
function keyOf({ path, query }: Address): string {
  if (query === undefined) return `p${path}`;
  const pairs = Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1));
  return pairs.length === 0 ? `p${path}` : `q${JSON.stringify([path, pairs])}`;
}

function sizeOf(parts: readonly Part[]): number {
  let bytes = 0;
  for (const { body } of parts) bytes += "text" in body ? 2 * body.text.length : body.bytes.byteLength;
  return bytes;
}
