/** Work that is written once and runs either straight through or, where the disk is slow, step by step. */
export { createPause } from "../../lib/create-pause.ts";

/** Yields what must be waited for. On a disk that answers at once it never does. */
export type Steps<T> = Generator<Promise<unknown>, T, unknown>;

export type Maybe<T> = T | Promise<T>;

/** The value, waited for if need be. */
export function* settled<T>(value: Maybe<T>): Steps<T> {
  return value instanceof Promise ? ((yield value) as T) : value;
}

/** Runs to the end: at once if nothing has to be waited for. */
export function run<T>(steps: Steps<T>): Maybe<T> {
  const first = steps.next();
  return first.done ? first.value : goOn(steps, first.value);
}

async function goOn<T>(steps: Steps<T>, first: Promise<unknown>): Promise<T> {
  let waiting = first;
  for (;;) {
    let value: unknown;
    let failure: { readonly cause: unknown } | undefined;
    try {
      value = await waiting;
    } catch (cause) {
      failure = { cause };
    }
    const step = failure ? steps.throw(failure.cause) : steps.next(value);
    if (step.done) return step.value;
    waiting = step.value;
  }
}

/** For work that cannot have to wait: on a disk that answers at once, and without pauses. */
export function runNow<T>(steps: Steps<T>): T {
  const step = steps.next();
  if (step.done) return step.value;
  throw new Error("this work had to wait, and was not meant to");
}
