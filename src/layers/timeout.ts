/** No question waits for ever: what takes too long is given up, and the source is told to stop. */
import { ResourceError } from "../errors.ts";
import { wrapSource } from "../layer.ts";
import type { Asked, Layer, Operation } from "../layer.ts";
import { attempt, callOf, ownCall } from "./asked.ts";
import { createDeadlines } from "./deadlines.ts";
import type { Deadlines } from "./deadlines.ts";

export interface TimeoutOptions {
  /** For every operation, or for each. */
  readonly timeoutMs?: number | Partial<Readonly<Record<Operation, number>>>;
  readonly deadlines?: Deadlines;
}

const defaultMs = 30_000;
const shared = createDeadlines();

/** Throws "unavailable", which is passing. For a watch only the arming counts: once armed it goes on until its caller ends it. */
export function timeout({ timeoutMs = defaultMs, deadlines = shared }: TimeoutOptions = {}): Layer {
  return (inner) =>
    wrapSource(inner, <T extends Asked>(operation: Operation, ask: T): T => {
      const ms = typeof timeoutMs === "number" ? timeoutMs : (timeoutMs[operation] ?? defaultMs);
      const timed = (...asked: never[]): Promise<unknown> =>
        new Promise((resolve, reject) => {
          const call = ownCall(callOf(asked));
          const deadline = deadlines.add(ms, () => {
            const late = new ResourceError("unavailable", `no answer within ${ms} ms; try again later`);
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
