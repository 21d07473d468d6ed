import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createProtocol } from "../../protocol/create-protocol.ts";
import { createReadingTools } from "../../protocol/tools/reading-tools.ts";
import { createResources } from "../../router/create-resources.ts";
import { openPolicy } from "../../access/policy.ts";
import { createRuntime } from "../../server/runtime.ts";
import { createMemory, type Memory } from "../../sources/memory.ts";
import { listen } from "../../transport/listen.ts";
import { createStand, type Stand } from "../test-command.ts";

let stand: Stand;
let memory: Memory;
let server: Server;

interface Server {
  readonly url: string;
  close(): Promise<void>;
}

async function openServer(sources: Readonly<Record<string, Memory>>): Promise<Server> {
  const mounts = Object.entries(sources).map(([base, { source }], index) => ({ name: `far${index}`, base, source }));
  const runtime = createRuntime({ write: () => true });
  const resources = createResources({ mounts, policy: openPolicy, runtime, cursorKey: new Uint8Array(32) });
  const tools = createReadingTools({ resources, server: "far", mounts: () => mounts });
  const protocol = createProtocol({ resources, server: { name: "far", version: "1" }, tools });
  const listening = await listen(protocol, { port: 0, graceMs: 0 });
  return {
    url: listening.url,
    async close() {
      await listening.close();
      await resources.close();
    },
  };
}

beforeAll(async () => {
  stand = createStand();
  stand.write("local.txt", "not asked for");
  memory = createMemory({ "readme.md": "# Far away\n", "docs/a b.txt": "alpha", "docs/deep/c.txt": "a needle" });
  server = await openServer({ "memory://far/": memory });
});

afterAll(async () => {
  await server.close();
  stand.remove();
});

const far = (...words: string[]) => stand.run([...words, "--server", server.url]);

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

  it("for files by their paths, if other mounts are no files", async () => {
    const name = "@設計/決済+1.md";
    const git = createMemory({ [name]: "an old needle", "HEAD/log": "first" });
    const files = createMemory({ [name]: "a needle", "t.md": "" });
    const repository = await openServer({ "git://p/": git, "file:///srv/p/": files });
    try {
      const ask = (...words: string[]) => stand.run([...words, "--server", repository.url]);
      const found = (await ask("search", "needle")).out.trimEnd().split("\n").toSorted();
      expect(found).toEqual([`${name}:1: a needle`, `git://p/${name}:1: an old needle`]);
      for (const line of found) {
        const [, where = "", text = ""] = /^(.*?):1: (.*)$/.exec(line)!;
        expect((await ask("read", where)).out).toBe(text);
      }
      expect((await ask("read", "HEAD/log")).out).toBe("first");
    } finally {
      await repository.close();
    }
  });

  it("for changes", async () => {
    const { out, code } = await stand.run(["watch", "readme.md", "--once", "--server", server.url], {
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
    const program = `'${process.execPath}' "${everything}" stdio`;
    const { out, err } = await stand.run(["ls", "--all", "--server", program], {
      env: { PATH: process.env["PATH"] ?? "" },
    });
    expect([err, out]).toEqual(["", expect.stringContaining("demo://resource/static/document/")]);
    const tree = await stand.run(["tree", "--server", program], { env: { PATH: process.env["PATH"] ?? "" } });
    expect([tree.err, tree.out]).toEqual(["", expect.stringContaining("extension.md")]);
  });

  it("and reports invalid input", async () => {
    expect(await far("ls", "--folder", ".")).toMatchObject({ code: 2, err: expect.stringContaining("--server") });
    expect(await stand.run(["ls", "--server", "a | b"])).toMatchObject({ err: expect.stringContaining("no shell") });
    expect((await stand.run(["ls", "--server", "no-such-program"])).err).toContain("cannot be started");
    expect((await stand.run(["ls", "--server", "http://127.0.0.1:9/mcp"])).err).toContain("cannot be reached");
  });
});
