/** Options of a mount that change the rules of its folder. Each source that serves a folder offers some or all of them. */
import type { z } from "zod";

export function ruleOptions(zod: typeof z) {
  const patterns = () => zod.array(zod.string().min(1).max(1000)).max(1000).default([]);
  return {
    ignore: zod
      .boolean()
      .default(true)
      .describe(
        "Leave out node_modules and everything that .gitignore, .ignore, .pressmarkignore and git's exclude files match",
      ),
    hidden: zod
      .boolean()
      .default(false)
      .describe("Serve all names that begin with a dot, not only .github and .editorconfig"),
    allow: patterns().describe(
      "Patterns, as in .gitignore, of files to serve although they are hidden, ignored or have the name of a secret",
    ),
    exclude: patterns().describe("Patterns, as in .gitignore, of files not to serve"),
  };
}
