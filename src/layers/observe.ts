/** Reports each operation of a mount, its duration and its outcome to an observer. */
import { toResourceError } from "../errors.ts";
import type { ErrorKind } from "../errors.ts";
import { wrapSource } from "../layer.ts";
import type { OperationMethod, Layer, Operation } from "../layer.ts";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import { attempt } from "./own-call.ts";

export interface Observation {
  readonly mount: string;
  readonly operation: Operation;
  readonly durationMs: number;
  readonly outcome: "ok" | ErrorKind;
}

/** The observer is called before the result is passed on; its errors are ignored. A watch is reported when it is armed. */
export function observe(report: (observation: Observation) => void): Layer {
  return (inner, mount) =>
    wrapSource(inner, <T extends OperationMethod>(operation: Operation, method: T): T => {
      function finish(startMs: number, outcome: Observation["outcome"]): void {
        try {
          report({ mount: mount.name, operation, durationMs: monotonicMs() - startMs, outcome });
        } catch {
          // A faulty observer must not fail the call.
        }
      }
      const observing = (...args: never[]): Promise<unknown> => {
        const startMs = monotonicMs();
        const answer = attempt(method, args);
        answer.then(
          () => finish(startMs, "ok"),
          (cause: unknown) => finish(startMs, toResourceError(cause).kind),
        );
        return answer;
      };
      return observing as T;
    });
}
