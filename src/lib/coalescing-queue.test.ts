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

function startLimited(whenLeft?: () => void) {
  return createCoalescingQueue<number>(() => ({}), { max: 2, overflow: 0 }, whenLeft);
}

describe("a queue with a limit", () => {
  it("gives a consumer that is too far behind one replacement item", async () => {
    const queue = startLimited();
    queue.pushAll([1, 2]);
    expect(queue.size).toBe(2);
    queue.push(3);
    expect(queue.size).toBe(1);
    expect((await queue.next()).value).toBe(0);
    queue.pushAll([4, 5, 6]);
    queue.push(7);
    expect((await queue.next()).value).toBe(0);
    expect((await queue.next()).value).toBe(7);
  });

  it("holds equal items without a common key apart", async () => {
    const queue = startLimited();
    queue.pushAll([1, 1]);
    expect([(await queue.next()).value, (await queue.next()).value]).toEqual([1, 1]);
  });

  it("drops queued items when it ends, and throws the failure once", async () => {
    const queue = startLimited();
    queue.push(1);
    queue.end(new Error("gone"));
    queue.end();
    await expect(queue.next()).rejects.toThrow("gone");
    expect((await queue.next()).done).toBe(true);

    const waiting = startLimited();
    const next = waiting.next();
    waiting.push(1);
    waiting.end(new Error("gone"));
    await expect(next).rejects.toThrow("gone");
    expect((await waiting.next()).done).toBe(true);
  });

  it("says when its consumer leaves", async () => {
    let left = 0;
    const queue = startLimited(() => (left += 1));
    queue.push(1);
    for await (const _ of queue) break;
    expect(left).toBe(1);
    expect((await queue.next()).done).toBe(true);
  });
});
