/** Tokens of named callers that all instances of a server share. */
import { unavailable } from "../errors.ts";
import type { Runtime } from "../runtime.ts";
import { createCachedRecords } from "../state/cached-records.ts";
import type { Store } from "../state/store.ts";
import { isStoredToken, newToken, type StoredToken, type TokenStore } from "./token-store.ts";

/** Records of this kind have the id of a token as their key. */
export const tokenKind = "tokens";
/** After this time without an answer of the store, one of the known tokens may have been revoked. */
const maxAgeMs = 10_000;

/** Knows no token until it is loaded or followed. */
export function createSharedTokenStore(
  store: Store,
  runtime: Pick<Runtime, "monotonicMs" | "wait" | "log">,
): TokenStore {
  const known = createCachedRecords(store, tokenKind, runtime);
  /** Versions of records that were logged as unreadable. */
  const logged = new Set<string>();

  function list(): readonly StoredToken[] {
    if (known.ageMs === Infinity) throw unavailable("the tokens have not been loaded yet");
    return known.records
      .flatMap(({ key, version, value }) => {
        if (isStoredToken(value)) return value;
        // It admits nobody, and must not lock out the others.
        if (!logged.has(version))
          runtime.log("warn", "a stored token cannot be read and is refused; remove its record and create a new one", {
            record: key,
          });
        logged.add(version);
        return [];
      })
      .toSorted((one, other) => one.created - other.created);
  }

  return {
    list,
    load: () => known.load(),
    isCurrent: () => known.ageMs < maxAgeMs,
    stamp: () => known.stamp,

    async create(caller, nowMs, expires) {
      const { token, stored } = newToken(caller, nowMs, expires);
      await store.put(tokenKind, stored.id, { ...stored });
      await known.load();
      return { ...stored, token };
    },

    async revoke(idOrCaller) {
      await known.load();
      const revoked: StoredToken[] = [];
      for (const token of list())
        if ((token.id === idOrCaller || token.caller === idOrCaller) && (await store.remove(tokenKind, token.id)))
          revoked.push(token);
      await known.load();
      return revoked;
    },

    follow: (changed, _runtime, signal) => known.follow(changed, signal),
  };
}
