import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createProtocol } from "../../protocol/create-protocol.ts";
import { createReadingTools } from "../../protocol/tools/reading-tools.ts";
import { createResources, type LocalResources } from "../../router/create-resources.ts";
import { openPolicy } from "../../access/policy.ts";
import { createRuntime } from "../../server/runtime.ts";
import { createMemory, type Memory } from "../../sources/memory.ts";
import { type Listening, listen } from "../../transport/listen.ts";
import { createStand, type Stand } from "../test-command.ts";

let stand: Stand;
let memory: Memory;
let pressmark: LocalResources;
let listening: Listening;

beforeAll(async () => {
  stand = createStand();
  stand.write("local.txt", "not asked for");
  memory = createMemory({ "readme.md": "# Far away\n", "docs/a b.txt": "alpha", "docs/deep/c.txt": "a needle" });
  const runtime = createRuntime({ write: () => true });
  const mount = { name: "far", base: "memory://far/", source: memory.source };
  pressmark = createResources({ mounts: [mount], policy: openPolicy, runtime, cursorKey: new Uint8Array(32) });
  const reading = createReadingTools({ resources: pressmark, server: "far", mounts: () => [mount] });
  listening = await listen(
    createProtocol({ resources: pressmark, server: { name: "far", version: "1" }, tools: reading }),
    {
      port: 0,
      graceMs: 0,
    },
  );
});

afterAll(async () => {
  await listening.close();
  await pressmark.close();
  stand.remove();
});

const far = (...words: string[]) => stand.run([...words, "--server", listening.url]);

describe("--server asks another server", () => {
  it("for its list, a directory and a pattern", async () => {
    expect((await far("ls")).out).toBe("memory://far/docs\nmemory://far/readme.md\n");
    expect((await far("ls", "docs")).out).toBe("memory://far/docs/a%20b.txt\nmemory://far/docs/deep\n");
    expect((await far("ls", "docs/a b.txt")).out).toBe("memory://far/docs/a%20b.txt\n");
    expect((await far("ls", "**/c.*")).out).toBe("memory://far/docs/deep/c.txt\n");
    expect((await far("ls", "memory://far/docs/deep/")).out).toBe("memory://far/docs/deep/c.txt\n");
    expect((await far("ls", "nowhere")).code).not.toBe(0);
  });

  it("for a tree", async () => {
    const { out, err } = await far("tree");
    expect([err, out]).toEqual(["", expect.stringContaining("c.txt")]);
  });

  it("for what is there", async () => {
    expect((await far("read", "readme.md")).out).toBe("# Far away\n");
    expect((await far("read", "memory://far/docs/a%20b.txt")).out).toBe("alpha");
    expect((await far("stat", "docs/a b.txt")).out).toContain("text/plain");
    expect((await far("search", "needle")).out).toBe("docs/deep/c.txt:1: a needle\n");
  });

  it("for changes", async () => {
    const { out, code } = await stand.run(["watch", "readme.md", "--once", "--server", listening.url], {
      heard: (text) => {
        if (text.includes("watching")) memory.set("readme.md", "# Farther away\n");
      },
    });
    expect([code, out]).toEqual([0, expect.stringContaining("memory://far/readme.md")]);
  });

  it("that is started by a command, without a shell", async () => {
    const everything = join(
      import.meta.dirname,
      "../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js",
    );
    const server = `'${process.execPath}' "${everything}" stdio`;
    const { out, err } = await stand.run(["ls", "--all", "--server", server], {
      env: { PATH: process.env["PATH"] ?? "" },
    });
    expect([err, out]).toEqual(["", expect.stringContaining("demo://resource/static/document/")]);
    const tree = await stand.run(["tree", "--server", server], { env: { PATH: process.env["PATH"] ?? "" } });
    expect([tree.err, tree.out]).toEqual(["", expect.stringContaining("extension.md")]);
  });

  it("and reports invalid input", async () => {
    expect(await far("ls", "--folder", ".")).toMatchObject({ code: 2, err: expect.stringContaining("--server") });
    expect(await stand.run(["ls", "--server", "a | b"])).toMatchObject({ err: expect.stringContaining("no shell") });
    expect((await stand.run(["ls", "--server", "no-such-program"])).err).toContain("cannot be reached");
    expect((await stand.run(["ls", "--server", "http://127.0.0.1:9/mcp"])).err).toContain("cannot be reached");
  });
});
