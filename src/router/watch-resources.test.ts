import { describe, expect, it } from "vitest";
import { openPolicy } from "../access/policy.ts";
import type { Policy } from "../access/policy.ts";
import type { Call, Change, Watch } from "../resources.ts";
import type { Source, SourceChange } from "../source.ts";
import { createMemory } from "../sources/memory.ts";
import { createClock } from "../testing/clock.ts";
import { createResources } from "./create-resources.ts";

function open(sources: Readonly<Record<string, Source>>, policy: Policy = openPolicy) {
  const clock = createClock();
  const mounts = Object.entries(sources).map(([name, source]) => ({ name, base: `${name}://`, source }));
  const pressmark = createResources({ mounts, policy, runtime: clock.runtime, cursorKey: new Uint8Array(32) });
  return { pressmark, clock };
}

function calling(id = "me") {
  const asking = new AbortController();
  const call: Call = { caller: { id }, signal: asking.signal };
  return { call, leave: () => asking.abort() };
}

/** Collects what a watch reports from now on. */
function hear(watch: Watch): string[] {
  const heard: string[] = [];
  void (async () => {
    for await (const change of watch) heard.push(say(change));
    heard.push("end");
  })();
  return heard;
}

const say = (change: Change) => (change.kind === "updated" ? change.uri : change.kind);

/** A source whose watch reports what the test wants, and counts its watches. */
function scripted(source: Source) {
  const emitters = new Set<(change: SourceChange) => void>();
  let starts = 0;
  return {
    emit: (change: SourceChange) => {
      for (const emit of emitters) emit(change);
    },
    get running() {
      return emitters.size;
    },
    get starts() {
      return starts;
    },
    source: {
      ...source,
      async watch({ signal }: Call): Promise<AsyncIterable<SourceChange>> {
        starts += 1;
        const queue: SourceChange[] = [];
        let wake: (() => void) | undefined;
        const emit = (change: SourceChange) => {
          queue.push(change);
          wake?.();
        };
        emitters.add(emit);
        signal.addEventListener("abort", () => {
          emitters.delete(emit);
          wake?.();
        });
        return {
          async *[Symbol.asyncIterator]() {
            while (emitters.has(emit)) {
              const change = queue.shift();
              if (change) yield change;
              else
                await new Promise<void>((resolve) => {
                  wake = resolve;
                });
            }
          },
        };
      },
    } satisfies Source,
  };
}

