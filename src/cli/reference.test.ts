import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { allCommands } from "./commands/index.ts";
import { helpFor, overview } from "./help.ts";
import { reference } from "./reference.ts";

it("the page on the command is what the declarations say; npm run docs writes it", async () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/cli.md"), "utf8");
  expect(page).toBe(reference(await allCommands()));
});

it("the help of every command fits a terminal and names everything it takes", async () => {
  for (const command of await allCommands()) {
    const help = helpFor(command);
    for (const name of [...Object.keys(command.takes), ...Object.keys(command.flags).map((flag) => `--${flag}`)])
      expect(help).toContain(name);
    expect(help.split("\n").filter((line) => line.length > 110)).toEqual([]);
  }
});

it("the overview names every command with its summary", async () => {
  const commands = await allCommands();
  const text = overview(commands);
  for (const { name, summary } of commands) expect(text).toMatch(new RegExp(`^  ${name} +${summary}$`, "m"));
});
