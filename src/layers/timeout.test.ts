import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import type { Source } from "../source.ts";
import { collectChanges } from "../testing/listen.ts";
import { createMemory } from "../sources/memory.ts";
import { createDeadlines } from "./deadlines.ts";
import { timeLimit, timeout } from "./timeout.ts";

const call = { caller: { id: "test" }, signal: new AbortController().signal };
const soon = { timeoutMs: 5, deadlines: createDeadlines(1) };

/** A source that settles only when its signal is aborted, and not even then if it is stubborn. */
function silent(stubborn = false) {
  const signals: AbortSignal[] = [];
  const never = (signal: AbortSignal) =>
    new Promise<never>((_resolve, reject) => {
      signals.push(signal);
      if (!stubborn) signal.addEventListener("abort", () => reject(signal.reason));
    });
  const source: Source = {
    list: (_ask, { signal }) => never(signal),
    read: (_at, { signal }) => never(signal),
    watch: ({ signal }) => never(signal),
  };
  return { source, signals };
}

describe("the time limit of an operation", () => {
  it.each([
    ["30 seconds by default", undefined, undefined, 30_000],
    ["the mount's limit", undefined, 60_000, 60_000],
    ["the source's limit", 3000, undefined, 3000],
    ["the source's limit, even if longer than the default", 120_000, undefined, 120_000],
    ["the shorter of both", 3000, 1000, 1000],
    ["the shorter of both", 3000, 60_000, 3000],
  ])("is %s", (_, own, given, expected) => {
    const source = own === undefined ? {} : { timeoutMs: own };
    expect(timeLimit(source, "read", given)).toBe(expected);
    expect(timeLimit(source, "list", given === undefined ? undefined : { list: given })).toBe(expected);
  });

  it.each(["watch", "act"] as const)("of %s is not the source's own, unless that is longer", (operation) => {
    expect(timeLimit({ timeoutMs: 3000 }, operation, undefined)).toBe(30_000);
    expect(timeLimit({ timeoutMs: 60_000 }, operation, undefined)).toBe(60_000);
    expect(timeLimit({ timeoutMs: 3000 }, operation, 10_000)).toBe(10_000);
  });
});

describe("timeout", () => {
  it.each([false, true])(
    "rejects a call that takes too long, and aborts the source's signal (stubborn: %s)",
    async (stubborn) => {
      const { source, signals } = silent(stubborn);
      const timed = timeout(soon)(source, { name: "m" });
      await expect(timed.read({ path: "a" }, call)).rejects.toMatchObject({ kind: "unavailable", passing: true });
      await expect(timed.list({ limit: 1 }, call)).rejects.toMatchObject({ kind: "unavailable" });
      await expect(timed.watch?.(call)).rejects.toMatchObject({ kind: "unavailable" });
      expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
    },
  );

  it("applies the limit of each operation", async () => {
    const { source } = silent();
    const timed = timeout({ ...soon, timeoutMs: { read: 5 } })(source, { name: "m" });
    const leaving = new AbortController();
    const list = timed.list({ limit: 1 }, { ...call, signal: leaving.signal }).catch((cause: unknown) => cause);
    await expect(timed.read({ path: "a" }, call)).rejects.toMatchObject({ kind: "unavailable" });
    leaving.abort(new Error("the caller left first"));
    expect(await list).toMatchObject({ message: "the caller left first" });
  });

  it("passes on the end of the caller's signal", async () => {
    const { source, signals } = silent();
    const timed = timeout({ timeoutMs: 60_000 })(source, { name: "m" });
    const leaving = new AbortController();
    const answer = timed.read({ path: "a" }, { ...call, signal: leaving.signal }).catch((cause: unknown) => cause);
    leaving.abort(new Error("left"));
    expect(await answer).toMatchObject({ message: "left" });
    expect(signals[0]?.aborted).toBe(true);
  });

  it("leaves no listeners on the signal of a caller with many calls", async () => {
    const looking: Source = {
      list: async () => ({ items: [] }),
      async read({ path }, { signal }) {
        signal.throwIfAborted();
        if (path === "b") throw new Error("no");
        return [{ body: { text: path } }];
      },
    };
    const timed = timeout(soon)(looking, { name: "m" });
    const late = timeout(soon)(silent().source, { name: "m" });
    const { signal } = new AbortController();
    const from = { ...call, signal };
    await Promise.allSettled([
      timed.read({ path: "a" }, from),
      timed.read({ path: "b" }, from),
      late.list({ limit: 1 }, from),
    ]);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("does not abort the signal of a call that finished in time", async () => {
    let given: AbortSignal | undefined;
    const quick: Source = {
      list: async () => ({ items: [] }),
      async read(_at, { signal }) {
        given = signal;
        return [{ body: { text: "quick" } }];
      },
    };
    const leaving = new AbortController();
    await timeout(soon)(quick, { name: "m" }).read({ path: "a" }, { ...call, signal: leaving.signal });
    leaving.abort();
    expect(given?.aborted).toBe(false);
  });

  it("lets an armed watch continue until its caller ends it", async () => {
    const memory = createMemory({ a: "1" });
    const timed = timeout(soon)(memory.source, { name: "m" });
    const leaving = new AbortController();
    const watch = await timed.watch?.({ ...call, signal: leaving.signal });
    if (!watch) throw new Error("the watch was lost");
    const { until, ended } = collectChanges(watch);
    // A later call reaches its limit first.
    await expect(timeout(soon)(silent().source, { name: "m" }).read({ path: "a" }, call)).rejects.toThrow();
    memory.set("a", "2");
    await until(({ kind }) => kind === "changed", "that it changed");
    leaving.abort();
    await ended;
  });
});
