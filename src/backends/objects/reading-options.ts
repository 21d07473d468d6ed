/** Options of every object store: size limit, time limit, and polling interval. */
import { intOption } from "../../lib/int-option.ts";
import type { z as Zod } from "zod";

/** `keys` is the store's own word for them. */
export function readingOptions(z: typeof Zod, keys: string) {
  return {
    linkSeconds: intOption(z, 0, 604_800, 0).describe(
      "Return a link, valid for this long, for an object larger than maxBytes; 0 returns an error instead",
    ),
    maxBytes: intOption(z, 1, 64 * 1024 * 1024, 5 * 1024 * 1024).describe("Larger objects must be read by ranges"),
    timeoutMs: intOption(z, 1, 300_000, 20_000).describe("Time limit of one call, with all its requests and retries"),
    pollMs: intOption(z, 1000, 86_400_000, 60_000).describe(
      `How often the ${keys} are listed again while a client is subscribed`,
    ),
  };
}
