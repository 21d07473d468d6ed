import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { notFound, ResourceError } from "../errors.ts";
import { compareAddresses } from "../lib/address-order.ts";
import type { Entry, Source } from "../source.ts";
import { createMemory, type Memory } from "../sources/memory.ts";
import type { Crawl } from "./crawl.ts";
import { begin, crawls, found, isComplete, once, stopThenGrow, stored, useCrawls } from "./test-crawls.ts";

useCrawls();

/** Records the reads. */
function counting(source: Source): { readonly source: Source; readonly reads: string[] } {
  const reads: string[] = [];
  return {
    reads,
    source: {
      ...source,
      read(at, call) {
        reads.push(at.path);
        return source.read(at, call);
      },
    },
  };
}

/** Lists in reverse order. */
function backwards(source: Source): Source {
  return {
    ...source,
    order: (left, right) => compareAddresses(right, left),
    async list(ask, call) {
      const { items } = await source.list({ limit: 1_000_000 }, call);
      const from = ask.cursor === undefined ? 0 : Number(ask.cursor);
      const page = items.toReversed().slice(from, from + 2);
      return { items: page, ...(from + 2 < items.length && { next: String(from + 2) }) };
    },
  };
}

it("indexes what a source lists for the index, instead of its list", async () => {
  const memory = createMemory({ "commit/a": "alpha", "commit/b": "beta", log: "everything" });
  const all: Source["list"] = (request, call) => memory.source.list(request, call);
  const source: Source = {
    ...memory.source,
    list: async () => ({ items: [{ path: "log" }] }),
    async listIndexed(request, call) {
      const page = await all(request, call);
      return { ...page, items: page.items.filter(({ path }) => path.startsWith("commit/")) };
    },
  };
  const { crawl, until } = begin(source);
  await until(isComplete);
  expect(stored()).toEqual(["commit/a", "commit/b"]);
  memory.set("commit/c", "gamma");
  crawl.hear([{ kind: "appeared", path: "commit/c", isUnlisted: true, isListed: true }]);
  await until((now) => isComplete(now) && found("gamma").length > 0);
  expect(stored()).toEqual(["commit/a", "commit/b", "commit/c"]);
});