describe("a watch", () => {
  it("reports a change with each URI as the caller wrote it", async () => {
    const memory = createMemory({ "d/a": "1", "d/b": "1" });
    const { pressmark, clock } = open({ m: memory.source });
    const uris = ["m://d/a", "M://d/%61", "m://d/a", "m://d/b?", "m://d/b"];
    const watch = await pressmark.watch({ uris }, calling().call);
    expect(watch.uris).toEqual(["m://d/a", "M://d/%61", "m://d/b?", "m://d/b"]);
    const heard = hear(watch);
    memory.set("d/a", "2");
    await clock.advance(100);
    expect(heard).toEqual(["m://d/a", "M://d/%61"]);
  });

  it("covers what exists, is visible and can be watched", async () => {
    const { watch: _, ...still } = createMemory({ a: "" }).source;
    const policy: Policy = { maySee: (__, ___, { path }) => path !== "secret" };
    const { pressmark } = open({ m: createMemory({ a: "", secret: "", "d/x": "" }).source, still }, policy);
    const uris = [
      "m://a",
      "m://secret",
      "m://gone",
      "m://d",
      "m://",
      "still://a",
      "other://x",
      "m://a#f",
      `m://${"x".repeat(70_000)}`,
    ];
    const watch = await pressmark.watch({ uris }, calling().call);
    expect(watch.uris).toEqual(["m://a", "m://d", "m://"]);
  });

  it("misses nothing that happens after it has resolved", async () => {
    const memory = createMemory({ a: "1" });
    const { pressmark, clock } = open({ m: memory.source });
    const watch = await pressmark.watch({ uris: ["m://a"] }, calling().call);
    memory.set("a", "2");
    const heard = hear(watch);
    await clock.advance(100);
    expect(heard).toEqual(["m://a"]);
  });

  it("of a directory reports that a direct child appears or goes", async () => {
    const memory = createMemory({ "d/a": "", "d/e/x": "" });
    const { pressmark, clock } = open({ m: memory.source });
    const heard = hear(await pressmark.watch({ uris: ["m://d"] }, calling().call));
    memory.set("d/a", "changed");
    memory.set("d/e/y", "too deep");
    await clock.advance(100);
    expect(heard).toEqual([]);
    memory.set("d/b", "new");
    await clock.advance(100);
    memory.delete("d/a");
    await clock.advance(2000);
    expect(heard).toEqual(["m://d", "m://d"]);
  });

  it("of a directory reports once that several children appeared together", async () => {
    const memory = createMemory({ "d/a": "" });
    const { pressmark, clock } = open({ m: memory.source });
    const heard = hear(await pressmark.watch({ uris: ["m://d"], list: true }, calling().call));
    for (const name of ["b", "c", "e"]) memory.set(`d/${name}`, "new");
    await clock.advance(100);
    expect(heard.sort()).toEqual(["list-changed", "m://d"]);
  });

  it("of the list reports that something appears or goes, not that it changes", async () => {
    const memory = createMemory({ a: "" });
    const { pressmark, clock } = open({ m: memory.source, n: createMemory().source });
    const heard = hear(await pressmark.watch({ list: true }, calling().call));
    memory.set("a", "changed");
    await clock.advance(2000);
    expect(heard).toEqual([]);
    memory.set("b", "");
    await clock.advance(2000);
    memory.delete("b");
    await clock.advance(2000);
    expect(heard).toEqual(["list-changed", "list-changed"]);
  });

  it("of the list reports nothing for what is not listed", async () => {
    const memory = createMemory({ "d/a": "" });
    const script = scripted(memory.source);
    const { pressmark, clock } = open({ m: script.source });
    const heard = hear(await pressmark.watch({ uris: ["m://d"], list: true }, calling().call));
    script.emit({ kind: "appeared", path: "d/folder", eachBelow: true, isUnlisted: true });
    script.emit({ kind: "gone", path: "old", eachBelow: true, isUnlisted: true });
    script.emit({ kind: "gone", path: "tree/x", isUnlisted: true });
    script.emit({ kind: "appeared", path: "tree/y", isUnlisted: true });
    await clock.advance(2000);
    script.emit({ kind: "lost", isUnlisted: true });
    await clock.advance(2000);
    expect(heard).toEqual(["m://d", "m://d"]);
    // What waits is covered by "lost", and may have changed the list.
    script.emit({ kind: "appeared", path: "d/b" });
    script.emit({ kind: "lost", isUnlisted: true });
    await clock.advance(2000);
    expect(heard.slice(2).sort()).toEqual(["list-changed", "m://d"]);
  });

  it("reports nothing that would reveal a hidden resource", async () => {
    const memory = createMemory({ "d/a": "", "d/secret": "" });
    const policy: Policy = { maySee: ({ id }, _, { path }) => id === "boss" || !path.includes("secret") };
    const { pressmark, clock } = open({ m: memory.source }, policy);
    const filter = { uris: ["m://d", "m://d/secret"], list: true };
    const mine = await pressmark.watch(filter, calling("me").call);
    const boss = await pressmark.watch(filter, calling("boss").call);
    expect([mine.uris, boss.uris]).toEqual([["m://d"], ["m://d", "m://d/secret"]]);
    const [heard, bossHeard] = [hear(mine), hear(boss)];
    memory.set("d/secret", "2");
    memory.set("d/secret too", "1");
    await clock.advance(2000);
    memory.delete("d/secret too");
    await clock.advance(2000);
    expect(heard).toEqual([]);
    expect(bossHeard).toContain("m://d/secret");
    expect(bossHeard.filter((one) => one === "list-changed")).toHaveLength(2);
  });

  it("checks the policy for each notification", async () => {
    const memory = createMemory({ a: "1" });
    let open_ = true;
    const { pressmark, clock } = open({ m: memory.source }, { maySee: () => open_ });
    const heard = hear(await pressmark.watch({ uris: ["m://a"], list: true }, calling().call));
    open_ = false;
    memory.set("a", "2");
    memory.set("b", "1");
    await clock.advance(2000);
    expect(heard).toEqual([]);
  });

  it("reports that everything may have changed when changes were lost", async () => {
    const script = scripted(createMemory({ a: "", b: "", "d/x": "" }).source);
    const { pressmark, clock } = open({ m: script.source, n: createMemory({ a: "" }).source });
    const heard = hear(await pressmark.watch({ uris: ["m://a", "m://d", "n://a"], list: true }, calling().call));
    const deaf = hear(await pressmark.watch({ uris: ["n://a"] }, calling().call));
    script.emit({ kind: "lost" });
    await clock.advance(100);
    expect(heard.sort()).toEqual(["list-changed", "m://a", "m://d"]);
    expect(deaf).toEqual([]);
  });

  it("reports that entries below a removed directory may be gone", async () => {
    const script = scripted(createMemory({ "d/x": "", "de/x": "" }).source);
    const { pressmark, clock } = open({ m: script.source });
    const heard = hear(await pressmark.watch({ uris: ["m://d/x", "m://de/x"] }, calling().call));
    script.emit({ kind: "gone", path: "d" });
    await clock.advance(100);
    expect(heard).toEqual(["m://d/x"]);
  });

  it("below a hidden directory that appears or goes reports only what is true of the entry itself", async () => {
    const memory = createMemory({ "d/x": "", "d/y": "" });
    const script = scripted(memory.source);
    const { pressmark, clock } = open({ m: script.source }, { maySee: (_, __, { path }) => path !== "d" });
    const heard = hear(await pressmark.watch({ uris: ["m://d/x", "m://d/y"], list: true }, calling().call));
    memory.delete("d/x");
    script.emit({ kind: "gone", path: "d" });
    await clock.advance(2000);
    expect(heard).toEqual(["m://d/x"]);
    script.emit({ kind: "appeared", path: "d" });
    await clock.advance(2000);
    expect(heard).toEqual(["m://d/x", "m://d/y"]);
  });

  it("shares one watch of the source, which ends some time after the last watcher has left", async () => {
    const script = scripted(createMemory({ a: "" }).source);
    const { pressmark, clock } = open({ m: script.source });
    const [one, other] = [calling(), calling()];
    const first = hear(await pressmark.watch({ uris: ["m://a"] }, one.call));
    const second = hear(await pressmark.watch({ uris: ["m://a"], list: true }, other.call));
    expect(script.starts).toBe(1);
    one.leave();
    await clock.settle();
    script.emit({ kind: "changed", path: "a" });
    await clock.advance(100);
    expect(first).toEqual(["end"]);
    expect(second).toEqual(["m://a"]);
    expect(script.running).toBe(1);
    other.leave();
    await clock.settle();
    expect(second).toEqual(["m://a", "end"]);
    await clock.advance(5000);
    expect(script.running).toBe(0);
    await pressmark.watch({ uris: ["m://a"] }, calling().call);
    expect(script.starts).toBe(2);
  });

  it("ends when its reader stops reading", async () => {
    const script = scripted(createMemory({ a: "" }).source);
    const { pressmark, clock } = open({ m: script.source });
    const watch = await pressmark.watch({ uris: ["m://a"] }, calling().call);
    script.emit({ kind: "changed", path: "a" });
    await clock.advance(100);
    for await (const change of watch) {
      expect(say(change)).toBe("m://a");
      break;
    }
    await clock.advance(5000);
    expect(script.running).toBe(0);
  });

  it("ends immediately when its iterator returns, including a pending next", async () => {
    const { pressmark } = open({ m: createMemory({ a: "" }).source });
    const watch = await pressmark.watch({ uris: ["m://a"] }, calling().call);
    const changes = watch[Symbol.asyncIterator]();
    const waiting = changes.next();
    await changes.return?.();
    expect((await waiting).done).toBe(true);
  });

  it("is not started for something that no one may watch", async () => {
    const script = scripted(createMemory({ a: "" }).source);
    const { pressmark } = open({ m: script.source }, { maySee: () => false });
    const watch = await pressmark.watch({ uris: ["m://a"], list: true }, calling().call);
    expect(watch.uris).toEqual([]);
    expect(script.starts).toBe(0);
  });

  it("continues although one mount cannot be watched at present, and reports when that is back", async () => {
    const memory = createMemory({ a: "" });
    const script = scripted(createMemory({ a: "" }).source);
    let down = true;
    const flaky: Source = {
      ...script.source,
      watch: (call) => (down ? Promise.reject(new Error("down")) : script.source.watch(call)),
    };
    const { pressmark, clock } = open({ m: memory.source, x: flaky });
    const heard = hear(await pressmark.watch({ uris: ["m://a", "x://a"], list: true }, calling().call));
    memory.set("a", "2");
    await clock.advance(100);
    expect(heard).toEqual(["m://a"]);
    down = false;
    await clock.advance(60_000);
    expect(heard.slice(1).sort()).toEqual(["list-changed", "x://a"]);
  });

  it("that is aborted while a source delays it is cancelled, and the source's watch ends", async () => {
    let asked: AbortSignal | undefined;
    const slow: Source = {
      ...createMemory({ a: "" }).source,
      watch: ({ signal }) =>
        new Promise((_, reject) => {
          asked = signal;
          signal.addEventListener("abort", () => reject(new Error("stopped")));
        }),
    };
    const { pressmark, clock } = open({ m: slow });
    const [one, other] = [calling(), calling()];
    const asking = [pressmark.watch({ uris: ["m://a"] }, one.call), pressmark.watch({ uris: ["m://a"] }, other.call)];
    const ends = asking.map((watch) => expect(watch).rejects.toMatchObject({ kind: "cancelled" }));
    await clock.settle();
    one.leave();
    expect(asked?.aborted).toBe(false);
    other.leave();
    await Promise.all(ends);
    await clock.advance(5000);
    expect(asked?.aborted).toBe(true);
    await expect(pressmark.watch({}, other.call)).rejects.toMatchObject({ kind: "cancelled" });
  });

  it("queues each change once for a slow reader", async () => {
    const script = scripted(createMemory({ a: "", b: "" }).source);
    const { pressmark, clock } = open({ m: script.source });
    const { call, leave } = calling();
    const watch = await pressmark.watch({ uris: ["m://a", "m://b"], list: true }, call);
    for (let times = 0; times < 5; times += 1) {
      for (const path of ["a", "b"]) script.emit({ kind: "changed", path });
      script.emit({ kind: "appeared", path: "c" });
      await clock.advance(2000);
      script.emit({ kind: "gone", path: "c" });
      await clock.advance(2000);
    }
    const heard = hear(watch);
    await clock.settle();
    expect(heard.sort()).toEqual(["list-changed", "m://a", "m://b"]);
    leave();
  });

  it("ends when the resources close, which close each source once and tolerate one that cannot close", async () => {
    const script = scripted(createMemory({ a: "" }).source);
    let closed = 0;
    const broken: Source = {
      ...createMemory().source,
      close() {
        closed += 1;
        return Promise.reject(new Error("stuck"));
      },
    };
    const { pressmark, clock } = open({ m: script.source, x: broken });
    const heard = hear(await pressmark.watch({ uris: ["m://a"] }, calling().call));
    await Promise.all([pressmark.close(), pressmark.close()]);
    await clock.settle();
    expect(heard).toEqual(["end"]);
    expect([script.running, closed]).toEqual([0, 1]);
    expect(clock.logged).toMatchObject([{ message: "a source could not be closed", facts: { mount: "x" } }]);
    await expect(pressmark.watch({}, calling().call)).rejects.toMatchObject({ kind: "cancelled" });
  });
});

