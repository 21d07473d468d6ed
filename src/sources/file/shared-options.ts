/** Options shared by all sources that serve files. */
import type { z } from "zod";
import { ruleOptions } from "../../backends/folder-rules/rule-options.ts";

export function sharedOptions(zod: typeof z) {
  return {
    exclude: ruleOptions(zod).exclude,
    watch: zod
      .enum(["auto", "poll"])
      .default("auto")
      .describe(
        'How changes are detected: "auto" uses system events, "poll" checks regularly, as network folders may need',
      ),
    pollMs: zod
      .int()
      .min(100)
      .max(3_600_000)
      .default(2000)
      .describe("Polling interval where changes are not announced, in milliseconds"),
  };
}
