/** The leases that this process holds or waits for. Each engine acquires and renews leases in its own way. */
import { cancelled } from "../errors.ts";
import type { HeldLease } from "./leases.ts";

interface WaitingLease {
  readonly name: string;
  grant(lease: HeldLease): void;
}

interface OwnedLease extends HeldLease {
  /** Ends it in this process; the engine is not told. */
  lose(): void;
}

export interface HeldLeases {
  readonly held: ReadonlyMap<string, OwnedLease>;
  /** Names that someone waits for, each once. */
  waitingNames(): string[];
  /** Rejects with "cancelled". */
  wait(name: string, signal: AbortSignal): Promise<HeldLease>;
  /** Adds a lease that the engine has granted. `free` releases it there. */
  own(name: string, fence: number, free: () => Promise<void>): OwnedLease;
  /** Gives the lease to the one who has waited longest, or releases it if nobody waits any more. */
  grant(lease: HeldLease): void;
  /** Rejects all who wait. */
  close(): void;
}

export function createHeldLeases(): HeldLeases {
  const held = new Map<string, OwnedLease>();
  const waiting = new Set<WaitingLease>();
  const closing = new AbortController();
  return {
    held,
    waitingNames: () => [...new Set(Array.from(waiting, ({ name }) => name))].sort(),

    wait(name, signal) {
      const either = AbortSignal.any([signal, closing.signal]);
      return new Promise((resolve, reject) => {
        if (either.aborted) return reject(cancelled(either.reason));
        const leave = (): void => {
          waiting.delete(entry);
          reject(cancelled(either.reason));
        };
        const entry: WaitingLease = {
          name,
          grant(lease) {
            waiting.delete(entry);
            either.removeEventListener("abort", leave);
            resolve(lease);
          },
        };
        either.addEventListener("abort", leave, { once: true });
        waiting.add(entry);
      });
    },

    own(name, fence, free) {
      const ending = new AbortController();
      const lose = (): void => {
        if (held.get(name) === lease) held.delete(name);
        ending.abort();
      };
      const lease: OwnedLease = {
        name,
        fence,
        signal: ending.signal,
        lose,
        async release() {
          if (ending.signal.aborted) return;
          lose();
          await free();
        },
      };
      held.get(name)?.lose();
      held.set(name, lease);
      return lease;
    },

    grant(lease) {
      for (const each of waiting)
        if (each.name === lease.name) {
          each.grant(lease);
          return;
        }
      void lease.release().catch(() => undefined);
    },

    close: () => closing.abort(),
  };
}
