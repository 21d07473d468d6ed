/** Tells whoever measures what was asked of a mount, how long it took, and how it ended. */
import { toResourceError } from "../errors.ts";
import type { ErrorKind } from "../errors.ts";
import { wrapSource } from "../layer.ts";
import type { OperationMethod, Layer, Operation } from "../layer.ts";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import { attempt } from "./asked.ts";

export interface Observation {
  readonly mount: string;
  readonly operation: Operation;
  readonly durationMs: number;
  readonly outcome: "ok" | ErrorKind;
}

/** The observer is told before the answer goes on. If it throws, that harms nothing. A watch is over when it is armed. */
export function observe(tell: (observation: Observation) => void): Layer {
  return (inner, mount) =>
    wrapSource(inner, <T extends OperationMethod>(operation: Operation, ask: T): T => {
      function over(startMs: number, outcome: Observation["outcome"]): void {
        try {
          tell({ mount: mount.name, operation, durationMs: monotonicMs() - startMs, outcome });
        } catch {
          // Measuring is no reason to fail.
        }
      }
      const observing = (...asked: never[]): Promise<unknown> => {
        const startMs = monotonicMs();
        const answer = attempt(ask, asked);
        answer.then(
          () => over(startMs, "ok"),
          (cause: unknown) => over(startMs, toResourceError(cause).kind),
        );
        return answer;
      };
      return observing as T;
    });
}
