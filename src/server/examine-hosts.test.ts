/** What the check of hosts learns from the hosts themselves. The programs print what real hosts printed. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { stdioConnection } from "../config/hosts/connection.ts";
import { hostFiles, type HostName } from "../config/hosts/hosts.ts";
import { planChange, writeChange } from "../config/hosts/settings.ts";
import { askHost } from "./ask-host.ts";
import type { CheckResult } from "./examine.ts";
import { examineHosts } from "./examine-hosts.ts";

let root: string;
let project: string;
let env: { readonly PATH: string; readonly HOME: string };

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-ask-")));
  project = join(root, "project");
  mkdirSync(project);
  env = { PATH: `${join(root, "bin")}:/usr/bin:/bin`, HOME: root };
  program("bin/pressmark", "exec node /somewhere/bin/pressmark.js");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function program(path: string, script: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), `#!/bin/sh\n${script}\n`);
  chmodSync(join(root, path), 0o755);
}

/** A host of a version that is asked. */
function hostProgram(name: string, script: string, path = `bin/${name}`): void {
  const since = files().find(({ query }) => query?.program === name)!.query!.since;
  program(path, `[ "$1" = --version ] && echo "${name} ${since}" && exit\n${script}`);
}

function here(PATH = env.PATH) {
  return { project, url: "http://127.0.0.1:7357/mcp", env: { ...env, PATH }, program: "/somewhere/bin/pressmark.js" };
}

function files() {
  return hostFiles({ project, home: root, env, platform: "linux" });
}

/** The result for a host whose project settings have an entry. */
async function examined(host: HostName, path = env.PATH): Promise<CheckResult> {
  const file = files().find((each) => each.host === host)!;
  writeChange(planChange(file, stdioConnection(file, here())), join(root, "backups"));
  const results = await examineHosts({ files: files(), here: here(path) }, AbortSignal.timeout(15_000));
  return results.find(({ about }) => about === file.title)!;
}

