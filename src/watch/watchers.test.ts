import { describe, expect, it } from "vitest";
import { ResourceError } from "../errors.ts";
import { createMemory } from "../sources/memory.ts";
import type { Runtime, Source, SourceChange } from "../source.ts";
import { createClock } from "../testing/clock.ts";
import { createWatchers } from "./watchers.ts";

const never = new AbortController().signal;

/** A source whose watch the test controls. */
function scripted() {
  const starts: { signal: AbortSignal; emit(change: SourceChange): void; end(): void; fail(cause: Error): void }[] = [];
  const refuse: Error[] = [];
  const { source } = createMemory();
  const watched: Source = {
    ...source,
    async watch({ signal }) {
      const refusal = refuse.shift();
      if (refusal) throw refusal;
      const queue: (SourceChange | Error | "end")[] = [];
      let wake: (() => void) | undefined;
      const put = (item: SourceChange | Error | "end") => {
        queue.push(item);
        wake?.();
      };
      signal.addEventListener("abort", () => put("end"));
      starts.push({ signal, emit: put, end: () => put("end"), fail: put });
      return {
        async *[Symbol.asyncIterator]() {
          for (;;) {
            const item = queue.shift();
            if (item === "end") return;
            if (item instanceof Error) throw item;
            if (item) yield item;
            else
              await new Promise<void>((resolve) => {
                wake = resolve;
              });
          }
        },
      };
    },
  };
  return { source: watched, starts, refuse };
}

