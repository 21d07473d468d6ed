/** What every source over files lets be said of them: what is left out, and how changes are noticed. */
import type { z } from "zod";

export function sharedOptions(zod: typeof z) {
  return {
    exclude: zod
      .array(zod.string().min(1).max(1000))
      .max(1000)
      .default([])
      .describe("patterns, as in .gitignore, of what is not served"),
    watch: zod
      .enum(["auto", "poll"])
      .default("auto")
      .describe('how changes are noticed: "poll" looks again and again, as network folders may need'),
    pollMs: zod
      .int()
      .min(100)
      .max(3_600_000)
      .default(2000)
      .describe("how long to wait between two looks where changes are polled"),
  };
}
