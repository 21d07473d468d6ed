/** What a host relies on beyond the questions themselves: what is kept, which way is taken, and that skills are what they promise. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, it, onTestFinished } from "vitest";
import { connect, connectBy, type ConnectOptions, type RemoteServer } from "../../src/client/connect.ts";
import { createAnswerCache } from "../../src/client/answer-cache.ts";
import { readSkill, readSkillFile } from "../../src/client/read-skill.ts";
import { connectProgram } from "../../src/client/stdio.ts";
import type { Call, Resources } from "../../src/resources.ts";
import { collectChanges } from "../../src/testing/listen.ts";
import { refusal } from "../../src/testing/refusal.ts";
import { openTestServer } from "../e2e/harness.ts";
import { stdioOf } from "../interop/command.ts";
import { openNotes } from "./notes.ts";

function caller(): Call {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  return { caller: { id: "test" }, signal: stop.signal };
}

async function textOf(pressmark: Resources, uri: string, call: Call): Promise<string> {
  const [content] = (await pressmark.read(uri, call)).contents;
  return content && "text" in content.body ? content.body.text : "";
}

describe("what the server lets be kept", () => {
  const hour = 3_600_000;

  it("is not asked for again", async () => {
    await using notes = await openNotes({ a: "1" }, { ttlMs: hour });
    const pressmark = await connected(notes.url);
    const call = caller();
    await pressmark.read(notes.uriOf("a"), call);
    const { ttlMs } = await pressmark.read(notes.uriOf("a"), call);
    expect(notes.reads).toBe(1);
    expect(ttlMs).toBeLessThanOrEqual(hour);
  });

  it("is asked for again once it is announced to be another", async () => {
    await using notes = await openNotes({ a: "1" }, { ttlMs: hour });
    const pressmark = await connected(notes.url);
    const call = caller();
    const uri = notes.uriOf("a");
    const { until } = collectChanges(await pressmark.watch({ uris: [uri], list: true }, call));
    expect(await textOf(pressmark, uri, call)).toBe("1");
    expect((await pressmark.list({}, call)).items).toHaveLength(1);
    notes.set("a", "2");
    notes.set("b", "2");
    await until(({ kind }) => kind === "updated", "that it changed");
    await until(({ kind }) => kind === "list-changed", "that the list changed");
    expect(await textOf(pressmark, uri, call)).toBe("2");
    expect((await pressmark.list({}, call)).items).toHaveLength(2);
  });

  it("from before a watch is not given behind it", async () => {
    await using notes = await openNotes({ a: "1" }, { ttlMs: hour });
    const pressmark = await connected(notes.url);
    const call = caller();
    const uri = notes.uriOf("a");
    await pressmark.read(uri, call);
    notes.set("a", "2");
    await pressmark.watch({ uris: [uri] }, call);
    expect(await textOf(pressmark, uri, call)).toBe("2");
  });

  it("is another's own where it is private, and everyone's where it is public", async () => {
    for (const [scope, reads] of [
      ["private", 2],
      ["public", 1],
    ] as const) {
      await using notes = await openNotes({ a: "1" }, { ttlMs: hour, scope });
      const kept = createAnswerCache();
      const call = caller();
      for (const identity of ["ada", "grace", "ada"]) {
        const pressmark = await connected(notes.url, { cache: kept, identity });
        await pressmark.read(notes.uriOf("a"), call);
      }
      expect(notes.reads, scope).toBe(reads);
    }
  });

  it("is another's own where credentials were sent, though the server calls it public", async () => {
    const ways: readonly ((url: string) => readonly [url: string, options: ConnectOptions])[] = [
      (url) => [url, { headers: { Authorization: "Bearer of-one-of-them" } }],
      (url) => [url, { auth: { token: async () => "of-one-of-them" } }],
      (url) => [url, { fetch: (to, init) => fetch(to, init) }],
      (url) => [`${url}?key=of-one-of-them`, {}],
    ];
    for (const way of ways) {
      await using notes = await openNotes({ a: "1" }, { ttlMs: hour, scope: "public" });
      const kept = createAnswerCache();
      const call = caller();
      for (const identity of ["ada", "grace", "ada"]) {
        const [url, options] = way(notes.url);
        const pressmark = await connected(url, { ...options, cache: kept, identity });
        expect((await pressmark.read(notes.uriOf("a"), call)).scope).toBe("private");
        await pressmark.list({}, call);
        expect(pressmark.listFreshness.scope).toBe("private");
      }
      expect(notes.reads).toBe(2);
    }
  });

  it("is nothing where the server says nothing of it", async () => {
    await using notes = await openNotes({ a: "1" }, { ttlMs: hour });
    const pressmark = await connected(notes.url, { era: "legacy" });
    const call = caller();
    await pressmark.read(notes.uriOf("a"), call);
    await pressmark.read(notes.uriOf("a"), call);
    expect(notes.reads).toBe(2);
  });
});

describe("the way to a server", () => {
  it("is the newest that it knows", async () => {
    await using notes = await openNotes({});
    expect((await connected(notes.url)).server).toMatchObject({
      name: "notes",
      era: "modern",
      revision: "2026-07-28",
      instructions: "Read the notes.",
    });
    expect((await connected(notes.url, { era: "legacy" })).server).toMatchObject({ revision: "2025-11-25" });
  });

  it("is the oldest where there is no other, whatever the address looks like", async () => {
    await using notes = await openNotes({ a: "1" });
    const call = caller();
    const pressmark = await connected(notes.url, {
      // A server that has only the stream of the oldest kind, at this address.
      fetch: async (url, init) => {
        if (String(url) !== notes.url) return fetch(url, init);
        return init?.method === "POST" ? new Response("", { status: 405 }) : fetch(notes.sseUrl, init);
      },
    });
    expect(pressmark.server?.era).toBe("legacy");
    expect(await textOf(pressmark, notes.uriOf("a"), call)).toBe("1");
  });

  it("carries the headers that it was given", async () => {
    await using pressmark = await openTestServer({ sampleContents: { "secrets/key": "the owner's", a: "" } });
    const call = caller();
    const [reader, owner] = [
      await connected(pressmark.url),
      await connected(pressmark.url, { headers: { "X-Caller": "owner" } }),
    ];
    await refusal(reader.read("memory://house/secrets/key", call), ["not-found"], "the secret");
    expect(await textOf(owner, "memory://house/secrets/key", call)).toBe("the owner's");
  });

  it("is closed for good", async () => {
    await using notes = await openNotes({ a: "1" });
    const pressmark = await connect(notes.url);
    await pressmark.close();
    await refusal(pressmark.read(notes.uriOf("a"), caller()), ["unavailable"], "a closed house");
  });
});

describe("a program", () => {
  it("that ends is started again, and its watches are armed again", async () => {
    const root = await realpath(await mkdtemp(join(tmpdir(), "pressmark-client-")));
    onTestFinished(() => rm(root, { recursive: true }));
    const folder = { path: join(root, "served"), state: join(root, "state") };
    await mkdir(folder.path);
    await writeFile(join(folder.path, "a.txt"), "1");
    const started: StdioClientTransport[] = [];
    const pressmark = await connectBy(
      () => {
        const transport = new StdioClientTransport(stdioOf(folder));
        started.push(transport);
        return transport;
      },
      { patience: { firstMs: 5, longestMs: 50 } },
    );
    onTestFinished(() => pressmark.close());
    const call = caller();
    const [{ uri } = { uri: "" }] = (await pressmark.list({}, call)).items;
    const { until } = collectChanges(await pressmark.watch({ uris: [uri] }, call));
    process.kill(started.at(-1)?.pid ?? 0, "SIGKILL");
    await until(({ kind }) => kind === "updated", "to look again");
    expect(await textOf(pressmark, uri, call)).toBe("1");
    expect(started.length).toBeGreaterThan(1);
  });

  it("that cannot be started is said", async () => {
    await refusal(connectProgram({ command: "no-such-program-anywhere" }), ["unavailable"], "the program");
  });

  it("sees only what it is given of the environment", async () => {
    process.env["PRESSMARK_TEST_SECRET"] = "hunter2";
    onTestFinished(() => void delete process.env["PRESSMARK_TEST_SECRET"]);
    const script = `
      const lines = require("node:readline").createInterface({ input: process.stdin });
      lines.on("line", (line) => {
        const { id, method } = JSON.parse(line);
        if (id === undefined) return;
        const instructions = JSON.stringify(process.env);
        const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "e", version: "1" }, instructions };
        console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
      });`;
    const pressmark = await connectProgram(
      { command: process.execPath, args: ["-e", script], env: { GIVEN: "yes" } },
      { era: "legacy" },
    );
    expect(pressmark.server?.instructions).toContain("GIVEN");
    expect(pressmark.server?.instructions).not.toContain("hunter2");
    await pressmark.close();
  });
});

describe("a skill", () => {
  const files = {
    "greet/SKILL.md": "---\nname: greet\ndescription: Says hello\n---\n\nSay hello.\n",
    "greet/words.txt": "hello\n",
  };

  it("is read with all its files, each as it was promised", async () => {
    await using pressmark = await openTestServer({ skills: files });
    const remote = await connected(pressmark.url);
    const call = caller();
    const [skill] = (await remote.skills?.({}, call))?.items ?? [];
    const read = await readSkill(remote, skill?.uri ?? "", call);
    expect(read.skill.frontMatter).toMatchObject({ name: "greet", description: "Says hello" });
    expect(read.files.map(({ bytes }) => new TextDecoder().decode(bytes)).sort()).toEqual(Object.values(files).sort());
  });

  it("whose file is another than promised is refused", async () => {
    await using pressmark = await openTestServer({ skills: files });
    const remote = await connected(pressmark.url);
    const call = caller();
    const [skill] = (await remote.skills?.({}, call))?.items ?? [];
    if (!skill) throw new Error("there is no skill");
    for (const text of ["---\nname: greet\ndescription: Says hello\n---\n\nSay HELLO.\n", "short"]) {
      const forger: Pick<Resources, "read"> = {
        read: async (uri) => ({ contents: [{ uri, body: { text } }], ttlMs: 0, scope: "private" }),
      };
      await refusal(readSkillFile(forger, skill, skill.uri, call), ["unexpected"], text);
    }
    await refusal(readSkillFile(remote, skill, "skill://elsewhere/x", call), ["not-found"], "not of the skill");
  });

  it("whose front matter differs from its entry is refused, also without digests (SKL-19)", async () => {
    await using pressmark = await openTestServer({ skills: files });
    const remote = await connected(pressmark.url);
    const call = caller();
    const [skill] = (await remote.skills?.({}, call))?.items ?? [];
    if (!skill) throw new Error("there is no skill");
    const { frontMatter } = skill;
    for (const forged of [
      { ...frontMatter, description: "Says goodbye" },
      { ...frontMatter, license: "MIT" },
    ])
      for (const entry of [skill, { ...skill, files: "dynamic" as const }])
        await refusal(
          readSkillFile(remote, { ...entry, frontMatter: forged }, skill.uri, call),
          ["unexpected"],
          JSON.stringify(forged),
        );
    const { name, description } = frontMatter;
    const reordered = { description, name };
    expect(await readSkillFile(remote, { ...skill, frontMatter: reordered }, skill.uri, call)).toMatchObject({
      uri: skill.uri,
    });
  });
});

async function connected(url: string, options: Parameters<typeof connect>[1] = {}): Promise<RemoteServer> {
  const pressmark = await connect(url, options);
  onTestFinished(() => pressmark.close());
  return pressmark;
}
