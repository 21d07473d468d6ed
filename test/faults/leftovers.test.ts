/** What a killed process left behind while it wrote a file is removed by the next one; what a living one writes is not. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createScratch, startPressmark, startServe } from "./pressmark-process.ts";

const uuid = "0b8e2f4a-9c1d-4e5f-8a7b-6c5d4e3f2a1b";
const machine = hostname()
  .toLowerCase()
  .replaceAll(/[^a-z0-9]/g, "");
const dead = spawnSync(process.execPath, ["-e", ""]).pid;

let scratch: ReturnType<typeof createScratch>;
let project: string;
let state: string;
beforeEach(() => {
  scratch = createScratch();
  project = join(scratch.folder, "project");
  state = join(scratch.folder, "state", "pressmark");
  mkdirSync(project);
});
afterEach(() => scratch.remove());

function put(file: string, isOld = false): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "x");
  if (isOld) utimesSync(file, new Date(0), new Date(0));
  return file;
}

function draftOf(file: string, pid: number): string {
  return join(dirname(file), `.${basename(file)}.pressmark-${machine}-${pid}-0123abcd`);
}

function files(): readonly string[] {
  const key = "0123456789abcdef".repeat(2);
  return [
    join(state, "cursor-key"),
    join(state, "trusted", `${key}.json`),
    join(state, "sets", key, `${key}.json`),
    join(state, "drive", "accounts.json"),
    join(state, "backups", "copy"),
    join(project, "pressmark.config.yaml"),
  ];
}

it.each(["with a config", "without a config"])("when a server starts %s", async (how) => {
  if (how === "with a config")
    writeFileSync(join(project, "pressmark.config.yaml"), "mounts:\n  docs: { source: file, root: . }\n");
  const gone = [
    ...files().map((file) => put(draftOf(file, dead))),
    put(join(state, `cursor-key.${uuid}`), true),
    put(join(project, `.pressmark.config.yaml.${uuid}`), true),
  ];
  const kept = files().map((file) => put(draftOf(file, process.pid)));
  const { child, exited } = await startServe([], { cwd: project, env: scratch.env });
  expect(gone.filter((file) => existsSync(file))).toEqual([]);
  expect(kept.filter((file) => !existsSync(file))).toEqual([]);
  child.kill("SIGTERM");
  expect(await exited).toBe(0);
});

it("when a host's settings are written", async () => {
  const left = put(draftOf(join(project, ".mcp.json"), dead));
  const { exited } = startPressmark(["add", "claude-code", "--yes"], { cwd: project, env: scratch.env });
  expect(await exited).toBe(0);
  expect(existsSync(left)).toBe(false);
  expect(readdirSync(project)).toEqual([".mcp.json"]);
});
