import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hostFiles } from "../config/hosts/hosts.ts";
import { lastingFailure, ResourceError } from "../errors.ts";
import type { Call } from "../resources.ts";
import { createKeySource } from "../router/test-key-source.ts";
import { createMemory } from "../sources/memory.ts";
import {
  examineAddress,
  examineMount,
  examineNode,
  examineProblems,
  examineWatches,
  type CheckResult,
} from "./examine.ts";
import { examineHosts } from "./examine-hosts.ts";
import { startHttp } from "./start-http.ts";

const call: Call = { caller: { id: "test" }, signal: new AbortController().signal };
let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-examine-")));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

async function failing(): Promise<never> {
  throw new ResourceError("unavailable", "the backend is away");
}

function examinePort(port: number): Promise<CheckResult> {
  return examineAddress("127.0.0.1", port, `http://127.0.0.1:${port}/mcp`, call.signal);
}

function examineAll(env = {}): Promise<CheckResult[]> {
  const project = join(root, "project");
  const files = hostFiles({ project, home: root, env: {}, platform: "linux" });
  const here = { project, url: "http://127.0.0.1:7357/mcp", env, program: "/p.js" };
  return examineHosts({ files, here }, call.signal);
}

describe("a mount that is examined", () => {
  const { source } = createMemory({ a: "A", b: "B" });
  it("is well when it can be listed, read and watched", async () => {
    expect(await examineMount({ name: "m", source }, call)).toEqual({
      about: "mount m",
      state: "ok",
      says: "2 resources, listed, read and watched",
    });
    const { watch: _watch, ...silent } = source;
    expect(await examineMount({ name: "m", source: silent }, call)).toMatchObject({
      state: "ok",
      says: "2 resources, listed and read; it cannot be watched: its source does not report changes",
    });
  });

  it("reports what it leaves out, and why, without being broken", async () => {
    const problem = { path: "pdf/SKILL.md", says: "has no description", advice: "write one" };
    const problems = async () => [
      problem,
      { path: "", says: "holds too much" },
      { path: "a.md", line: 3, says: "ends" },
    ];
    expect(await examineProblems({ name: "m", source: { ...source, problems } }, call)).toEqual([
      { about: "mount m", state: "hint", says: "pdf/SKILL.md has no description", advice: "write one" },
      { about: "mount m", state: "hint", says: "it holds too much" },
      { about: "mount m", state: "hint", says: "a.md:3 ends" },
    ]);
    const many = async () => Array.from({ length: 60 }, () => problem);
    const found = await examineProblems({ name: "m", source: { ...source, problems: many } }, call);
    expect([found.length, found.at(-1)?.says]).toEqual([51, "10 more of this kind"]);
    expect(await examineProblems({ name: "m", source: { ...source, problems: failing } }, call)).toEqual([]);
    expect(await examineProblems({ name: "m", source }, call)).toEqual([]);
  });

  it.each(["list", "read", "watch"] as const)("is broken when it cannot %s", async (operation) => {
    const found = await examineMount({ name: "m", source: { ...source, [operation]: failing } }, call);
    expect(found).toMatchObject({
      state: "broken",
      says: expect.stringContaining("the backend is away"),
      advice: "check that its backend is running and reachable",
    });
  });

  it("works without being watched, with a hint how to turn that on", async () => {
    const why = "keyspace notifications are off; run: redis-cli config set notify-keyspace-events KEA";
    const refused = { ...source, watch: () => Promise.reject(new ResourceError("unsupported", why)) };
    expect(await examineMount({ name: "m", source: refused }, call)).toMatchObject({
      state: "hint",
      says: `2 resources, listed and read; it cannot be watched: ${why}`,
      advice: expect.stringContaining("subscriptions are refused"),
    });
  });

  it("is not empty because its list begins with empty pages", async () => {
    const { source: keys } = createKeySource(["a", "b"], { emptyPages: 5 });
    expect(await examineMount({ name: "m", source: keys }, call)).toMatchObject({
      state: "ok",
      says: "2 resources, listed, read and watched",
    });
  });

  it("has no advice about its backend if something else must be changed first", async () => {
    const cause = lastingFailure('the source mcp needs the package "x"; run: npm install x');
    const found = await examineMount({ name: "m", source: { ...source, list: () => Promise.reject(cause) } }, call);
    expect(found).toMatchObject({ state: "broken", says: expect.stringContaining("npm install x") });
    expect(found.advice).toBeUndefined();
  });

  it("is not broken for one thing that is too large, or gone since", async () => {
    const picky = {
      ...source,
      async read(...[at, asked]: Parameters<typeof source.read>) {
        if (at.path === "a") throw new ResourceError("not-found", "gone");
        return source.read(at, asked);
      },
    };
    expect(await examineMount({ name: "m", source: picky }, call)).toMatchObject({ state: "ok" });
  });

  it("is worth a look when it is empty", async () => {
    expect(await examineMount({ name: "m", source: createMemory({}).source }, call)).toMatchObject({ state: "hint" });
  });
});

