import { describe, expect, it } from "vitest";
import { createKeySource } from "../router/test-key-source.ts";
import type { Entry, Source } from "../source.ts";
import { begin, found, isComplete, once, stored, useCrawls } from "./test-crawls.ts";

useCrawls();

const keys = Array.from({ length: 2500 }, (_, index) => `n:${index}`);

function toEntry(text: string): Entry {
  const [path = "", x] = text.split("?");
  return { path, version: "1", mimeType: "text/plain", ...(x !== undefined && { query: { x } }) };
}

describe("the index of a list without order", () => {
  it.each([
    ["is complete", {}],
    ["with repeated entries", { repeats: true }],
    ["with empty pages", { emptyPages: 3 }],
  ])("has each document once (%s)", async (_, options) => {
    const store = createKeySource(keys, options);
    await once(store.source);
    expect(stored()).toHaveLength(2500);
    const { read } = store.calls;
    expect(read).toBe(2500);
    store.delete("n:7");
    store.set("n:8", "changed");
    store.set("n:new", "appeared");
    const next = begin(store.source, { isWatched: false, once: true });
    await next.ran;
    expect(new Set(stored())).toEqual(
      new Set([...keys.filter((key) => key !== "n:7"), "n:new"].map((key) => key.replace(":", "/"))),
    );
    expect(next.crawl.state).toMatchObject({ phase: "complete", looked: 2500, total: 2500 });
    expect(store.calls.read).toBe(read + 2);
  });

  it("keeps addresses of one path with different queries, wherever they are listed", async () => {
    const lists = [
      ["p?1", "q", "p?2", "p?1"],
      ["p?2", "q", "p?1"],
      ["q", "p?2"],
    ];
    const reads: string[] = [];
    const source: Source = {
      isUnordered: true,
      list: async () => ({ items: (lists[0] ?? []).map(toEntry) }),
      async read({ path, query }) {
        reads.push(`${path}?${query?.["x"] ?? ""}`);
        return [{ body: { text: "tea" }, mimeType: "text/plain" }];
      },
    };
    await once(source);
    expect(reads.sort()).toEqual(["p?1", "p?2", "q?"]);
    lists.shift();
    await once(source);
    expect([reads.length, stored()]).toEqual([3, ["p", "p", "q"]]);
    lists.shift();
    await once(source);
    expect([reads.length, stored()]).toEqual([3, ["p", "q"]]);
  });
});

describe("the index of keys that have keys below them", () => {
  it("keeps what is below a key that goes, and takes a key that comes back", async () => {
    const store = createKeySource(["user:1", "user:1:friends", "user:1:friends:2"]);
    const { crawl, until } = begin(store.source);
    await until(isComplete);
    expect(found("value")).toEqual(["user/1", "user/1/friends", "user/1/friends/2"]);
    store.delete("user:1");
    crawl.hear([{ kind: "gone", path: "user/1", eachBelow: true }]);
    await until((now) => isComplete(now) && stored().length === 2);
    expect(stored()).toEqual(["user/1/friends", "user/1/friends/2"]);
    store.delete("user:1:friends:2");
    crawl.hear([{ kind: "gone", path: "user/1/friends/2", eachBelow: true }]);
    await until((now) => isComplete(now) && stored().length === 1);
    store.set("user:1");
    crawl.hear([{ kind: "appeared", path: "user/1", eachBelow: true }]);
    await until((now) => isComplete(now) && stored().length === 2);
    expect(stored()).toEqual(["user/1", "user/1/friends"]);
  });

  it("contains the mount itself if that is a resource", async () => {
    const store = createKeySource(["", "a"]);
    await once(store.source);
    expect(stored()).toEqual(["", "a"]);
    store.delete("");
    await once(store.source);
    expect(stored()).toEqual(["a"]);
  });
});

it("a mount that turns out to be unwatchable is compared at intervals from then on", async () => {
  const store = createKeySource(["a"]);
  const { crawl, clock, until } = begin(store.source, { everyMs: 1000 });
  await until(isComplete);
  store.set("b");
  await clock.advance(10_000);
  expect(stored()).toEqual(["a"]);
  crawl.hear([{ kind: "unwatched" }]);
  await clock.settle();
  await clock.advance(1000);
  await until((now) => isComplete(now) && stored().length === 2);
});
