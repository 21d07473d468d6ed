import { execFileSync, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it, vi } from "vitest";
import type { SourceChange } from "../../source.ts";
import { collectChanges } from "../../testing/listen.ts";
import { useFolder } from "../disk/test-folder.ts";

const folder = useFolder();
const { at, call, link, open, write } = folder;

// In CI, a missing program is a failure and not a skip.
const hasGit = "CI" in process.env || spawnSync("git", ["--version"]).status === 0;

const kindIs = (kind: SourceChange["kind"], path: string) => (change: SourceChange) =>
  change.kind === kind && "path" in change && change.path === path;

async function hear(options: Readonly<Record<string, unknown>> = {}) {
  const source = await open(options);
  const { until, heard, ended } = collectChanges(await source.watch(call()));
  return {
    heard,
    ended,
    paths: () => new Set(heard.flatMap((change) => ("path" in change ? [change.path] : []))),
    until: (kind: SourceChange["kind"], path: string) => until(kindIs(kind, path), `${kind} ${path}`),
    untilThere: (path: string) =>
      until((change) => change.kind !== "gone" && "path" in change && change.path === path, `that ${path} is there`),
    untilSo: (isSo: () => boolean) => until((change) => change === heard.at(-1) && isSo(), "all of it"),
    untilLost: (times: number) =>
      until(() => heard.filter(({ kind }) => kind === "lost").length >= times, `"lost" for the ${times}. time`),
    /** Resolves when all earlier changes have been received. */
    async settle() {
      write("~settled", "");
      await until(kindIs("appeared", "~settled"), "settled");
    },
  };
}

/** The files after applying the received changes to the earlier state. */
function replayed(before: ReadonlySet<string>, heard: readonly SourceChange[]): Set<string> {
  const paths = new Set(before);
  for (const change of heard) {
    if (change.kind === "gone") paths.delete(change.path);
    if (change.kind === "appeared" && change.path.endsWith(".txt")) paths.add(change.path);
  }
  return new Set([...paths].sort());
}

async function served(): Promise<Set<string>> {
  const { items } = await (await open()).list({ limit: 10_000 }, call());
  return new Set(items.map(({ path }) => path).sort());
}

