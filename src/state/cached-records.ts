/** The records of one kind in memory, kept current with a store that many instances share. */
import type { Runtime } from "../runtime.ts";
import type { Store, StoredRecord } from "./store.ts";

export interface CachedRecords {
  /** As of the last load, in the order of keys. */
  readonly records: readonly StoredRecord[];
  /** Differs when the records have changed. */
  readonly stamp: string;
  /** Milliseconds since the records were known to be current; Infinity before the first load. */
  readonly ageMs: number;
  /** Reads the store: what was changed before the call is known when it resolves. Rejects as the store does, and changes nothing then. */
  load(): Promise<void>;
  /** Loads after every change and every few seconds, and calls `changed` when the records differ. Resolves when the signal is aborted. */
  follow(changed: () => void, signal: AbortSignal): Promise<void>;
}

/** Records are read again after this time, even if no change was reported. */
const recheckMs = 3000;
/** Delay before another attempt, if the store cannot be followed. */
const retryMs = 500;

export function createCachedRecords(
  store: Pick<Store, "list" | "follow">,
  kind: string,
  { monotonicMs, wait }: Pick<Runtime, "monotonicMs" | "wait">,
): CachedRecords {
  let records: readonly StoredRecord[] = [];
  let stamp = "";
  let confirmedMs = -Infinity;
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  async function read(): Promise<void> {
    const beganMs = monotonicMs();
    const found = await store.list(kind);
    records = found;
    stamp = JSON.stringify(found.map(({ key, version }) => [key, version]));
    confirmedMs = beganMs;
  }

  function begin(): Promise<void> {
    next = undefined;
    const reading = read().finally(() => {
      if (running === reading) running = undefined;
    });
    return (running = reading);
  }

  /** A read that runs may miss the latest change, so another one follows it. */
  function load(): Promise<void> {
    if (!running) return begin();
    return (next ??= running.then(begin, begin));
  }

  return {
    get records() {
      return records;
    },
    get stamp() {
      return stamp;
    },
    get ageMs() {
      return monotonicMs() - confirmedMs;
    },
    load,

    async follow(changed, signal) {
      let seen = stamp;
      const refresh = async () => {
        // While the store is away, the records stay as they are, and `ageMs` grows.
        await load().catch(() => undefined);
        if (signal.aborted || stamp === seen) return;
        seen = stamp;
        changed();
      };
      const arm = async () => {
        while (!signal.aborted)
          try {
            return await store.follow(kind, () => void refresh(), signal);
          } catch {
            await wait(retryMs, signal).catch(() => undefined);
          }
      };
      // Changes between the last load and this moment are found by the first refresh.
      void arm().then(refresh);
      while (!signal.aborted) {
        await wait(recheckMs, signal).catch(() => undefined);
        if (!signal.aborted) await refresh();
      }
    },
  };
}
