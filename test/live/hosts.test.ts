/**
 * Claude Code and Codex sign in to `pressmark serve`, as far as their command lines go without an account: they find our metadata, register, show
 * the page of the authorization server, and take the code.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../auth/provider.ts";
import { type Authority, browse, startAuthority } from "../client/oauth-upstream.ts";
import { createScratch, type Served, startServe } from "../faults/pressmark-process.ts";
import { installHost } from "../interop/hosts/install.ts";
import { hasScript, runHost, runHostAtTerminal } from "./hosts.ts";

const missing = installHost("claude") ?? installHost("codex") ?? (hasScript() ? undefined : "there is no script(1)");
const scratch = createScratch();
const token = "0123456789abcdef0123456789abcdef";
let authority: Authority;
let served: Served[] = [];
let withOAuth: string;
let withToken: string;

async function serve(name: string, port: number, server: object): Promise<string> {
  const file = join(scratch.folder, `${name}.json`);
  writeFileSync(file, JSON.stringify({ mounts: { files: { source: "file", root: "served" } }, server }));
  const options = { cwd: scratch.folder, env: scratch.env };
  served.push(await startServe(["--config", file, "--port", String(port)], options));
  return `http://127.0.0.1:${port}/mcp`;
}

beforeAll(async () => {
  if (missing !== undefined) return;
  mkdirSync(join(scratch.folder, "served"));
  writeFileSync(join(scratch.folder, "served", "a.md"), "tea\n");
  authority = await startAuthority([], { scopes: ["mcp:read"], format: "jwt" });
  const port = await freePort();
  withOAuth = await serve("oauth", port, {
    publicUrl: `http://127.0.0.1:${port}`,
    auth: [{ issuer: authority.issuer }],
    scopes: { read: ["mcp:read"] },
  });
  withToken = await serve("token", await freePort(), { token });
});
afterAll(async () => {
  for (const { child, exited } of served) {
    child.kill("SIGTERM");
    await exited;
  }
  served = [];
  await authority?.[Symbol.asyncDispose]();
  scratch.remove();
});

/** A host with settings of its own, and no browser. */
function hostOf(name: "claude" | "codex") {
  const home = join(scratch.folder, name);
  const settings = join(home, "settings");
  mkdirSync(settings, { recursive: true });
  const own = { HOME: home, CLAUDE_CONFIG_DIR: settings, CODEX_HOME: settings };
  // Nothing else of the environment: no account of whoever runs this.
  const options = {
    cwd: home,
    env: { PATH: process.env["PATH"], TERM: "xterm", BROWSER: "true", NO_COLOR: "1", ...own },
  };
  return {
    settings,
    run: (words: readonly string[]) => runHost(name, words, options),
    async login(words: readonly string[]) {
      let page: Promise<Response> | undefined;
      const printed = await runHostAtTerminal(name, words, options, (url) => void (page = browse(url)));
      return { printed, status: (await page)?.status };
    },
  };
}

describe.skipIf(missing !== undefined)(`hosts (skipped: ${missing ?? "no"})`, () => {
  it("Claude Code connects with a token, finds the sign-in, and connects after it", async () => {
    const { run, login } = hostOf("claude");
    await run(["mcp", "add", "--transport", "http", "known", withToken, "--header", `Authorization: Bearer ${token}`]);
    await run(["mcp", "add", "--transport", "http", "team", withOAuth]);
    const before = await run(["mcp", "list"]);
    expect(before).toMatch(/known: .*Connected/);
    expect(before).toMatch(/team: .*Needs authentication/);
    const { printed, status } = await login(["mcp", "login", "team"]);
    expect(status, printed).toBe(200);
    expect(await run(["mcp", "list"])).toMatch(/team: .*Connected/);
  });

  it("Codex finds the sign-in, and signs in", async () => {
    const { run, login, settings } = hostOf("codex");
    writeFileSync(join(settings, "config.toml"), `[mcp_servers.team]\nurl = "${withOAuth}"\n`);
    expect(await run(["mcp", "list", "--json"])).toContain('"auth_status": "not_logged_in"');
    const { printed, status } = await login(["mcp", "login", "team"]);
    expect(status, printed).toBe(200);
    expect(await run(["mcp", "list", "--json"])).toContain('"auth_status": "o_auth"');
  });
});
