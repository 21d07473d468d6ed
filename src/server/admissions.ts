/** Finds the caller that a token belongs to, as long as the token is valid. */
import { isDeepStrictEqual } from "node:util";
import type { CallerConfig } from "../config/access.ts";
import { constantTimeEqual } from "../lib/constant-time-equal.ts";
import type { Caller } from "../resources.ts";
import type { Runtime } from "../runtime.ts";
import { hashToken, type StoredToken, type TokenStore } from "./token-store.ts";

interface AdmissionsOptions {
  /** The token of the owner: `server.token`, a file or the environment. */
  readonly ownerToken?: string;
  readonly callers: readonly CallerConfig[];
  readonly store?: TokenStore;
  readonly runtime: Pick<Runtime, "now" | "log">;
}

export interface Admissions {
  /** A caller with the owner's token, or a browser that was invited on the terminal. */
  readonly owner: Caller;
  /** The same object for each use of a token. Undefined if the token is unknown, expired or revoked. */
  find(token: string): Caller | undefined;
  /** The same, if the token was valid when the stored tokens were last read: it may have been revoked since. */
  findLastKnown(token: string): Caller | undefined;
  /** As `find`, by the hash of a token. */
  findByHash(hash: string): Caller | undefined;
  /** False if a stored token may have been revoked unnoticed: then none is found, and the caller can try again later. */
  isCurrent(): boolean;
  /** Reads the tokens again, and ends the callers whose token, groups or role are no longer the same. */
  reload(callers?: readonly CallerConfig[]): void;
  close(): void;
}

interface Admitted {
  readonly caller: Caller;
  readonly config: CallerConfig;
  readonly stop: AbortController;
}

/** Timers hold at most 2^31 ms; an expiry that is further away is looked at again. */
const maxTimerMs = 24 * 3600 * 1000;

export function createAdmissions({ ownerToken, callers: initial, store, runtime }: AdmissionsOptions): Admissions {
  const owner: Caller = { id: "owner", owner: true };
  const ownerHash = ownerToken === undefined ? undefined : hashToken(ownerToken);
  /** By hash of the token. */
  const admitted = new Map<string, Admitted>();
  let callers = new Map<string, CallerConfig>();
  let tokens = new Map<string, StoredToken>();
  let stamp: string | undefined;
  let timer: NodeJS.Timeout | undefined;

  function isValid({ expires }: StoredToken): boolean {
    return expires === undefined || runtime.now() < expires;
  }

  /** Ends what is no longer valid, and looks again when the next token expires. */
  function expire(): void {
    for (const [hash, { stop, config }] of admitted) {
      const token = tokens.get(hash);
      if (token && isValid(token) && isDeepStrictEqual(callers.get(token.caller), config)) continue;
      admitted.delete(hash);
      stop.abort();
    }
    const next = Math.min(...[...tokens.values()].filter(isValid).map(({ expires = Infinity }) => expires));
    clearTimeout(timer);
    timer = Number.isFinite(next)
      ? setTimeout(expire, Math.min(Math.max(1, next - runtime.now()), maxTimerMs)).unref()
      : undefined;
  }

  function reload(configured?: readonly CallerConfig[]): void {
    if (configured) callers = new Map(configured.map((config) => [config.name, config]));
    try {
      stamp = store?.stamp();
      tokens = new Map((store?.list() ?? []).map((token) => [token.hash, token]));
    } catch (cause) {
      // No token is valid until the file can be read: one of them may have been revoked.
      tokens = new Map();
      runtime.log("error", "the tokens of callers cannot be read, so they are refused", { cause });
    }
    expire();
  }

  function findByHash(hash: string): Caller | undefined {
    if (ownerHash !== undefined && constantTimeEqual(hash, ownerHash)) return owner;
    return store?.isCurrent() === false ? undefined : findStored(hash);
  }

  function findStored(hash: string): Caller | undefined {
    // A token that was created a moment ago is valid at once.
    if (!tokens.has(hash) && store?.stamp() !== stamp) reload();
    const token = tokens.get(hash);
    const config = token && isValid(token) ? callers.get(token.caller) : undefined;
    if (!config) return undefined;
    let known = admitted.get(hash);
    if (!known) {
      const stop = new AbortController();
      const { name, groups, owner: isOwner } = config;
      const caller: Caller = { id: name, groups, owner: isOwner, ended: stop.signal };
      admitted.set(hash, (known = { caller, config, stop }));
    }
    return known.caller;
  }

  reload(initial);

  return {
    owner,
    reload,

    // A lookup by hash does not leak a token through timing.
    find: (given) => findByHash(hashToken(given)),
    findLastKnown: (given) => findStored(hashToken(given)),
    findByHash,
    isCurrent: () => store?.isCurrent() ?? true,

    close: () => clearTimeout(timer),
  };
}
