/** `pressmark completions`: tab completion for the shells. */
import { defineCommand, one } from "../command.ts";
import { completionScript, type Shell, shells } from "../completions.ts";
import { print } from "../print.ts";
import { allCommands } from "./index.ts";

export default defineCommand({
  name: "completions",
  summary: "Print the completion script of a shell",
  examples: ['eval "$(pressmark completions bash)"', "pressmark completions fish | source"],
  takes: { shell: one("the shell to complete in", shells) },
  async run({ shell }, { out }) {
    // The parser lets only what is offered through.
    await print(out, completionScript(shell as Shell, await allCommands()));
  },
});
