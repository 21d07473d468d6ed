/** The index of real folders, with real threads and processes. */
import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { takeLease } from "../../search/lease.ts";
import type { IndexStatus, Role } from "../../search/status.ts";
import { openStore } from "../../search/sqlite-store.ts";
import type { Source, SourceDefinition, Runtime } from "../../source.ts";
import file from "../../sources/file.ts";
import git from "../../sources/git.ts";
import skills from "../../sources/skills.ts";
import { createMemory } from "../../sources/memory.ts";
import { createRuntime } from "../runtime.ts";
import type { SearchSettings } from "../../config/schema.ts";
import { createServerIndex, type SearchedMount, type ServerIndex } from "../server-index.ts";
import { indexLocation } from "./index-location.ts";

let root: string;
let folder: string;
let place: string;
let said: string;
let opened: { close?(): Promise<void> }[];
let children: ChildProcess[];
const never = new AbortController().signal;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-index-")));
  folder = join(root, "files");
  place = indexLocation(root, project);
  mkdirSync(folder);
  said = "";
  opened = [];
  children = [];
});

afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  for (const each of opened.toReversed()) await each.close?.();
  rmSync(root, { recursive: true, force: true });
});

const runtime: Runtime = createRuntime({ write: (line) => ((said += String(line)), true) }, "info");

function write(path: string, content: string | Uint8Array): void {
  writeFileSync(join(folder, path), content);
}

const settings: SearchSettings = { maxFileBytes: 100_000, maxBytes: 1e9 };
const project = { folders: ["files"] };

function keep(cacheFolder = root, leaseMs = 50): ServerIndex {
  const index = createServerIndex({ cacheFolder, project, runtime, live: true, leaseMs });
  opened.push(index);
  return index;
}

const options = () => ({ root: folder, maxBytes: 1e6 });

async function filesMount(): Promise<SearchedMount> {
  const source = await file.open(options(), runtime);
  // Closed after the index.
  opened.unshift(source);
  return { name: "files", source, definition: file as SourceDefinition, options: options() };
}

async function gitMount(): Promise<SearchedMount> {
  const source = await git.open({ root: folder }, runtime);
  opened.unshift(source);
  return { name: "history", source, definition: git as SourceDefinition, options: { root: folder } };
}

const gitEnvironment = {
  PATH: process.env["PATH"],
  HOME: "/nowhere",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.org",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.org",
};

function runGit(...args: readonly string[]): void {
  execFileSync("git", ["-C", folder, ...args], { env: gitEnvironment });
}

function writeSkill(name: string, text: string): void {
  mkdirSync(join(folder, name), { recursive: true });
  write(`${name}/SKILL.md`, `---\nname: ${name}\ndescription: What it is for\n---\n\n${text}\n`);
}

/** Whether nothing is pending. */
function isQuiet(index: ServerIndex): boolean {
  return index.status?.mounts.every(({ pending, state }) => pending === 0 && state === "complete") ?? false;
}

async function found(index: ServerIndex, text: string, limit = 100): Promise<string[]> {
  const hits = await index.search({ text, limit }, never);
  return hits.map(({ entry }) => entry.path).sort();
}

/** Starts the index, and checks on every change of the status. */
async function until(index: ServerIndex, holds: () => boolean | Promise<boolean>): Promise<void> {
  const stop = new AbortController();
  index.caughtUp({ signal: stop.signal }).catch(() => undefined);
  let isNews = true;
  let wake: (() => void) | undefined;
  index.follow(() => {
    isNews = true;
    wake?.();
  }, stop.signal);
  for (;;) {
    isNews = false;
    if (await holds()) break;
    if (!isNews)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }
  stop.abort();
}

interface News {
  readonly role: Role;
  readonly status?: IndexStatus;
}

const url = (path: string) => JSON.stringify(pathToFileURL(join(import.meta.dirname, path)).href);

