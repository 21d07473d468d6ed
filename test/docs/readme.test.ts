/** The program of README.md, in a folder that a user has just made. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, it, onTestFinished } from "vitest";
import { visitV2 } from "../interop/sdk-v2.ts";
import { packedFile } from "../package/project.ts";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

it("runs in a folder after npm init and npm install, and serves what it says", { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-readme-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const npm = (...args: readonly string[]) => execFileSync("npm", args, { cwd: folder, stdio: "pipe" });
  npm("init", "-y");
  npm("install", "--no-audit", "--no-fund", "--prefer-offline", packedFile());

  const [, program, name] = /^```ts\n(\/\/ (\S+\.mts), .*?)^```$/ms.exec(readme) ?? [];
  if (program === undefined || name === undefined) throw new Error("README.md has no program that names its file");
  writeFileSync(join(folder, name), program);
  const child = spawn(process.execPath, [name], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill();
    await exited;
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const [, uri = "", url = ""] = /^(\S+) is served at (\S+)$/.exec(line) ?? [];
  await using visitor = await visitV2(new StreamableHTTPClientTransport(new URL(url)), "auto");
  expect(await visitor.read(uri)).toMatchObject([{ uri: "notes://hello.txt", text: "Hello again" }]);
});
