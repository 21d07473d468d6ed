/** The data of the embedded authorization server, shared by all instances: one record, changed by compare-and-set. */
import { isDeepStrictEqual } from "node:util";
import { unavailable } from "../../errors.ts";
import type { Runtime } from "../../runtime.ts";
import { createCachedRecords } from "../../state/cached-records.ts";
import type { RecordValue, Store } from "../../state/store.ts";
import {
  addKeys,
  emptyState,
  findOf,
  isState,
  type OAuthState,
  type OAuthStore,
  prune,
  revokeIn,
} from "./oauth-store.ts";

export const oauthKind = "oauth";
export const oauthKey = "state";
/** After this time without an answer of the store, one of the known grants may have been revoked. */
const maxAgeMs = 10_000;

/** Knows nothing until it is loaded, prepared or followed. */
export function createSharedOAuthStore(
  store: Store,
  runtime: Pick<Runtime, "now" | "monotonicMs" | "wait">,
): OAuthStore {
  const known = createCachedRecords(store, oauthKind, runtime);
  let parsed: { readonly stamp: string; readonly state: OAuthState } | undefined;
  /** One change at a time in this process; others are noticed by their version. */
  let changing: Promise<unknown> = Promise.resolve();

  function read(): OAuthState {
    if (known.ageMs === Infinity) throw unavailable("the sign-ins have not been loaded yet");
    if (parsed?.stamp !== known.stamp)
      parsed = { stamp: known.stamp, state: toState(known.records.find(({ key }) => key === oauthKey)?.value) };
    return parsed.state;
  }

  async function changeNow<T>(work: (state: OAuthState) => T): Promise<T> {
    for (;;) {
      const found = await store.get(oauthKind, oauthKey);
      const state = toState(found?.value);
      const result = work(state);
      prune(state, runtime.now());
      if (!(await store.put(oauthKind, oauthKey, { ...state }, { ifVersion: found?.version }))) continue;
      await known.load();
      return result;
    }
  }

  function change<T>(work: (state: OAuthState) => T): Promise<T> {
    const done = changing.then(() => changeNow(work));
    changing = done.catch(() => undefined);
    return done;
  }

  return {
    read,
    load: () => known.load(),
    isCurrent: () => known.ageMs < maxAgeMs,
    change,

    async prepare() {
      await known.load();
      const { keys, cookieKeys } = read();
      if (keys.length === 0 || cookieKeys.length === 0) await change(addKeys);
    },

    async revoke(idOrCaller) {
      await known.load();
      const found = findOf(read(), idOrCaller);
      if (found.grants.length === 0 && !found.hadPassword) return found;
      return change((state) => revokeIn(state, idOrCaller));
    },

    follow: (changed, signal) => void known.follow(changed, signal),
  };
}

/** For a restore while instances run: they read the keys when they start, and all of them must sign with the same. */
export const keepOAuthKeys = {
  kind: oauthKind,
  key: oauthKey,
  merge(present: RecordValue, restored: RecordValue | undefined): RecordValue {
    const { keys, cookieKeys } = present;
    const state = restored ?? { ...emptyState() };
    // Without keys no instance has used it yet.
    return Array.isArray(keys) && keys.length > 0 ? { ...state, keys, cookieKeys } : state;
  },
};

/**
 * Adds the sign-ins of a single server. What is there stays, above all the keys, with which running instances sign. Undefined if nothing is new, or
 * if a former version has copied them: then those that are absent were revoked since.
 */
export function addSignIns(present: RecordValue | undefined, added: OAuthState): RecordValue | undefined {
  const state = toState(present);
  if (state.keys.some(({ kid }) => added.keys.some((key) => key.kid === kid))) return undefined;
  const merged = keepOAuthKeys.merge(
    { ...state },
    {
      ...added,
      passwords: { ...added.passwords, ...state.passwords },
      clients: { ...added.clients, ...state.clients },
      grants: { ...added.grants, ...state.grants },
      refreshTokens: { ...added.refreshTokens, ...state.refreshTokens },
    },
  );
  return isDeepStrictEqual(merged, { ...state }) ? undefined : merged;
}

/** A copy, which may be changed. */
function toState(value: RecordValue | undefined): OAuthState {
  if (value === undefined) return emptyState();
  const copy = structuredClone(value) as Record<string, unknown>;
  if (isState(copy)) return copy;
  throw unavailable(
    "the sign-ins in the shared state cannot be read; another version may have written them: update this instance",
  );
}
