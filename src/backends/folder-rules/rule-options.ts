/** The options with which a mount changes the rules of its folder. Each source over a folder offers all of them, or some. */
import type { z } from "zod";

export function ruleOptions(zod: typeof z) {
  const patterns = () => zod.array(zod.string().min(1).max(1000)).max(1000).default([]);
  return {
    ignore: zod
      .boolean()
      .default(true)
      .describe("leave out what .gitignore, .ignore, .pressmarkignore and git's own excludes name, and node_modules"),
    hidden: zod
      .boolean()
      .default(false)
      .describe("serve all names that begin with a dot, not only .github and .editorconfig"),
    allow: patterns().describe(
      "patterns, as in .gitignore, of what is served although hidden, ignored or a secret by its name",
    ),
    exclude: patterns().describe("patterns, as in .gitignore, of what is not served"),
  };
}
