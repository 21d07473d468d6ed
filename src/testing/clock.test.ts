import { describe, expect, it } from "vitest";
import { createClock } from "./clock.ts";

const never = new AbortController().signal;

describe("the clock", () => {
  it("stands still until it is moved", async () => {
    const { runtime, advance } = createClock(1000);
    expect(runtime.now()).toBe(1000);
    await advance(50);
    expect(runtime.now()).toBe(1050);
  });

  it("has a wall clock that can be set, while the monotonic clock and waits are unaffected", async () => {
    const { runtime, advance, setWallClock } = createClock(10_000);
    const beganMs = runtime.monotonicMs();
    expect(beganMs).not.toBe(runtime.now());
    let isOver = false;
    void runtime.wait(50, never).then(() => (isOver = true));
    setWallClock(-4000);
    await advance(50);
    expect([runtime.now(), runtime.monotonicMs() - beganMs, isOver]).toEqual([6050, 50, true]);
  });

  it("ends waits in due order, each at its own time", async () => {
    const { runtime, advance } = createClock(0);
    const ended: [string, number][] = [];
    const wait = async (name: string, ms: number) => {
      await runtime.wait(ms, never);
      ended.push([name, runtime.now()]);
    };
    void wait("late", 30);
    void wait("soon", 10);
    void wait("never", 31);
    await advance(30);
    expect(ended).toEqual([
      ["soon", 10],
      ["late", 30],
    ]);
  });

  it("handles waits that start while time moves", async () => {
    const { runtime, advance } = createClock(0);
    const atMs: number[] = [];
    const work = async () => {
      for (let round = 0; round < 3; round += 1) {
        await runtime.wait(10, never);
        atMs.push(runtime.now());
      }
    };
    void work();
    await advance(100);
    expect(atMs).toEqual([10, 20, 30]);
  });

  it("rejects a wait whose signal ends, and removes it", async () => {
    const clock = createClock();
    const leaving = new AbortController();
    const wait = clock.runtime.wait(10, leaving.signal);
    expect(clock.waiting).toBe(1);
    leaving.abort(new Error("left"));
    await expect(wait).rejects.toThrow("left");
    await expect(clock.runtime.wait(10, leaving.signal)).rejects.toThrow("left");
    expect(clock.waiting).toBe(0);
  });

  it("collects log messages", () => {
    const { runtime, logged } = createClock();
    runtime.log("warn", "careful", { mount: "m" });
    expect(logged).toEqual([{ level: "warn", message: "careful", facts: { mount: "m" } }]);
  });
});
