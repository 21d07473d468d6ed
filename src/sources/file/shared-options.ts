/** What every source over files lets be said of them: what is left out, and how changes are noticed. */
import type { z } from "zod";
import { ruleOptions } from "../../backends/folder-rules/rule-options.ts";

export function sharedOptions(zod: typeof z) {
  return {
    exclude: ruleOptions(zod).exclude,
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
