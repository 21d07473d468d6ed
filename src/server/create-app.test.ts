/** Apps of a program: what they leave behind, and when they end. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { defineResources } from "../define/define-resources.ts";
import { tool } from "../define/tool.ts";
import { machineName } from "../lib/leftovers.ts";
import { wait } from "../lib/wait.ts";
import { defineSource, type Source } from "../source.ts";
import { createMemory } from "../sources/memory.ts";
import { buildServer } from "./build-server.ts";
import { createApp } from "./create-app.ts";
import { createProgramConfig } from "./program-config.ts";
import { createRuntime } from "./runtime.ts";
import { serve } from "./serve.ts";

const call = () => ({ caller: { id: "test", owner: true }, signal: new AbortController().signal });

/** Counts how often it is closed; `closed` resolves the first time. */
function counted(source: Source = createMemory({ "a.txt": "A" }).source) {
  const counts = { closed: 0 };
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const close = async () => {
    counts.closed += 1;
    resolve();
  };
  return { counts, closed, source: { ...source, close } };
}

/** Waits at most 20 ms for anything, and keeps the log. */
function impatient() {
  const lines: string[] = [];
  const runtime = createRuntime({ write: (line: string) => lines.push(line) > 0 });
  return { lines, runtime: { ...runtime, wait: (ms: number, signal: AbortSignal) => wait(Math.min(ms, 20), signal) } };
}

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-create-app-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A program that has imported `createApp`, `serve` and `createMemory`; its temporary folder is `folder`. */
function argumentsFor(text: string): string[] {
  const imports = [
    ["createApp", "./create-app.ts"],
    ["serve", "./serve.ts"],
    ["createMemory", "../sources/memory.ts"],
    ["defineSource", "../source.ts"],
  ].map(([name, file]) => `import { ${name} } from ${JSON.stringify(new URL(file!, import.meta.url))};`);
  return ["--input-type=module", "--eval", [...imports, text].join("\n")];
}

async function run(text: string, folder: string): Promise<string> {
  const env = { ...process.env, TMPDIR: folder, PRESSMARK_LOG: "error" };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, argumentsFor(text), { env });
  return `${stdout}${stderr}`;
}

/** A source with a tool that never ends, and a promise that resolves when the tool runs. */
function hanging() {
  const started = Promise.withResolvers<void>();
  const source = defineResources({
    texts: { "a.txt": "A" },
    tools: {
      hang: tool({
        description: "Never ends",
        input: (z) => z.object({}),
        readOnly: true,
        run() {
          started.resolve();
          return new Promise<string>(() => undefined);
        },
      }),
    },
  });
  return { started: started.promise, ...counted(source) };
}

/** A source whose URIs have another spelling. */
function claiming(alias: string) {
  return defineSource({
    name: "claiming",
    summary: "Claims other URIs",
    scheme: "claiming",
    options: (z) => z.object({}),
    aliases: () => [alias],
    open: async () => createMemory({ "a.txt": "A" }).source,
  });
}

describe("closing", () => {
  const body = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: {
      name: "hang",
      arguments: {},
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    },
  };

  it("does not wait for a tool that ignores its signal, and says so", async () => {
    const { started, counts, source } = hanging();
    const { lines, runtime } = impatient();
    const app = await createApp({ name: "n", mounts: { n: source }, runtime, search: false });
    app.protocol.exchange(body, undefined, call(), { notify: () => undefined, end: () => undefined });
    await started;
    await app.close();
    expect(counts.closed).toBe(1);
    expect(lines.join("")).toContain("a request or tool still runs after the app was closed");
  });

  it("of a server does not wait for it either", async () => {
    const { started, counts, source } = hanging();
    const { lines, runtime } = impatient();
    const serving = await serve({ name: "n", mounts: { n: source }, runtime, search: false, port: 0, graceMs: 10 });
    const headers = {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": "tools/call",
      "Mcp-Name": "hang",
    };
    const asked = fetch(serving.url, { method: "POST", headers, body: JSON.stringify(body) }).catch(() => undefined);
    await started;
    await serving.close();
    await asked;
    expect(counts.closed).toBe(1);
    expect(lines.join("")).toContain("a request or tool still runs");
  });

  it("closes a source while one of its texts is read without end, for a caller and for the index", async () => {
    const started = Promise.withResolvers<void>();
    const never = () => {
      started.resolve();
      return new Promise<string>(() => undefined);
    };
    const { closed, source } = counted(defineResources({ texts: { "a.txt": never } }));
    const { runtime } = impatient();
    const app = await createApp({ name: "n", mounts: { n: { source, layers: () => [] } }, runtime });
    const searching = app.resources.search({ text: "a", limit: 1 }, call()).catch(() => undefined);
    await started.promise;
    await app.close();
    await searching;
    await closed;
  });

  it("ends with a source that never closes", async () => {
    const { lines, runtime } = impatient();
    const source = { ...createMemory().source, close: () => new Promise<void>(() => undefined) };
    const app = await createApp({ name: "n", mounts: { n: source }, runtime, search: false });
    await app.close();
    expect(lines.join("")).toContain("a source or the index still runs after the app was closed");
  });

  it("leaves resources that refuse everything", async () => {
    const app = await createApp({ name: "n", mounts: { n: createMemory({ "a.txt": "A" }).source } });
    const { resources } = app;
    await app.close();
    await expect(resources.list({}, call())).rejects.toMatchObject({
      kind: "unavailable",
      message: "the app is closed",
    });
    await expect(resources.watch({ list: true }, call())).rejects.toMatchObject({ kind: "unavailable" });
  });
});

