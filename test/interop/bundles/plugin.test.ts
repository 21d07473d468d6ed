/**
 * The plugin for Claude Code, Codex and Gemini CLI, installed into the real hosts from this checkout, unchanged: `npx` gets the packed package from a
 * registry of the test.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readThroughCodex } from "../hosts/codex-app-server.ts";
import { createHostPlace, type HostPlace, rootText } from "../hosts/host-place.ts";
import { type HostProgram, installHost, isToRun } from "../hosts/install.ts";
import { startScriptedModel } from "../hosts/scripted-model.ts";
import { type PackageRegistry, startPackageRegistry } from "./package-registry.ts";

const root = join(import.meta.dirname, "../../..");
const plugin = join(root, "bundles/plugin");

let registry: PackageRegistry;
const cache = mkdtempSync(join(tmpdir(), "pressmark-npm-"));
beforeAll(async () => {
  registry = await startPackageRegistry();
});
afterAll(async () => {
  await registry[Symbol.asyncDispose]();
  rmSync(cache, { recursive: true, force: true });
});

/** A place whose npm knows the package and has it: hosts wait only 30 seconds for a server, also while it is downloaded. */
async function createPlace(program: HostProgram): Promise<HostPlace> {
  const place = createHostPlace(program);
  place.write("home/.npmrc", `registry=${registry.url}\ncache=${cache}\nupdate-notifier=false\naudit=false\n`);
  const { mcpServers } = JSON.parse(readFileSync(join(plugin, ".mcp.json"), "utf8"));
  const { command, args } = mcpServers.pressmark as { readonly command: string; readonly args: readonly string[] };
  await promisify(execFile)(command, [...args.slice(0, args.indexOf("stdio")), "--version"], { env: place.env });
  return place;
}

const missing = (name: HostProgram) => (isToRun(name) ? installHost(name) : "not chosen");

const claudeMissing = missing("claude");
describe.skipIf(claudeMissing !== undefined)(`Claude Code ${claudeMissing ?? ""}`, () => {
  it("finds no fault in marketplace and plugin", async () => {
    using place = createHostPlace("claude");
    expect(await place.run(["plugin", "validate", "--strict", root])).toContain("Validation passed");
    // With the checks of the public catalogue.
    const catalogue = ["--profile", "directory", plugin];
    expect(await place.run(["plugin", "validate", "--strict", ...catalogue])).toContain("Validation passed");
  });

  it("installs the plugin, connects to its server, reads, and offers its skill and commands", async () => {
    using place = await createPlace("claude");
    expect(await place.run(["plugin", "marketplace", "add", root])).toContain("Successfully added marketplace");
    expect(await place.run(["plugin", "install", "pressmark@pressmark"])).toContain("Successfully installed plugin");
    expect(await place.run(["mcp", "list"])).toMatch(/plugin:pressmark:pressmark: npx .*Connected/);

    await using model = await startScriptedModel(place.uri);
    const printed = await place.run(["-p", "read it", "--allowedTools", "mcp__plugin_pressmark_pressmark"], {
      env: {
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: "none",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        MCP_CONNECTION_NONBLOCKING: "false",
        MCP_CONNECT_TIMEOUT_MS: "60000",
      },
    });
    const heard = model.heard.join("\n");
    expect(heard.includes(rootText), printed).toBe(true);
    for (const name of ["find-context", "gather", "search", "review"])
      expect(heard.includes(`pressmark:${name}`), name).toBe(true);
  });
});

const codexMissing = missing("codex");
describe.skipIf(codexMissing !== undefined)(`Codex ${codexMissing ?? ""}`, () => {
  it("installs the plugin, and reads through its server", async () => {
    using place = await createPlace("codex");
    expect(await place.run(["plugin", "marketplace", "add", root])).toContain("pressmark");
    expect(await place.run(["plugin", "add", "pressmark@pressmark"])).toContain("pressmark");
    expect(await place.run(["plugin", "list"])).toMatch(/pressmark@pressmark.*installed/);
    expect(await readThroughCodex(place)).toContain(rootText);
  });
});

const geminiMissing = missing("gemini");
describe.skipIf(geminiMissing !== undefined)(`Gemini CLI ${geminiMissing ?? ""}`, () => {
  it("finds no fault, installs the extension, connects to its server, reads, and offers its skill and commands", async () => {
    using place = await createPlace("gemini");
    place.write("home/.gemini/settings.json", { security: { auth: { selectedType: "gemini-api-key" } } });
    place.write("home/.gemini/trustedFolders.json", { [place.project]: "TRUST_FOLDER", [plugin]: "TRUST_FOLDER" });
    expect(await place.run(["extensions", "validate", plugin])).toContain("successfully validated");
    expect(await place.run(["extensions", "install", plugin, "--consent"])).toContain("installed successfully");
    const cwd = place.project;
    expect(await place.run(["mcp", "list"], { cwd })).toMatch(/pressmark .*: npx .*Connected/);

    await using model = await startScriptedModel(place.uri);
    const printed = await place.run(["-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-p", "read it"], {
      cwd,
      env: { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: model.url },
    });
    const heard = model.heard.join("\n");
    expect(heard.includes(rootText), printed).toBe(true);
    expect(heard.includes("find-context"), printed).toBe(true);
  });
});
