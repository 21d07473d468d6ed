/** Limits attempts per key: after too many within a time, the key has to wait. */
import { Lru } from "../../lib/lru.ts";

interface AttemptsOptions {
  readonly max: number;
  readonly windowMs: number;
  readonly monotonicMs: () => number;
}

export interface Attempts {
  isUsedUp(key: string): boolean;
  add(key: string): void;
  clear(key: string): void;
}

/** Keys; the one that was not used for longest is dropped. */
const maxKeys = 10_000;

export function createAttempts({ max, windowMs, monotonicMs }: AttemptsOptions): Attempts {
  const attempts = new Lru<string, { count: number; readonly until: number }>({ maxEntries: maxKeys });

  function current(key: string) {
    const known = attempts.get(key);
    return known && known.until > monotonicMs() ? known : undefined;
  }

  return {
    isUsedUp: (key) => (current(key)?.count ?? 0) >= max,
    add(key) {
      const known = current(key);
      if (known) known.count += 1;
      else attempts.set(key, { count: 1, until: monotonicMs() + windowMs });
    },
    clear: (key) => void attempts.delete(key),
  };
}