describe("a source that watches per caller", () => {
  it("has one watch for each caller, which only they hear", async () => {
    const callers: string[] = [];
    const running = new Map<string, ReturnType<typeof scripted>>();
    const source: Source = {
      ...createMemory({ a: "1" }).source,
      watchesPerCaller: true,
      watch(call) {
        const { id } = call.caller;
        callers.push(id);
        running.set(id, scripted(createMemory({}).source));
        return running.get(id)!.source.watch(call);
      },
    };
    const { pressmark, clock } = open({ m: source });
    const [one, two] = [calling("one"), calling("two")];
    const filter = { uris: ["m://a"], list: true };
    const heard = [
      hear(await pressmark.watch(filter, one.call)),
      hear(await pressmark.watch(filter, one.call)),
      hear(await pressmark.watch(filter, two.call)),
    ];
    expect(callers).toEqual(["one", "two"]);
    running.get("one")!.emit({ kind: "changed", path: "a" });
    running.get("two")!.emit({ kind: "appeared", path: "b" });
    await clock.advance(2000);
    expect(heard).toEqual([["m://a"], ["m://a"], ["list-changed"]]);
    one.leave();
    await clock.advance(0);
    expect([...running.values()].map((each) => each.running)).toEqual([0, 1]);
    await pressmark.watch(filter, calling("one").call);
    expect(callers).toEqual(["one", "two", "one"]);
    await pressmark.close();
  });
});
