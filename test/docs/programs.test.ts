/** The programs of docs/programs.md run as they are, with the packed package. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { visitV2 } from "../interop/sdk-v2.ts";
import { createProject, type Project } from "../package/project.ts";
import { readPrograms } from "./embedding-programs.ts";

const programs = readPrograms(readFileSync(new URL("../../docs/programs.md", import.meta.url), "utf8"));
let project: Project;
beforeAll(() => {
  project = createProject();
  for (const [name, text] of programs) project.write(name, text);
});
afterAll(() => project[Symbol.dispose]());

it("finds the programs", () => {
  expect([...programs.keys()]).toEqual(["team.js", "search.js"]);
});

it("search.js finds, watches and ends", () => {
  expect(project.node("search.js")).toEqual({
    status: 0,
    output: "notes://plan.md # The budget\nupdated notes://plan.md\n",
  });
});

it("team.js shows each caller what the policy allows, and closes on SIGTERM", async () => {
  const child = spawn(process.execPath, ["team.js"], {
    cwd: project.folder,
    env: { ...process.env, PORT: "0", ANN_KEY: "key-of-ann" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  expect((await fetch(line, { method: "POST", body: "{}" })).status).toBe(401);
  const requestInit = { headers: { Authorization: "Bearer key-of-ann" } };
  await using visitor = await visitV2(new StreamableHTTPClientTransport(new URL(line), { requestInit }), "auto");
  expect(await visitor.read("notes://staff/plan.md")).toMatchObject([{ text: "# Budget" }]);
  child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
});