describe("watch", () => {
  it("reports what is created, changed, renamed and removed", async () => {
    write("a.txt", "");
    const { until } = await hear();
    write("b.txt", "");
    await until("appeared", "b.txt");
    fs.appendFileSync(at("a.txt"), "more");
    await until("changed", "a.txt");
    fs.renameSync(at("a.txt"), at("c.txt"));
    await until("gone", "a.txt");
    await until("appeared", "c.txt");
    fs.rmSync(at("b.txt"));
    await until("gone", "b.txt");
  });

  it("reports a file saved by renaming as changed, and nothing else", async () => {
    write("a.txt", "one");
    const { heard, settle } = await hear();
    write(".a.txt.swp", "two");
    fs.renameSync(at(".a.txt.swp"), at("a.txt"));
    await settle();
    expect(heard.filter((change) => "path" in change && change.path !== "~settled")).toEqual([
      { kind: "changed", path: "a.txt" },
    ]);
  });

  it("never reports hidden files", async () => {
    const { heard, settle } = await hear();
    write(".env", "SECRET=1");
    write("node_modules/x/index.js", "");
    write("id_rsa", "");
    write(".git/refs/heads/main", "");
    link(".env", "notes.txt");
    link("../", "up");
    execFileSync("mkfifo", [at("pipe")]);
    fs.writeFileSync(Buffer.from(`${folder.root}/broken-\xff.txt`, "latin1"), "x");
    fs.rmSync(at(".env"));
    await settle();
    expect(heard.filter((change) => !("path" in change) || change.path !== "~settled")).toEqual([]);
  });

  it("reports a thousand files created together in new folders, and later changes of them", async () => {
    const { until } = await hear();
    const paths: string[] = [];
    for (let index = 0; index < 1000; index += 1) paths.push(`new/${index % 10}/${index % 100}/${index}.txt`);
    for (const path of paths) write(path, "");
    for (const path of paths) await until("appeared", path);
    await until("appeared", "new/3/13");
    for (const path of paths) fs.appendFileSync(at(path), "x");
    for (const path of paths) await until("changed", path);
    fs.rmSync(at("new"), { recursive: true });
    for (const path of paths) await until("gone", path);
    await until("gone", "new");
  }, 30_000);

  it("reports all files in a folder that is moved in, within or out", async () => {
    fs.mkdirSync(join(folder.above, "outside/deep"), { recursive: true });
    fs.writeFileSync(join(folder.above, "outside/deep/a.txt"), "");
    const { until } = await hear();
    fs.renameSync(join(folder.above, "outside"), at("in"));
    await until("appeared", "in/deep/a.txt");
    fs.appendFileSync(at("in/deep/a.txt"), "x");
    await until("changed", "in/deep/a.txt");
    fs.renameSync(at("in"), at("within"));
    await until("gone", "in/deep/a.txt");
    await until("gone", "in");
    await until("appeared", "within/deep/a.txt");
    write("within/deep/b.txt", "");
    await until("appeared", "within/deep/b.txt");
    fs.renameSync(at("within"), join(folder.above, "outside"));
    await until("gone", "within/deep/a.txt");
    await until("gone", "within/deep");
  });

  it("reports a file that is removed and created again, and such a folder", async () => {
    write("a.txt", "one");
    write("folder/b.txt", "one");
    const { until, untilThere } = await hear();
    fs.rmSync(at("a.txt"));
    write("a.txt", "two");
    await untilThere("a.txt");
    fs.rmSync(at("folder"), { recursive: true });
    write("folder/c.txt", "two");
    await until("appeared", "folder/c.txt");
    write("folder/d.txt", "");
    await until("appeared", "folder/d.txt");
  });

  it("reports lost when the root is replaced, and watches the new one", async () => {
    write("a.txt", "");
    const { until, untilLost } = await hear();
    fs.renameSync(folder.root, join(folder.above, "moved"));
    await untilLost(1);
    fs.mkdirSync(folder.root);
    await untilLost(2);
    write("b.txt", "");
    await until("appeared", "b.txt");
  }, 20_000);

  it("says why the root cannot be read, anew after each check, until it is there again", async () => {
    const source = await open({ pollMs: 100 });
    const watch = await source.watch(call());
    const { until } = collectChanges(watch);
    expect(watch.failure).toBeUndefined();
    fs.renameSync(folder.root, join(folder.above, "moved"));
    await until(({ kind }) => kind === "lost", "lost");
    await expect.poll(() => watch.failure).toMatchObject({ kind: "unavailable", passing: true });
    const first = watch.failure;
    await expect.poll(() => watch.failure !== first).toBe(true);
    fs.mkdirSync(folder.root);
    await expect.poll(() => watch.failure).toBeUndefined();
    write("b.txt", "");
    await until(kindIs("appeared", "b.txt"), "b.txt");
  }, 20_000);

  it("does not take an empty folder for one that cannot be read", async () => {
    const source = await open({ pollMs: 100 });
    const watch = await source.watch(call());
    const { until } = collectChanges(watch);
    for (const kind of ["appeared", "gone"] as const)
      for (const name of ["a.txt", "b.txt", "c.txt"]) {
        if (kind === "appeared") write(name, "");
        else fs.rmSync(at(name));
        await until(kindIs(kind, name), `${kind} ${name}`);
        expect(watch.failure).toBeUndefined();
      }
  });

  it("cannot be armed while the root is missing, and can afterwards", async () => {
    const source = await open();
    fs.rmSync(folder.root, { recursive: true });
    await expect(source.watch(call())).rejects.toMatchObject({
      kind: "unavailable",
      message: "the folder of this mount cannot be read at the moment",
    });
    fs.mkdirSync(folder.root);
    const { until } = collectChanges(await source.watch(call()));
    write("a.txt", "");
    await until(kindIs("appeared", "a.txt"), "a.txt");
  });

  it("reports each of ten thousand simultaneous changes", async () => {
    const paths: string[] = [];
    for (let index = 0; index < 10_000; index += 1) paths.push(`${index % 100}/${index}.txt`);
    for (const path of paths) write(path, "");
    const { heard, paths: heardOf, settle } = await hear();
    for (const path of paths) fs.appendFileSync(at(path), "x");
    await settle();
    const told = heardOf();
    // After "lost", nothing counts as missed.
    if (!heard.some(({ kind }) => kind === "lost")) expect(paths.filter((path) => !told.has(path))).toEqual([]);
  }, 60_000);

  it.skipIf(!hasGit)(
    "reports all changes of a branch switch (skipped without git)",
    async () => {
      git("init", "-q", "-b", "one");
      for (let index = 0; index < 300; index += 1) write(`shared/${index % 7}/${index}.txt`, "one");
      for (let index = 0; index < 100; index += 1) write(`only-one/${index % 3}/${index}.txt`, "one");
      write(".gitignore", "built/\n");
      commit();
      git("checkout", "-q", "-b", "two");
      for (let index = 0; index < 300; index += 1) write(`shared/${index % 7}/${index}.txt`, "two, and longer");
      fs.rmSync(at("only-one"), { recursive: true });
      for (let index = 0; index < 100; index += 1) write(`only-two/${index % 3}/${index}.txt`, "two");
      write(".gitignore", "built/\nshared/6/\n");
      commit();
      git("checkout", "-q", "one");
      write("built/a.txt", "");
      const before = await served();
      const { heard, paths, settle, untilSo } = await hear();
      git("checkout", "-q", "two");
      const now = await served();
      expect(now).not.toEqual(before);
      const isTrue = () =>
        isDeepStrictEqual(replayed(before, heard), now) && [...now].every((path) => paths().has(path));
      // After "lost", nothing counts as missed.
      await untilSo(() => heard.some(({ kind }) => kind === "lost") || isTrue());
      await settle();
      expect([...paths()].filter((path) => path.startsWith(".git"))).toEqual([]);
      expect(replayed(before, heard)).not.toContain("built/a.txt");
    },
    60_000,
  );
});