describe("watchers", () => {
  it("do not announce again a path whose state is unchanged", async () => {
    const clock = createClock();
    const { source, starts } = scripted();
    let state = 1;
    const stated: Source = {
      ...source,
      watch: async (call) => Object.assign((await source.watch!(call)) ?? [], { stateOf: () => state }),
    };
    const watchers = createWatchers(stated, { name: "m" }, clock.runtime);
    const heard: SourceChange[] = [];
    await watchers.join((change) => heard.push(change), never);
    for (const next of [1, 1, 2, 2]) {
      state = next;
      starts[0]?.emit({ kind: "changed", path: "a" });
      await clock.advance(2000);
    }
    expect(heard).toHaveLength(2);
  });

  it("count changes that are not announced yet, and report a possible one while the watch is down", async () => {
    const clock = createClock();
    const { source, starts, refuse } = scripted();
    refuse.push(new Error("not yet"));
    const watchers = createWatchers(source, { name: "m" }, clock.runtime);
    expect(watchers.pending).toBe(0);
    await watchers.join(() => {}, never);
    expect(watchers.pending).toBe(1);
    await clock.advance(250);
    expect(watchers.pending).toBe(0);
    starts[0]?.emit({ kind: "changed", path: "a" });
    starts[0]?.emit({ kind: "changed", path: "b" });
    await clock.settle();
    expect(watchers.pending).toBe(2);
    await clock.advance(30);
    expect(watchers.pending).toBe(0);
    starts[0]?.fail(new Error("down"));
    await clock.settle();
    expect(watchers.pending).toBe(1);
    await clock.advance(1000);
    expect(watchers.pending).toBe(0);
    watchers.close();
    expect(watchers.pending).toBe(0);
  });

  it("start one watch for all who join, and stop it some time after the last has left", async () => {
    const clock = createClock();
    const { source, starts } = scripted();
    const watchers = createWatchers(source, { name: "m" }, clock.runtime);
    const first = new AbortController();
    const second = new AbortController();
    expect(starts).toHaveLength(0);
    await watchers.join(() => {}, first.signal);
    await watchers.join(() => {}, second.signal);
    expect(starts).toHaveLength(1);
    first.abort();
    expect(starts[0]?.signal.aborted).toBe(false);
    second.abort();
    await clock.advance(4999);
    expect(starts[0]?.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(starts[0]?.signal.aborted).toBe(true);
    await watchers.join(() => {}, never);
    expect(starts).toHaveLength(2);
  });

  it("keep the running watch for someone who joins again in time", async () => {
    const clock = createClock();
    const { source, starts } = scripted();
    const watchers = createWatchers(source, { name: "m" }, clock.runtime);
    const leaving = new AbortController();
    const heard: SourceChange[] = [];
    await watchers.join(() => {}, leaving.signal);
    leaving.abort();
    await clock.advance(4000);
    await watchers.join((change) => heard.push(change), never);
    await clock.advance(60_000);
    starts[0]?.emit({ kind: "changed", path: "a" });
    await clock.advance(2000);
    expect(starts).toHaveLength(1);
    expect(heard).toEqual([{ kind: "changed", path: "a" }]);
  });

  it("resolve for another who listens through a joined one once the watch is armed", async () => {
    const clock = createClock();
    const { source, starts } = scripted();
    const watchers = createWatchers(source, { name: "m" }, clock.runtime);
    const joining = watchers.join(() => {}, never);
    await watchers.arrive();
    expect(starts).toHaveLength(1);
    await joining;
  });

  it("notify everyone, even if one of them throws", async () => {
    const clock = createClock();
    const memory = createMemory({ a: "1" });
    const watchers = createWatchers(memory.source, { name: "m" }, clock.runtime);
    const heard: SourceChange[] = [];
    await watchers.join(() => {
      throw new Error("broken listener");
    }, never);
    await watchers.join((change) => heard.push(change), never);
    memory.set("a", "2");
    await clock.advance(30);
    expect(heard).toEqual([{ kind: "changed", path: "a" }]);
    expect(clock.logged.map(({ level }) => level)).toEqual(["error"]);
  });

  it("miss no change that is made after joining", async () => {
    const clock = createClock();
    const memory = createMemory();
    const watchers = createWatchers(memory.source, { name: "m" }, clock.runtime);
    const heard: string[] = [];
    await watchers.join((change) => change.kind !== "lost" && heard.push(change.path), never);
    for (let index = 0; index < 100; index += 1) memory.set(`${index}`, "x");
    await clock.advance(30);
    expect(heard).toHaveLength(100);
  });

  it("do not merge later changes for someone who joins in between", async () => {
    const clock = createClock();
    const memory = createMemory();
    const watchers = createWatchers(memory.source, { name: "m" }, clock.runtime);
    await watchers.join(() => {}, never);
    memory.set("a", "1");
    await clock.settle();
    const heard: SourceChange[] = [];
    await watchers.join((change) => heard.push(change), never);
    memory.delete("a");
    await clock.advance(2000);
    expect(heard.at(-1)).toEqual({ kind: "gone", path: "a" });
  });

  it("notify no one who has left", async () => {
    const clock = createClock();
    const memory = createMemory({ a: "1" });
    const watchers = createWatchers(memory.source, { name: "m" }, clock.runtime);
    const leaving = new AbortController();
    const heard: SourceChange[] = [];
    await watchers.join((change) => heard.push(change), leaving.signal);
    await watchers.join(() => {}, never);
    memory.set("a", "2");
    leaving.abort();
    await clock.advance(2000);
    expect(heard).toEqual([]);
  });

  it("resolve the join after a first failed attempt, retry with growing delays, log that once, and then report lost", async () => {
    const clock = createClock();
    const { source, starts, refuse } = scripted();
    refuse.push(...Array.from({ length: 10 }, (_, index) => new Error(`refusal ${index}`)));
    const delaysMs: number[] = [];
    const runtime: Runtime = {
      ...clock.runtime,
      wait(ms, signal) {
        if (starts.length === 0) delaysMs.push(ms);
        return clock.runtime.wait(ms, signal);
      },
    };
    const watchers = createWatchers(source, { name: "m" }, runtime);
    const heard: SourceChange[] = [];
    await watchers.join((change) => heard.push(change), never);
    expect(clock.logged).toHaveLength(1);
    expect(clock.logged[0]?.facts?.["mount"]).toBe("m");
    expect(heard).toEqual([]);
    await watchers.join(() => {}, never);
    while (starts.length === 0) await clock.advance(1000);
    expect(heard).toEqual([{ kind: "lost" }]);
    expect(clock.logged.map(({ message }) => message)).toEqual([
      "the watch cannot start, trying again",
      "the watch is running again",
    ]);
    expect(delaysMs).toHaveLength(10);
    for (const [index, delayMs] of delaysMs.entries()) {
      const longestMs = Math.min(30_000, 250 * 2 ** index);
      expect(delayMs).toBeLessThanOrEqual(longestMs);
      expect(delayMs).toBeGreaterThanOrEqual(longestMs * 0.75 - 1);
    }
    starts[0]?.emit({ kind: "changed", path: "a" });
    await clock.advance(30);
    expect(heard).toEqual([{ kind: "lost" }, { kind: "changed", path: "a" }]);
  });

  it.each(["end", "fail"] as const)("restart after an unexpected %s and report lost once", async (how) => {
    const clock = createClock();
    const { source, starts } = scripted();
    const watchers = createWatchers(source, { name: "m" }, clock.runtime);
    const heard: SourceChange[] = [];
    await watchers.join((change) => heard.push(change), never);
    starts[0]?.[how](new Error("connection reset"));
    await clock.advance(250);
    expect(starts).toHaveLength(2);
    expect(heard).toEqual([{ kind: "lost" }]);
    await clock.advance(60_000);
    expect(heard).toEqual([{ kind: "lost" }]);
  });

  it("do not restart at full speed when the watch ends as soon as it is armed", async () => {
    const clock = createClock();
    const { source, starts } = scripted();
    const watchers = createWatchers(source, { name: "m" }, clock.runtime);
    await watchers.join(() => {}, never);
    for (let ms = 0; ms < 60_000; ms += 100) {
      starts.at(-1)?.end();
      await clock.advance(100);
    }
    expect(starts.length).toBeLessThan(12);
  });

  it("restart after the first delay again if each watch lasted a while", async () => {
    const clock = createClock();
    const { source, starts } = scripted();
    const watchers = createWatchers(source, { name: "m" }, clock.runtime);
    await watchers.join(() => {}, never);
    for (let round = 1; round <= 20; round += 1) {
      await clock.advance(1000);
      starts.at(-1)?.end();
      await clock.advance(250);
      expect(starts).toHaveLength(round + 1);
    }
  });

  it("restart when the source says that a retry is worthwhile", async () => {
    const clock = createClock();
    const { source, starts, refuse } = scripted();
    const later = new ResourceError("unavailable", "not yet", { details: { retryAfterMs: 7000 } });
    refuse.push(...Array.from({ length: 10 }, () => later));
    const watchers = createWatchers(source, { name: "m" }, clock.runtime);
    await watchers.join(() => {}, never);
    await clock.advance(69_999);
    expect(starts).toHaveLength(0);
    await clock.advance(1);
    expect(starts).toHaveLength(1);
  });

  it("stop retrying when no one listens any more", async () => {
    const clock = createClock();
    const { source, starts, refuse } = scripted();
    refuse.push(new Error("no"), new Error("no"));
    const watchers = createWatchers(source, { name: "m" }, clock.runtime, { lingerMs: 0 });
    const leaving = new AbortController();
    await watchers.join(() => {}, leaving.signal);
    leaving.abort();
    await clock.advance(120_000);
    expect(starts).toHaveLength(0);
    expect(clock.waiting).toBe(0);
    expect(refuse).toHaveLength(1);
  });

  it("notify no one and run nothing once closed", async () => {
    const clock = createClock();
    const { source, starts } = scripted();
    const watchers = createWatchers(source, { name: "m" }, clock.runtime);
    const heard: SourceChange[] = [];
    await watchers.join((change) => heard.push(change), never);
    starts[0]?.emit({ kind: "changed", path: "a" });
    await clock.settle();
    watchers.close();
    expect(starts[0]?.signal.aborted).toBe(true);
    await watchers.join((change) => heard.push(change), never);
    await clock.advance(2000);
    expect(heard).toEqual([]);
    expect(starts).toHaveLength(1);
    expect(clock.waiting).toBe(0);
  });
});
