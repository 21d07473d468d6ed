import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Source } from "../../source.ts";
import { refusal } from "../../testing/refusal.ts";
import { createObjects, type Objects } from "./objects.ts";
import {
  call,
  clear,
  readFacts,
  readText,
  scratchFolder,
  type TestRepository,
  testRepository,
} from "../../sources/git/test-repository.ts";

const realPath = process.env["PATH"];
const running: Objects[] = [];

afterEach(async () => {
  process.env["PATH"] = realPath;
  await Promise.all(running.splice(0).map((objects) => objects.close()));
  await clear();
});

/** The processes that were started, in order. */
function asking(command: readonly [string, ...string[]], cwd: string, idleMs = 20_000) {
  const started: ChildProcess[] = [];
  const objects = createObjects({
    async start() {
      const [program, ...args] = command;
      const child = spawn(program, args, { cwd, stdio: ["pipe", "pipe", "ignore"] });
      started.push(child);
      return child;
    },
    givesContents: true,
    idleMs,
  });
  running.push(objects);
  return { objects, started };
}

const batch = ["git", "cat-file", "--batch"] as const;

function withBlobs(sizes: readonly number[]): { repository: TestRepository; hashes: string[] } {
  const repository = testRepository();
  const hashes = sizes.map((size, index) =>
    repository
      .gitBytes(["hash-object", "-w", "--stdin"], Buffer.alloc(size, `${index} `))
      .toString()
      .trim(),
  );
  return { repository, hashes };
}

describe("an object process", () => {
  it("returns the beginning of a longer object, and keeps no more of it", async () => {
    const { repository, hashes } = withBlobs([3_000_000, 7, 100]);
    const { objects } = asking(batch, repository.folder);
    const found = await Promise.all(hashes.map((hash) => objects.findStart(hash, 10)));
    expect(found.map((each) => [each?.size, each?.bytes?.toString()])).toEqual([
      [3_000_000, "0 0 0 0 0 "],
      [7, "1 1 1 1"],
      [100, "2 2 2 2 2 "],
    ]);
    expect(found[0]!.bytes!.buffer.byteLength).toBe(10);
  });

  it("answers many concurrent requests, each with its own object", async () => {
    const sizes = [0, 1, 65_535, 65_536, 200_000, 3, 1_000_000, 7];
    const { repository, hashes } = withBlobs(sizes);
    const { objects, started } = asking(batch, repository.folder);
    const asked = [...hashes, "0".repeat(40), ...hashes.toReversed()];
    const found = await Promise.all(asked.map((hash) => objects.find(hash, 10_000_000)));
    for (const [index, each] of found.entries()) {
      const at = hashes.indexOf(asked[index]!);
      if (at < 0) expect(each).toBeUndefined();
      else expect(each!.bytes!.equals(Buffer.alloc(sizes[at]!, `${at} `))).toBe(true);
    }
    expect(started).toHaveLength(1);
  });

  it("skips content above the limit, and continues after it", async () => {
    const { repository, hashes } = withBlobs([500_000, 10]);
    const { objects, started } = asking(batch, repository.folder);
    const [large, small] = await Promise.all(hashes.map((hash) => objects.find(hash, 1000)));
    expect(large).toMatchObject({ type: "blob", size: 500_000 });
    expect(large!.bytes).toBeUndefined();
    expect(small!.bytes).toHaveLength(10);
    expect(started).toHaveLength(1);
  });

  it("that is killed in the middle of a response is restarted, and every request is answered", async () => {
    const { repository, hashes } = withBlobs([5_000_000, 10, 20]);
    const { objects, started } = asking(batch, repository.folder);
    const answers = hashes.map((hash) => objects.find(hash, 10_000_000));
    await expect.poll(() => started.length).toBe(1);
    await once(started[0]!.stdout!, "data");
    started[0]!.kill("SIGKILL");
    expect((await Promise.all(answers)).map((each) => each!.bytes!.length)).toEqual([5_000_000, 10, 20]);
    expect(started).toHaveLength(2);
  });

  it("that dies each time is given up after the second time", async () => {
    const { objects, started } = asking(["sh", "-c", "read x; exit 1"], scratchFolder());
    await refusal(objects.find("a".repeat(40)), ["unavailable"], "dies");
    expect(started).toHaveLength(2);
  });

  it.each([
    ["words", "read x; echo what is this nonsense; cat"],
    ["a size without an end", `read x; echo ${"a".repeat(40)} blob 99999999999999999999; cat`],
    ["a line without an end", "read x; head -c 100000 /dev/zero | tr '\\0' x; cat"],
    ["more than was asked for", `read x; printf '${"a".repeat(40)} missing\\n%.0s' 1 2 3; read y; exit 1`],
  ])("that responds with %s is killed", async (_what, script) => {
    const { objects } = asking(["sh", "-c", script], scratchFolder());
    const asked = objects.find("a".repeat(40), 100);
    const outcome = await asked.catch((cause: unknown) => cause);
    if (outcome !== undefined) await refusal(asked, ["unavailable"], script);
  });

  it("that does not respond in time is killed", async () => {
    const { objects, started } = asking(["sh", "-c", "exec sleep 600"], scratchFolder(), 50);
    await refusal(objects.find("a".repeat(40)), ["unavailable"], "sleeps");
    expect(started.every(({ killed }) => killed)).toBe(true);
  });

  it("that is idle ends, and the next request starts another", async () => {
    const { repository, hashes } = withBlobs([10]);
    const { objects, started } = asking(batch, repository.folder, 50);
    await objects.find(hashes[0]!, 100);
    await once(started[0]!, "close");
    expect((await objects.find(hashes[0]!, 100))!.bytes).toHaveLength(10);
    expect(started).toHaveLength(2);
  });

  it("is gone when it is closed, and pending requests are rejected", async () => {
    const { objects, started } = asking(["sh", "-c", "exec sleep 600"], scratchFolder());
    const asked = objects.find("a".repeat(40));
    const refused = refusal(asked, ["unavailable"], "closed");
    await expect.poll(() => started.length).toBe(1);
    await objects.close();
    await refused;
    expect(started[0]!.signalCode).toBe("SIGKILL");
    await refusal(objects.find("a".repeat(40)), ["cancelled"], "closed");
  });
});

