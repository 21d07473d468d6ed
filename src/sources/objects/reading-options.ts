/** The options that every object store has: how much is read at once, for how long, and how often it is looked at. */
import type { z as Zod } from "zod";

/** `keys` is what the store calls them. */
export function readingOptions(z: typeof Zod, keys: string) {
  return {
    linkSeconds: z
      .int()
      .min(0)
      .max(604_800)
      .default(0)
      .describe("give a link that is good for so long instead of refusing what is larger than maxBytes; 0 refuses"),
    maxBytes: z
      .int()
      .min(1)
      .max(64 * 1024 * 1024)
      .default(5 * 1024 * 1024)
      .describe("a larger object is read by ranges"),
    timeoutMs: z
      .int()
      .min(1)
      .max(300_000)
      .default(20_000)
      .describe("how long one question may take, with all its requests and attempts"),
    pollMs: z
      .int()
      .min(1000)
      .max(86_400_000)
      .default(60_000)
      .describe(`how often the ${keys} are looked at again while someone watches`),
  };
}
