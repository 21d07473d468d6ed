/** Expects an error of a given kind. */
import { ResourceError } from "../errors.ts";
import type { ErrorKind } from "../errors.ts";

/** Resolves with the error if the call fails with one of these kinds; throws otherwise. */
export async function refusal(
  requested: Promise<unknown>,
  kinds: readonly ErrorKind[],
  about: string,
): Promise<ResourceError> {
  let thrown: unknown;
  try {
    const result = await requested;
    thrown = new Error(
      `${about} must fail with ${kinds.join(" or ")}; it returned ${JSON.stringify(result)?.slice(0, 200)}`,
    );
  } catch (cause) {
    if (cause instanceof ResourceError && kinds.includes(cause.kind)) return cause;
    const given = cause instanceof ResourceError ? `${cause.kind}: ${cause.message}` : String(cause);
    thrown = new Error(`${about} must fail with ${kinds.join(" or ")}; it failed with ${given}`, { cause });
  }
  throw thrown;
}
