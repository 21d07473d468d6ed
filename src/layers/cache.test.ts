import { describe, expect, it } from "vitest";
import { notFound } from "../errors.ts";
import { createMemory } from "../sources/memory.ts";
import type { Address, Source } from "../source.ts";
import { createClock } from "../testing/clock.ts";
import { cache } from "./cache.ts";
import type { CacheOptions } from "./cache.ts";

const call = { caller: { id: "test" }, signal: new AbortController().signal };
const mount = { name: "m" };

/** A source that creates new parts for each read, and counts its calls. */
function counting(texts: Record<string, string>, options: CacheOptions = {}) {
  const memory = createMemory(texts);
  const asked = { read: 0, stat: 0 };
  const inner: Source = {
    ...memory.source,
    async read(at, from) {
      asked.read += 1;
      return structuredClone(await memory.source.read(at, from));
    },
    async stat(at, from) {
      asked.stat += 1;
      if (!memory.source.stat) throw notFound(at.path);
      return await memory.source.stat(at, from);
    },
  };
  const source = cache(options)(inner, mount);
  return { memory, asked, inner, read: (path: string, from = call) => source.read({ path }, from) };
}

/** A source whose reads the test settles by hand. */
function held() {
  const clock = createClock();
  const reads: { at: Address; signal: AbortSignal; answer(text: string): void; fail(cause: unknown): void }[] = [];
  const inner: Source = {
    list: async () => ({ items: [] }),
    read: (at, { signal }) =>
      new Promise((resolve, reject) => {
        reads.push({ at, signal, answer: (text) => resolve([{ body: { text } }]), fail: reject });
      }),
  };
  return { clock, reads, source: cache()(inner, mount) };
}

