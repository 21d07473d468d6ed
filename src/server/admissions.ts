/** Finds the caller that a token belongs to, as long as the token is valid. */
import type { CallerConfig } from "../config/access.ts";
import { constantTimeEqual } from "../lib/constant-time-equal.ts";
import type { Caller } from "../resources.ts";
import type { Runtime } from "../runtime.ts";
import { hashToken, type StoredToken, type TokenStore } from "./token-store.ts";

/** A caller who was let in. */
export interface Admission {
  /** The same object for every request, until the caller's groups or role change. */
  readonly caller: Caller;
  /** Aborted when the token expires or is revoked, or the caller is removed or changed. */
  readonly ended: AbortSignal;
}

export interface AdmissionsOptions {
  /** The token of the owner: `server.token`, a file or the environment. */
  readonly ownerToken?: string;
  readonly callers: readonly CallerConfig[];
  readonly store?: TokenStore;
  readonly runtime: Pick<Runtime, "now" | "log">;
}

export interface Admissions {
  /** Of whoever holds the owner's token, and of a browser that was invited on the terminal. */
  readonly owner: Admission;
  /** Undefined for a token that is unknown, expired or revoked. */
  find(token: string): Admission | undefined;
  /** Reads the tokens again, and ends the admissions that are no longer valid. */
  reload(callers?: readonly CallerConfig[]): void;
  close(): void;
}

interface Admitted extends Admission {
  readonly stop: AbortController;
}

/** Timers hold at most 2^31 ms; an expiry that is further away is looked at again. */
const maxTimerMs = 24 * 3600 * 1000;

export function createAdmissions({ ownerToken, callers: initial, store, runtime }: AdmissionsOptions): Admissions {
  const owner: Admission = { caller: { id: "owner", owner: true }, ended: new AbortController().signal };
  /** By hash of the token. */
  const admitted = new Map<string, Admitted>();
  let callers = new Map<string, Caller>();
  let tokens = new Map<string, StoredToken>();
  let timer: NodeJS.Timeout | undefined;

  function isValid({ expires }: StoredToken): boolean {
    return expires === undefined || runtime.now() < expires;
  }

  /** Ends what has expired, and looks again when the next token expires. */
  function expire(): void {
    for (const [hash, { stop, caller }] of admitted) {
      const token = tokens.get(hash);
      if (token && isValid(token) && callers.get(token.caller) === caller) continue;
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
    if (configured) callers = new Map(configured.map((each) => [each.name, unchanged(callers.get(each.name), each)]));
    try {
      tokens = new Map((store?.list() ?? []).map((token) => [token.hash, token]));
    } catch (cause) {
      // No token is valid until the file can be read: one of them may have been revoked.
      tokens = new Map();
      runtime.log("error", "the tokens of callers cannot be read, so they are refused", { cause });
    }
    expire();
  }

  reload(initial);

  return {
    owner,
    reload,

    find(given) {
      if (ownerToken !== undefined && constantTimeEqual(given, ownerToken)) return owner;
      // A lookup by hash does not leak a token through timing.
      const hash = hashToken(given);
      const token = tokens.get(hash);
      const caller = token && isValid(token) ? callers.get(token.caller) : undefined;
      if (!caller) return undefined;
      let admission = admitted.get(hash);
      if (!admission) {
        const stop = new AbortController();
        admitted.set(hash, (admission = { caller, ended: stop.signal, stop }));
      }
      return admission;
    },

    close: () => clearTimeout(timer),
  };
}

/** The known object if nothing changed: decisions are cached by it. */
function unchanged(known: Caller | undefined, { name, groups = [], owner = false }: CallerConfig): Caller {
  const isSame = known && known.owner === owner && known.groups?.join("\0") === groups.join("\0");
  return isSame ? known : { id: name, groups, owner };
}
