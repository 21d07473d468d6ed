import { describe, expect, it } from "vitest";
import { ResourceError } from "../errors.ts";
import type { Call } from "../resources.ts";
import type { Source } from "../source.ts";
import { createClock } from "../testing/clock.ts";
import { retry } from "./retry.ts";
import type { RetryOptions } from "./retry.ts";

const call = { caller: { id: "test" }, signal: new AbortController().signal };

/** A source that fails a given number of times. */
function failing(failures: number, error: () => unknown, options: RetryOptions = {}) {
  const clock = createClock();
  let asked = 0;
  async function answer<T>(value: T): Promise<T> {
    asked += 1;
    if (asked <= failures) throw error();
    return value;
  }
  const inner: Source = {
    list: () => answer({ items: [] }),
    read: () => answer([{ body: { text: "at last" } }]),
    watch: () => answer((async function* () {})()),
  };
  const source = retry(clock.runtime, options)(inner, { name: "m" });
  return { clock, source, asked: () => asked };
}

const gone = () => new ResourceError("unavailable", "gone");

describe("retry", () => {
  it("retries after a passing error and a delay", async () => {
    const { clock, source, asked } = failing(2, gone);
    const answer = source.read({ path: "a" }, call);
    await clock.settle();
    expect(asked()).toBe(1);
    await clock.advance(100);
    expect(asked()).toBe(2);
    await clock.advance(200);
    expect(await answer).toEqual([{ body: { text: "at last" } }]);
    expect(asked()).toBe(3);
  });

  it("stops after the last attempt, with the last failure", async () => {
    const { clock, source, asked } = failing(Infinity, gone, { attempts: 4 });
    const answer = source.read({ path: "a" }, call).catch((cause: unknown) => cause);
    await clock.advance(60_000);
    expect(await answer).toMatchObject({ kind: "unavailable" });
    expect(asked()).toBe(4);
  });

  it("begins no attempt after the time limit", async () => {
    const { clock, source, asked } = failing(Infinity, gone, { attempts: 100, withinMs: 1000 });
    const answer = source.read({ path: "a" }, call).catch((cause: unknown) => cause);
    await clock.advance(60_000);
    expect(await answer).toMatchObject({ kind: "unavailable" });
    expect(asked()).toBeLessThan(8);
  });

  it("begins no attempt after the deadline of the call", async () => {
    const { clock, source, asked } = failing(Infinity, gone, { attempts: 100, timeoutMs: 100 });
    const answer = source.read({ path: "a" }, call).catch((cause: unknown) => cause);
    await clock.advance(60_000);
    expect(await answer).toMatchObject({ kind: "unavailable" });
    expect(asked()).toBeLessThanOrEqual(2);
  });

  it.each([
    new ResourceError("not-found", "no"),
    new ResourceError("busy", "come back", { passing: true, details: { retryAfterMs: 1 } }),
    new ResourceError("unavailable", "come back", { details: { retryAfterMs: 1 } }),
    new Error("a fault of the source"),
  ])("does not retry after %s", async (error) => {
    const { clock, source, asked } = failing(Infinity, () => error);
    await expect(source.read({ path: "a" }, call)).rejects.toBe(error);
    expect(asked()).toBe(1);
    expect(clock.waiting).toBe(0);
  });

  it("stops at a lasting error that follows a passing one", async () => {
    const errors = [gone(), new ResourceError("not-found", "no")];
    const { clock, source, asked } = failing(Infinity, () => errors.shift());
    const answer = source.read({ path: "a" }, call).catch((cause: unknown) => cause);
    await clock.advance(100);
    expect(await answer).toMatchObject({ kind: "not-found" });
    expect(asked()).toBe(2);
  });

  it("stops when the signal is aborted", async () => {
    const { clock, source, asked } = failing(Infinity, gone);
    const leaving = new AbortController();
    const answer = source.read({ path: "a" }, { ...call, signal: leaving.signal }).catch((cause: unknown) => cause);
    await clock.settle();
    leaving.abort();
    expect(await answer).toMatchObject({ kind: "cancelled" });
    expect(asked()).toBe(1);
    expect(clock.waiting).toBe(0);
  });

  it("does not retry a watch", async () => {
    const { source, asked } = failing(Infinity, gone);
    await expect(source.watch?.(call satisfies Call)).rejects.toMatchObject({ kind: "unavailable" });
    expect(asked()).toBe(1);
  });
});
