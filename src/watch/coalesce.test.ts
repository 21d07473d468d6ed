import { describe, expect, it } from "vitest";
import type { SourceChange } from "../source.ts";
import { createClock } from "../testing/clock.ts";
import { createCoalescer } from "./coalesce.ts";
import type { CoalesceOptions } from "./coalesce.ts";

function start(options: CoalesceOptions = {}) {
  const clock = createClock();
  const heard: SourceChange[] = [];
  const coalescer = createCoalescer((change) => heard.push(change), clock.runtime, options);
  const said = () =>
    heard.splice(0).map((change) => (change.kind === "lost" ? "lost" : `${change.kind} ${change.path}`));
  const hear = (...changes: `${"changed" | "appeared" | "gone"} ${string}`[]) => {
    for (const change of changes) {
      const [kind, path] = change.split(" ") as ["changed", string];
      coalescer.hear({ kind, path });
    }
  };
  return { clock, coalescer, hear, said };
}

describe("coalesced changes", () => {
  it("are announced after 30 ms of quiet", async () => {
    const { clock, hear, said } = start();
    hear("changed a");
    await clock.advance(29);
    expect(said()).toEqual([]);
    await clock.advance(1);
    expect(said()).toEqual(["changed a"]);
  });

  it.each([-3_600_000, 3_600_000])("are announced as usual when the wall clock is set by %i ms", async (byMs) => {
    const { clock, hear, said } = start();
    hear("changed a");
    await clock.advance(30);
    hear("changed a", "changed b");
    clock.setWallClock(byMs);
    await clock.advance(30);
    expect(said()).toEqual(["changed a", "changed b"]);
    await clock.advance(970);
    expect(said()).toEqual(["changed a"]);
  });

  it("wait again with each further change of the same path", async () => {
    const { clock, hear, said } = start();
    for (let round = 0; round < 5; round += 1) {
      hear("changed a");
      await clock.advance(20);
    }
    expect(said()).toEqual([]);
    await clock.advance(10);
    expect(said()).toEqual(["changed a"]);
  });

  it("are held for at most a second, and announced at most once a second, under continuous writing", async () => {
    const { clock, hear, said } = start();
    const announcedMs: number[] = [];
    for (let ms = 0; ms <= 5000; ms += 10) {
      hear("changed a");
      await clock.advance(10);
      if (said().length > 0) announcedMs.push(ms + 10);
    }
    expect(announcedMs).toEqual([1000, 2000, 3000, 4000, 5000]);
  });

  it("of one path are a second apart, whatever their timing, and the last is never lost", async () => {
    const { clock, hear, said } = start();
    hear("changed a");
    await clock.advance(30);
    expect(said()).toEqual(["changed a"]);
    hear("changed a");
    await clock.advance(999);
    expect(said()).toEqual([]);
    await clock.advance(1);
    expect(said()).toEqual(["changed a"]);
    await clock.advance(5000);
    hear("changed a");
    await clock.advance(30);
    expect(said()).toEqual(["changed a"]);
  });

  it("of one path do not delay those of another", async () => {
    const { clock, hear, said } = start();
    hear("changed a");
    await clock.advance(30);
    said();
    hear("changed a", "changed b");
    await clock.advance(30);
    expect(said()).toEqual(["changed b"]);
  });

  it.each([
    [["appeared a", "gone a"], []],
    [["gone a", "appeared a"], ["changed a"]],
    [["gone a", "changed a"], ["changed a"]],
    [["appeared a", "changed a"], ["appeared a"]],
    [["changed a", "gone a"], ["gone a"]],
    [["changed a", "changed a"], ["changed a"]],
    [["gone a", "gone a"], ["gone a"]],
    [["appeared a", "gone a", "appeared a"], ["appeared a"]],
    [["changed a", "gone a", "appeared a"], ["changed a"]],
  ] as const)("%j are announced as %j", async (changes, announced) => {
    const { clock, hear, said } = start();
    hear(...changes);
    await clock.advance(30);
    expect(said()).toEqual(announced);
    expect(clock.waiting).toBe(0);
  });

  it("make one change of the target when a file is saved through a temporary one", async () => {
    const { clock, hear, said } = start();
    hear("appeared .a.tmp", "changed .a.tmp", "gone .a.tmp", "changed a");
    await clock.advance(2000);
    expect(said()).toEqual(["changed a"]);
    hear("appeared .a.tmp", "changed .a.tmp", "gone a", "gone .a.tmp", "appeared a");
    await clock.advance(2000);
    expect(said()).toEqual(["changed a"]);
  });

  it("are replaced by lost, which passes immediately", async () => {
    const { clock, coalescer, hear, said } = start();
    hear("changed a", "gone b");
    coalescer.hear({ kind: "lost" });
    expect(said()).toEqual(["lost"]);
    await clock.advance(2000);
    expect(said()).toEqual([]);
  });

  it("become one lost when too many paths wait, and continue from there", async () => {
    const { clock, hear, said } = start({ maxPending: 3 });
    hear("changed a", "changed b", "changed c", "changed a");
    expect(said()).toEqual([]);
    hear("changed d");
    expect(said()).toEqual(["lost"]);
    hear("changed e");
    await clock.advance(30);
    expect(said()).toEqual(["changed e"]);
  });

  it("of fifty thousand paths use a single timer", async () => {
    const { clock, hear, said } = start();
    for (let index = 0; index < 50_000; index += 1) hear(`changed ${index}`);
    expect(clock.waiting).toBe(1);
    await clock.advance(30);
    expect(said()).toHaveLength(50_000);
    expect(clock.waiting).toBe(0);
  });

  it("are not merged across the arrival of a new listener", async () => {
    const { clock, coalescer, hear, said } = start();
    hear("appeared a", "gone b", "appeared c");
    coalescer.newcomer();
    hear("gone a", "appeared b", "changed c");
    expect(said()).toEqual(["appeared a", "gone b"]);
    await clock.advance(2000);
    expect(said().sort()).toEqual(["appeared b", "appeared c", "gone a"]);
  });

  it("are not announced after closing, and no timer is left", async () => {
    const { clock, coalescer, hear, said } = start();
    hear("changed a");
    coalescer.close();
    hear("changed b");
    await clock.advance(2000);
    expect(said()).toEqual([]);
    expect(clock.waiting).toBe(0);
  });
});

