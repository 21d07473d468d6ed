/** `pressmark completions`: prints a completion script for a shell. */
import { defineCommand, one } from "../command.ts";
import { completionScript, type Shell, shells } from "../completions.ts";
import { print } from "../print.ts";
import type { allCommands } from "./index.ts";

/** All commands are passed in, because they include this one. */
export const createCompletions = (all: typeof allCommands) =>
  defineCommand({
    name: "completions",
    summary: "Print the completion script for a shell",
    examples: ['eval "$(pressmark completions bash)"', "pressmark completions fish | source"],
    takes: { shell: one("Shell", shells) },
    async run({ shell }, { out }) {
      // Safe cast: the parser accepts only the offered values.
      await print(out, completionScript(shell as Shell, await all()));
    },
  });
