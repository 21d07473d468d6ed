import { describe, expect, it } from "vitest";
import { createAnswerCache, type CachedAnswerKey, type AnswerCacheOptions } from "./answer-cache.ts";

const key = (requestKey: string, more: Partial<CachedAnswerKey> = {}): CachedAnswerKey => ({
  server: "s",
  identity: "ada",
  isList: false,
  requestKey,
  ...more,
});
const freshness = { ttlMs: 100, scope: "private" } as const;

function create(options: AnswerCacheOptions = {}) {
  let nowMs = 0;
  const kept = createAnswerCache({ now: () => nowMs, ...options });
  return {
    ...kept,
    put: (which: CachedAnswerKey, value: unknown, fresh: { ttlMs: number; scope: "public" | "private" } = freshness) =>
      kept.expect(which)({ value, freshness: fresh }),
    has: (which: CachedAnswerKey) => kept.get(which) !== undefined,
    pass: (ms: number) => void (nowMs += ms),
  };
}

describe("cached responses", () => {
  it("are returned for as long as the server allowed, with the remaining time", () => {
    const { put, get, has, pass } = create();
    put(key("a"), "alpha");
    pass(40);
    expect(get(key("a"))).toEqual({ answer: "alpha", leftMs: 60 });
    pass(60);
    expect(has(key("a"))).toBe(false);
  });

  it("belong to one identity unless they are public, and to one server", () => {
    const { put, has } = create();
    put(key("private"), 1);
    put(key("public"), 1, { ttlMs: 100, scope: "public" });
    expect(has(key("private", { identity: "grace" }))).toBe(false);
    expect(has(key("public", { identity: "grace" }))).toBe(true);
    expect(has(key("public", { server: "other" }))).toBe(false);
    // An empty identity is not the same as no identity.
    expect(has(key("private", { identity: "" }))).toBe(false);
  });

  it("are removed by URI, and all lists together", () => {
    const { put, has, forget, forgetLists } = create();
    put(key("read", { uri: "x://a" }), 1);
    put(key("children", { uri: "x://a", isList: true }), 1);
    put(key("list", { isList: true }), 1);
    forget("s", "x://a");
    expect(has(key("read", { uri: "x://a" }))).toBe(false);
    expect(has(key("children", { uri: "x://a", isList: true }))).toBe(false);
    expect(has(key("list", { isList: true }))).toBe(true);
    forgetLists("s");
    expect(has(key("list", { isList: true }))).toBe(false);
  });

  it("are removed in every range and form, because a server announces the whole", () => {
    const { put, has, forget } = create();
    const [whole, range, other] = ["x://a", "x://a?lines=1-9", "x://ab"].map((uri) => key("read", { uri }));
    for (const each of [whole!, range!, other!]) put(each, 1);
    forget("s", "x://a");
    expect([whole!, range!, other!].map(has)).toEqual([false, false, true]);
  });

  it("are not stored if a change was announced during the request", () => {
    const { expect: await_, has, forget } = create();
    const settle = await_(key("read", { uri: "x://a" }));
    forget("s", "x://a");
    settle({ value: "old", freshness });
    expect(has(key("read", { uri: "x://a" }))).toBe(false);
  });

  it("are evicted least recently used first, and not stored at all if too large", () => {
    const { put, get, has } = create({ maxEntries: 2, maxWeight: 10_000 });
    put(key("a"), 1);
    put(key("b"), 1);
    get(key("a"));
    put(key("c"), 1);
    expect(["a", "b", "c"].map((each) => has(key(each)))).toEqual([true, false, true]);
    put(key("heavy"), "x".repeat(3000));
    expect(has(key("heavy"))).toBe(false);
    put(key("d"), "x".repeat(1200));
    put(key("e"), "x".repeat(1200));
    expect(["a", "c", "d", "e"].map((each) => has(key(each)))).toEqual([false, false, true, true]);
  });
});

describe("a cached response with a validator", () => {
  const store = (validator?: string) => {
    const kept = create();
    kept.expect(key("read", { uri: "x://a" }))({ value: "alpha", freshness, validator });
    return kept;
  };
  const which = key("read", { uri: "x://a" });

  it("stays when it is stale, for asking whether it has changed", () => {
    const { get, getStale, pass } = store("v1");
    expect(getStale(which)).toEqual({ answer: "alpha", validator: "v1" });
    pass(100);
    expect(get(which)).toBeUndefined();
    expect(getStale(which)).toEqual({ answer: "alpha", validator: "v1" });
    expect(getStale(key("read", { uri: "x://a", identity: "grace" }))).toBeUndefined();
  });

  it("becomes stale when a change is announced, also during the request", () => {
    const kept = store("v1");
    const settle = kept.expect(which);
    kept.forget("s", "x://a");
    expect(kept.get(which)).toBeUndefined();
    expect(kept.getStale(which)).toMatchObject({ validator: "v1" });
    settle({ value: "beta", freshness, validator: "v2" });
    expect(kept.get(which)).toBeUndefined();
    expect(kept.getStale(which)).toEqual({ answer: "beta", validator: "v2" });
  });

  it("is stored even if it may not be used again without asking", () => {
    const kept = create();
    kept.expect(which)({ value: "alpha", freshness: { ttlMs: 0, scope: "private" }, validator: "v1" });
    expect(kept.get(which)).toBeUndefined();
    expect(kept.getStale(which)).toMatchObject({ answer: "alpha" });
  });

  it("is what it takes: without one, a stale response is gone", () => {
    const { getStale, pass } = store();
    expect(getStale(which)).toBeUndefined();
    pass(100);
    expect(getStale(which)).toBeUndefined();
  });
});
