/** At most so many questions at once to one mount; the next ones wait, and those that would wait too long are sent away. */
import { ResourceError } from "../errors.ts";
import { wrapSource } from "../layer.ts";
import type { Asked, Layer, Operation } from "../layer.ts";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import { attempt, callOf, withdrawn } from "./asked.ts";

export interface LimitOptions {
  /** How many questions are asked of the source at once. */
  readonly maxAtOnce?: number;
  /** How many more may wait for their turn. */
  readonly maxWaiting?: number;
  /** A question that has been under way for this long has been given up by everyone; it makes room when room is needed. */
  readonly abandonedMs?: number;
  readonly now?: () => number;
}

/**
 * First come, first served. Who finds the queue full gets "busy" with `retryAfterMs`; who waits leaves when the signal ends.
 * A question keeps its place until the source has settled it, so that a source which ignores its signal is not overrun.
 */
export function limit({
  maxAtOnce = 64,
  maxWaiting = 1024,
  abandonedMs = 120_000,
  now = monotonicMs,
}: LimitOptions = {}): Layer {
  return (inner) => {
    const running = new Set<{ readonly startMs: number }>();
    const waiting = new Set<() => void>();
    /** How long a question takes, as a moving mean: it says when it is worth coming back. */
    let meanMs = 10;

    function start(ask: Asked, asked: readonly never[]): Promise<unknown> {
      const place = { startMs: now() };
      running.add(place);
      const answer = attempt(ask, asked);
      const leave = (): void => {
        if (!running.delete(place)) return;
        meanMs += (now() - place.startMs - meanMs) / 16;
        next();
      };
      answer.then(leave, leave);
      return answer;
    }

    function next(): void {
      if (running.size >= maxAtOnce) return;
      for (const begin of waiting) {
        waiting.delete(begin);
        begin();
        return;
      }
    }

    function dropAbandoned(): void {
      const beforeMs = now() - abandonedMs;
      for (const place of running) {
        if (place.startMs > beforeMs) return;
        running.delete(place);
      }
    }

    function wait(ask: Asked, asked: readonly never[]): Promise<unknown> {
      const { signal } = callOf(asked);
      if (signal.aborted) return Promise.reject(withdrawn(signal));
      return new Promise((resolve, reject) => {
        const begin = (): void => {
          signal.removeEventListener("abort", leave);
          resolve(start(ask, asked));
        };
        const leave = (): void => {
          waiting.delete(begin);
          reject(withdrawn(signal));
        };
        waiting.add(begin);
        signal.addEventListener("abort", leave, { once: true });
      });
    }

    function busy(): ResourceError {
      const turnsAhead = (waiting.size + running.size) / maxAtOnce;
      const retryAfterMs = Math.min(30_000, Math.max(100, Math.ceil(turnsAhead * meanMs)));
      return new ResourceError("busy", `too much is going on here; come back in ${retryAfterMs} ms`, {
        passing: true,
        details: { retryAfterMs },
      });
    }

    return wrapSource(inner, <T extends Asked>(operation: Operation, ask: T): T => {
      // Who waits for what another will do must not keep that other from doing it.
      if (operation === "act") return ask;
      const limited = (...asked: never[]): Promise<unknown> => {
        if (running.size >= maxAtOnce) dropAbandoned();
        if (running.size < maxAtOnce && waiting.size === 0) return start(ask, asked);
        if (running.size < maxAtOnce) {
          // Room was made by what was abandoned: those who waited come first.
          const turn = wait(ask, asked);
          while (running.size < maxAtOnce && waiting.size > 0) next();
          return turn;
        }
        return waiting.size < maxWaiting ? wait(ask, asked) : Promise.reject(busy());
      };
      return limited as T;
    });
  };
}
