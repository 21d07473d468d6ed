/** `pressmark help`. */
import { defineCommand, optional } from "../command.ts";
import { helpFor, overview } from "../help.ts";
import { print } from "../print.ts";
import { allCommands, commands, loadCommand } from "./index.ts";

export default defineCommand({
  name: "help",
  summary: "Show all commands, or the help for one",
  takes: { command: optional("Command to explain", Object.keys(commands)) },
  async run({ command: name }, { out }) {
    const command = name === undefined ? undefined : await loadCommand(name);
    await print(out, command ? helpFor(command) : overview(await allCommands()));
  },
});
