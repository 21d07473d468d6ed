/** Parses the words after "pressmark" as the command does. */
import { parseArguments } from "../../src/cli/arguments.ts";
import { loadCommand } from "../../src/cli/commands/index.ts";

/** Throws what the parser reports. */
export async function parseCommand([name, ...words]: readonly string[]): Promise<void> {
  if (name === undefined || /^(?:--version|-V|--help|-h)$/.test(name)) return;
  const command = await loadCommand(name);
  if (!command) throw new Error(`there is no command ${name}`);
  parseArguments(command, words);
}
