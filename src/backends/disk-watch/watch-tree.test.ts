import * as fs from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import type { SourceChange } from "../../source.ts";
import { collectChanges } from "../../testing/listen.ts";
import { createConfine } from "../disk/confine.ts";
import { createLocalDisk } from "../disk/disk.ts";
import type { Disk } from "../disk/disk.ts";
import { useFolder } from "../disk/test-folder.ts";
import { createWatchTree } from "./watch-tree.ts";
import type { WatchTree, WatchTreeOptions } from "./watch-tree.ts";

const folder = useFolder();
const { at, write } = folder;

/** As in the thread: nothing is assumed unchanged. */
const disk: Disk = { ...createLocalDisk(), trustMs: 0 };

let tree: WatchTree | undefined;
afterEach(() => tree?.close());

function stand(options: Partial<WatchTreeOptions>) {
  const polled: number[] = [];
  let wake: (() => void) | undefined;
  let queue: SourceChange[] = [];
  const folderRules = folder.rules(disk);
  tree = createWatchTree({
    confine: createConfine(folder.root, disk, folderRules),
    disk,
    folderRules,
    tell(changes) {
      queue.push(...changes);
      wake?.();
    },
    polling: (folders) => polled.push(folders),
    ...options,
  });
  tree.arm();
  async function* told(): AsyncGenerator<SourceChange> {
    for (;;) {
      const batch = queue;
      queue = [];
      yield* batch;
      if (queue.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  }
  const { until, heard } = collectChanges(told());
  return {
    heard,
    polled,
    untilLost: () => until(({ kind }) => kind === "lost", "lost"),
    until: (kind: SourceChange["kind"], path: string) =>
      until((change) => change.kind === kind && "path" in change && change.path === path, `${kind} ${path}`),
  };
}

it("reports that events wait before it reports changes, and then that none waits", async () => {
  const told: unknown[] = [];
  const { until } = stand({ busy: (isBusy) => told.push(isBusy) });
  for (let index = 0; index < 50; index += 1) write(`prepared/${index}`, "");
  await until("appeared", "prepared/49");
  await expect.poll(() => told.at(-1)).toBe(false);
  expect(told[0]).toBe(true);
});

function noMoreWatches(): never {
  throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
}

/** Too rarely to matter. */
const hardlyEver = { pollMs: 1_000_000 };

describe("replacements", () => {
  it("a folder that replaces another is watched instead", async () => {
    write("deep/b.txt", "one");
    const { until } = stand(hardlyEver);
    fs.renameSync(at("deep"), `${folder.above}/elsewhere`);
    write("deep/c.txt", "two");
    await until("gone", "deep/b.txt");
    await until("appeared", "deep/c.txt");
    write("deep/d.txt", "");
    await until("appeared", "deep/d.txt");
  });

  it("a root that is moved away is noticed immediately", async () => {
    write("a.txt", "");
    const { untilLost } = stand(hardlyEver);
    fs.renameSync(folder.root, `${folder.above}/moved`);
    await untilLost();
  });

  it("a root that may no longer be read is reported once, and so is its return", async () => {
    write("a.txt", "");
    let isRefused = false;
    const looks: boolean[] = [];
    const { heard, until } = stand({
      pollAll: true,
      pollMs: 5,
      looked: (isReadable) => looks.push(isReadable),
      disk: {
        ...disk,
        kinds(path) {
          if (isRefused) throw Object.assign(new Error("permission denied"), { code: "EACCES" });
          return disk.kinds(path);
        },
      },
    });
    await expect.poll(() => looks.length).toBeGreaterThan(2);
    expect(new Set(looks)).toEqual(new Set([true]));
    isRefused = true;
    await until("gone", "a.txt");
    const before = looks.length;
    await expect.poll(() => looks.length).toBeGreaterThan(before + 3);
    expect(looks.slice(before + 1)).not.toContain(true);
    // A file is reported as changed until its time stamp is old enough to compare.
    const kinds = () => heard.map(({ kind }) => kind).filter((kind) => kind !== "changed");
    expect(kinds()).toEqual(["gone"]);
    isRefused = false;
    await expect.poll(() => looks.at(-1)).toBe(true);
    write("b.txt", "");
    await until("appeared", "b.txt");
    expect(kinds()).toEqual(["gone", "lost", "appeared"]);
  });

  it("a file that replaces a folder, and a folder that replaces a file, are reported", async () => {
    write("a/b.txt", "");
    write("c", "");
    const { until } = stand(hardlyEver);
    fs.rmSync(at("a"), { recursive: true });
    write("a", "a file now");
    fs.rmSync(at("c"));
    write("c/d.txt", "");
    await until("gone", "a/b.txt");
    await until("gone", "a");
    await until("appeared", "a");
    await until("gone", "c");
    await until("appeared", "c/d.txt");
    write("c/e.txt", "");
    await until("appeared", "c/e.txt");
  });
});

function writeIgnored(): void {
  write(".gitignore", "built/\n*.log\n");
  write("built/a.txt", "");
}

function isOfIgnored(change: SourceChange): boolean {
  return "path" in change && /built|log/.test(change.path);
}

describe("while an ignore file is rewritten", () => {
  it("the old rules apply, and other changes are reported immediately", async () => {
    writeIgnored();
    const told = stand({ ...hardlyEver, ruleQuietMs: 1_000_000, maxRuleHoldMs: 1_000_000 });
    fs.rmSync(at(".gitignore"));
    write("new/b.log", "");
    write("c.log", "");
    for (let index = 0; index < 50; index += 1) {
      write(`${index}.txt`, "");
      await told.until("appeared", `${index}.txt`);
    }
    expect(told.heard.filter(isOfIgnored)).toEqual([]);
  });

  it("the new rules apply after a quiet period, also to new folders", async () => {
    writeIgnored();
    const { until } = stand({ ...hardlyEver, ruleQuietMs: 20 });
    fs.rmSync(at(".gitignore"));
    await until("appeared", "built/a.txt");
    write("new/b.log", "");
    await until("appeared", "new/b.log");
    write(".gitignore", "*.log\n");
    await until("gone", "new/b.log");
  });

  it("the new rules apply eventually, even without a quiet period", async () => {
    writeIgnored();
    const { until } = stand({ ...hardlyEver, ruleQuietMs: 1_000_000, maxRuleHoldMs: 20 });
    fs.rmSync(at(".gitignore"));
    await until("appeared", "built/a.txt");
    write("new/b.log", "");
    await until("appeared", "new/b.log");
  });

  it("the old rules apply in polled folders, too", async () => {
    writeIgnored();
    const folderRules = folder.rules(disk);
    const { promise: isMissed, resolve: missed } = Promise.withResolvers<void>();
    const told = stand({
      watch: noMoreWatches,
      pollMs: 5,
      ruleQuietMs: 1_000_000,
      maxRuleHoldMs: 1_000_000,
      folderRules: {
        ...folderRules,
        rulesAmong(read, names) {
          if (read.path === "" && names.length === 0) missed();
          return folderRules.rulesAmong(read, names);
        },
      },
    });
    fs.rmSync(at(".gitignore"));
    await isMissed;
    write(".gitignore", "built/\n*.log\n");
    write("d.txt", "");
    await told.until("appeared", "d.txt");
    expect(told.heard.filter(isOfIgnored)).toEqual([]);
  });
});

describe("if the system has no more watches", () => {
  it("the rest is polled, and changes are reported", async () => {
    write("a.txt", "one");
    write("deep/b.txt", "one");
    const { until, polled } = stand({ watch: noMoreWatches, pollMs: 5 });
    expect(polled).toEqual([2]);
    write("a.txt", "two");
    await until("changed", "a.txt");
    write("deep/new/c.txt", "");
    await until("appeared", "deep/new");
    await until("appeared", "deep/new/c.txt");
    fs.rmSync(at("deep"), { recursive: true });
    await until("gone", "deep/b.txt");
    await until("gone", "deep/new/c.txt");
    await until("gone", "deep");
    write("deep/b.txt", "again");
    await until("appeared", "deep/b.txt");
  });

  it("a folder that is replaced between two polls is noticed", async () => {
    write("deep/b.txt", "one");
    const { until } = stand({ watch: noMoreWatches, pollMs: 5 });
    fs.renameSync(at("deep"), `${folder.above}/elsewhere`);
    write("deep/c.txt", "two");
    await until("gone", "deep/b.txt");
    await until("appeared", "deep/c.txt");
  });
});

describe("when events may be lost", () => {
  it("after too many events in one turn, everything is compared again", async () => {
    const { until, untilLost, heard } = stand({ maxQueued: 100 });
    for (let index = 0; index < 200; index += 1) write(`${index}.txt`, "");
    await untilLost();
    write("after.txt", "");
    await until("appeared", "after.txt");
    fs.rmSync(at("7.txt"));
    await until("gone", "7.txt");
    expect(heard.filter(({ kind }) => kind === "lost").length).toBeGreaterThan(0);
  });

  it("a watch that fails is replaced by polling", async () => {
    write("deep/b.txt", "one");
    const failing: (() => void)[] = [];
    const { until, untilLost } = stand({
      watch(_, __, fail) {
        failing.push(fail);
        return { close() {} };
      },
      pollMs: 5,
    });
    expect(failing).toHaveLength(2);
    write("deep/c.txt", "");
    for (const fail of failing) fail();
    await untilLost();
    write("deep/b.txt", "two");
    await until("changed", "deep/b.txt");
  });

  it("changes from another machine are found by polling", async () => {
    write("a.txt", "one");
    const { until, polled } = stand({ watch: () => ({ close() {} }), pollAll: true, pollMs: 5 });
    write("a.txt", "two");
    await until("changed", "a.txt");
    expect(polled).toEqual([]);
  });
});