async function refusalOrNothing(asked: Promise<unknown>, path: string, refused: string[]): Promise<void> {
  const failed = await asked.then(
    () => false,
    () => true,
  );
  if (failed) refused.push((await refusal(asked, ["unavailable", "not-found"], path)).message);
}

/** Makes every request once; resolves with the error messages. */
async function askAll(source: Source): Promise<string[]> {
  const refused: string[] = [];
  for (const path of [
    "status",
    "log",
    "branches",
    "tags",
    "commit/HEAD",
    "diff/HEAD/HEAD",
    "blob/HEAD/a.txt",
    "blame/HEAD/a.txt",
  ])
    await refusalOrNothing(source.read({ path }, call), path, refused);
  await refusalOrNothing(source.children!({ path: "tree/HEAD" }, { limit: 10 }, call), "tree/HEAD", refused);
  return refused;
}

describe("a repository", () => {
  it("fails with advice while git is not in PATH, and works when it is back", async () => {
    const repository = testRepository();
    repository.commit("first", { "a.txt": "a" });
    const source = await repository.open();
    process.env["PATH"] = scratchFolder();
    expect(await source.list({ limit: 10 }, call)).toMatchObject({ items: { length: 4 } });
    const refused = await askAll(source);
    expect(refused).toHaveLength(9);
    for (const message of refused) expect(message).toContain("install git 2.30 or newer");
    await refusal(source.watch!(call), ["unavailable"], "watch");
    process.env["PATH"] = realPath;
    expect(await askAll(source)).toEqual([]);
  });

  it("fails with advice if git is too old", async () => {
    const repository = testRepository();
    repository.commit("first", { "a.txt": "a" });
    const folder = scratchFolder();
    execFileSync("sh", [
      "-c",
      `printf '#!/bin/sh\\necho git version 2.11.0\\n' > '${folder}/git'; chmod +x '${folder}/git'`,
    ]);
    process.env["PATH"] = folder;
    const asked = (await repository.open()).read({ path: "status" }, call);
    expect((await refusal(asked, ["unavailable"], "old")).message).toContain("git 2.11 is too old");
  });

  it("that is moved away is reported, and works when it is back", async () => {
    const repository = testRepository();
    repository.commit("first", { "a.txt": "a" });
    const source = await repository.open();
    expect(await askAll(source)).toEqual([]);
    const away = join(scratchFolder(), "away");
    renameSync(repository.folder, away);
    const refused = await askAll(source);
    expect(refused).toContain("the repository of this mount does not exist at the moment");
    expect(refused.join("\n")).not.toContain(repository.folder);
    renameSync(away, repository.folder);
    expect(await askAll(source)).toEqual([]);
  });

  it("serves 200 concurrent files with one process for contents and one for names", async () => {
    const repository = testRepository();
    const files = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`f/${index}.txt`, `content ${index}`]));
    repository.commit("many", files);
    const source = await repository.open();
    const texts = await Promise.all(Object.keys(files).map((path) => readText(source, `blob/main/${path}`)));
    expect(texts).toEqual(Object.values(files));
    expect(await readFacts(source, "status")).toMatchObject({ clean: true });
  });

  it("works after its temporary folder is removed", async () => {
    const repository = testRepository();
    repository.commit("first", { "a.txt": "a" });
    const folder = scratchFolder();
    const temporary = process.env["TMPDIR"];
    process.env["TMPDIR"] = folder;
    try {
      const source = await repository.open();
      expect(await askAll(source)).toEqual([]);
      const [before] = readdirSync(folder);
      rmSync(join(folder, before!), { recursive: true });
      expect(await askAll(source)).toEqual([]);
      expect(readdirSync(folder)).not.toContain(before);
    } finally {
      if (temporary === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = temporary;
    }
  });

  it("stops a cancelled request", async () => {
    const repository = testRepository();
    repository.commit("first", { "a.txt": "a" });
    const source = await repository.open();
    const stop = new AbortController();
    const asked = source.read({ path: "status" }, { ...call, signal: stop.signal });
    stop.abort();
    await refusal(asked, ["cancelled"], "status");
    expect(await readText(source, "blob/HEAD/a.txt")).toBe("a");
  });
});
