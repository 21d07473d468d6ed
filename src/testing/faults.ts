/** The fault sweep: the 1st, 2nd, 3rd… call fails, until a run needs no fault. */
import { ResourceError } from "../errors.ts";

export interface Sweep<T extends object> {
  /** The target: a source, or any record of functions that return promises. Opened again for each run. */
  open(): T | Promise<T>;
  /** The scenario. It may throw: the sweep checks how. */
  run(faulty: T): unknown;
  /** Called after each run, without further faults: everything must work again. It gets the same target. */
  recovered?(faulty: T): unknown;
  /** Called when a run threw; throws if the error is not allowed. Default: it must be a ResourceError. */
  refused?(error: unknown): void;
  /** The error of the failing call. Default: "unavailable", a plain Error and a non-error in turn. */
  readonly faults?: readonly (() => unknown)[];
  /** A longer run counts as hanging. */
  readonly hangMs?: number;
  /** A scenario with more calls than this counts as endless. */
  readonly maxCalls?: number;
}

export interface Faulty<T extends object> {
  readonly target: T;
  /** How many calls were made, and whether the fault has occurred. */
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
      if (after === "hangs") throw new Error(`the check after the run ${about} hangs`);
      if (after.status === "rejected") throw after.reason;
      struck ||= faulty.struck;
    }
    if (!struck) return nth - 1;
  }
  throw new Error(`the run makes more than ${maxCalls} calls`);
}

/** The same record, with its nth call failing. Each step of a returned iterable counts as a call. A failing step ends the iteration. */
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
      return async (...requested: unknown[]) => {
        if (strikes()) throw fault();
        const response: unknown = await Reflect.apply(value, from, requested);
        return isAsyncIterable(response) ? failing(response) : response;
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
    throw new Error("an error that is no ResourceError left the source", { cause: error });
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
