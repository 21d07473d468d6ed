import { describe, expect, it } from "vitest";
import { createWaker } from "./waker.ts";

/** Waits until they are released, and records how long each was to take. */
function start() {
  const asked: number[] = [];
  const ends: (() => void)[] = [];
  const waker = createWaker((ms, signal) => {
    asked.push(ms);
    return new Promise((resolve, reject) => {
      ends.push(resolve);
      signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
    });
  });
  return { waker, asked, ends };
}

const { signal } = new AbortController();

describe("a wait that can be ended early", () => {
  it("takes its time", async () => {
    const { waker, asked, ends } = start();
    const waiting = waker.wait(1000, signal, 50);
    ends[0]!();
    await waiting;
    expect(asked).toEqual([1000]);
  });

  it("ends when woken, after a time of quiet", async () => {
    const { waker, asked, ends } = start();
    const waiting = waker.wait(1000, signal, 50);
    waker.wake();
    await expect.poll(() => asked).toEqual([1000, 50]);
    ends[1]!();
    await waiting;
  });

  it("does not begin if it was woken before, once", async () => {
    const { waker, asked, ends } = start();
    waker.wake();
    waker.wake();
    await waker.wait(1000, signal);
    expect(asked).toEqual([]);
    const next = waker.wait(2000, signal);
    expect(asked).toEqual([2000]);
    ends[0]!();
    await next;
  });

  it("ends with the signal", async () => {
    const stop = new AbortController();
    const waiting = start().waker.wait(1000, stop.signal);
    stop.abort();
    await waiting;
  });
});
