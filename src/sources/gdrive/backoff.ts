/** Asks again what was refused in passing: after 1, 2, 4 … 64 seconds, and a little more or less. */
import { ResourceError } from "../../errors.ts";
import type { Tools } from "../../source.ts";

export interface Patience {
  /** No wait begins that would end later than this after the first try. */
  readonly patienceMs: number;
}

const firstMs = 1000;
const longestMs = 64_000;
/** After the longest wait it is given up. */
const mostWaits = 7;

/** What is thrown in the end says when to come back. Where the answer itself asks for a longer wait, that is kept to. */
export async function patiently<T>(
  work: () => Promise<T>,
  { patienceMs }: Patience,
  tools: Pick<Tools, "now" | "wait">,
  signal: AbortSignal,
): Promise<T> {
  const begunMs = tools.now();
  for (let waits = 0; ; waits += 1) {
    try {
      return await work();
    } catch (cause) {
      if (!(cause instanceof ResourceError) || !cause.passing || signal.aborted) throw cause;
      const asked = Number(cause.details?.["retryAfterMs"] ?? 0);
      const ladderMs = Math.min(firstMs * 2 ** waits, longestMs);
      const waitMs = Math.round(Math.max(asked, ladderMs * (0.75 + Math.random() / 2)));
      if (waits >= mostWaits || tools.now() + waitMs - begunMs > patienceMs) throw later(cause, waitMs);
      await pause(waitMs, tools, signal);
    }
  }
}

export async function pause(ms: number, tools: Pick<Tools, "wait">, signal: AbortSignal): Promise<void> {
  try {
    await tools.wait(ms, signal);
  } catch (cause) {
    throw new ResourceError("cancelled", "the question was withdrawn", { cause });
  }
}

/** The work goes on for others when one who waits for it leaves. */
export function until<T>(work: Promise<T>, signal: AbortSignal, says = "the question was withdrawn"): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(new ResourceError("cancelled", says));
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}

function later(cause: ResourceError, retryAfterMs: number): ResourceError {
  const { kind, message, passing } = cause;
  return new ResourceError(kind, message, { passing, cause, details: { retryAfterMs } });
}
