/** One watch per mount, shared by all listeners: the first to join starts it; it stops some time after the last has left. */
import { quote, type ResourceError, retryAfterOf, toResourceError, unsupported } from "../errors.ts";
import { createBackoff } from "../lib/backoff.ts";
import { type Caller, serverCaller } from "../resources.ts";
import type { Source, SourceChange, SourceWatch, Runtime } from "../source.ts";
import { createCoalescer } from "./coalesce.ts";
import type { Coalescer, CoalesceOptions } from "./coalesce.ts";

export interface Watchers {
  /**
   * Resolves once armed: a change made after that is never missed. If the watch cannot be armed, it resolves after the first
   * failed attempt; the watch is retried while anyone listens, and once it is back all get "lost". A source that cannot be watched as
   * its backend is configured (see `refusal`) is retried every minute, and at once for everyone who joins. Changes are coalesced. Ends with the signal. A listener that throws does not affect the others.
   */
  join(notify: (change: SourceChange) => void, signal: AbortSignal): Promise<void>;
  /** Adds a listener that is served by one who has joined. Resolves as `join` does. */
  arrive(): Promise<void>;
  /** Number of changes that are not announced yet. Never 0 while the watch is down, because there may be some; 0 while it is refused. */
  readonly pending: number;
  /** Whether the watch is running now. */
  readonly isArmed: boolean;
  /** Why the source cannot be watched, while that is known: it has no `watch`, or the last attempt threw "unsupported". */
  readonly refusal: ResourceError | undefined;
  /** Afterwards no one is notified, and nothing runs. */
  close(): void;
}

/** One run of the watch, from the first join until the last listener leaves. */
interface Run {
  readonly ending: AbortController;
  readonly coalescer: Coalescer;
  /** Resolves when the first attempt has armed or failed; after a refusal, the attempt that is under way. */
  attempt: PromiseWithResolvers<void>;
  /** Ends the wait after a refusal. */
  tryNow?: () => void;
  /** The watch of the source, while it runs. */
  watch?: SourceWatch;
}

const firstDelayMs = 250;
const longestDelayMs = 30_000;
/** After a refusal, an operator must change something first. */
const refusedDelayMs = 60_000;
/** A watch that lasted this long was a success. One that ends sooner must not restart at full speed each time. */
const steadyMs = 1000;

interface WatchersOptions extends CoalesceOptions {
  /** How long the watch continues after the last listener has left: a client that returns need not wait for arming. */
  readonly lingerMs?: number;
  /** Who watches. Default: the server itself. */
  readonly caller?: Caller;
  /** Called when it turns out that the source cannot be watched. */
  readonly refused?: () => void;
}

