/** Several processes change one file at once: every change that was acknowledged is there afterwards. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { createScratch, startPressmark } from "./pressmark-process.ts";

const count = 6;
const numbers = Array.from({ length: count }, (_, index) => index);

let scratch: ReturnType<typeof createScratch>;
let project: string;
let config: string;
beforeEach(() => {
  scratch = createScratch();
  project = join(scratch.folder, "project");
  config = join(project, "pressmark.config.yaml");
  mkdirSync(project);
  for (const number of numbers) writeFileSync(join(project, `${number}.md`), `${number}\n`);
});
afterEach(() => scratch.remove());

async function runAll(commands: readonly (readonly string[])[]): Promise<(number | string)[]> {
  const running = commands.map((words) => startPressmark(words, { cwd: project, env: scratch.env }));
  const exits = await Promise.all(running.map(({ exited }) => exited));
  const failed = running.filter((_, index) => exits[index] !== 0).map(({ errors }) => errors);
  expect(failed).toEqual([]);
  return exits;
}

function setsIn(text: string): Record<string, { resources: string[] }> {
  return (parse(text) as { sets: Record<string, { resources: string[] }> }).sets;
}

describe("processes that change one config", () => {
  beforeEach(() => writeFileSync(config, "# A comment.\nmounts:\n  docs: { source: file, root: . }\n"));

  it("each add a set of their own", { timeout: 60_000 }, async () => {
    await runAll(numbers.map((number) => ["set", "add", `set-${number}`, `${number}.md`]));
    const text = readFileSync(config, "utf8");
    expect(Object.keys(setsIn(text)).toSorted()).toEqual(numbers.map((number) => `set-${number}`));
    expect(text).toMatch(/^# A comment\.\n/);
  });

  it("each add to the same set", { timeout: 60_000 }, async () => {
    await runAll(numbers.map((number) => ["set", "add", "all", `${number}.md`]));
    expect(setsIn(readFileSync(config, "utf8"))["all"]?.resources.toSorted()).toEqual(
      numbers.map((number) => `${number}.md`),
    );
  });
});

describe("processes that keep sets in the state folder", () => {
  it("each add to the same set", { timeout: 60_000 }, async () => {
    await runAll(numbers.map((number) => ["set", "add", "all", `${number}.md`]));
    const shown = startPressmark(["set", "show", "all", "--json"], { cwd: project, env: scratch.env });
    let out = "";
    shown.child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    expect(await shown.exited).toBe(0);
    const names = out
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { name: string }).name);
    expect(names.toSorted()).toEqual(numbers.map((number) => `${number}.md`));
  });
});

describe("processes that tell one host", () => {
  it("all succeed, and leave what else it says", { timeout: 60_000 }, async () => {
    writeFileSync(join(project, ".mcp.json"), `{ "mcpServers": { "other": { "command": "other" } } }\n`);
    await runAll(numbers.map((number) => ["add", "claude-code", "--yes", ...(number % 2 === 0 ? ["--http"] : [])]));
    const { mcpServers } = JSON.parse(readFileSync(join(project, ".mcp.json"), "utf8")) as {
      mcpServers: Record<string, object>;
    };
    expect(Object.keys(mcpServers)).toEqual(["other", "pressmark"]);
  });

  it("write a new config once", { timeout: 60_000 }, async () => {
    const running = numbers.map(() => startPressmark(["init", "--yes"], { cwd: project, env: scratch.env }));
    const exits = await Promise.all(running.map(({ exited }) => exited));
    expect(exits.filter((exit) => exit === 0)).toHaveLength(1);
    expect(Object.keys((parse(readFileSync(config, "utf8")) as { mounts: object }).mounts)).toEqual(["project"]);
  });
});
