/** Announcements for a folder that changes all the time: each change once, and nothing else. */
import * as fs from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Source, SourceChange, SourceWatch } from "../../source.ts";
import { createClock } from "../../testing/clock.ts";
import { createCoalescer } from "../../watch/coalesce.ts";
import { createHub } from "../../watch/hub.ts";
import { createWatchers } from "../../watch/watchers.ts";
import { useFolder } from "../disk/test-folder.ts";

const folder = useFolder();
const { at, call, open, write } = folder;

const folders = 5;
/** Numeric names, up to more than the number of open descriptors: events of a folder itself once had such a name. */
const filesPerFolder = 60;

const fileDeeds = {
  rewrite: (path: string) => write(path, `${Math.random()}`),
  "rewrite with the same content": (path: string) => write(path, fs.readFileSync(at(path))),
  append: (path: string) => fs.appendFileSync(at(path), "more"),
  replace(path: string) {
    write(`${path}~`, "other");
    fs.renameSync(at(`${path}~`), at(path));
  },
  touch: (path: string) => fs.utimesSync(at(path), new Date(), new Date()),
  remove: (path: string) => fs.rmSync(at(path)),
  "remove and make again": (path: string) => {
    fs.rmSync(at(path));
    write(path, "again");
  },
};

const deed = fc.record({
  name: fc.constantFrom(
    ...(Object.keys(fileDeeds) as (keyof typeof fileDeeds)[]),
    "make and remove another" as const,
    "move the folder away or back" as const,
    "remove the folder, or make it again" as const,
    "change the mode of the folder" as const,
  ),
  folder: fc.nat(folders - 1).map(String),
  file: fc.nat(filesPerFolder - 1),
});
type Deed = typeof deed extends fc.Arbitrary<infer T> ? T : never;

const pathsIn = (name: string) => Array.from({ length: filesPerFolder }, (_, file) => `${name}/${file}`);
const isThere = (path: string) => fs.existsSync(at(path));

/** Returns the changed paths. */
function perform({ name, folder: inside, file }: Deed): string[] {
  const path = `${inside}/${file}`;
  const all = pathsIn(inside);
  switch (name) {
    case "move the folder away or back":
      if (isThere(inside)) {
        const before = all.filter(isThere);
        fs.rmSync(at(`${inside}-moved`), { recursive: true, force: true });
        fs.renameSync(at(inside), at(`${inside}-moved`));
        return before;
      }
      if (!isThere(`${inside}-moved`)) return [];
      fs.renameSync(at(`${inside}-moved`), at(inside));
      return all.filter(isThere);
    case "remove the folder, or make it again": {
      const before = all.filter(isThere);
      fs.rmSync(at(inside), { recursive: true, force: true });
      if (before.length > 0) return before;
      for (const each of all) write(each, "again");
      return all;
    }
    case "change the mode of the folder":
      if (isThere(inside)) fs.chmodSync(at(inside), 0o700 + (file % 8));
      return [];
    case "make and remove another":
      if (!isThere(inside)) return [];
      write(`${path}.new`, "");
      fs.rmSync(at(`${path}.new`));
      return [];
    default:
      if (!isThere(path)) return [];
      fileDeeds[name](path);
      return [path];
  }
}

