/** Options of every object store: size limit, time limit, and polling interval. */
import type { z as Zod } from "zod";

/** `keys` is the store's own word for them. */
export function readingOptions(z: typeof Zod, keys: string) {
  return {
    linkSeconds: z
      .int()
      .min(0)
      .max(604_800)
      .default(0)
      .describe("Return a link, valid for this long, for an object larger than maxBytes; 0 returns an error instead"),
    maxBytes: z
      .int()
      .min(1)
      .max(64 * 1024 * 1024)
      .default(5 * 1024 * 1024)
      .describe("Larger objects must be read by ranges"),
    timeoutMs: z
      .int()
      .min(1)
      .max(300_000)
      .default(20_000)
      .describe("Time limit of one call, with all its requests and retries"),
    pollMs: z
      .int()
      .min(1000)
      .max(86_400_000)
      .default(60_000)
      .describe(`How often the ${keys} are listed again while a client is subscribed`),
  };
}