it("Node is compared with what is needed", () => {
  expect(examineNode("22.18.0", ">=22.18").state).toBe("ok");
  expect(examineNode("24.0.0", ">=22.18").state).toBe("ok");
  expect(examineNode("22.9.1", ">=22.18")).toMatchObject({ state: "broken", advice: "get Node 22.18 or newer" });
});

it("a system that watches few folders gets advice to watch more", () => {
  writeFileSync(join(root, "limit"), "8192\n");
  expect(examineWatches(join(root, "limit"))).toMatchObject({
    state: "hint",
    advice: expect.stringContaining("sysctl"),
  });
  writeFileSync(join(root, "limit"), "524288\n");
  expect(examineWatches(join(root, "limit"))).toMatchObject({ state: "ok" });
  expect(examineWatches(join(root, "none"))).toBeUndefined();
});

describe("the address to serve at", () => {
  it("is free, ours, or another's", async () => {
    const other = createServer((_, response) => response.end("not ours"));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    expect(await examinePort(port)).toMatchObject({
      state: "broken",
      says: `port ${port} is in use by another program`,
    });
    await new Promise((resolve) => other.close(resolve));
    expect(await examinePort(port)).toMatchObject({ state: "ok", says: expect.stringContaining("is free") });

    const env = { XDG_STATE_HOME: root, HOME: root };
    const options = { folders: [root], from: root, env, err: { write: () => true }, allowedHosts: [], version: "1" };
    const guarded = { ...env, PRESSMARK_TOKEN: "a-token-of-good-length" };
    for (const [each, says] of [
      [env, /^Pressmark answers at /],
      [guarded, /^a Pressmark that requires a token answers at /],
    ] as const) {
      const server = await startHttp({ ...options, env: each, port: 0 });
      try {
        expect(await examinePort(Number(new URL(server.url).port))).toMatchObject({
          state: "ok",
          says: expect.stringMatching(says),
        });
      } finally {
        await server.close();
      }
    }
  });

  it("that this machine does not have is broken", async () => {
    expect(await examineAddress("203.0.113.1", 7357, "http://203.0.113.1:7357/mcp", call.signal)).toMatchObject({
      state: "broken",
      advice: "choose another host or port",
    });
  });
});

describe("the hosts of this machine", () => {
  it("that are not there are not spoken of", async () => {
    expect(await examineAll()).toEqual([]);
  });

  it("are distinguished: with an entry, without one, and with a wrong one", async () => {
    mkdirSync(join(root, ".codex"));
    mkdirSync(join(root, ".cursor"));
    mkdirSync(join(root, "project/.vscode"), { recursive: true });
    writeFileSync(
      join(root, ".claude.json"),
      JSON.stringify({
        projects: {
          [join(root, "project")]: { mcpServers: { pressmark: { type: "http", url: "http://localhost:7357/mcp" } } },
        },
      }),
    );
    writeFileSync(
      join(root, ".cursor/mcp.json"),
      '{ "mcpServers": { "pressmark": { "url": "http://127.0.0.1:1/mcp" } } }',
    );
    writeFileSync(join(root, "project/.vscode/mcp.json"), "{ nonsense");
    expect((await examineAll()).map(({ about, state, advice }) => [about, state, advice])).toEqual([
      ["Claude Code", "ok", undefined],
      ["VS Code", "broken", undefined],
      ["Codex", "hint", "pressmark add codex --scope user"],
      ["Cursor", "hint", "pressmark add cursor --scope user"],
    ]);
  });
});
