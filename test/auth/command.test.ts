/** The built program with `server.auth`: what it refuses, what `doctor` finds, and what it does not load. */
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createScratch, startServe } from "../faults/pressmark-process.ts";
import { startProvider, type TestProvider } from "./provider.ts";
import { publicUrl, resource } from "./served.ts";

const command = join(import.meta.dirname, "..", "..", "bin", "pressmark.js");
const scratch = createScratch();
let provider: TestProvider;
let folders = 0;

beforeAll(async () => {
  provider = await startProvider(resource);
});

afterAll(async () => {
  await provider.stop();
  scratch.remove();
});

function createFolder(server: Readonly<Record<string, unknown>>): string {
  const folder = join(scratch.folder, `team-${(folders += 1)}`);
  mkdirSync(folder);
  writeFileSync(join(folder, "a.md"), "tea\n");
  const config = { mounts: { docs: { source: "file", root: "." } }, server };
  writeFileSync(join(folder, "pressmark.config.json"), JSON.stringify(config));
  return folder;
}

async function run(words: readonly string[], cwd: string): Promise<string> {
  const ran = promisify(execFile)(process.execPath, [command, ...words], { cwd, env: scratch.env });
  const { stdout, stderr } = await ran.catch((cause: { stdout: string; stderr: string }) => cause);
  return stdout + stderr;
}

describe("a found config with issuers", () => {
  it("is not served before it is trusted, and then only to callers with a token", async () => {
    const folder = createFolder({ publicUrl, auth: [{ issuer: provider.issuer }] });
    expect(await run(["serve", "--port", "0"], folder)).toContain("is not trusted, so nothing is served");
    expect(await run(["trust", "--yes"], folder)).toContain(
      `lets everyone sign in to whom "${provider.issuer}" issues a token`,
    );
    const { port, child, exited } = await startServe([], { cwd: folder, env: scratch.env });
    const status = async (headers: Readonly<Record<string, string>>) =>
      (await fetch(`http://127.0.0.1:${port}/mcp`, { method: "GET", headers })).status;
    expect(await status({})).toBe(401);
    expect(await status({ Authorization: `Bearer ${await provider.sign({ aud: "https://other.example" })}` })).toBe(
      401,
    );
    expect(await status({ Authorization: `Bearer ${await provider.token()}` })).toBe(400);
    child.kill("SIGTERM");
    await exited;
  }, 60_000);
});

describe("doctor", () => {
  it("says whether the issuer can be reached, and that the public URL is not https", async () => {
    const folder = createFolder({ publicUrl: "http://mcp.example.com", auth: [{ issuer: provider.issuer }] });
    await run(["trust", "--yes"], folder);
    const said = await run(["doctor"], folder);
    expect(said).toContain(`issuer ${provider.issuer}: can be reached (keys: 1)`);
    expect(said).toContain("server.publicUrl is not https");
    const away = createFolder({ publicUrl, auth: [{ issuer: "http://127.0.0.1:9" }] });
    await run(["trust", "--yes"], away);
    expect(await run(["doctor"], away)).toContain('BROKEN  issuer http://127.0.0.1:9: "127.0.0.1:9" cannot be reached');
    const without = createFolder({ auth: [{ issuer: provider.issuer }] });
    expect(await run(["doctor"], without)).toContain("needs server.publicUrl");
  }, 60_000);
});