function startWithStates() {
  const states = new Map<string, number>();
  return { states, ...start({ stateOf: (path) => states.get(path) ?? 0 }) };
}

describe("a path whose state is known", () => {
  it.each(["changed a", "appeared a"] as const)(
    "that is unchanged since %j was announced is not announced again",
    async (first) => {
      const { clock, hear, said, states } = startWithStates();
      states.set("a", 1);
      hear(first);
      await clock.advance(30);
      expect(said()).toEqual([first]);
      hear("changed a");
      await clock.advance(5000);
      expect(said()).toEqual([]);
      hear("gone a", "appeared a");
      await clock.advance(2000);
      expect(said()).toEqual([]);
      expect(clock.waiting).toBe(0);
    },
  );

  it("is announced whenever the state differs, even if it is one from before", async () => {
    const { clock, hear, said, states } = startWithStates();
    for (const state of [1, 2, 1]) {
      states.set("a", state);
      hear("changed a");
      await clock.advance(1000);
      expect(said()).toEqual(["changed a"]);
    }
  });

  it("is compared with its state when it is announced, not when the change is received", async () => {
    const { clock, hear, said, states } = startWithStates();
    states.set("a", 1);
    hear("changed a");
    states.set("a", 2);
    await clock.advance(30);
    expect(said()).toEqual(["changed a"]);
    hear("changed a");
    await clock.advance(1000);
    expect(said()).toEqual([]);
  });

  it("is announced if either state is unknown", async () => {
    const { clock, hear, said, states } = startWithStates();
    for (const state of [0, 0, 1, 0, 1]) {
      states.set("a", state);
      hear("changed a");
      await clock.advance(1000);
      expect(said()).toEqual(["changed a"]);
    }
  });

  it("is announced when it goes, and when it appears again unchanged", async () => {
    const { clock, hear, said, states } = startWithStates();
    states.set("a", 1);
    for (const change of ["changed a", "gone a", "appeared a"] as const) {
      hear(change);
      await clock.advance(1000);
      expect(said()).toEqual([change]);
    }
  });
});

describe.each(["eachBelow", "isUnlisted"] as const)("%s", (flag) => {
  it.each([
    [[true], true],
    [[true, true], true],
    [[true, false], false],
    [[false, true], false],
  ])("is announced if all merged changes have it: %j", async (each, isAnnounced) => {
    const clock = createClock();
    const heard: SourceChange[] = [];
    const coalescer = createCoalescer((change) => heard.push(change), clock.runtime);
    for (const isEach of each) coalescer.hear({ kind: "gone", path: "d", ...(isEach && { [flag]: true }) });
    await clock.advance(30);
    expect(heard).toEqual([{ kind: "gone", path: "d", ...(isAnnounced && { [flag]: true }) }]);
  });

  it("does not depend on changes of content", async () => {
    const clock = createClock();
    const heard: SourceChange[] = [];
    const coalescer = createCoalescer((change) => heard.push(change), clock.runtime);
    coalescer.hear({ kind: "changed", path: "d" });
    coalescer.hear({ kind: "gone", path: "d", [flag]: true });
    await clock.advance(30);
    expect(heard).toEqual([{ kind: "gone", path: "d", [flag]: true }]);
  });
});

describe("a directory", () => {
  it("that changed and waits is announced together with an entry that appears or goes in it", async () => {
    const { clock, hear, said } = start();
    hear("changed d");
    await clock.advance(30);
    expect(said()).toEqual(["changed d"]);
    hear("changed d", "appeared d/new", "changed e");
    await clock.advance(30);
    expect(said()).toEqual(["changed d", "appeared d/new", "changed e"]);
    await clock.advance(5000);
    expect(said()).toEqual([]);
  });
});