describe("a host that is asked", () => {
  it.each([
    ["⏸ Pending approval (run `claude` to approve)", "hint", "its entry for Pressmark is pending approval"],
    ["✘ Failed to connect", "hint", "cannot connect to Pressmark"],
    ["! Needs authentication", "hint", "must sign in to use its entry for Pressmark"],
    ["✔ Connected", "ok", "has an entry for Pressmark and connects"],
    ["something new", "ok", "has an entry for Pressmark"],
  ])("says %s", async (status, state, says) => {
    const list = "Checking MCP server health…\n\nother: x - ✔ Connected\npressmark: pressmark stdio - connected";
    hostProgram("claude", `echo '${list} - ${status}'`);
    expect(await examined("claude-code")).toMatchObject({ state, says: expect.stringMatching(`^${says}: /`) });
  });

  it("reports a folder that it does not trust, in its words", async () => {
    hostProgram("codex", "echo 'WARNING: something' >&2; echo '[]'");
    expect(await examined("codex")).toEqual({
      about: "Codex",
      state: "hint",
      says: `does not use its entry for Pressmark; the project may not be trusted yet: ${join(project, ".codex/config.toml")}`,
      advice: 'run "codex" in the project and answer that you trust the folder; until then Codex ignores its settings',
    });
    hostProgram("codex", `echo '[{"name":"pressmark","enabled":true,"auth_status":"unsupported"}]'`);
    expect(await examined("codex")).toMatchObject({ state: "ok" });
    hostProgram("gemini", "echo '○ pressmark: pressmark stdio --project (stdio) - Disabled' >&2");
    expect((await examined("gemini")).says).toContain("is disabled; the project may not be trusted yet");
    hostProgram("qwen", "printf '\\033[33m●\\033[0m pressmark: pressmark stdio (stdio) - Pending approval\\n'");
    expect(await examined("qwen")).toMatchObject({ advice: 'run "qwen mcp approve pressmark" in the project' });
    hostProgram("cline", `echo '[{"name":"pressmark","disabled":true}]'`);
    expect((await examined("cline")).says).toContain("is disabled");
    mkdirSync(join(root, ".copilot"));
    hostProgram("copilot", `echo '{"mcpServers":{"pressmark":{"enabled":true}}}'`);
    expect(await examined("copilot")).toMatchObject({ state: "ok" });
  });

  it.each(["exit 1", "kill -9 $$", "echo '{'", "echo null", "printf '\\377\\000'", "exec yes"])(
    "changes nothing if it does: %s",
    async (script) => {
      hostProgram("codex", script);
      expect(await examined("codex")).toMatchObject({
        state: "ok",
        advice: expect.stringMatching(/^if not done yet: run/),
      });
    },
  );

  it("is ended with what it started if it takes too long", async () => {
    const started = join(root, "started");
    hostProgram("codex", `sleep 1000 & echo $! > '${started}'; sleep 1000`);
    const file = files().find(({ host }) => host === "codex")!;
    const answer = askHost(file, { ...here(), signal: new AbortController().signal, timeoutMs: 500 });
    expect(await answer).toBeUndefined();
    const pid = readFileSync(started, "utf8").trim();
    // No longer there, or ended and not yet collected by its parent.
    await expect.poll(() => spawnSync("ps", ["-o", "stat=", "-p", pid]).stdout.toString()).toMatch(/^(?:Z.*)?\s*$/);
  });

  it("cannot be asked if the system refuses to start it", async () => {
    hostProgram("codex", "echo '[]'");
    const file = files().find(({ host }) => host === "codex")!;
    const refused = { ...here(), env: { ...env, X: "\0" }, signal: new AbortController().signal };
    expect(await askHost(file, refused)).toBe("too-old");
    // ETXTBSY, on Linux.
    const written = openSync(join(root, "bin/codex"), "r+");
    const result = await examined("codex");
    closeSync(written);
    if (process.platform === "linux") expect(result.says).toMatch(/^was not asked/);
  });

  it("is not a program that the project brings", async () => {
    hostProgram("codex", `touch '${join(root, "ran")}'; echo '[]'`, "project/tools/codex");
    const path = `${join(project, "tools")}:${env.PATH}`;
    expect(await examined("codex", path)).toMatchObject({ state: "ok" });
    expect(existsSync(join(root, "ran"))).toBe(false);
  });

  it.each(["2.1.324", "1.99.999", "2.0.400 (Claude Code)", "2.1", "v", "", "2.1.325-beta.1", "99999999999999999999.1"])(
    "is not asked if its version is %s",
    async (version) => {
      const ran = join(root, "ran");
      program("bin/claude", `[ "$1" = --version ] && { pwd > '${ran}-in'; echo '${version}'; exit; }; touch '${ran}'`);
      expect(await examined("claude-code")).toEqual({
        about: "Claude Code",
        state: "hint",
        says: `was not asked about its entry for Pressmark, because claude 2.1.325 or newer was not found: ${join(project, ".mcp.json")}`,
        advice: expect.stringMatching(/^if not done yet: run "claude"/),
      });
      expect(existsSync(ran)).toBe(false);
      expect(readFileSync(`${ran}-in`, "utf8")).toBe(`${root}\n`);
    },
  );

  it.each(["2.1.325", "2.1.1000 (Claude Code)", "claude v2.2.0", "3.0.0-beta.1"])(
    "is asked if its version is %s",
    async (version) => {
      program(
        "bin/claude",
        `[ "$1" = --version ] && echo 'WARNING: 0.0.1' >&2 && echo '${version}' && exit\necho 'pressmark: x - Connected'`,
      );
      expect((await examined("claude-code")).says).toContain("and connects");
    },
  );

  it("is not asked where its list would start servers that no one approved", () => {
    expect(
      files()
        .filter(({ query }) => query)
        .map(({ host }) => host),
    ).not.toContain("opencode");
  });
});

describe("an entry that is not Pressmark", () => {
  it.each([
    [{ command: "sh", args: ["-c", "true"] }, "broken", "pressmark add claude-code"],
    [
      { command: "pressmark", args: ["stdio"], env: { A: "1" } },
      "hint",
      "do not approve it in Claude Code unless you know",
    ],
    [{ type: "http", url: "https://far.example/mcp" }, "hint", "do not approve it in Claude Code unless you know"],
  ])("is never advised to be approved, and the host is not asked: %j", async (entry, state, advice) => {
    const ran = join(root, "ran");
    hostProgram("claude", `touch '${ran}'; echo 'pressmark: x - Pending approval'`);
    writeFileSync(join(project, ".mcp.json"), JSON.stringify({ mcpServers: { pressmark: entry } }));
    const results = await examineHosts({ files: files(), here: here() }, AbortSignal.timeout(15_000));
    const [result, ...others] = results.filter(({ about }) => about === "Claude Code");
    expect(result).toMatchObject({ state, advice: expect.stringContaining(advice) });
    expect(others).toEqual([]);
    expect(existsSync(ran)).toBe(false);
  });
});

it("a broken entry of claude mcp add is removed by Claude Code, because pressmark add writes elsewhere", async () => {
  const own = { mcpServers: { pressmark: { command: "no-such-program" } } };
  writeFileSync(join(root, ".claude.json"), JSON.stringify({ projects: { [project]: own } }));
  const [result] = await examineHosts({ files: files(), here: here() }, AbortSignal.timeout(15_000));
  expect(result).toMatchObject({
    state: "broken",
    advice: 'run "claude mcp remove pressmark --scope local" in the project, then pressmark add claude-code',
  });
});