describe("what is served", () => {
  it("appears and disappears with the ignore files, and nothing else is reported", async () => {
    for (const path of ["a/x.log", "a/y.txt", "a/deep/z.log", "b/x.log", "ignored/c.txt"]) write(path, "");
    write(".gitignore", "ignored/\n");
    const { heard, until, settle } = await hear();
    write("a/.gitignore", "*.log\n");
    await until("gone", "a/x.log");
    await until("gone", "a/deep/z.log");
    write("a/more.log", "");
    write("ignored/d.txt", "");
    fs.writeFileSync(at("a/.gitignore"), "*.log\n!z.log\n");
    await until("appeared", "a/deep/z.log");
    fs.writeFileSync(at(".gitignore"), "");
    await until("appeared", "ignored/c.txt");
    await until("appeared", "ignored/d.txt");
    write("ignored/e.txt", "");
    await until("appeared", "ignored/e.txt");
    fs.rmSync(at("a/.gitignore"));
    await until("appeared", "a/more.log");
    fs.renameSync(at(".gitignore"), at(".ignore"));
    fs.writeFileSync(at(".ignore"), "a\n");
    await until("gone", "a");
    await settle();
    expect(heard.filter((change) => "path" in change && change.path.startsWith("b"))).toEqual([]);
    expect(heard.filter(({ kind }) => kind === "lost" || kind === "changed")).toEqual([]);
  });

  it("appears and disappears with the excludes of the repository and of the user, which are polled", async () => {
    write(".git/HEAD", "ref: refs/heads/main");
    for (const path of ["a.txt", "b.txt", "c.txt"]) write(path, "");
    const { until } = await hear({ pollMs: 100 });
    write(".git/info/exclude", "a.txt\n");
    await until("gone", "a.txt");
    fs.mkdirSync(join(folder.home, ".config/git"), { recursive: true });
    fs.writeFileSync(join(folder.home, ".config/git/ignore"), "b.txt\n");
    await until("gone", "b.txt");
    fs.rmSync(at(".git"), { recursive: true });
    await until("appeared", "a.txt");
  });

  it("is reported as lost if very many files change together", async () => {
    for (let index = 0; index < 25_000; index += 1) write(`many/${index % 50}/${index}`, "");
    const { until, untilLost } = await hear();
    write(".gitignore", "many\n");
    await untilLost(1);
    write("after.txt", "");
    await until("appeared", "after.txt");
  }, 60_000);
});

