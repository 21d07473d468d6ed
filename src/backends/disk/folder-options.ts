/** Options of the sources that serve the files of a folder. */
import type { z } from "zod";
import { intOption } from "../../lib/int-option.ts";
import { ruleOptions } from "../folder-rules/rule-options.ts";

const defaultMaxBytes = 5 * 1024 * 1024;

/** All options but the folder itself, in the order of the documentation. */
export function folderOptions(zod: typeof z) {
  return {
    maxBytes: zod
      .int()
      .positive()
      .max(512 * 1024 * 1024)
      .default(defaultMaxBytes)
      .describe("Largest read, in bytes; a larger file can be read in parts"),
    textTimeoutMs: intOption(zod, 100, 600_000, 20_000).describe(
      "Time limit for extracting the text of one document, in milliseconds",
    ),
    ...ruleOptions(zod),
    icons: zod.boolean().default(false).describe("Give each entry an icon for its file type"),
    ...watchOptions(zod),
  };
}

/** Options of every source that watches folders. */
export function watchOptions(zod: typeof z) {
  return {
    exclude: ruleOptions(zod).exclude,
    watch: zod
      .enum(["auto", "poll"])
      .default("auto")
      .describe(
        'How changes are detected: "auto" uses system events, "poll" checks regularly, as network folders may need',
      ),
    pollMs: intOption(zod, 100, 3_600_000, 2000).describe(
      "Polling interval where changes are not announced, in milliseconds",
    ),
  };
}
