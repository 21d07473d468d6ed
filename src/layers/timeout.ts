/** No question waits for ever: what takes too long is given up, and the source is told to stop. */
import { ResourceError } from "../errors.ts";
import { wrapSource } from "../layer.ts";
import type { OperationMethod, Layer, Operation } from "../layer.ts";
import type { Source } from "../source.ts";
import { attempt, callOf, ownCall } from "./asked.ts";
import { createDeadlines } from "./deadlines.ts";
import type { Deadlines } from "./deadlines.ts";

export interface TimeoutOptions {
  /** For every operation, or for each. The source's own limit, or 30 seconds, unless said; never more than the source's own. */
  readonly timeoutMs?: number | Partial<Readonly<Record<Operation, number>>>;
  readonly deadlines?: Deadlines;
}

const defaultMs = 30_000;
const shared = createDeadlines();

/** How long an operation of this source may take. Arming a watch may mean a look at everything, and an action may wait for others. */
export function timeLimit(
  { timeoutMs: own }: Pick<Source, "timeoutMs">,
  operation: Operation,
  given: TimeoutOptions["timeoutMs"],
): number {
  const mostMs = typeof given === "number" ? given : given?.[operation];
  if (operation === "watch" || operation === "act") return mostMs ?? Math.max(defaultMs, own ?? 0);
  return Math.min(mostMs ?? own ?? defaultMs, own ?? Infinity);
}

/** Throws "unavailable", which is passing. For a watch only the arming counts: once armed it goes on until its caller ends it. */
export function timeout({ timeoutMs, deadlines = shared }: TimeoutOptions = {}): Layer {
  return (inner) =>
    wrapSource(inner, <T extends OperationMethod>(operation: Operation, ask: T): T => {
      const ms = timeLimit(inner, operation, timeoutMs);
      const timed = (...asked: never[]): Promise<unknown> =>
        new Promise((resolve, reject) => {
          const call = ownCall(callOf(asked));
          const deadline = deadlines.add(ms, () => {
            const late = new ResourceError(
              "unavailable",
              `no answer within ${ms} ms; try again later, or raise "timeoutMs"`,
            );
            call.abort(late);
            call.release();
            reject(late);
          });
          attempt(ask, asked, call).then(
            (answer) => {
              deadlines.met(deadline);
              if (operation !== "watch") call.release();
              resolve(answer);
            },
            (cause: unknown) => {
              deadlines.met(deadline);
              call.release();
              reject(cause);
            },
          );
        });
      return timed as T;
    });
}