export function createWatchers(
  source: Source,
  mount: { readonly name: string },
  runtime: Runtime,
  { lingerMs = 5000, caller = serverCaller, refused, ...options }: WatchersOptions = {},
): Watchers {
  /** One object per join, so that one function may join twice. */
  const listeners = new Set<{ readonly notify: (change: SourceChange) => void }>();
  let run: Run | undefined;
  let closed = false;
  let lingering: AbortController | undefined;
  let refusal = source.watch ? undefined : cannotBeWatched("its source does not report changes");

  function cannotBeWatched(why: string, cause?: unknown): ResourceError {
    return unsupported(`the mount ${quote(mount.name)} cannot be watched: ${why}`, cause);
  }

  /** With `isMissed`, listeners must look for what they missed. */
  function refuse(cause: ResourceError, coalescer: Coalescer, isMissed: boolean): void {
    const before = refusal;
    refusal = cannotBeWatched(cause.message, cause);
    if (isMissed) coalescer.hear({ kind: "lost" });
    if (before?.message === refusal.message) return;
    const message = `the mount cannot be watched, trying again every minute: ${cause.message}`;
    runtime.log(isMissed ? "warn" : "info", message, { mount: mount.name });
    refused?.();
  }

  function announce(change: SourceChange): void {
    for (const listener of listeners) {
      try {
        listener.notify(change);
      } catch (cause) {
        runtime.log("error", "a listener failed while handling a change", { mount: mount.name, cause });
      }
    }
  }

  function stateOf(path: string): number {
    return run?.watch?.stateOf?.(path) ?? 0;
  }

  function start(): Run {
    const coalescer = createCoalescer(announce, runtime, { stateOf, ...options });
    const started: Run = { ending: new AbortController(), coalescer, attempt: Promise.withResolvers() };
    void keepWatching(started);
    return started;
  }

  async function keepWatching(own: Run): Promise<void> {
    const { coalescer } = own;
    const { signal } = own.ending;
    const tried = (): void => own.attempt.resolve();
    const backoff = createBackoff({
      firstMs: firstDelayMs,
      longestMs: longestDelayMs,
      steadyMs,
      now: () => runtime.monotonicMs(),
    });
    // Logged once until it is back: a backend may be away for days.
    let isReported = false;
    let wasArmed = false;
    for (let missed = false; ; missed = true) {
      let isArmed = false;
      let cause: unknown;
      try {
        const changes = await source.watch?.({ caller, signal });
        if (changes === undefined) return tried();
        isArmed = true;
        wasArmed = true;
        refusal = undefined;
        backoff.begun();
        own.watch = changes;
        isReported = false;
        if (missed) {
          runtime.log("info", "the watch is running again", { mount: mount.name });
          coalescer.hear({ kind: "lost" });
        }
        tried();
        for await (const change of changes) {
          if (signal.aborted) break;
          coalescer.hear(change);
        }
      } catch (thrown) {
        cause = thrown;
      }
      if (signal.aborted) return tried();
      delete own.watch;
      const error = toResourceError(cause);
      if (error.kind === "unsupported") {
        refuse(error, coalescer, wasArmed);
        wasArmed = false;
        tried();
        await untilRetry(own);
        if (signal.aborted) return tried();
        continue;
      }
      refusal = undefined;
      const delayMs = retryAfterOf(cause) ?? backoff.ended() * (0.75 + Math.random() / 4);
      const what = isArmed ? "the watch ended" : "the watch cannot start";
      if (!isReported)
        runtime.log("warn", `${what}, trying again`, { mount: mount.name, delayMs: Math.round(delayMs), cause });
      isReported = true;
      tried();
      try {
        await runtime.wait(delayMs, signal);
      } catch {
        return;
      }
    }
  }

  /** Waits for the next attempt after a refusal: some time, or until someone joins. */
  async function untilRetry(own: Run): Promise<void> {
    const waking = new AbortController();
    const renew = (): void => {
      own.attempt = Promise.withResolvers();
      delete own.tryNow;
    };
    own.tryNow = () => {
      renew();
      waking.abort();
    };
    await runtime
      .wait(refusedDelayMs, AbortSignal.any([own.ending.signal, waking.signal]))
      .then(renew, () => undefined);
  }

  async function untilTried(own: Run | undefined): Promise<void> {
    own?.tryNow?.();
    await own?.attempt.promise;
  }

  function leave(): void {
    if (lingerMs === 0) return stop();
    const waiting = (lingering = new AbortController());
    runtime.wait(lingerMs, waiting.signal).then(
      () => waiting.signal.aborted || stop(),
      () => {},
    );
  }

  function stop(): void {
    lingering?.abort();
    run?.ending.abort();
    run?.coalescer.close();
    run = undefined;
  }

  return {
    async join(notify, signal) {
      if (closed || !source.watch || signal.aborted) return;
      const listener = { notify };
      listeners.add(listener);
      signal.addEventListener(
        "abort",
        () => {
          if (listeners.delete(listener) && listeners.size === 0) leave();
        },
        { once: true },
      );
      lingering?.abort();
      if (run) run.coalescer.newcomer();
      else run = start();
      await untilTried(run);
    },

    async arrive() {
      run?.coalescer.newcomer();
      await untilTried(run);
    },

    get pending() {
      if (!run) return 0;
      const unheard = run.watch ? (run.watch.pending ?? 0) : refusal ? 0 : 1;
      return run.coalescer.pending + unheard;
    },

    get isArmed() {
      return run?.watch !== undefined;
    },

    get refusal() {
      return refusal;
    },

    close() {
      closed = true;
      listeners.clear();
      stop();
    },
  };
}
