/** The fault sweep: the 1st, the 2nd, the 3rd… call fails, until a run needs no fault. */
import { ResourceError } from "../errors.ts";

export interface Sweep<T extends object> {
  /** What is made to fail: a source, or any record of functions that give promises. Called anew for each run. */
  open(): T | Promise<T>;
  /** What is done with it. It may throw: that is what the sweep is about. */
  run(faulty: T): unknown;
  /** Called after each run, once no fault is left: everything must work again. It gets what `run` got. */
  recovered?(faulty: T): unknown;
  /** Called when a run threw; throws if it may not have. An error must be a ResourceError unless said. */
  refused?(error: unknown): void;
  /** What the failing call rejects with; "unavailable", a plain Error and something that is no error in turn unless said. */
  readonly faults?: readonly (() => unknown)[];
  /** A run that takes longer is said to hang. */
  readonly hangMs?: number;
  /** A scenario that makes more calls than this does not end. */
  readonly maxCalls?: number;
}

export interface Faulty<T extends object> {
  readonly target: T;
  /** How many calls were made, and whether the fault has struck. */
  readonly calls: number;
  readonly struck: boolean;
  /** No further call fails. */
  heal(): void;
}

/** Resolves with the number of calls that were made to fail. Throws on the first run that breaks a rule, and names it. */
export async function sweepFaults<T extends object>(sweep: Sweep<T>): Promise<number> {
  const { faults = defaultFaults, refused = mustBeResourceError, hangMs = 10_000, maxCalls = 1000 } = sweep;
  for (let nth = 1; nth <= maxCalls; nth += 1) {
    let struck = false;
    for (const fault of faults) {
      const faulty = failNth(await sweep.open(), nth, fault);
      const about = `with call ${nth} failing`;
      const ran = await settle(() => sweep.run(faulty.target), hangMs);
      if (ran === "hangs") throw new Error(`the run ${about} hangs`);
      if (ran.status === "rejected") {
        if (!faulty.struck) throw new Error("the run fails without a fault", { cause: ran.reason });
        refused(ran.reason);
      }
      faulty.heal();
      const after = await settle(() => sweep.recovered?.(faulty.target), hangMs);
      if (after === "hangs") throw new Error(`what comes after the run ${about} hangs`);
      if (after.status === "rejected") throw after.reason;
      struck ||= faulty.struck;
    }
    if (!struck) return nth - 1;
  }
  throw new Error(`the run makes more than ${maxCalls} calls`);
}

/**
 * The same record, with its nth call failing. What a call gives to be iterated over counts too: each step is a call. A failing
 * step ends the iteration.
 */
export function failNth<T extends object>(record: T, nth: number, fault: () => unknown): Faulty<T> {
  let calls = 0;
  let struck = false;
  let healed = false;

  function strikes(): boolean {
    if (healed) return false;
    calls += 1;
    if (calls !== nth) return false;
    struck = true;
    return true;
  }

  const target = new Proxy(record, {
    get(from, key) {
      const value: unknown = Reflect.get(from, key);
      if (typeof value !== "function") return value;
      return async (...asked: unknown[]) => {
        if (strikes()) throw fault();
        const answer: unknown = await Reflect.apply(value, from, asked);
        return isAsyncIterable(answer) ? failing(answer) : answer;
      };
    },
  });

  async function* failing(inner: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    for await (const each of inner) {
      if (strikes()) throw fault();
      yield each;
    }
  }

  return {
    target,
    get calls() {
      return calls;
    },
    get struck() {
      return struck;
    },
    heal() {
      healed = true;
    },
  };
}

const defaultFaults: readonly (() => unknown)[] = [
  () => new ResourceError("unavailable", "the backend is gone"),
  () => new Error("socket hang up"),
  () => "not even an error",
];

function mustBeResourceError(error: unknown): void {
  if (!(error instanceof ResourceError))
    throw new Error("an error crossed rooms that is no ResourceError", { cause: error });
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

async function settle(work: () => unknown, ms: number): Promise<PromiseSettledResult<unknown> | "hangs"> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"hangs">((resolve) => {
    timer = setTimeout(resolve, ms, "hangs");
  });
  const done = Promise.allSettled([(async () => await work())()]).then(([result]) => result);
  const first = await Promise.race([done, late]);
  clearTimeout(timer);
  return first;
}