describe("cache", () => {
  it("returns the same objects while the version is equal", async () => {
    const { asked, read, memory } = counting({ a: "1" });
    await read("a");
    expect(asked).toEqual({ read: 1, stat: 0 });
    const kept = await read("a");
    expect(asked.read).toBe(2);
    for (let round = 0; round < 5; round += 1) expect(await read("a")).toBe(kept);
    expect(asked.read).toBe(2);
    memory.set("a", "2");
    const changed = await read("a");
    expect(changed).toMatchObject([{ body: { text: "2" } }]);
    expect(await read("a")).toBe(changed);
  });

  it("never returns a resource that is gone", async () => {
    const { read, memory } = counting({ a: "1" });
    for (let round = 0; round < 3; round += 1) await read("a");
    memory.delete("a");
    await expect(read("a")).rejects.toMatchObject({ kind: "not-found" });
  });

  it("does not cache under a version what was written after it", async () => {
    const { read, memory, inner } = counting({ a: "1" });
    await read("a");
    const readInner = inner.read;
    // The content changes between `stat` and read, and the first content and version are back after the read.
    const versions = ["v1", "v2", "v1", "v1"];
    inner.stat = async () => ({ path: "a", version: versions.shift() ?? "v1" });
    const source = cache()({ ...inner, read: readInner }, mount);
    await source.read({ path: "a" }, call);
    memory.set("a", "2");
    expect(await source.read({ path: "a" }, call)).toMatchObject([{ body: { text: "2" } }]);
    memory.set("a", "1");
    expect(await source.read({ path: "a" }, call)).toMatchObject([{ body: { text: "1" } }]);
  });

  it("distinguishes addresses whatever characters they contain", async () => {
    const inner: Source = {
      list: async () => ({ items: [] }),
      stat: async ({ path }) => ({ path, version: "1" }),
      read: async (at) => [{ body: { text: JSON.stringify(at) } }],
    };
    const source = cache()(inner, mount);
    const addresses: Address[] = [
      { path: "a" },
      { path: "a", query: { b: "c" } },
      { path: 'q["a",[["b","c"]]]' },
      { path: "a", query: { b: "c", d: "e" } },
      { path: "a", query: { b: 'c","d":"e' } },
      { path: "qa" },
      { path: "pa" },
    ];
    for (let round = 0; round < 3; round += 1)
      for (const at of addresses) expect(await source.read(at, call)).toEqual([{ body: { text: JSON.stringify(at) } }]);
  });

  it("stays within its size, and drops the least recently used", async () => {
    const text = "x".repeat(1000);
    const { asked, read } = counting({ a: text, b: text, c: text, d: text, e: text }, { maxBytes: 10_000 });
    for (const path of ["a", "b", "c", "d"]) for (let round = 0; round < 2; round += 1) await read(path);
    const before = asked.read;
    await read("a");
    expect(asked.read).toBe(before);
    for (let round = 0; round < 2; round += 1) await read("e");
    await read("a");
    expect(asked.read).toBe(before + 2);
    await read("b");
    expect(asked.read).toBe(before + 3);
  });

  it("does not cache a body larger than a quarter of its size", async () => {
    const { asked, read } = counting({ a: "x".repeat(1200) }, { maxBytes: 10_000 });
    for (let round = 0; round < 4; round += 1) await read("a");
    expect(asked.read).toBe(4);
  });

  it("requests the version of an unversioned address less and less often, and caches it once it has one", async () => {
    const { asked, inner } = counting({ a: "1" });
    let quiet = false;
    const sometimes: Source = {
      ...inner,
      async stat(at) {
        asked.stat += 1;
        return quiet ? { path: at.path, version: "1" } : { path: at.path };
      },
    };
    const source = cache()(sometimes, mount);
    for (let round = 0; round < 1000; round += 1) await source.read({ path: "a" }, call);
    expect(asked.read).toBe(1000);
    expect(asked.stat).toBeLessThan(30);
    quiet = true;
    for (let round = 0; round < 100; round += 1) await source.read({ path: "a" }, call);
    expect(asked.read).toBeLessThan(1100);
    expect(await source.read({ path: "a" }, call)).toBe(await source.read({ path: "a" }, call));
  });

  it("reads an address that has no stat", async () => {
    const inner: Source = {
      list: async () => ({ items: [] }),
      async stat({ path }) {
        throw notFound(path);
      },
      read: async () => [{ body: { text: "here all the same" } }],
    };
    const source = cache()(inner, mount);
    for (let round = 0; round < 3; round += 1) expect(await source.read({ path: "a" }, call)).toHaveLength(1);
  });

  it("reads once for concurrent calls, but without a version not for different callers", async () => {
    const { reads, source, clock } = held();
    const both = [source.read({ path: "a" }, call), source.read({ path: "a" }, call)];
    const other = source.read({ path: "a" }, { ...call, caller: { id: "other" } });
    await clock.settle();
    expect(reads).toHaveLength(2);
    reads[0]?.answer("shared");
    reads[1]?.answer("own");
    const [first, second] = await Promise.all(both);
    expect(second).toBe(first);
    expect(await other).toEqual([{ body: { text: "own" } }]);
    void source.read({ path: "a" }, call);
    expect(reads).toHaveLength(3);
  });

  it("does not join reads of one caller with different groups", async () => {
    const { reads, source, clock } = held();
    for (const groups of [["a"], ["b"], ["a"]])
      void source.read({ path: "a" }, { ...call, caller: { id: "x", groups } });
    await clock.settle();
    expect(reads).toHaveLength(2);
  });

  it("reads once for different callers who got the same version", async () => {
    const { asked, read } = counting({ a: "1" });
    await read("a");
    await Promise.all(["x", "y", "z"].map((id) => read("a", { ...call, caller: { id } })));
    expect(asked).toEqual({ read: 2, stat: 4 });
  });

  it("passes a failure to all who share a read, and lets the next one try again", async () => {
    const { reads, source } = held();
    const both = [source.read({ path: "a" }, call), source.read({ path: "a" }, call)];
    reads[0]?.fail(notFound("a"));
    for (const answer of await Promise.allSettled(both)) expect(answer.status).toBe("rejected");
    const again = source.read({ path: "a" }, call);
    reads[1]?.answer("now");
    expect(await again).toHaveLength(1);
  });

  it.each([0, 1])("does not fail the others when caller %i of a shared read leaves", async (who) => {
    const { reads, source } = held();
    const leaving = new AbortController();
    const signals = [call.signal, call.signal];
    signals[who] = leaving.signal;
    const [first, second] = signals.map((signal) => source.read({ path: "a" }, { ...call, signal }));
    first?.catch(() => undefined);
    second?.catch(() => undefined);
    leaving.abort();
    expect(reads[0]?.signal.aborted).toBe(false);
    reads[0]?.answer("still wanted");
    expect(await [second, first][who]).toEqual([{ body: { text: "still wanted" } }]);
  });

  it("aborts a read that no one waits for, and lets no new caller join it", async () => {
    const { reads, source } = held();
    const leaving = new AbortController();
    const from = { ...call, signal: leaving.signal };
    const answers = [source.read({ path: "a" }, from), source.read({ path: "a" }, from)];
    leaving.abort();
    expect(reads[0]?.signal.aborted).toBe(true);
    const later = source.read({ path: "a" }, call);
    expect(reads).toHaveLength(2);
    reads[0]?.fail(new Error("stopped"));
    for (const answer of await Promise.allSettled(answers)) expect(answer.status).toBe("rejected");
    reads[1]?.answer("fresh");
    expect(await later).toEqual([{ body: { text: "fresh" } }]);
    await expect(source.read({ path: "a" }, from)).rejects.toMatchObject({ kind: "cancelled" });
  });
});
