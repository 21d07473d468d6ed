/** Hosts: what `add` writes and says, that `doctor` asks them, and what `stdio` serves when they start it. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createStand, type Stand } from "../test-command.ts";

let stand: Stand;
let home: string;
/** Programs on the PATH. */
let bin: string;

beforeEach(() => {
  stand = createStand();
  home = dirname(stand.folder);
  bin = join(home, "bin");
  mkdirSync(bin);
  stand.write(".git/HEAD", "ref: refs/heads/main\n");
  stand.write("a.md", "A");
  stand.write("sub/b.md", "B");
});
afterEach(() => stand.remove());

function program(name: string, script: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, name), 0o755);
}

function run(words: readonly string[], from = stand.folder) {
  return stand.run(words, { from, env: { PATH: `${bin}:/usr/bin:/bin` } });
}

function written(path: string): string {
  return readFileSync(join(stand.folder, path), "utf8");
}

describe("add", () => {
  it("writes to the project around the folder, without a path of this machine", async () => {
    const { code, out } = await run(["add", "claude-code", "--yes"], join(stand.folder, "sub"));
    expect([code, out]).toEqual([0, expect.stringContaining(join(stand.folder, ".mcp.json"))]);
    expect(JSON.parse(written(".mcp.json"))).toEqual({
      mcpServers: { pressmark: { type: "stdio", command: "pressmark", args: ["stdio", "--project"] } },
    });
  });

  it.each([
    ["claude-code", 'run "claude" in the project and approve the server pressmark; until then it is pending'],
    ["codex", 'run "codex" in the project and answer that you trust the folder; until then Codex ignores its settings'],
    ["qwen", 'run "qwen mcp approve pressmark" in the project'],
  ])("says what remains to be done: %s", async (host, step) => {
    program("pressmark", `exec node ${join(home, "bin/pressmark.js")}`);
    expect((await run(["add", host, "--yes"])).out).toMatch(new RegExp(`settings\\.\nStill to do: ${step}\\.\n$`));
    expect((await run(["add", host])).out).toContain(`\nIf not done yet: ${step}.\n`);
    expect((await run(["add", host, "--scope", "user", "--yes"])).out).not.toContain("Still to do");
  });

  it("says how to install the command, and for one user writes the path of the program", async () => {
    const { out } = await run(["add", "opencode", "--yes"]);
    expect(out).toMatch(
      /Still to do: the command pressmark is not on the PATH; install it with "npm install --global .+"\.\n$/,
    );
    await run(["add", "opencode", "--scope", "user", "--yes"]);
    const { mcp } = JSON.parse(readFileSync(join(home, ".config/opencode/opencode.json"), "utf8")) as {
      mcp: { pressmark: { command: string[] } };
    };
    expect(mcp.pressmark.command).toEqual([
      process.execPath,
      expect.stringMatching(/\/bin\/pressmark\.js$/),
      "stdio",
      stand.folder,
    ]);
  });

  it("warns of keys in a project's entry that it did not write", async () => {
    const env = { NODE_OPTIONS: "--require ./evil.cjs" };
    stand.write(".mcp.json", JSON.stringify({ mcpServers: { pressmark: { command: "sh", env } } }));
    const warned = "first look at the entry: it also sets env, which can change what it starts.";
    expect((await run(["add", "claude-code", "--yes"])).out).toMatch(
      new RegExp(`\nStill to do: ${warned}\nStill to do: run "claude"`),
    );
    expect((await run(["add", "claude-code"])).out).toContain(`\nIf not done yet: ${warned}\n`);
  });

  it("takes a port and the variable of the token, and no token", async () => {
    const { out } = await run(["add", "qwen", "--http", "--port", "7400", "--token-env", "MY_TOKEN_V2", "--yes"]);
    expect(JSON.parse(written(".qwen/settings.json"))).toEqual({
      mcpServers: {
        pressmark: { httpUrl: "http://127.0.0.1:7400/mcp", headers: { Authorization: "Bearer ${MY_TOKEN_V2}" } },
      },
    });
    expect(out).toContain('Start the server with "pressmark serve --port 7400".');
    expect(out).toContain("The host reads the token from MY_TOKEN_V2");
    for (const pasted of ["f00dfeedf00d-feed.f00dfeed", "d41d8cd98f00b204e9800998ecf8427e", ""]) {
      const refused = await run(["add", "qwen", "--http", "--token-env", pasted]);
      expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("takes the name of an environment")]);
      if (pasted !== "") expect(refused.err).not.toContain(pasted);
    }
    const env = { PATH: bin, PRESSMARK_TOKEN: "0123456789abcdef0123456789abcdef" };
    const kept = await stand.run(["add", "qwen", "--http", "--yes"], { env });
    expect(kept.out).toContain("The entry keeps its token; --token-env PRESSMARK_TOKEN replaces it.");
    expect(written(".qwen/settings.json")).toContain("${MY_TOKEN_V2}");
    const replaced = await run(["add", "qwen", "--http", "--token-env", "OTHER", "--yes"]);
    expect(replaced.out).toContain("The host reads the token from OTHER");
    expect(written(".qwen/settings.json")).toContain("${OTHER}");
    expect((await run(["add", "qwen", "--port", "7400"])).err).toContain("are for --http");
    expect((await run(["add", "qwen", "--http", "--port", "0"])).code).toBe(2);
  });

  it("uses the settings of the user where a host has no others, and says what a host cannot do", async () => {
    expect((await run(["add", "continue", "--yes"])).code).toBe(0);
    expect(readFileSync(join(home, ".continue/config.yaml"), "utf8")).toMatch(/^mcpServers:\n {2}- name: pressmark\n/);
    expect((await run(["add", "cline", "--scope", "project"])).err).toContain(
      "Cline has no settings for the scope project; leave out --scope",
    );
    expect((await run(["add", "claude-desktop", "--http"])).err).toContain(
      "Claude Desktop starts servers itself, and its settings take no address; leave out --http",
    );
  });
});

