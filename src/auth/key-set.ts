/** The public keys of an issuer: fetched when needed, at most once per interval, whatever tokens arrive. */
import type { CryptoKey, JSONWebKeySet, JWK, JWSHeaderParameters } from "jose";
import { canonicalJson } from "../lib/canonical-json.ts";
import { unavailable } from "../errors.ts";
import type { Runtime } from "../runtime.ts";

interface KeySetOptions {
  readonly load: (signal: AbortSignal) => Promise<JSONWebKeySet>;
  readonly runtime: Pick<Runtime, "monotonicMs" | "log">;
  readonly issuer: string;
  /** Keys are fetched again when they are older. */
  readonly maxAgeMs?: number;
  /** Time between two fetches, for keys that are unknown or after a failure. */
  readonly intervalMs?: number;
  readonly signal: AbortSignal;
}

export interface KeySet {
  /** The keys that may have made this signature; usually one. Rejects with "unavailable" if no keys could be fetched yet. */
  find(header: JWSHeaderParameters): Promise<readonly CryptoKey[]>;
  /** All keys, as last fetched. */
  all(): JSONWebKeySet;
  /** Aborted when the issuer no longer lists the key with this id, or when `signal` is. The same object for the same key. */
  withdrawn(kid: string | undefined): AbortSignal;
}

type Select = (header: JWSHeaderParameters) => Promise<CryptoKey>;

/** Tried for a token that names no key. */
const maxMatching = 16;

export function createKeySet(options: KeySetOptions): KeySet {
  const { load, runtime, issuer, maxAgeMs = 600_000, intervalMs = 30_000, signal } = options;
  let keys: { readonly set: JSONWebKeySet; readonly select: Select; readonly fetchedMs: number } | undefined;
  let triedMs = -Infinity;
  let failure: unknown;
  let pending: Promise<void> | undefined;
  /** By id of the key. */
  const watched = new Map<string | undefined, AbortController>();
  signal.addEventListener("abort", () => watched.forEach((stop) => stop.abort()), { once: true });

  /** Shared by all who wait. Does nothing within the interval. */
  function refresh(): Promise<void> {
    if (!pending && runtime.monotonicMs() - triedMs >= intervalMs)
      pending = fetchKeys().finally(() => (pending = undefined));
    return pending ?? Promise.resolve();
  }

  async function fetchKeys(): Promise<void> {
    triedMs = runtime.monotonicMs();
    try {
      const { createLocalJWKSet } = await import("jose");
      const set = await load(signal);
      const select = createLocalJWKSet(set);
      for (const [kid, stop] of watched)
        if (keys && canonicalJson(keysOf(keys.set, kid)) !== canonicalJson(keysOf(set, kid))) {
          watched.delete(kid);
          stop.abort();
        }
      keys = { set, select, fetchedMs: triedMs };
      failure = undefined;
    } catch (cause) {
      failure = cause;
      if (!signal.aborted)
        runtime.log("warn", "the keys of an issuer cannot be fetched", {
          issuer,
          hasEarlierKeys: keys !== undefined,
          cause,
        });
    }
  }

  async function matching(header: JWSHeaderParameters): Promise<readonly CryptoKey[]> {
    const { errors } = await import("jose");
    if (!keys) throw unavailable(`the keys of ${issuer} cannot be fetched`, failure);
    try {
      return [await keys.select(header)];
    } catch (cause) {
      if (cause instanceof errors.JWKSNoMatchingKey) return [];
      if (!(cause instanceof errors.JWKSMultipleMatchingKeys)) throw cause;
      const all: CryptoKey[] = [];
      for await (const key of cause) if (all.push(key) >= maxMatching) break;
      return all;
    }
  }

  return {
    async find(header) {
      if (!keys || runtime.monotonicMs() - keys.fetchedMs >= maxAgeMs) await refresh();
      const found = await matching(header);
      if (found.length > 0) return found;
      await refresh();
      return matching(header);
    },

    all: () => keys?.set ?? { keys: [] },

    withdrawn(kid) {
      let stop = watched.get(kid);
      if (!stop) watched.set(kid, (stop = new AbortController()));
      return stop.signal;
    },
  };
}

/** A token without an id may be signed with any key. */
function keysOf({ keys }: JSONWebKeySet, kid: string | undefined): JWK[] {
  return kid === undefined ? keys : keys.filter((key) => key.kid === kid);
}