describe("polling", () => {
  it("finds what is created, changed, removed and moved, and what is no longer ignored", async () => {
    write("a/b.txt", "one");
    write(".gitignore", "ignored\n");
    write("ignored/x.txt", "");
    const { until } = await hear({ watch: "poll", pollMs: 100 });
    write("a/c.txt", "");
    await until("appeared", "a/c.txt");
    write("a/b.txt", "two, and longer");
    await until("changed", "a/b.txt");
    fs.renameSync(at("a"), at("d"));
    await until("gone", "a/b.txt");
    await until("appeared", "d/b.txt");
    write(".gitignore", "");
    await until("appeared", "ignored/x.txt");
    fs.rmSync(at("d/b.txt"));
    await until("gone", "d/b.txt");
  }, 30_000);
});

/** The ids of the watching threads, from the system. */
function watchingThreads(): string[] {
  return fs.readdirSync("/proc/self/task").filter((id) => {
    try {
      return fs.readFileSync(`/proc/self/task/${id}/comm`, "utf8").startsWith("pressmark-file");
    } catch {
      return false;
    }
  });
}

function watchingOptions() {
  return {
    root: folder.root,
    choice: { ignore: true, hidden: false, allow: [], exclude: [] },
    person: { home: folder.home },
    announced: true,
    polled: false,
    pollMs: 2000,
    log: () => undefined,
  };
}

describe.runIf(process.platform === "linux")("the thread", () => {
  it("starts with the first watch, is shared, and ends with the last or with the source", async () => {
    const source = await open();
    expect(watchingThreads()).toEqual([]);
    const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()];
    const { caller } = call();
    const one = collectChanges(await source.watch({ caller, signal: first.signal }));
    const threads = watchingThreads();
    expect(threads).toHaveLength(1);
    const two = collectChanges(await source.watch({ caller, signal: second.signal }));
    expect(watchingThreads()).toEqual(threads);
    write("a.txt", "");
    await one.until(kindIs("appeared", "a.txt"), "a.txt");
    await two.until(kindIs("appeared", "a.txt"), "a.txt");
    first.abort();
    second.abort();
    await Promise.all([one.ended, two.ended]);
    await vi.waitFor(() => expect(watchingThreads()).toEqual([]));
    const three = collectChanges(await source.watch({ caller, signal: third.signal }));
    write("b.txt", "");
    await three.until(kindIs("appeared", "b.txt"), "b.txt");
    await source.close();
    await three.ended;
    expect(watchingThreads()).toEqual([]);
  });

  it("does not keep the process running after the last watch", () => {
    const options = watchingOptions();
    const script = `
      const { createFolderWatcher } = await import(${JSON.stringify(new URL("./watch.ts", import.meta.url).href)});
      const watching = createFolderWatcher({ ...${JSON.stringify(options)}, log() {} });
      const stop = new AbortController();
      const changes = await watching.watch(stop.signal);
      stop.abort();
      for await (const change of changes);
      console.log("ended");`;
    const said = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
      encoding: "utf8",
      timeout: 50_000,
    });
    expect(said).toBe("ended\n");
  });

  it("ends if it runs out of memory, and watchers get an error", async () => {
    for (let index = 0; index < 30; index += 1) fs.mkdirSync(at(`${index}`));
    for (let index = 0; index < 30_000; index += 1)
      fs.writeFileSync(at(`${index % 30}/${index}${"long".repeat(50)}`), "");
    // In a separate process: settings of this one may override the limit.
    const options = { ...watchingOptions(), maxHeapMb: 8 };
    const script = `
      const { createFolderWatcher } = await import(${JSON.stringify(new URL("./watch.ts", import.meta.url).href)});
      const watching = createFolderWatcher({ ...${JSON.stringify(options)}, log() {} });
      const said = await watching.watch(new AbortController().signal).then(() => "armed", ({ kind, passing, cause }) => [kind, passing, cause?.code]);
      await watching.close();
      console.log(JSON.stringify(said));`;
    const said = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
      encoding: "utf8",
      timeout: 50_000,
    });
    expect(JSON.parse(said)).toEqual(["unavailable", true, "ERR_WORKER_OUT_OF_MEMORY"]);
  }, 60_000);
});

function git(...words: readonly string[]): void {
  execFileSync("git", words, {
    cwd: folder.root,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder.home, GIT_CONFIG_NOSYSTEM: "1" },
  });
}

function commit(): void {
  git("add", "-A");
  git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "-m", "x");
}