describe("an app that cannot be opened", () => {
  it("names the mount that fails, and closes the others", async () => {
    const { counts, source } = counted();
    const nowhere = join(temporary(), "nowhere");
    await expect(
      createApp({ name: "n", mounts: { n: source, files: { source: "file", root: nowhere } } }),
    ).rejects.toThrow(/^the mount "files": /);
    expect(counts.closed).toBe(1);
  });

  it("names the mount of a source that throws anything", async () => {
    const failing = { ...claiming("x://"), open: () => Promise.reject(new TypeError("no socket")) };
    await expect(createApp({ name: "n", mounts: { n: { source: failing } } })).rejects.toMatchObject({
      message: 'the mount "n": cannot be opened: TypeError: no socket',
    });
  });

  it("closes everything when the rest of the server fails", async () => {
    const { counts, source } = counted();
    const { runtime } = impatient();
    const folder = temporary();
    const opening = buildServer({
      config: await createProgramConfig({ mounts: { n: source } }, folder),
      project: { config: "program n" },
      runtime,
      stateFolder: folder,
      cacheFolder: folder,
      cursorKey() {
        throw new Error("no key");
      },
      currentFolder: folder,
      live: true,
    });
    await expect(opening).rejects.toThrow("no key");
    expect(counts.closed).toBe(1);
  });

  it("is one whose mount takes a scheme of the server, in any spelling", async () => {
    await expect(createApp({ name: "n", mounts: { n: { source: claiming("PRESSMARK://") } } })).rejects.toThrow(
      'mounts.n.source: answers for "PRESSMARK://", but the scheme "PRESSMARK" is reserved; use another',
    );
  });
});

describe("mounts", () => {
  it("may be objects that have a source, such as a memory", async () => {
    const notes = createMemory({ "a.txt": "A" });
    const app = await createApp({ name: "n", mounts: { notes } });
    onTestFinished(() => app.close());
    notes.set("a.txt", "B");
    expect((await app.resources.read("notes://a.txt", call())).contents).toMatchObject([{ body: { text: "B" } }]);
  });

  it.each(["http", "set", "ui", "zed", "mount", "pressmark", "left-out", "myNotes", "日本"])(
    "named %s are below mount://",
    async (name) => {
      const app = await createApp({ name: "n", mounts: { [name]: createMemory({ a: "A" }).source } });
      onTestFinished(() => app.close());
      const uri = `mount://${encodeURIComponent(name)}/a`;
      expect((await app.resources.read(uri, call())).contents).toMatchObject([{ body: { text: "A" } }]);
    },
  );
});

describe("hosts", () => {
  it.each(["127.evil.example", "0.0.0.0", "::", "127.0.0.1.evil.example", "::ffff:10.0.0.1"])(
    "%s can be reached by others",
    async (host) => {
      const { source } = createMemory();
      await expect(serve({ name: "n", mounts: { n: source }, host, port: 0 })).rejects.toThrow(
        `the address ${JSON.stringify(host)} can be reached from other machines`,
      );
    },
  );

  it.each(["LOCALHOST", "[::1]", "::ffff:127.0.0.1", "127.0.0.2"])("%s is this machine", async (host) => {
    const { source } = createMemory({ "a.txt": "A" });
    const serving = await serve({ name: "n", mounts: { n: source }, host, port: 0 });
    onTestFinished(() => serving.close());
    expect((await fetch(new URL("/", serving.url))).status).toBe(200);
  });
});

describe("a process", { timeout: 60_000 }, () => {
  const mounts = `{ notes: createMemory({ "a.txt": "A" }).source }`;

  it("ends without closing its app, and removes its folder", async () => {
    const folder = temporary();
    const text = `
      const app = await createApp({ name: "n", mounts: ${mounts} });
      const call = { caller: { id: "me" }, signal: new AbortController().signal };
      console.log((await app.resources.list({}, call)).items.length);`;
    expect(await run(text, folder)).toBe("1\n");
    expect(readdirSync(folder)).toEqual([]);
  });

  it("ends when its app cannot be opened", async () => {
    const folder = temporary();
    const text = `await createApp({ name: "n", mounts: ${mounts}, pageSize: 0 }).catch((cause) => console.log(cause.message));`;
    expect(await run(text, folder)).toBe("pageSize: must be at least 1\n");
    expect(readdirSync(folder)).toEqual([]);
  });

  it("warns of nothing with a dozen apps", async () => {
    const text = `
      const apps = await Promise.all(Array.from({ length: 12 }, () => createApp({ name: "n", mounts: ${mounts} })));
      for (const app of apps) await app.close();`;
    expect(await run(text, temporary())).toBe("");
  });

  it("leaves its folder when a signal ends it, and the next one removes it", async () => {
    const folder = temporary();
    const text = `
      await serve({ name: "n", mounts: ${mounts}, port: 0 });
      console.log("ready");`;
    const env = { ...process.env, TMPDIR: folder };
    const child = spawn(process.execPath, argumentsFor(text), { env, stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    const other = `pressmark-app-${machineName()}-${process.pid}-abc123`;
    mkdirSync(join(folder, other));
    mkdirSync(join(folder, "pressmark-app-elsewhere-1-abc123"));
    expect(readdirSync(folder)).toHaveLength(3);
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
    await run(`await (await createApp({ name: "n", mounts: ${mounts} })).close();`, folder);
    expect(readdirSync(folder).sort()).toEqual(["pressmark-app-elsewhere-1-abc123", other].sort());
  });
});