/** Announces as the router does, with a clock that stands still until all events have arrived. */
async function listenToAll(paths: readonly string[]) {
  const clock = createClock();
  const source = await open();
  const raw: SourceChange[] = [];
  const noting: Source = {
    ...source,
    async watch(asked) {
      const watch: SourceWatch = await source.watch(asked);
      const changes = watch[Symbol.asyncIterator]();
      const noted = { next: async () => note(await changes.next()), [Symbol.asyncIterator]: () => noted };
      return Object.assign(noted, watch.stateOf && { stateOf: watch.stateOf });
    },
  };
  function note(next: IteratorResult<SourceChange>): IteratorResult<SourceChange> {
    if (!next.done) raw.push(next.value);
    return next;
  }
  const touched: string[] = [];
  const hub = createHub<"reader">((_, touch) => touched.push(touch.kind === "path" ? touch.path : "list"));
  hub.register("reader", { paths: paths.map((path) => ({ mount: "m", path })), lists: [] });
  const watchers = createWatchers(noting, { name: "m" }, clock.runtime);
  await watchers.join((change) => hub.publish("m", change), call().signal);
  let marks = 0;
  return {
    /** Announcements since the last call. */
    async announced(): Promise<string[]> {
      marks += 1;
      const mark = `mark-${marks}`;
      write(mark, "");
      await expect
        .poll(() => raw.some((change) => "path" in change && change.path === mark), { timeout: 20_000 })
        .toBe(true);
      raw.length = 0;
      await clock.advance(5000);
      return touched.splice(0).sort();
    },
  };
}

describe("each change is announced once", () => {
  it.each([1, 2, 3])(
    "for any operations on files and folders (seed %i)",
    async (seed) => {
      const paths = Array.from({ length: folders }, (_, index) => pathsIn(String(index))).flat();
      for (const path of paths) write(path, "one");
      const { announced } = await listenToAll(paths);
      for (const each of fc.sample(deed, { seed, numRuns: 60 })) {
        const changed = perform(each);
        expect({ deed: each, announced: await announced() }).toEqual({ deed: each, announced: changed.sort() });
      }
    },
    60_000,
  );

  it("however often the system reports it, and a later change is announced", async () => {
    write("a.txt", "one");
    const { stateOf } = await (await open()).watch(call());
    const clock = createClock();
    const heard: SourceChange[] = [];
    const coalescer = createCoalescer((change) => heard.push(change), clock.runtime, { stateOf: stateOf! });
    async function report(): Promise<number> {
      coalescer.hear({ kind: "changed", path: "a.txt" });
      await clock.advance(2000);
      return heard.splice(0).length;
    }
    for (const text of ["two", "six", "six"]) {
      write("a.txt", text);
      await expect.poll(() => stateOf!("a.txt")).not.toBe(0);
      expect([await report(), await report(), await report()]).toEqual([1, 0, 0]);
    }
  });
});

describe("the state of a file", () => {
  const alike = "as long";

  it.each<[string, () => void]>([
    ["written", () => write("a.txt", alike)],
    [
      "written with its times set back",
      () => {
        const { atime, mtime } = fs.statSync(at("a.txt"));
        write("a.txt", alike);
        fs.utimesSync(at("a.txt"), atime, mtime);
      },
    ],
    ["replaced", () => fileDeeds.replace("a.txt")],
    ["appended to", () => fileDeeds.append("a.txt")],
    ["removed", () => fileDeeds.remove("a.txt")],
    ["removed and made again", () => fileDeeds["remove and make again"]("a.txt")],
  ])("changes when it is %s", async (_, change) => {
    write("a.txt", "another");
    const { stateOf } = await (await open()).watch(call());
    await expect.poll(() => stateOf!("a.txt")).not.toBe(0);
    const before = stateOf!("a.txt");
    expect(stateOf!("a.txt")).toBe(before);
    change();
    expect(stateOf!("a.txt")).not.toBe(before);
    if (!isThere("a.txt")) return;
    await expect.poll(() => stateOf!("a.txt")).not.toBe(0);
    expect(stateOf!("a.txt")).not.toBe(before);
  });

  it("is unknown while a change might not alter it, and for a missing file", async () => {
    const { stateOf } = await (await open()).watch(call());
    write("a.txt", "one");
    await expect
      .poll(() => {
        const isYoung = Date.now() - fs.statSync(at("a.txt")).ctimeMs < 10;
        const state = stateOf!("a.txt");
        if (!isYoung) write("a.txt", "one");
        return isYoung ? state : undefined;
      })
      .toBe(0);
    expect(stateOf!("nothing")).toBe(0);
  });
});