it("doctor asks the host, and its answer breaks nothing", async () => {
  await run(["add", "codex", "--scope", "user", "--yes"]);
  program("codex", "[ $1 = --version ] && echo 0.166.0 || echo '[]'");
  const { out } = await run(["doctor"]);
  expect(out).toMatch(/^hint {4}Codex: does not use its entry for Pressmark/m);
  expect(out).not.toContain("BROKEN  Codex");
});

async function listed(words: readonly string[], from: string): Promise<string> {
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  const messages = [
    { id: 1, method: "initialize", params },
    { method: "notifications/initialized" },
    { id: 2, method: "resources/list", params: {} },
  ];
  const input = messages.map((each) => `${JSON.stringify({ jsonrpc: "2.0", ...each })}\n`).join("");
  return (await stand.run(["stdio", ...words], { from, input })).out;
}

describe("stdio --project", () => {
  it("serves the root of the git repository from a folder below, and without the flag only that folder", async () => {
    const sub = join(stand.folder, "sub");
    expect(await listed(["--project"], sub)).toContain(`${stand.base}a.md`);
    const alone = await listed([], sub);
    expect(alone).toContain(`${stand.base}sub/b.md`);
    expect(alone).not.toContain("a.md");
  });

  it("prefers the nearest config, and never serves a repository of the whole home folder", async () => {
    stand.write("sub/pressmark.config.yaml", "mounts: { docs: { source: file, root: deep } }\n");
    stand.write("sub/deep/c.md", "C");
    const deep = join(stand.folder, "sub/deep");
    const served = await listed(["--project"], deep);
    expect(served).toContain(`${stand.base}sub/deep/c.md`);
    expect(served).not.toContain(`${stand.base}sub/b.md`);
    mkdirSync(join(home, ".git"));
    mkdirSync(join(home, "notes"));
    writeFileSync(join(home, "notes/n.md"), "N");
    const notes = await listed(["--project"], join(home, "notes"));
    expect(notes).toContain("notes/n.md");
    expect(notes).not.toContain("a.md");
  });

  it("is not combined with a folder or a config", async () => {
    for (const words of [["."], ["--config", "x.yaml"]])
      expect(await stand.run(["stdio", "--project", ...words])).toMatchObject({
        code: 2,
        err: expect.stringContaining("use folders, --config or --project, not more than one of these"),
      });
  });
});
