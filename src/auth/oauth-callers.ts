/** The callers who hold valid access tokens. A token is verified once, and then found again without delay until it expires. */
import { hash as digest } from "node:crypto";
import type { AccessRule } from "../access/rules.ts";
import type { CallerConfig } from "../config/access.ts";
import { Lru } from "../lib/lru.ts";
import { type Caller, callerKey } from "../resources.ts";
import type { Runtime } from "../runtime.ts";
import type { Scopes } from "./scopes.ts";
import { TokenRefusal, type TokenVerifier, type VerifiedToken } from "./token-verifier.ts";

interface OAuthCallersOptions {
  readonly verifier: Pick<TokenVerifier, "verify">;
  readonly scopes: Scopes;
  /** Of the current config. */
  readonly callers: () => readonly CallerConfig[];
  readonly rules: () => readonly AccessRule[];
  readonly runtime: Pick<Runtime, "now" | "monotonicMs">;
  /** Called when a caller appears. */
  readonly signedIn?: (caller: Caller) => void;
}

export interface OAuthCallers {
  /** The caller of a token that was verified before. The same object for the same person with the same rights. */
  find(token: string): Caller | undefined;
  /** Verifies a token. Rejects with a TokenRefusal, or with "unavailable" if that cannot be decided now. */
  admit(token: string): Promise<Caller>;
  /** Ends callers who would be others by the current config. */
  reload(): void;
  close(): void;
}

interface Holder {
  readonly caller: Caller;
  readonly stop: AbortController;
  /** Signals that end this caller. */
  readonly endings: Set<AbortSignal>;
  /** When the last of the tokens expires. */
  expiresMs: number;
  timer: NodeJS.Timeout | undefined;
}

interface KnownToken {
  readonly verified: VerifiedToken;
  readonly holder: Holder;
}

const maxTokens = 10_000;
/** The wall clock may be set at any time, so it is looked at again after this time. */
const maxTimerMs = 60_000;

export function createOAuthCallers(options: OAuthCallersOptions): OAuthCallers {
  const { verifier, scopes, callers, rules, runtime, signedIn } = options;
  /** By hash of the token. */
  const tokens = new Lru<string, KnownToken>({ maxEntries: maxTokens });
  const pending = new Map<string, Promise<Caller>>();
  /** By `callerKey`. */
  const holders = new Map<string, Holder>();
  const closing = new AbortController();

  function toCaller({ owner, caller: name, issuer, subject, groups, claims, scopes: given }: VerifiedToken): Caller {
    if (owner) return { id: "owner", owner, scopes: scopes.expand(given) };
    const config = name === undefined ? undefined : callers().find((each) => each.name === name);
    if (name !== undefined && !config) throw new TokenRefusal("the token belongs to a caller who no longer exists");
    return {
      id: config?.name ?? idOf(issuer, subject),
      groups: [...new Set([...(config?.groups ?? []), ...groups])].sort(),
      scopes: scopes.expand(given),
      claims: claimsIn(claims, rules()),
      owner: config?.owner,
    };
  }

  function holderOf(caller: Caller): Holder {
    const key = callerKey(caller);
    let holder = holders.get(key);
    if (!holder) {
      const stop = new AbortController();
      holder = {
        caller: { ...caller, ended: stop.signal },
        stop,
        endings: new Set(),
        expiresMs: -Infinity,
        timer: undefined,
      };
      holders.set(key, holder);
      signedIn?.(holder.caller);
    }
    return holder;
  }

  function end(holder: Holder): void {
    clearTimeout(holder.timer);
    holders.delete(callerKey(holder.caller));
    holder.stop.abort();
  }

  /** Ends the caller when the last token has expired. */
  function expireLater(holder: Holder): void {
    clearTimeout(holder.timer);
    const leftMs = holder.expiresMs - runtime.now();
    if (leftMs <= 0) return end(holder);
    holder.timer = setTimeout(() => expireLater(holder), Math.min(leftMs, maxTimerMs)).unref();
  }

  function keep(hash: string, verified: VerifiedToken): Caller {
    const caller = toCaller(verified);
    if (verified.ended?.aborted || verified.expiresMs <= runtime.now()) throw new TokenRefusal("the token has expired");
    const holder = holderOf(caller);
    if (verified.ended && !holder.endings.has(verified.ended)) {
      holder.endings.add(verified.ended);
      verified.ended.addEventListener("abort", () => end(holder), { once: true, signal: holder.stop.signal });
    }
    holder.expiresMs = Math.max(holder.expiresMs, verified.expiresMs);
    expireLater(holder);
    tokens.set(hash, { verified, holder });
    return holder.caller;
  }

  return {
    find(token) {
      const known = tokens.get(hashOf(token));
      if (!known) return undefined;
      const { verified, holder } = known;
      const isCurrent =
        !holder.stop.signal.aborted &&
        runtime.now() < verified.expiresMs &&
        runtime.monotonicMs() < (verified.verifyAgainMs ?? Infinity);
      return isCurrent ? holder.caller : undefined;
    },

    admit(token) {
      const hash = hashOf(token);
      let verifying = pending.get(hash);
      if (!verifying) {
        // Not the signal of one request: others may wait for the same token.
        verifying = verifier
          .verify(token, closing.signal)
          .then((verified) => keep(hash, verified))
          .catch((cause: unknown) => {
            const known = tokens.get(hash);
            tokens.delete(hash);
            // Revoked since it was verified: nothing that it opened may go on.
            if (known && cause instanceof TokenRefusal) end(known.holder);
            throw cause;
          })
          .finally(() => pending.delete(hash));
        pending.set(hash, verifying);
      }
      return verifying;
    },

    reload() {
      const current = new Set<Holder>();
      for (const [hash, { verified, holder }] of tokens)
        if (isStill(holder, () => toCaller(verified))) current.add(holder);
        else tokens.delete(hash);
      for (const holder of holders.values()) if (!current.has(holder)) end(holder);
    },

    close() {
      closing.abort();
      for (const holder of holders.values()) end(holder);
    },
  };
}

function isStill({ caller }: Holder, now: () => Caller): boolean {
  try {
    return callerKey(now()) === callerKey(caller);
  } catch {
    return false;
  }
}

/**
 * Differs for every issuer and subject, from the name of every configured caller, and from every mail address, which some sources
 * take as an account: an issuer cannot choose a subject that makes its holder another caller.
 */
function idOf(issuer: string, subject: string): string {
  try {
    return `${issuer}#${encodeURIComponent(subject)}`;
  } catch (cause) {
    throw new TokenRefusal("the token does not say whose it is", "the subject of the token is not valid text", cause);
  }
}

/** The claims that rules are about. */
function claimsIn(claims: VerifiedToken["claims"], rules: readonly AccessRule[]): Caller["claims"] {
  const names = rules
    .flatMap(({ allow = [], deny = [] }) => [...allow, ...deny])
    .map((subject) => /^claim:([^=]+)=/.exec(subject)?.[1])
    .filter((name) => name !== undefined && Object.hasOwn(claims, name)) as string[];
  return Object.fromEntries([...new Set(names)].sort().map((name) => [name, [claims[name]].flat().map(String)]));
}

function hashOf(token: string): string {
  return digest("sha256", token, "base64url");
}
