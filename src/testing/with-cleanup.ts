/** Runs a test, and cleans up after it whatever happens. */

/** Runs every step of the cleanup, also after an error. The first error is thrown: a later one often follows from it. */
export async function withCleanup(body: () => Promise<void>, ...steps: readonly (() => unknown)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const step of [body, ...steps])
    try {
      await step();
    } catch (error) {
      errors.push(error);
    }
  if (errors.length > 0) throw errors[0];
}
