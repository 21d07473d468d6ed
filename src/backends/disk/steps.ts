/** Code that is written once and runs either synchronously or, on a slow disk, asynchronously. */

/** Yields the promises to wait for. Never yields on a synchronous disk. */
export type Steps<T> = Generator<Promise<unknown>, T, unknown>;

export type Maybe<T> = T | Promise<T>;

/** The value, awaited if it is a promise. */
export function* settled<T>(value: Maybe<T>): Steps<T> {
  return value instanceof Promise ? ((yield value) as T) : value;
}

/** Runs to the end: synchronously if there is nothing to wait for. */
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

/** Runs steps that must not wait: on a synchronous disk, without pauses. */
export function runNow<T>(steps: Steps<T>): T {
  const step = steps.next();
  if (step.done) return step.value;
  throw new Error("synchronous steps yielded a promise");
}
