/** How much one client may watch: short bursts freely, a flood slowly, and never at another client's expense. */
import { ResourceError } from "../errors.ts";
import { monotonicMs } from "../lib/monotonic-ms.ts";

export interface WatchQuotaOptions {
  /** How many watches a client may begin at once after a rest. */
  readonly burst?: number;
  readonly perSecond?: number;
  /** How long a request beyond that is held back before it is refused. */
  readonly maxWaitMs?: number;
  /** How many watches all clients may hold together. */
  readonly maxHeld?: number;
  /** How many each client may hold although all together hold too many. */
  readonly alwaysHeld?: number;
  readonly now?: () => number;
}

/** A client is any object that lives as long as it: a connection, or a session. */
export interface WatchQuota {
  /**
   * Resolves when the client may hold so many watches more, until it gives them back. Throws "busy" with the time to wait when
   * that would take too long.
   */
  take(client: object, signal: AbortSignal, amount?: number): Promise<void> | undefined;
  release(client: object, amount?: number): void;
}

interface Account {
  left: number;
  at: number;
  held: number;
}

/** Others must end before there is room: there is no telling when. */
const fullRetryMs = 30_000;

export function createWatchQuota({
  burst = 20_000,
  perSecond = 50,
  maxWaitMs = 1000,
  // About 600 bytes each.
  maxHeld = 100_000,
  alwaysHeld = 50,
  now = monotonicMs,
}: WatchQuotaOptions = {}): WatchQuota {
  /** Nothing is kept of a client that is gone. */
  const accounts = new WeakMap<object, Account>();
  let held = 0;

  function accountOf(client: object): Account {
    const time = now();
    let account = accounts.get(client);
    if (!account) accounts.set(client, (account = { left: burst, at: time, held: 0 }));
    account.left = Math.min(burst, account.left + ((time - account.at) / 1000) * perSecond);
    account.at = time;
    return account;
  }

  function hold(account: Account, amount: number): void {
    // Owed, so that those who wait do not all go at once.
    account.left -= amount;
    account.held += amount;
    held += amount;
  }

  function release(client: object, amount = 1): void {
    const account = accounts.get(client);
    if (!account) return;
    account.held -= amount;
    held -= amount;
  }

  return {
    take(client, signal, amount = 1) {
      const account = accountOf(client);
      if (held + amount > maxHeld && account.held + amount > alwaysHeld)
        throw busy(`too much is watched here: watch ${alwaysHeld} resources at most, or try again later`, fullRetryMs);
      if (account.left >= amount) {
        hold(account, amount);
        return undefined;
      }
      const waitMs = Math.ceil(((amount - account.left) / perSecond) * 1000);
      if (waitMs > maxWaitMs)
        throw busy(`too many watches begun: at most ${perSecond} a second, try again in ${waitMs} ms`, waitMs);
      hold(account, amount);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          signal.removeEventListener("abort", leave);
          resolve();
        }, waitMs);
        function leave(): void {
          clearTimeout(timer);
          release(client, amount);
          reject(new ResourceError("cancelled", "the request was cancelled"));
        }
        signal.addEventListener("abort", leave, { once: true });
      });
    },
    release,
  };
}

function busy(message: string, retryAfterMs: number): ResourceError {
  return new ResourceError("busy", message, { details: { reason: "busy", retryAfterMs } });
}
