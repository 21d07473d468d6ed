/** Reports changes of files: polls, and checks immediately when Drive notifies, as long as something watches. */
import { ResourceError } from "../../errors.ts";
import type { SourceChange, Runtime } from "../../source.ts";
import type { Ledger } from "./ledger.ts";
import type { LedgerChange } from "./rows.ts";
import type { Sync } from "./sync.ts";

export interface Following {
  watch(signal: AbortSignal): Promise<AsyncIterable<SourceChange>>;
  close(): Promise<void>;
}

export interface FollowingOptions {
  readonly sync: Sync;
  readonly ledger: Ledger;
  readonly runtime: Runtime;
  readonly pollMs: number;
  /** Calls back on each notification of Drive, until the signal ends. Absent without notifications. */
  readonly push?: ((call: () => void, signal: AbortSignal) => Promise<void>) | undefined;
}

interface Listener {
  hear(): void;
  fail(cause: unknown): void;
}

/** More changes than this are reported as one general change. */
const maxChanges = 20_000;
const longestPollMs = 300_000;
const quietMs = 200;

export function createFollowing({ sync, ledger, runtime, pollMs, push }: FollowingOptions): Following {
  const listeners = new Set<Listener>();
  const closing = new AbortController();
  let ending: AbortController | undefined;
  let polling: Promise<void> = Promise.resolve();
  let wake: (() => void) | undefined;
  /** Drive notified during a check. */
  let isCalled = false;

  function call(): void {
    isCalled = true;
    wake?.();
  }

  /** Waits until the time is up or Drive notifies; then a little longer, because changes come in groups. */
  async function sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (!isCalled) {
      const waking = new AbortController();
      wake = () => waking.abort();
      await runtime.wait(ms, AbortSignal.any([signal, waking.signal])).catch(() => undefined);
      wake = undefined;
    }
    if (isCalled) await runtime.wait(quietMs, signal).catch(() => undefined);
    isCalled = false;
  }

  async function poll(signal: AbortSignal): Promise<void> {
    let waitMs = pollMs;
    while (!signal.aborted) {
      await sleep(waitMs, signal);
      if (signal.aborted) return;
      try {
        await sync.now(signal);
        waitMs = pollMs;
        for (const { hear } of listeners) hear();
      } catch (cause) {
        if (signal.aborted) return;
        // Drive is temporarily unavailable: changes made now are seen when it is back.
        if (cause instanceof ResourceError && cause.passing)
          waitMs = Math.min(waitMs * 2, Math.max(pollMs, longestPollMs));
        else for (const { fail } of listeners) fail(cause);
      }
    }
  }

  function join(listener: Listener): void {
    listeners.add(listener);
    if (ending) return;
    const { signal } = (ending = new AbortController());
    polling = Promise.allSettled([polling, poll(signal), push?.(call, signal)]).then(() => undefined);
  }

  function leave(listener: Listener): void {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    ending?.abort();
    ending = undefined;
  }

  return {
    async watch(signal) {
      await sync.now(signal);
      return listen(AbortSignal.any([signal, closing.signal]));
    },
    async close() {
      closing.abort();
      await polling;
    },
  };

  /** Active when called: everything written to the ledger from here on is reported. */
  function listen(signal: AbortSignal): AsyncIterable<SourceChange> {
    let { seq, generation } = ledger;
    let failure: { readonly cause: unknown } | undefined;
    let ready: (() => void) | undefined;
    let hasNews = false;
    const wakeUp = (): void => {
      hasNews = true;
      ready?.();
    };
    const listener: Listener = {
      hear: wakeUp,
      fail(cause) {
        failure = { cause };
        wakeUp();
      },
    };
    join(listener);
    signal.addEventListener("abort", wakeUp, { once: true });
    const over = (): void => {
      signal.removeEventListener("abort", wakeUp);
      leave(listener);
    };
    if (signal.aborted) over();
    else signal.addEventListener("abort", over, { once: true });

    return (async function* reportChanges(): AsyncGenerator<SourceChange> {
      try {
        while (!signal.aborted) {
          if (!hasNews) await new Promise<void>((resolve) => (ready = resolve));
          hasNews = false;
          if (signal.aborted) return;
          if (failure) throw failure.cause;
          const upTo = ledger.seq;
          const isSame = upTo >= seq && ledger.generation === generation;
          const changes = isSame ? ledger.changesSince(seq, maxChanges) : undefined;
          ({ generation } = ledger);
          seq = upTo;
          if (changes) yield* changes.flatMap(toSourceChanges);
          else yield { kind: "lost" };
        }
      } finally {
        over();
      }
    })();
  }
}

/**
 * A file that is added, removed or renamed also changes its folder, for those who may see the file. This is reported as a change of a path
 * right below the folder, where nothing can be read. A shortcut is only an entry in a folder.
 */
function toSourceChanges({ id, kind, of, places }: LedgerChange): SourceChange[] {
  return [
    ...(of === "shortcut" ? [] : [{ kind, path: `${of}/${id}` }]),
    ...places.map(({ folder, kind: how }): SourceChange => ({ kind: how, path: `folder/${folder}/${id}` })),
  ];
}
