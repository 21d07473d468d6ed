/** Where `oidc-provider` keeps its records: what must survive a restart in the store, the rest in memory, each kind with a limit. */
import { randomBytes } from "node:crypto";
import type { Adapter } from "oidc-provider";
import { Lru } from "../../lib/lru.ts";
import type { Store } from "../../state/store.ts";
import { createSharedAdapter } from "./shared-records.ts";
import { hashSecret, type OAuthState, type OAuthStore, removeGrant } from "./oauth-store.ts";

interface AdapterOptions {
  readonly store: OAuthStore;
  /** Where instances share what else must be known to all of them. Default: it stays in memory. */
  readonly shared?: Store | undefined;
  /** Wall clock: expiry times are stored. */
  readonly now: () => number;
  /** Whether there is such a caller, and the token with which they signed in, if it was one, is still valid. */
  isAdmitted(account: string, token: string | undefined): boolean;
  /** The error for a code or refresh token that is used a second time. */
  used(): Error;
}

type Payload = Record<string, unknown>;

/** Sign-ins under way, sessions of browsers, codes. */
const maxInMemory = 10_000;

/** One adapter for each kind of record. */
export function createAdapters(options: AdapterOptions): (kind: string) => Adapter {
  const { store } = options;
  const memory = new Map<string, MemoryAdapter>();
  const revoke = async (grantId: string): Promise<void> => {
    for (const adapter of memory.values()) adapter.forget(grantId);
    await store.load();
    if (Object.hasOwn(store.read().grants, grantId)) await store.change((state) => removeGrant(state, grantId));
  };
  return (kind) => {
    switch (kind) {
      case "Client":
        return clients(options);
      case "Grant":
        return grants(options, revoke);
      case "RefreshToken":
        return refreshTokens(options, revoke);
      default: {
        if (options.shared) return shared(options, options.shared, kind, revoke);
        const adapter = inMemory(options, revoke);
        memory.set(kind, adapter);
        return adapter;
      }
    }
  };
}

type Revoke = (grantId: string) => Promise<void>;

/** For methods that no stored kind uses. */
const unused = {
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  consume: async () => undefined,
  revokeByGrantId: async () => undefined,
};

function clients({ store, now }: AdapterOptions): Adapter {
  return {
    ...unused,
    async upsert(id, metadata) {
      await store.change((state) => {
        state.clients[id] = { metadata, created: now() };
      });
    },
    async find(id) {
      await store.load();
      return entryOf(store.read().clients, id)?.metadata;
    },
    async destroy(id) {
      await store.change((state) => {
        delete state.clients[id];
      });
    },
  };
}

function grants({ store, now, isAdmitted }: AdapterOptions, revoke: Revoke): Adapter {
  return {
    ...unused,
    async upsert(key, payload, seconds = 0) {
      await store.change((state) => {
        const known = entryOf(state.grants, key);
        const [account, client] = [String(payload["accountId"]), String(payload["clientId"])];
        const registered = entryOf(state.clients, client);
        if (registered) registered.used = now();
        state.grants[key] = {
          id: randomBytes(6).toString("hex"),
          created: now(),
          ...known,
          account,
          client,
          expires: now() + seconds * 1000,
          payload,
        };
      });
    },
    async find(key) {
      await store.load();
      const grant = entryOf(store.read().grants, key);
      return grant && isAdmitted(grant.account, grant.token) ? grant.payload : undefined;
    },
    destroy: revoke,
    revokeByGrantId: revoke,
  };
}

function refreshTokens({ store, now, used }: AdapterOptions, revoke: Revoke): Adapter {
  return {
    ...unused,
    async upsert(token, { jti: _token, ...payload }, seconds = 0) {
      const grant = String(payload["grantId"]);
      const isStored = await store.change((state) => {
        // The grant may have been revoked a moment ago, by another process.
        if (!Object.hasOwn(state.grants, grant)) return false;
        state.refreshTokens[hashSecret(token)] = { grant, expires: now() + seconds * 1000, payload };
        return true;
      });
      if (!isStored) throw used();
    },
    async find(token) {
      await store.load();
      const found = entryOf(store.read().refreshTokens, hashSecret(token));
      return found && { ...found.payload, jti: token, consumed: found.consumed };
    },
    async consume(token) {
      const grant = await store.change((state) => consumeIn(state, token, now()));
      if (grant === undefined) return;
      await revoke(grant);
      throw used();
    },
    async destroy(token) {
      await store.change((state) => {
        delete state.refreshTokens[hashSecret(token)];
      });
    },
    revokeByGrantId: revoke,
  };
}

/** The grant to revoke, if another request has used the token in the meantime. */
function consumeIn(state: OAuthState, token: string, nowMs: number): string | undefined {
  const found = entryOf(state.refreshTokens, hashSecret(token));
  if (!found) return "";
  if (found.consumed !== undefined) return found.grant;
  found.consumed = Math.floor(nowMs / 1000);
  return undefined;
}

/** Codes end with their grant. */
function shared(
  { store, now, used, isAdmitted }: AdapterOptions,
  records: Store,
  kind: string,
  revoke: Revoke,
): Adapter {
  return createSharedAdapter({
    store: records,
    kind,
    now,
    revoke,
    used,
    async isValid(payload) {
      if (!isOfCaller(payload, isAdmitted)) return false;
      const grant = payload["grantId"];
      if (typeof grant !== "string") return true;
      await store.load();
      return Object.hasOwn(store.read().grants, grant);
    },
  });
}

/** A session of a browser, or a code, ends with its caller. */
function isOfCaller({ accountId, amr }: Payload, isAdmitted: AdapterOptions["isAdmitted"]): boolean {
  return typeof accountId !== "string" || isAdmitted(accountId, Array.isArray(amr) ? String(amr[0]) : undefined);
}

interface MemoryAdapter extends Adapter {
  forget(grantId: string): void;
}

function inMemory({ now, used, isAdmitted }: AdapterOptions, revoke: Revoke): MemoryAdapter {
  const entries = new Lru<string, { readonly payload: Payload; readonly expires: number }>({ maxEntries: maxInMemory });

  function find(id: string): Payload | undefined {
    const entry = entries.get(id);
    if (entry && entry.expires > now() && isOfCaller(entry.payload, isAdmitted)) return entry.payload;
    entries.delete(id);
    return undefined;
  }

  return {
    async upsert(id, payload, seconds = Infinity) {
      entries.set(id, { payload, expires: now() + seconds * 1000 });
    },
    find: async (id) => find(id),
    async findByUid(uid) {
      for (const [id, { payload }] of entries) if (payload["uid"] === uid) return find(id);
      return undefined;
    },
    findByUserCode: unused.findByUserCode,
    async consume(id) {
      const payload = find(id);
      if (payload && payload["consumed"] === undefined) {
        payload["consumed"] = Math.floor(now() / 1000);
        return;
      }
      if (payload) await revoke(String(payload["grantId"]));
      throw used();
    },
    async destroy(id) {
      entries.delete(id);
    },
    revokeByGrantId: revoke,
    forget(grantId) {
      for (const [id, { payload }] of entries) if (payload["grantId"] === grantId) entries.delete(id);
    },
  };
}

/** Ids come from clients: "constructor" is not one of ours. */
function entryOf<T>(entries: Record<string, T>, id: string): T | undefined {
  return Object.hasOwn(entries, id) ? entries[id] : undefined;
}