describe("a crawl", () => {
  it("handles a source with its own list order, and reads only what is new", async () => {
    const memory = createMemory({ a: "apple tea", "b/c": "green tea", "b-c": "black tea", d: "coffee" });
    await once(backwards(memory.source));
    expect(stored()).toEqual(["a", "b/c", "b-c", "d"]);
    memory.delete("b/c");
    memory.set("d", "more tea");
    const { source, reads } = counting(backwards(memory.source));
    await once(source);
    expect(reads).toEqual(["d"]);
    expect(found("tea")).toEqual(["a", "b-c", "d"]);
  });

  it("indexes nothing of a mount with too many files, requests no changes, and removes what was indexed", async () => {
    const memory = createMemory({ a: "tea", b: "tea" });
    await once(memory.source, { maxFiles: 2 });
    expect(found("tea")).toEqual(["a", "b"]);
    memory.set("c", "tea");
    let followed = 0;
    const follow = async () => void (followed += 1);
    // The number is known from the last pass: the third is found on the way.
    const grown = begin(memory.source, { maxFiles: 2, follow });
    await grown.ran;
    expect(grown.crawl.state).toMatchObject({
      phase: "large",
      ready: 0,
      lastError: expect.stringContaining("maxFiles"),
    });
    expect(stored()).toEqual([]);
    expect(followed).toBe(1);
    const { source, reads } = counting(memory.source);
    await begin(source, { maxFiles: 2, follow }).ran;
    expect(reads).toEqual([]);
    expect(followed).toBe(1);
    await once(memory.source, { maxFiles: 3 });
    expect(found("tea")).toEqual(["a", "b", "c"]);
  });

  it("indexes everything, and reports its progress", async () => {
    const { source } = createMemory({ "a/one.md": "apple tea", "b.md": "green tea", "c.bin": new Uint8Array([0, 1]) });
    const { crawl, until } = begin(source);
    expect(crawl.state).toMatchObject({ phase: "waiting", ready: 0 });
    await until(isComplete);
    expect(found("tea")).toEqual(["a/one.md", "b.md"]);
    expect(stored()).toEqual(["a/one.md", "b.md", "c.bin"]);
    expect(crawl.state).toEqual({
      phase: "complete",
      looked: 3,
      total: 3,
      isPassed: true,
      changes: 0,
      unread: 0,
      ready: 1,
    });
  });

  it("reads again only entries with another version", async () => {
    const memory = createMemory({ a: "tea", b: "tea", c: "tea" });
    await once(memory.source);
    memory.set("b", "milk");
    memory.delete("c");
    const { source, reads } = counting(memory.source);
    await once(source);
    expect(reads).toEqual(["b"]);
    expect(stored()).toEqual(["a", "b"]);
    expect([found("tea"), found("milk")]).toEqual([["a"], ["b"]]);
  });

  it("compares entries without a version by their text", async () => {
    const memory = createMemory({ a: "tea", b: "tea" });
    const versionless: Source = {
      ...memory.source,
      async list(ask, call) {
        const page = await memory.source.list(ask, call);
        return { ...page, items: page.items.map(({ version: _version, ...entry }) => entry) };
      },
    };
    await once(versionless);
    const puts: string[] = [];
    const { put } = crawls.store;
    crawls.store = {
      ...crawls.store,
      put: (documents) => (puts.push(...documents.map(({ entry }) => entry.path)), put(documents)),
    };
    await once(versionless);
    expect(puts).toEqual([]);
    memory.set("b", "milk");
    await once(versionless);
    expect(puts).toEqual(["b"]);
    expect(found("milk")).toEqual(["b"]);
  });

  it("finds what was saved, and no longer what is gone", async () => {
    const memory = createMemory({ "a/x": "tea", "a/y": "tea", b: "tea" });
    const { crawl, until } = begin(memory.source);
    await until(isComplete);
    memory.set("b", "milk");
    memory.set("new/z", "milk");
    crawl.hear([
      { kind: "changed", path: "b" },
      { kind: "appeared", path: "new" },
      { kind: "appeared", path: "new/z" },
    ]);
    expect(crawl.state.changes).toBe(3);
    await until(() => found("milk").length === 2);
    memory.delete("a/x");
    memory.delete("a/y");
    crawl.hear([{ kind: "gone", path: "a" }]);
    await until(() => !stored().includes("a/y"));
    expect(stored()).toEqual(["b", "new/z"]);
  });

  it("indexes nothing that is not listed, however often it changes", async () => {
    const memory = createMemory({ a: "tea", "unlisted/b": "tea", c: "tea" });
    const asked: string[] = [];
    const { list, stat } = memory.source;
    const source: Source = {
      ...memory.source,
      async list(ask, call) {
        const page = await list(ask, call);
        const items = page.items.filter(({ path }) => path !== "unlisted/b" && path !== "c");
        return { ...page, items: [...items, ...(ask.cursor ? [] : [{ path: "c", query: { part: "1" } }])] };
      },
      async stat({ path, query }, call) {
        asked.push(query ? `${path}?` : path);
        return query ? { path, query } : stat!({ path }, call);
      },
      read: async (at, call) => memory.source.read({ path: at.path }, call),
    };
    const { crawl, until } = begin(source);
    await until(isComplete);
    expect(stored()).toEqual(["a", "c"]);
    for (const path of ["a", "unlisted/b", "c"]) memory.set(path, "milk");
    crawl.hear([
      { kind: "changed", path: "unlisted/b", isListed: false },
      { kind: "appeared", path: "unlisted/b", isListed: false },
      { kind: "changed", path: "c", isListed: false },
      { kind: "changed", path: "a", isListed: true },
    ]);
    await until(isComplete);
    expect(found("milk")).toEqual(["a", "c"]);
    expect(stored()).toEqual(["a", "c"]);
    expect(asked.sort()).toEqual(["a", "c?"]);
  });

  it("checks everything again when changes were lost, and is not ready until then", async () => {
    const memory = createMemory({ a: "tea" });
    const { crawl, until } = begin(memory.source);
    await until(isComplete);
    memory.set("b", "milk");
    memory.delete("a");
    crawl.hear([{ kind: "lost" }]);
    expect(crawl.state.ready).toBeLessThan(1);
    await until(isComplete);
    expect(stored()).toEqual(["b"]);
  });

  it("checks an unwatched mount again after a while", async () => {
    const memory = createMemory({ a: "tea" });
    const { until, clock } = begin(memory.source, { isWatched: false, everyMs: 60_000 });
    await until(isComplete);
    memory.set("b", "tea");
    await clock.advance(60_000);
    await until((crawl) => isComplete(crawl) && crawl.state.total === 2);
    expect(stored()).toEqual(["a", "b"]);
  });

  it("ends with the last version of an entry that changes while it is being indexed", async () => {
    const memory = createMemory({ a: "tea", b: "tea" });
    let changed = false;
    const stand = begin({
      ...memory.source,
      async read(at, call) {
        const parts = await memory.source.read(at, call);
        if (at.path !== "a" || changed) return parts;
        // Read, not yet stored, and already outdated.
        changed = true;
        memory.set("a", "milk");
        stand.crawl.hear([{ kind: "changed", path: "a" }]);
        return parts;
      },
    });
    await stand.until(isComplete);
    expect([found("milk"), found("tea")]).toEqual([["a"], ["b"]]);
  });

  it("finds immediately what is saved during a long pass, and does not lose it to the pass", async () => {
    const names = Array.from({ length: 1500 }, (_, at) => `f${1000 + at}`);
    const memory = createMemory(Object.fromEntries(names.map((name) => [name, "tea"])));
    await once(memory.source);
    for (const name of names) memory.set(name, "tea again");
    const { source, reads } = counting({
      ...memory.source,
      list: ({ cursor }, call) => memory.source.list({ limit: 700, ...(cursor !== undefined && { cursor }) }, call),
    });
    const stand = begin({
      ...source,
      read(at, call) {
        if (at.path === "f1760") {
          // Within the page that was just listed and not yet compared with the index.
          memory.set("f2100-new", "milk");
          stand.crawl.hear([{ kind: "appeared", path: "f2100-new" }]);
        }
        return source.read(at, call);
      },
    });
    await stand.until(isComplete);
    expect(found("milk")).toEqual(["f2100-new"]);
    expect(stored()).toHaveLength(1501);
    expect(reads.indexOf("f2100-new")).toBeLessThan(reads.indexOf("f2000"));
  });

  it("continues where it was stopped", async () => {
    const memory = createMemory(
      Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`f${1000 + at}`, `tea number ${at}`])),
    );
    const stopped = begin(memory.source);
    await stopped.until(({ state }) => state.looked > 300);
    crawls.stop.abort();
    await stopped.ran;
    crawls.stop = new AbortController();
    const before = stored().length;
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(1000);
    const rest = counting(memory.source);
    await once(rest.source);
    expect(rest.reads).toHaveLength(1000 - before);
    expect(stored()).toHaveLength(1000);
  });

  it("skips what cannot be read, logs that once, and retries", async () => {
    const memory = createMemory({ a: "tea", b: "tea", c: "tea", d: "tea" });
    let isDown = true;
    const source: Source = {
      ...memory.source,
      read: (at, call) =>
        isDown && at.path !== "d"
          ? Promise.reject(new ResourceError("unavailable", "the backend is down"))
          : memory.source.read(at, call),
    };
    const { crawl, until, clock } = begin(source);
    await until(({ state }) => state.phase === "partial");
    expect(found("tea")).toEqual(["d"]);
    expect(crawl.state).toMatchObject({ unread: 3, lastError: "the backend is down" });
    expect(crawl.state.ready).toBeLessThan(1);
    expect(clock.logged).toHaveLength(1);
    // It is still down after a second.
    await clock.advance(1000);
    await until(({ state }) => state.phase === "partial" && state.unread === 3);
    isDown = false;
    await clock.advance(2000);
    await until(isComplete);
    expect(found("tea")).toEqual(["a", "b", "c", "d"]);
    expect(crawl.state).toMatchObject({ unread: 0, ready: 1 });
    expect(crawl.state.lastError).toBeUndefined();
  });

  it("checks a change again that could not be checked", async () => {
    const memory = createMemory({ a: "tea" });
    let isDown = false;
    const source: Source = {
      ...memory.source,
      stat: (at, call) =>
        isDown
          ? Promise.reject(new ResourceError("unavailable", "too many files are open"))
          : memory.source.stat!(at, call),
    };
    const { crawl, until, clock } = begin(source);
    await until(isComplete);
    isDown = true;
    memory.set("b", "milk");
    crawl.hear([{ kind: "appeared", path: "b" }]);
    await until(({ state }) => state.phase === "partial");
    expect(crawl.state).toMatchObject({ changes: 0, unread: 1, lastError: "too many files are open" });
    isDown = false;
    await clock.advance(1000);
    await until(isComplete);
    expect(found("milk")).toEqual(["b"]);
  });

  it("finds in another pass an address with a query that could not be read", async () => {
    const entries: Entry[] = ["1", "2"].map((row) => ({ path: "t", query: { row }, version: "1" }));
    let isDown = true;
    const source: Source = {
      list: async () => ({ items: entries }),
      async read({ query }) {
        if (isDown && query?.["row"] === "2") throw new ResourceError("unavailable", "away");
        return [{ body: { text: "tea" } }];
      },
      stat: async ({ path }) => Promise.reject(notFound(path)),
    };
    const { until, clock } = begin(source);
    await until(({ state }) => state.phase === "partial");
    isDown = false;
    await clock.advance(1000);
    await until(isComplete);
    expect(crawls.store.stored("m", { limit: 9 })).toHaveLength(2);
  });

  it("is not complete while changes wait, and lets messages through while it handles them", async () => {
    const names = Array.from({ length: 600 }, (_, at) => `f${1000 + at}`);
    const memory = createMemory({ a: "tea" });
    const { crawl, until } = begin(memory.source);
    await until(isComplete);
    for (const name of names) memory.set(name, "milk");
    crawl.hear(names.map((path) => ({ kind: "appeared", path })));
    expect(crawl.state).toMatchObject({ phase: "indexing", changes: 600 });
    const seen: number[] = [];
    while (!isComplete(crawl)) {
      seen.push(crawl.state.ready);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(Math.max(...seen)).toBeLessThan(1);
    // At least one turn for each batch.
    expect(seen.length).toBeGreaterThan(3);
    expect(crawls.store.search({ text: "milk", limit: 1000 })).toHaveLength(600);
  });

  it("fails and retries with growing delays if a mount cannot be listed", async () => {
    const memory = createMemory({ a: "tea" });
    let isDown = true;
    const source: Source = {
      ...memory.source,
      list: (ask, call) =>
        isDown ? Promise.reject(new ResourceError("unavailable", "away")) : memory.source.list(ask, call),
    };
    const { crawl, until, clock } = begin(source);
    await until(({ state }) => state.phase === "failing");
    expect(crawl.state).toMatchObject({ ready: 0, lastError: "away" });
    isDown = false;
    await clock.advance(1000);
    await until(isComplete);
    expect(found("tea")).toEqual(["a"]);
  });

  it("stores batches of a given size, between which it can be stopped", async () => {
    const texts = Array.from({ length: 40 }, (_, at) => [`${at}.md`, "tea ".repeat(250)] as const);
    const { source } = createMemory(Object.fromEntries(texts));
    await once(source, { batchChars: 5000, mayGrow: stopThenGrow });
    expect(stored().length).toBeGreaterThan(0);
    expect(stored().length).toBeLessThan(10);
  });

  it("adds nothing if the index may not grow, and removes what is gone", async () => {
    const memory = createMemory({ a: "tea", b: "tea" });
    await once(memory.source);
    memory.delete("a");
    memory.set("c", "tea");
    await once(memory.source, { mayGrow: () => false });
    expect(stored()).toEqual(["b"]);
  });

  it("distinguishes several addresses at one path", async () => {
    const entries: Entry[] = [
      { path: "t", query: { row: "1" }, version: "1" },
      { path: "t", query: { row: "2" }, version: "1" },
      { path: "u", version: "1" },
    ];
    const texts = new Map([
      ["t 1", "tea"],
      ["t 2", "milk"],
      ["u ", "tea"],
    ]);
    const source: Source = {
      list: async ({ cursor }) => {
        const at = Number(cursor ?? 0);
        return { items: entries.slice(at, at + 1), ...(at + 1 < entries.length && { next: String(at + 1) }) };
      },
      async read({ path, query }) {
        const text = texts.get(`${path} ${query?.["row"] ?? ""}`);
        if (text === undefined) throw notFound(path);
        return [{ body: { text } }];
      },
    };
    await once(source);
    expect(found("tea")).toEqual(["t", "u"]);
    expect(crawls.store.stored("m", { limit: 9 })).toHaveLength(3);
    entries.splice(1, 1);
    await once(source);
    expect(crawls.store.stored("m", { limit: 9 })).toHaveLength(2);
    expect(found("milk")).toEqual([]);
  });

  const segment = fc.constantFrom("a", "b", "a-b", "é", "日本", "\u{1f389}", "\uff5e", "x y");
  const path = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => segments.join("/"));
  const step = fc.record({ path, text: fc.constantFrom("tea", "milk", undefined), told: fc.boolean() });

  it("matches its source in the end, whatever happens meanwhile", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { maxLength: 6 }), { minLength: 1, maxLength: 5 }), async (rounds) => {
        crawls.store.removeBelow("m", "");
        crawls.store.setNote("total:m", "");
        const memory = createMemory();
        const paged: Source = {
          ...memory.source,
          list: ({ cursor }, call) => memory.source.list({ limit: 2, ...(cursor !== undefined && { cursor }) }, call),
        };
        const told = begin(paged);
        for (const round of rounds) {
          for (const { path: at, text, told: isTold } of round) act(memory, at, text, isTold, told.crawl);
          await new Promise((resolve) => setImmediate(resolve));
        }
        if (rounds.flat().some((each) => !each.told)) told.crawl.hear([{ kind: "lost" }]);
        await told.until(isComplete);
        const listed = (await memory.source.list({ limit: 1000 }, { caller: { id: "t" }, signal: crawls.stop.signal }))
          .items;
        expect(stored()).toEqual(listed.map((entry) => entry.path));
        expect(stored()).toEqual(stored().toSorted(compareAddresses));
        expect(crawls.store.stored("m", { limit: 1000 }).map(({ version }) => version)).toEqual(
          listed.map(({ version }) => version),
        );
        crawls.stop.abort();
        crawls.stop = new AbortController();
      }),
      { numRuns: 40 },
    );
  });
});

function act(memory: Memory, path: string, text: string | undefined, isTold: boolean, crawl: Crawl): void {
  const had = memory.has(path);
  try {
    if (text === undefined) memory.delete(path);
    else memory.set(path, text);
  } catch {
    // The path is a directory, or a file is above it.
    return;
  }
  if (!isTold) return;
  if (memory.has(path)) crawl.hear([{ kind: had ? "changed" : "appeared", path }]);
  else if (had) crawl.hear([{ kind: "gone", path }]);
}