/** Another process with the same index; its messages go to `hear`. */
function startProcess(hear: (news: News) => void): ChildProcess {
  const script = join(root, "keep.mjs");
  writeFileSync(
    script,
    `import { createServerIndex } from ${url("../server-index.ts")};
     import { createRuntime } from ${url("../runtime.ts")};
     import file from ${url("../../sources/file.ts")};
     const runtime = createRuntime(process.stderr);
     const options = ${JSON.stringify(options())};
     const index = createServerIndex({ cacheFolder: ${JSON.stringify(root)}, project: ${JSON.stringify(project)}, runtime, live: true, leaseMs: 50 });
     index.follow(() => process.send({ role: index.role, status: index.status }), new AbortController().signal);
     index.serve([{ name: "files", source: await file.open(options, runtime), definition: file, options }], ${JSON.stringify(settings)});
     await index.caughtUp({ signal: new AbortController().signal });`,
  );
  const child = fork(script, { execArgv: [], stdio: ["ignore", "inherit", "inherit", "ipc"] });
  children.push(child);
  child.on("message", hear);
  return child;
}

describe("an index", () => {
  it("leaves out a mount of too many files, rests, and wakes for another", async () => {
    write("a.md", "tea");
    write("b.md", "tea");
    const large = await filesMount();
    const few = { ...settings, maxFiles: 1 };
    const index = keep();
    index.serve([large], few);
    await until(index, () => index.status?.mounts[0]?.state === "large");
    await index.caughtUp({ signal: never });
    expect(index.ready("files")).toBe(0);
    expect(index.problem("files")).toContain("maxFiles");
    expect(index.status?.mounts[0]).toMatchObject({ documents: 0, lastError: expect.stringContaining("maxFiles") });
    expect(said).toContain("search.maxFiles");
    // The same mounts again: there is still nothing to do.
    index.serve([large], few);
    expect(index.role).toBe("writer");
    const { source } = createMemory({ "one.md": "green tea" });
    index.serve([large, { name: "own", source, definition: file as SourceDefinition, options: () => 1 }], few);
    expect(index.role).toBe("starting");
    await until(index, () => index.ready("own") === 1);
    expect(await found(index, "tea")).toEqual(["one.md"]);
    unlinkSync(join(folder, "b.md"));
    index.serve([{ ...large, options: { ...options(), maxBytes: 2e6 } }], few);
    await until(index, () => index.ready("files") === 1);
    expect(await found(index, "tea")).toEqual(["a.md"]);
  });

  it("starts again with other settings, and finds nothing of before in between", async () => {
    write("a.md", "green tea");
    write("b.md", "black tea");
    const mount = await filesMount();
    const index = keep();
    index.serve([mount], { ...settings, maxFiles: 1 });
    await until(index, () => index.problem("files")?.includes("maxFiles") ?? false);
    index.serve([mount], settings);
    await until(index, () => index.ready("files") === 1);
    expect(index.problem("files")).toBeUndefined();
    expect(await found(index, "tea")).toEqual(["a.md", "b.md"]);
    index.serve([mount], { ...settings, enabled: false });
    expect(index.ready("files")).toBeUndefined();
    expect(await found(index, "tea")).toEqual([]);
    await until(index, () => index.status === undefined);
    index.serve([mount], settings);
    expect(index.ready("files")).toBe(0);
    await until(index, async () => (await found(index, "tea")).length === 2);
  });

  it("finds what is in a folder, and by its name what has no text", async () => {
    write("a.md", "# Setup\n\nHow to brew green tea\n");
    write("日本語.txt", "パスワードを再設定する方法");
    write("mislabelled.txt", Buffer.from(Array.from({ length: 3000 }, (_, at) => (at * 7919) % 256)));
    write("large.txt", "tea ".repeat(50_000));
    const index = keep();
    index.serve([await filesMount()], settings);
    await index.caughtUp({ signal: never });
    expect(index.role).toBe("writer");
    expect(index.ready("files")).toBe(1);
    expect(index.ready("others")).toBeUndefined();
    expect(await found(index, "tea")).toEqual(["a.md"]);
    expect(await found(index, "再設定")).toEqual(["日本語.txt"]);
    expect(index.status).toMatchObject({
      mounts: [{ name: "files", state: "complete", documents: 4, looked: 4, total: 4, pending: 0, ready: 1 }],
      bytes: expect.any(Number) as number,
    });
    expect(await found(index, "mislabelled")).toEqual(["mislabelled.txt"]);
  });

  it("finds a file that is saved, and no longer one that is removed", async () => {
    write("a.md", "green tea");
    const index = keep();
    index.serve([await filesMount()], settings);
    await index.caughtUp({ signal: never });
    write("b.md", "black coffee");
    await until(index, async () => (await found(index, "coffee")).length === 1);
    write("a.md", "hot chocolate");
    await until(index, async () => (await found(index, "chocolate")).length === 1);
    expect(await found(index, "green")).toEqual([]);
    unlinkSync(join(folder, "b.md"));
    await until(index, async () => (await found(index, "coffee")).length === 0);
  });

  it("finds what is new in a skill, although its thread checks many skills only now and then", async () => {
    for (let count = 0; count < 400; count += 1) writeSkill(`skill-${count}`, "");
    const parsed = skills.options(z).parse({ root: folder });
    const source = await skills.open(parsed, runtime);
    opened.unshift(source);
    const index = keep();
    index.serve([{ name: "skills", source, definition: skills as SourceDefinition, options: parsed }], settings);
    await until(index, () => isQuiet(index));
    for (const text of ["coffee", "cocoa", "oolong"]) {
      writeSkill("skill-7", text);
      await until(index, async () => (await found(index, text)).length > 0);
    }
  });

  it("of a repository holds its commits and tags and nothing else, whatever is committed and checked out", async () => {
    runGit("init", "--quiet", "--initial-branch=main");
    const commit = (text: string) => {
      for (let at = 0; at < 40; at += 1) write(`f${at}.md`, `${text} ${at}`);
      runGit("add", "--all");
      runGit("commit", "--quiet", "--message", `about ${text}`);
    };
    commit("tea");
    const index = keep();
    const mount = await gitMount();
    index.serve([mount], settings);
    await index.caughtUp({ signal: never });
    const call = { caller: { id: "test" }, signal: never };
    // Requested changes are reported.
    for (const path of ["tree/HEAD", "blob/main/f1.md", "blame/HEAD/f2.md", "commit/HEAD"])
      await mount.source.stat!({ path }, call);
    const indexed = async () =>
      (await mount.source.listIndexed!({ limit: 100 }, call)).items.map(({ path }) => path).sort();
    for (const text of ["coffee", "cocoa"]) {
      runGit("checkout", "--quiet", "-b", text);
      commit(text);
      await until(index, async () => (await found(index, `"about ${text}"`)).length > 0);
      runGit("checkout", "--quiet", "main");
      await until(index, () => isQuiet(index));
      const paths = await indexed();
      expect((await found(index, "about", 1000)).every((path) => paths.includes(path))).toBe(true);
      await until(index, () => isQuiet(index));
      expect(index.status?.mounts[0]).toMatchObject({ documents: paths.length });
    }
    // What is no longer reachable is removed, and an amended commit replaces the old one.
    runGit("branch", "--quiet", "-D", "coffee", "cocoa");
    runGit("commit", "--quiet", "--amend", "--message", "about 抹茶");
    await until(index, async () => (await found(index, "抹茶")).length > 0 && isQuiet(index));
    await until(index, async () => (await found(index, "cocoa")).length === 0);
    const left = await indexed();
    expect(left.filter((path) => path.startsWith("commit/"))).toHaveLength(1);
    await index.close();
    const store = openStore(join(place, "index.db"));
    try {
      expect(store.stored("history", { limit: 1000 }).map(({ path }) => path)).toEqual(left);
    } finally {
      store.close();
    }
  });

  it("reports its progress, and indexes sources that only the main thread can open", async () => {
    const names = Array.from({ length: 600 }, (_, at) => `f${1000 + at}`);
    const { source } = createMemory(Object.fromEntries(names.map((name) => [name, "green tea"])));
    const gate = Promise.withResolvers<void>();
    const slow: Source = {
      ...source,
      async read(at, call) {
        if (at.path === "f1500") await gate.promise;
        return source.read(at, call);
      },
    };
    const definition: SourceDefinition = {
      name: "own",
      summary: "",
      scheme: "own",
      options: (zod) => zod.any(),
      open: async () => slow,
    };
    const index = keep();
    index.serve([{ name: "own", source: slow, definition, options: { made: () => "here" } }], settings);
    await until(index, async () => (await found(index, "tea", 1000)).length > 200 && index.ready("own")! > 0);
    expect((await found(index, "tea", 1000)).length).toBeLessThan(600);
    expect(index.ready("own")).toBeGreaterThan(0);
    expect(index.ready("own")).toBeLessThan(1);
    expect(index.status?.mounts[0]).toMatchObject({ state: "indexing", total: 600 });
    gate.resolve();
    await index.caughtUp({ signal: never });
    expect(index.ready("own")).toBe(1);
    expect(await found(index, "tea", 1000)).toEqual(names);
  });

  it("reads through the mount where its source is opened once", async () => {
    write("a.md", "green tea");
    const { source } = createMemory({ "b.md": "black tea" });
    const index = keep();
    const definition = { ...(file as SourceDefinition), openedOnce: true };
    index.serve([{ name: "files", source, definition, options: options() }], settings);
    await index.caughtUp({ signal: never });
    expect(await found(index, "tea")).toEqual(["b.md"]);
  });

  it("forgets a mount that is gone, and one that is made from something else", async () => {
    write("a.md", "green tea");
    mkdirSync(join(root, "other"));
    writeFileSync(join(root, "other", "b.md"), "black tea");
    const index = keep();
    const mount = await filesMount();
    index.serve([mount], settings);
    await index.caughtUp({ signal: never });
    const other = { root: join(root, "other"), maxBytes: 1e6 };
    const source = await file.open(other, runtime);
    opened.unshift(source);
    index.serve([{ ...mount, source, options: other }], settings);
    // As soon as the content differs, the old content is not found.
    expect(await found(index, "green")).toEqual([]);
    await until(index, async () => (await found(index, "tea")).length === 1);
    expect(await found(index, "tea")).toEqual(["b.md"]);
    index.serve([], settings);
    expect(await found(index, "tea")).toEqual([]);
    const store = openStore(join(place, "index.db"), { readOnly: true });
    opened.push({ close: async () => store.close() });
    await until(index, () => store.counts().length === 0);
  });

  it("goes on after having been killed at any step", async () => {
    const count = 800;
    for (let at = 0; at < count; at += 1) write(`f${at}.md`, `number ${at}\n\ngreen tea`);
    // At the first message, at the first batch, in the middle, and at the end.
    const steps: ((news: News) => boolean)[] = [
      ({ role }) => role === "writer",
      ({ status }) => (status?.mounts[0]?.looked ?? 0) > 0,
      ({ status }) => (status?.mounts[0]?.looked ?? 0) > count / 2,
      ({ status }) => status?.mounts[0]?.ready === 1,
    ];
    for (const [step, isReached] of steps.entries()) {
      const child = startProcess((news) => {
        if (isReached(news)) child.kill("SIGKILL");
      });
      await once(child, "exit");
      write(`f${step}.md`, `number ${step} again\n\nblack tea`);
      unlinkSync(join(folder, `f${count - 1 - step}.md`));
    }
    const index = keep();
    index.serve([await filesMount()], settings);
    await index.caughtUp({ signal: never });
    const left = Array.from({ length: count - steps.length }, (_, at) => `f${at}.md`);
    expect(await found(index, "tea", 2000)).toEqual(left.toSorted());
    expect(await found(index, "black")).toEqual(["f0.md", "f1.md", "f2.md", "f3.md"]);
    expect(await found(index, "green", 2000)).toEqual(left.slice(4).toSorted());
  }, 60_000);

  it("continues after its process was killed: nothing is indexed or counted again", async () => {
    // Enough that the process is killed long before its end, also if it hears late.
    const count = 12_000;
    for (let at = 0; at < count; at += 1) write(`f${at}.md`, `number ${at}\n\ngreen tea`);
    const idsIndexed = (): number[] => {
      const store = openStore(join(place, "index.db"), { readOnly: true });
      try {
        return store.addresses(0, count).map(({ id }) => id);
      } finally {
        store.close();
      }
    };
    let before: number[] = [];
    for (const share of [0.03, 0.3]) {
      const states = new Set<string>();
      const child = startProcess(({ status }) => {
        const [mount] = status?.mounts ?? [];
        if (mount) states.add(mount.state);
        if ((mount?.looked ?? 0) > count * share) child.kill("SIGKILL");
      });
      await once(child, "exit");
      expect(states.has("counting")).toBe(share === 0.03);
      const now = idsIndexed();
      // A text that is indexed again gets another id.
      expect(now).toEqual(expect.arrayContaining(before));
      expect(now.length).toBeGreaterThan(before.length);
      expect(now.length).toBeLessThan(count);
      before = now;
    }
    const index = keep();
    index.serve([await filesMount()], settings);
    await index.caughtUp({ signal: never });
    const all = idsIndexed();
    expect(all).toHaveLength(count);
    expect(all).toEqual(expect.arrayContaining(before));
  }, 60_000);

  it("is maintained by one process and read by others, one of which takes over when it dies", async () => {
    write("a.md", "green tea");
    const complete = Promise.withResolvers<void>();
    const child = startProcess(({ status }) => {
      if (status?.mounts[0]?.ready === 1) complete.resolve();
    });
    await complete.promise;
    const index = keep();
    index.serve([await filesMount()], settings);
    await index.caughtUp({ signal: never });
    expect(index.role).toBe("reader");
    expect(await found(index, "tea")).toEqual(["a.md"]);
    // The other process indexes it.
    write("b.md", "black tea");
    await until(index, async () => (await found(index, "tea")).length === 2);
    expect(index.role).toBe("reader");

    child.kill("SIGKILL");
    await until(index, () => index.role === "writer" && index.ready("files") === 1);
    write("c.md", "white tea");
    await until(index, async () => (await found(index, "tea")).length === 3);
  });

  it("does not exceed its size limit, and reports that", async () => {
    for (let at = 0; at < 600; at += 1) write(`f${at}.md`, `green tea ${"word ".repeat(200)} ${at}`);
    const index = keep();
    index.serve([await filesMount()], { ...settings, maxBytes: 10_000 });
    await index.caughtUp({ signal: never });
    expect(index.status?.mounts[0]).toMatchObject({
      state: "full",
      lastError: expect.stringContaining("search.maxBytes") as string,
    });
    expect(index.ready("files")).toBeLessThan(1);
  });

  it("is retried if it could not be opened, and reports why meanwhile", async () => {
    write("a.md", "green tea");
    const blocked = join(root, "blocked");
    writeFileSync(blocked, "a file where a folder belongs");
    const index = keep(blocked);
    index.serve([await filesMount()], settings);
    await until(index, () => index.status?.problem !== undefined);
    await index.caughtUp({ signal: never });
    expect(index.status).toMatchObject({
      problem: { reason: "blocked" },
      mounts: [{ state: "unavailable", ready: 0, lastError: expect.stringContaining("is not a folder") as string }],
    });
    expect(index.ready("files")).toBe(0);
    expect(index.problem("files")).toContain("the path of the search index is not a folder");
    expect(index.problem("others")).toBeUndefined();
    expect(await found(index, "tea")).toEqual([]);
    rmSync(blocked);
    await until(index, () => index.ready("files") === 1);
    expect(index.problem("files")).toBeUndefined();
    expect(await found(index, "tea")).toEqual(["a.md"]);
  });

  it("moves aside what is in the place of its files, and removes nothing that it did not make", async () => {
    write("a.md", "green tea");
    for (const name of ["index.db", "lock.db", "status.json"]) mkdirSync(join(place, name), { recursive: true });
    writeFileSync(join(place, "lock.db", "mine.txt"), "not of the index");
    const index = keep();
    index.serve([await filesMount()], settings);
    await until(index, () => index.ready("files") === 1);
    expect(await found(index, "tea")).toEqual(["a.md"]);
    expect(readFileSync(join(place, "lock.db.aside", "mine.txt"), "utf8")).toBe("not of the index");
    expect(said).toContain("moved aside");
  });

  it("tries a mount again that failed in a way that nobody expected", async () => {
    write("a.md", "green tea");
    const mount = await filesMount();
    let isBroken = true;
    const source: Source = {
      ...mount.source,
      async list(ask, call) {
        if (isBroken) throw new TypeError("nobody expected this");
        return mount.source.list(ask, call);
      },
    };
    const index = keep();
    index.serve([{ ...mount, source, onMainThread: true }], settings);
    await until(index, () => index.status?.mounts[0]?.state === "failing");
    isBroken = false;
    await until(index, () => index.ready("files") === 1);
    expect(await found(index, "tea")).toEqual(["a.md"]);
  });

  it("counts changes that nobody has looked at yet", async () => {
    write("a.md", "green tea");
    const mount = await filesMount();
    const { watch } = mount.source;
    // Like a source that has noticed a change and is still examining it.
    const pending = { now: 0 };
    const source: Source = {
      ...mount.source,
      async watch(call) {
        const changes = await watch!.call(mount.source, call);
        return {
          [Symbol.asyncIterator]: () => changes[Symbol.asyncIterator](),
          get pending() {
            return pending.now;
          },
        };
      },
    };
    const index = keep();
    index.serve([{ ...mount, source }], settings);
    await until(index, () => index.ready("files") === 1);
    pending.now = 3;
    expect(index.ready("files")).toBe(0.25);
    expect(index.status?.mounts[0]).toMatchObject({ state: "indexing", pending: 3, documents: 1 });
    pending.now = 0;
    expect(index.ready("files")).toBe(1);
  });

  it("that another process has taken over does not count the changes of its time as the writer", async () => {
    write("a.md", "tea");
    const mount = await filesMount();
    const first = keep(root, 1000);
    first.serve([mount], settings);
    await until(first, () => isQuiet(first));
    write("b.md", "tea");
    await until(first, async () => isQuiet(first) && (await found(first, "tea")).length === 2);
    const second = keep();
    second.serve([await filesMount()], settings);
    // The first may be quicker to take the lease again.
    while (second.role !== "writer") {
      rmSync(place, { recursive: true });
      mkdirSync(place);
      const lease = takeLease(join(place, "lock.db"))!;
      await until(first, () => first.role === "reader");
      await until(second, () => second.role === "reader");
      lease.release();
      await until(second, () => second.role === "writer" || first.role === "writer");
    }
    await until(second, () => isQuiet(second));
    await until(first, async () => {
      await found(first, "tea").catch(() => []);
      return first.role === "reader" && isQuiet(first);
    });
  });

  it("refuses an invalid query, and a cancelled one", async () => {
    const index = keep();
    index.serve([await filesMount()], settings);
    await index.caughtUp({ signal: never });
    await expect(index.search({ text: " ", limit: 1 }, never)).rejects.toMatchObject({ kind: "invalid" });
    await expect(index.search({ text: "tea", limit: 1 }, AbortSignal.abort())).rejects.toMatchObject({
      kind: "cancelled",
    });
    const stop = new AbortController();
    const asked = index.search({ text: "tea", limit: 1 }, stop.signal);
    stop.abort();
    await expect(asked).rejects.toMatchObject({ kind: "cancelled" });
    expect(said).toBe("");
  });

  it("finds by meaning where there is an embeddings endpoint, and by words alone when it is down", async () => {
    write("a.md", "a warm drink of leaves");
    write("b.md", "a ship at sea");
    let isDown = false;
    const keys: (string | undefined)[] = [];
    const server = createServer(async (request, response) => {
      keys.push(request.headers.authorization);
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      if (isDown) return void response.writeHead(401).end("sk-secret is wrong");
      const { input } = JSON.parse(Buffer.concat(chunks).toString()) as { readonly input: readonly string[] };
      const data = input.map((text, index) => ({ index, embedding: /tea|drink/.test(text) ? [1, 0] : [0, 1] }));
      response.setHeader("content-type", "application/json").end(JSON.stringify({ data }));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    opened.push({
      async close() {
        server.closeAllConnections();
        server.close();
        await once(server, "close");
      },
    });
    const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const embeddings = { url: at, model: "small", apiKey: "sk-secret" };
    const index = keep();
    index.serve([await filesMount()], { ...settings, embeddings });
    await until(index, () => index.ready("files") === 1 && index.status?.embeddings?.state === "complete");
    const [best] = await index.search({ text: "tea", limit: 1 }, never);
    expect(best?.entry.path).toBe("a.md");
    expect(new Set(keys)).toEqual(new Set(["Bearer sk-secret"]));

    isDown = true;
    write("c.md", "a ship in a bottle");
    await until(index, () => index.status?.embeddings?.state === "down");
    expect(index.status?.embeddings?.lastError).toContain("status 401");
    expect(await found(index, "bottle")).toEqual(["c.md"]);
    expect(said).toContain("search uses words only");
    expect(said).not.toContain("sk-secret");
  });
});
