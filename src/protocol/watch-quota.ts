/** Limits how much one client may watch: short bursts freely, floods slowly, and never at another client's expense. */
import { ResourceError } from "../errors.ts";
import { monotonicMs } from "../lib/monotonic-ms.ts";

export interface WatchQuotaOptions {
  /** Number of watches that a client may begin at once after a pause. */
  readonly burst?: number;
  readonly perSecond?: number;
  /** Maximum delay of a request beyond the limit before it is refused. */
  readonly maxWaitMs?: number;
  /** Number of watches that all clients may hold together. */
  readonly maxHeld?: number;
  /** Number that each client may always hold, even above the total. */
  readonly alwaysHeld?: number;
  readonly now?: () => number;
}

/** A client is any object with the lifetime of a connection or session. */
export interface WatchQuota {
  /**
   * Resolves when the client may hold `amount` more watches, until it releases them. Throws "busy" with the time to wait if that would
   * take too long.
   */
  take(client: object, signal: AbortSignal, amount?: number): Promise<void> | undefined;
  release(client: object, amount?: number): void;
}

interface Account {
  left: number;
  at: number;
  held: number;
}

/** Others must end first, at an unknown time. */
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
  /** Entries disappear with their client. */
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
    // May become negative, so that waiting requests do not all continue at once.
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
        throw busy(
          `too many resources are watched on this server; watch at most ${alwaysHeld}, or try again later`,
          fullRetryMs,
        );
      if (account.left >= amount) {
        hold(account, amount);
        return undefined;
      }
      const waitMs = Math.ceil(((amount - account.left) / perSecond) * 1000);
      if (waitMs > maxWaitMs)
        throw busy(`too many watches started; at most ${perSecond} per second, try again in ${waitMs} ms`, waitMs);
      hold(account, amount);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          signal.removeEventListener("abort", leave);
          resolve();
        }, waitMs);
        function leave(): void {
          clearTimeout(timer);
          release(client, amount);
          reject(new ResourceError("cancelled", "cancelled"));
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
