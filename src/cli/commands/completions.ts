/** `pressmark completions`: prints a completion script for a shell. */
import { defineCommand, one } from "../command.ts";
import { completionScript, type Shell, shells } from "../completions.ts";
import { print } from "../print.ts";
import { allCommands } from "./index.ts";

export default defineCommand({
  name: "completions",
  summary: "Print the completion script for a shell",
  examples: ['eval "$(pressmark completions bash)"', "pressmark completions fish | source"],
  takes: { shell: one("Shell", shells) },
  async run({ shell }, { out }) {
    // Safe cast: the parser accepts only the offered values.
    await print(out, completionScript(shell as Shell, await allCommands()));
  },
});
