import { describe, expect, it } from "vitest";
import { createCoalescingQueue } from "./coalescing-queue.ts";

interface Item {
  readonly key: string;
  readonly value: number;
}

function start() {
  const reader = createCoalescingQueue<Item>(({ key }) => key);
  return { push: (key: string, value = 0) => reader.push({ key, value }), iterator: reader };
}

describe("a reader", () => {
  it("receives what was pushed, in order", async () => {
    const { push, iterator } = start();
    push("a", 1);
    push("b", 2);
    expect(await iterator.next()).toEqual({ done: false, value: { key: "a", value: 1 } });
    expect(await iterator.next()).toEqual({ done: false, value: { key: "b", value: 2 } });
  });

  it("is woken by a push while it waits", async () => {
    const { push, iterator } = start();
    const next = iterator.next();
    push("a");
    expect((await next).value?.key).toBe("a");
  });

  it("receives once what is pushed twice in one turn", async () => {
    const { push, iterator } = start();
    const next = iterator.next();
    push("a", 1);
    push("b");
    push("a", 2);
    expect((await next).value).toEqual({ key: "a", value: 2 });
    expect((await iterator.next()).value?.key).toBe("b");
    const after = iterator.next();
    push("c");
    expect((await after).value?.key).toBe("c");
  });

  it("holds each key once while it is slow, the latest item at the first position", async () => {
    const { push, iterator } = start();
    for (let value = 0; value < 1000; value += 1) {
      push("a", value);
      push("b", value);
    }
    expect((await iterator.next()).value).toEqual({ key: "a", value: 999 });
    expect((await iterator.next()).value).toEqual({ key: "b", value: 999 });
    const next = iterator.next();
    push("c");
    expect((await next).value?.key).toBe("c");
  });

  it("receives a key again that changes after it was taken", async () => {
    const { push, iterator } = start();
    push("a", 1);
    await iterator.next();
    push("a", 2);
    expect((await iterator.next()).value?.value).toBe(2);
  });

  it("ends on request, also while it waits, and drops queued items", async () => {
    const { push, iterator } = start();
    const next = iterator.next();
    await iterator.return();
    expect((await next).done).toBe(true);
    push("a");
    expect((await iterator.next()).done).toBe(true);

    const full = start();
    full.push("a");
    await full.iterator.return();
    expect((await full.iterator.next()).done).toBe(true);
  });

  it("ends when its consumer leaves the loop", async () => {
    const { push, iterator } = start();
    push("a");
    push("b");
    for await (const { key } of iterator) {
      expect(key).toBe("a");
      break;
    }
    expect((await iterator.next()).done).toBe(true);
  });

  it("refuses a second consumer", async () => {
    const { push, iterator } = start();
    const first = iterator.next();
    await expect(iterator.next()).rejects.toThrow("one consumer");
    push("a");
    expect((await first).value?.key).toBe("a");
  });
});
