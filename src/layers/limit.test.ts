import { describe, expect, it } from "vitest";
import type { Source } from "../source.ts";
import { createClock } from "../testing/clock.ts";
import { limit } from "./limit.ts";
import type { LimitOptions } from "./limit.ts";

const call = { caller: { id: "test" }, signal: new AbortController().signal };

/** A source whose reads the test settles. */
function held(options: LimitOptions) {
  const clock = createClock();
  const begun: string[] = [];
  const answers = new Map<string, () => void>();
  const inner: Source = {
    list: async () => ({ items: [] }),
    read: ({ path }) =>
      new Promise((resolve) => {
        begun.push(path);
        answers.set(path, () => resolve([{ body: { text: path } }]));
      }),
  };
  const source = limit({ now: clock.runtime.now, ...options })(inner, { name: "m" });
  const read = (path: string, signal = call.signal, client?: object) => {
    const answer = source.read({ path }, { ...call, signal, ...(client && { client }) });
    answer.catch(() => undefined);
    return answer;
  };
  return { clock, begun, answer: (path: string) => answers.get(path)?.(), read, source };
}

describe("limit", () => {
  it("runs at most so many calls concurrently, and lets the others wait in order", async () => {
    const { clock, begun, answer, read } = held({ maxAtOnce: 2 });
    const all = ["a", "b", "c", "d"].map((path) => read(path));
    expect(begun).toEqual(["a", "b"]);
    answer("b");
    await clock.settle();
    expect(begun).toEqual(["a", "b", "c"]);
    answer("a");
    await clock.settle();
    expect(begun).toEqual(["a", "b", "c", "d"]);
    answer("c");
    answer("d");
    expect((await Promise.all(all)).flat()).toHaveLength(4);
  });

  it("rejects with busy and a retry time when the queue is full", async () => {
    const { answer, read } = held({ maxAtOnce: 1, maxWaiting: 1 });
    const first = read("a");
    void read("b");
    await expect(read("c")).rejects.toMatchObject({ kind: "busy", details: { retryAfterMs: expect.any(Number) } });
    answer("a");
    await first;
    void read("d");
    await expect(read("e")).rejects.toMatchObject({ kind: "busy" });
  });

  it("removes a caller who leaves from the queue, and does not run the call", async () => {
    const { clock, begun, answer, read } = held({ maxAtOnce: 1, maxWaiting: 2 });
    const leaving = new AbortController();
    void read("a");
    const left = read("b", leaving.signal);
    void read("c");
    leaving.abort();
    await expect(left).rejects.toMatchObject({ kind: "cancelled" });
    void read("d");
    answer("a");
    await clock.settle();
    expect(begun).toEqual(["a", "c"]);
    await expect(read("x", AbortSignal.abort())).rejects.toMatchObject({ kind: "cancelled" });
  });

  it("frees the slot of a call that fails", async () => {
    let asked = 0;
    const inner: Source = {
      list: async () => ({ items: [] }),
      async read() {
        asked += 1;
        throw new Error("no");
      },
    };
    const source = limit({ maxAtOnce: 1, maxWaiting: 9 })(inner, { name: "m" });
    await Promise.allSettled([1, 2, 3].map(() => source.read({ path: "a" }, call)));
    expect(asked).toBe(3);
  });

  it("is not blocked for ever by calls that the source never settles", async () => {
    const { clock, begun, read } = held({ maxAtOnce: 2, abandonedMs: 1000 });
    void read("a");
    void read("b");
    void read("waited");
    await clock.advance(999);
    void read("waited too");
    expect(begun).toEqual(["a", "b"]);
    await clock.advance(1);
    void read("c");
    expect(begun).toEqual(["a", "b", "waited", "waited too"]);
  });

  it("alternates between clients, however many calls one of them makes", async () => {
    const { clock, begun, answer, read } = held({ maxAtOnce: 1 });
    const [one, other, third] = [{}, {}, {}];
    for (const path of ["a1", "a2", "a3"]) void read(path, call.signal, one);
    for (const path of ["b1", "b2"]) void read(path, call.signal, other);
    void read("c1", call.signal, third);
    for (const path of ["a1", "a2", "b1", "c1", "a3", "b2"]) {
      expect(begun.at(-1)).toBe(path);
      answer(path);
      await clock.settle();
    }
  });

  it("keeps a quarter of the slots from a client that has taken the rest", async () => {
    const { clock, begun, answer, read } = held({ maxAtOnce: 4 });
    const [one, other] = [{}, {}];
    for (const path of ["a1", "a2", "a3", "a4"]) void read(path, call.signal, one);
    expect(begun).toEqual(["a1", "a2", "a3"]);
    void read("b1", call.signal, other);
    expect(begun).toEqual(["a1", "a2", "a3", "b1"]);
    answer("a2");
    await clock.settle();
    expect(begun.at(-1)).toBe("a4");
  });

  it("rejects the last call of the client that fills the queue, not a client with fewer calls", async () => {
    const { clock, begun, answer, read } = held({ maxAtOnce: 1, maxWaiting: 3 });
    const [one, other, another] = [{}, {}, {}];
    void read("a1", call.signal, one);
    const [second, third, last] = ["a2", "a3", "a4"].map((path) => read(path, call.signal, one));
    const own = read("b1", call.signal, other);
    await expect(last).rejects.toMatchObject({ kind: "busy", details: { retryAfterMs: expect.any(Number) } });
    // No call is rejected for a client that would then have as many in the queue.
    await expect(read("b2", call.signal, other)).rejects.toMatchObject({ kind: "busy" });
    const its = read("c1", call.signal, another);
    await expect(third).rejects.toMatchObject({ kind: "busy" });
    await expect(read("d1", call.signal, {})).rejects.toMatchObject({ kind: "busy" });
    for (const path of ["a1", "a2", "b1", "c1"]) {
      answer(path);
      await clock.settle();
    }
    expect(begun).toEqual(["a1", "a2", "b1", "c1"]);
    expect(await Promise.all([second, own, its])).toHaveLength(3);
  });

  it("counts all operations of a mount together", async () => {
    const { begun, read, source, answer } = held({ maxAtOnce: 1 });
    void read("a");
    let listed = false;
    const list = source.list({ limit: 1 }, call).then(() => {
      listed = true;
    });
    expect(listed).toBe(false);
    answer("a");
    await list;
    expect(begun).toEqual(["a"]);
  });
});
