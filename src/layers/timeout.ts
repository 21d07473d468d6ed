/** Aborts a call that takes too long. */
import { unavailable } from "../errors.ts";
import { wrapSource } from "../layer.ts";
import type { Layer, Operation } from "../layer.ts";
import type { Source } from "../source.ts";
import { attempt, callOf, ownCall } from "./own-call.ts";
import { createDeadlines } from "./deadlines.ts";
import type { Deadlines } from "./deadlines.ts";

export interface TimeoutOptions {
  /** For all operations, or for each. Default: the source's own limit, else 30 seconds; never more than the source's own limit. */
  readonly timeoutMs?: number | Partial<Readonly<Record<Operation, number>>>;
  /** @internal */
  readonly deadlines?: Deadlines;
}

const defaultMs = 30_000;
const shared = createDeadlines();

/** Time limit of one operation. Arming a watch may require a full scan, and an action may wait for other calls. */
export function timeLimit(
  { timeoutMs: own }: Pick<Source, "timeoutMs">,
  operation: Operation,
  given: TimeoutOptions["timeoutMs"],
): number {
  const mostMs = typeof given === "number" ? given : given?.[operation];
  if (operation === "watch" || operation === "act") return mostMs ?? Math.max(defaultMs, own ?? 0);
  return Math.min(mostMs ?? own ?? defaultMs, own ?? Infinity);
}

/** @internal Throws "unavailable", which is passing. For a watch the limit applies to arming; an armed watch continues until its caller ends it. */
export function timeout({ timeoutMs, deadlines = shared }: TimeoutOptions = {}): Layer {
  return (inner) =>
    wrapSource(inner, (operation, method) => {
      if (operation === "relay") return method;
      const ms = timeLimit(inner, operation, timeoutMs);
      return (...args) =>
        new Promise((resolve, reject) => {
          const call = ownCall(callOf(args));
          const deadline = deadlines.add(ms, () => {
            const late = unavailable(`no response within ${ms} ms; try again later, or raise "timeoutMs"`);
            call.abort(late);
            call.release();
            reject(late);
          });
          attempt(method, args, call).then(
            (result) => {
              deadlines.met(deadline);
              if (operation !== "watch") call.release();
              resolve(result);
            },
            (cause: unknown) => {
              deadlines.met(deadline);
              call.release();
              reject(cause);
            },
          );
        });
    });
}
