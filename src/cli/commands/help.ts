/** `pressmark help`. */
import { defineCommand, optional } from "../command.ts";
import { helpFor, overview } from "../help.ts";
import { print } from "../print.ts";
import type { allCommands, CommandLoaders } from "./index.ts";

/** Commands and their loaders are passed in, because they include this one. */
export const createHelp = (commands: CommandLoaders, all: typeof allCommands) =>
  defineCommand({
    name: "help",
    summary: "Show all commands, or the help for one",
    takes: { command: optional("Command to explain", Object.keys(commands)) },
    async run({ command: name }, { out }) {
      const command = name === undefined ? undefined : await commands[name]?.();
      await print(out, command ? helpFor(command.default) : overview(await all()));
    },
  });
