/** Stores the data of the embedded authorization server: keys, passwords, clients, grants, refresh tokens. Here in one file of the state folder. */
import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ResourceError } from "../../errors.ts";
import { withFileLock } from "../../lib/file-lock.ts";
import { pollValue } from "../../lib/poll-value.ts";
import { writeFileAtomically } from "../../lib/write-file-atomically.ts";
import type { PasswordHash } from "./password.ts";

/** A private key as JWK (RFC 7517). */
export interface SigningKey {
  readonly kty: string;
  readonly kid: string;
  readonly [member: string]: unknown;
}

/** A registered client, as it registered itself. */
export interface StoredClient {
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Milliseconds since the epoch. */
  readonly created: number;
  /** When a caller last allowed it something. It keeps its id, so that it can ask again after its grant has ended. */
  used?: number;
}

/** That a caller allowed a client to act for them. */
export interface StoredGrant {
  /** Names the grant in lists and for `revoke`; it gives access to nothing. */
  readonly id: string;
  readonly account: string;
  readonly client: string;
  /** SHA-256 of the access token with which the caller signed in: the grant ends with it. */
  token?: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly expires: number;
  /** Record of the provider. */
  readonly payload: Readonly<Record<string, unknown>>;
}

interface StoredRefreshToken {
  readonly grant: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
  /** Seconds since the epoch: when it was exchanged. A second use reveals a theft. */
  consumed?: number;
  /** Record of the provider, without the token. */
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface OAuthState {
  /** The first one signs. */
  keys: SigningKey[];
  /** Sign the cookies of the sign-in. */
  cookieKeys: string[];
  /** By caller. */
  passwords: Record<string, PasswordHash>;
  /** By client id. */
  clients: Record<string, StoredClient>;
  /** By id of the provider's record. */
  grants: Record<string, StoredGrant>;
  /** By SHA-256 of the token. A token has 256 random bits, so a fast hash is enough. */
  refreshTokens: Record<string, StoredRefreshToken>;
}

export interface OAuthStore {
  /** The known state, without waiting; do not change it. Throws "unavailable" if it cannot be read. */
  read(): OAuthState;
  /** Resolves when `read` returns all that was stored before the call. */
  load(): Promise<void>;
  /** False if a grant may have been revoked unnoticed, because the store has not answered for some seconds. */
  isCurrent(): boolean;
  /** Changes the state while no other process does, and stores it before it resolves. The work may run several times. */
  change<T>(work: (state: OAuthState) => T): Promise<T>;
  /** Creates the keys of a server that starts for the first time. */
  prepare(): Promise<void>;
  /** Removes the grant with this id, or the password and all grants of this caller. Returns the removed grants. */
  revoke(idOrCaller: string): Promise<{ readonly grants: readonly StoredGrant[]; readonly hadPassword: boolean }>;
  /** Calls back when another process may have changed the state, until the signal is aborted. */
  follow(changed: () => void, signal: AbortSignal): void;
}

export interface FileOAuthStore extends OAuthStore {
  /** The file, whether or not it exists. */
  readonly file: string;
}

const version = 1;
const hourMs = 3_600_000;
/** A client that nobody allowed anything is forgotten. */
const unusedClientMs = 24 * hourMs;
const maxUnusedClients = 200;
/** Longer than a grant. */
const usedClientMs = 400 * 24 * hourMs;
const maxUsedClients = 500;
const maxGrants = 500;
/** Exchanged refresh tokens of a grant that are still recognised. */
const maxConsumed = 10;
/** How often another process is noticed that revokes something. */
const lookMs = 250;

/** Belongs to one config: two servers may both have a caller of the same name. */
export function createOAuthStore(stateFolder: string, config: string, now: () => number): FileOAuthStore {
  const folder = join(stateFolder, "oauth");
  const file = join(folder, `${sha256(config).slice(0, 32)}.json`);
  let cached: { readonly stamp: string; readonly state: OAuthState } | undefined;

  function stampOf(): string {
    const stats = statSync(file, { throwIfNoEntry: false, bigint: true });
    return stats ? `${stats.ino} ${stats.mtimeNs} ${stats.size}` : "";
  }

  function load(): OAuthState {
    let text: string;
    try {
      text = readFileSync(file, "utf8");
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") return emptyState();
      throw damaged(cause);
    }
    try {
      const { version: written, config: _config, ...state } = JSON.parse(text) as Record<string, unknown>;
      if (written !== version || !isState(state)) throw new Error("unknown format");
      return state;
    } catch (cause) {
      throw damaged(cause);
    }
  }

  function damaged(cause: unknown): ResourceError {
    const message = `the sign-ins in ${JSON.stringify(file)} cannot be read; check its permissions, or remove it: then everybody signs in again`;
    return new ResourceError("unavailable", message, { cause });
  }

  function change<T>(work: (state: OAuthState) => T): Promise<T> {
    return withFileLock(
      file,
      () => {
        const state = load();
        const result = work(state);
        prune(state, now());
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        writeFileAtomically(file, `${JSON.stringify({ version, config, ...state })}\n`);
        cached = { stamp: stampOf(), state };
        return result;
      },
      { folder: join(stateFolder, "locks") },
    );
  }

  function read(): OAuthState {
    const stamp = stampOf();
    if (cached?.stamp !== stamp) cached = { stamp, state: load() };
    return cached.state;
  }

  return {
    file,
    read,
    change,

    load: async () => undefined,
    isCurrent: () => true,

    async prepare() {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      await change(addKeys);
    },

    async revoke(idOrCaller) {
      const known = findOf(read(), idOrCaller);
      // No file for a server that has no sign-ins.
      if (known.grants.length === 0 && !known.hadPassword) return known;
      return change((state) => revokeIn(state, idOrCaller));
    },

    follow(changed, signal) {
      // fs.watchFile misses a change before its own first look, which is later.
      pollValue(stampOf, lookMs, changed, signal);
    },
  };
}

/** The keys of a server that starts for the first time. */
export function addKeys(state: OAuthState): void {
  if (state.keys.length === 0) state.keys.push(createKey());
  if (state.cookieKeys.length === 0) state.cookieKeys.push(randomBytes(32).toString("base64url"));
}

/** The grants that `revoke` removes, and whether there is a password. */
export function findOf(state: OAuthState, idOrCaller: string) {
  return {
    grants: Object.values(state.grants).filter(({ id, account }) => id === idOrCaller || account === idOrCaller),
    hadPassword: Object.hasOwn(state.passwords, idOrCaller),
  };
}

export function revokeIn(state: OAuthState, idOrCaller: string): ReturnType<typeof findOf> {
  const found = findOf(state, idOrCaller);
  delete state.passwords[idOrCaller];
  for (const [key, grant] of Object.entries(state.grants)) if (found.grants.includes(grant)) removeGrant(state, key);
  return found;
}

/** With everything that was issued for it. */
export function removeGrant(state: OAuthState, key: string): void {
  delete state.grants[key];
  for (const [hash, { grant }] of Object.entries(state.refreshTokens))
    if (grant === key) delete state.refreshTokens[hash];
}

export function hashSecret(secret: string): string {
  return sha256(secret);
}

/** Removes what has expired, and the oldest entries above a limit. */
export function prune(state: OAuthState, nowMs: number): void {
  const grants = Object.entries(state.grants).toSorted(([, a], [, b]) => b.created - a.created);
  for (const [index, [key, { expires }]] of grants.entries())
    if (expires <= nowMs || index >= maxGrants) removeGrant(state, key);
  const consumed = new Map<string, number>();
  for (const [hash, token] of Object.entries(state.refreshTokens).toReversed()) {
    const count = (consumed.get(token.grant) ?? 0) + (token.consumed === undefined ? 0 : 1);
    consumed.set(token.grant, count);
    const isForgotten = token.consumed !== undefined && count > maxConsumed;
    if (isForgotten || token.expires <= nowMs || !Object.hasOwn(state.grants, token.grant))
      delete state.refreshTokens[hash];
  }
  const clients = Object.entries(state.clients).toSorted(
    ([, a], [, b]) => (b.used ?? b.created) - (a.used ?? a.created),
  );
  const counts = { used: 0, unused: 0 };
  for (const [id, { created, used }] of clients) {
    const isForgotten =
      used === undefined
        ? ++counts.unused > maxUnusedClients || created + unusedClientMs <= nowMs
        : ++counts.used > maxUsedClients || used + usedClientMs <= nowMs;
    if (isForgotten) delete state.clients[id];
  }
}

export function emptyState(): OAuthState {
  return { keys: [], cookieKeys: [], passwords: {}, clients: {}, grants: {}, refreshTokens: {} };
}

function createKey(): SigningKey {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = privateKey.export({ format: "jwk" });
  return { ...jwk, kty: "EC", alg: "ES256", use: "sig", kid: randomBytes(8).toString("hex") };
}

export function isState(value: Record<string, unknown>): value is Record<string, unknown> & OAuthState {
  const { keys, cookieKeys, passwords, clients, grants, refreshTokens } = value;
  return (
    Array.isArray(keys) &&
    Array.isArray(cookieKeys) &&
    [passwords, clients, grants, refreshTokens].every(
      (each) =>
        typeof each === "object" &&
        each !== null &&
        Object.values(each).every((entry) => typeof entry === "object" && entry !== null),
    )
  );
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
