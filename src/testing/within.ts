/** A wait that ends, and then states what it waited for. */

/** The time of a wait has passed. */
export class WaitError extends Error {}

/** Settles like `work`; after `ms`, throws and names `what` was awaited. A function is called then, so that it can tell what has happened. */
export async function within<T>(ms: number, work: T | PromiseLike<T>, what: string | (() => string)): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new WaitError(`waited ${ms / 1000} s for ${typeof what === "string" ? what : what()}`));
    }, ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
