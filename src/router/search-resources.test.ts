import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openPolicy } from "../access/policy.ts";
import type { Policy } from "../access/policy.ts";
import { notFound, ResourceError } from "../errors.ts";
import type { Call } from "../resources.ts";
import type { SearchIndex } from "../search/search-index.ts";
import { openStore } from "../search/sqlite-store.ts";
import type { IndexStore, StoreQuery } from "../search/store.ts";
import type { Source } from "../source.ts";
import { createMemory } from "../sources/memory.ts";
import { createClock } from "../testing/clock.ts";
import { createResources } from "./create-resources.ts";

const call: Call = { caller: { id: "me" }, signal: new AbortController().signal };
const mute: Source = { list: async () => ({ items: [] }), read: async () => [] };

function open(sources: Readonly<Record<string, Source>>, policy: Policy = openPolicy, index?: SearchIndex) {
  const clock = createClock();
  const mounts = Object.entries(sources).map(([name, source]) => ({ name, base: `${name}://`, source }));
  const pressmark = createResources({
    mounts,
    policy,
    runtime: clock.runtime,
    cursorKey: new Uint8Array(32),
    ...(index && { index }),
  });
  const search = async (text: string, limit = 10, within?: string) => {
    const { hits, ready } = await pressmark.search({ text, limit, ...(within !== undefined && { within }) }, call);
    return { uris: hits.map(({ resource }) => resource.uri), ready };
  };
  return { pressmark, clock, search };
}

const sources = {
  a: createMemory({ "d/one": "tea", "d/two": "tea tea tea", "de/x": "tea" }).source,
  b: createMemory({ three: "tea tea", none: "coffee" }).source,
  c: mute,
};

describe("a search", () => {
  it("searches every mount that can be searched, best first", async () => {
    expect(await open(sources).search("tea")).toEqual({
      uris: ["a://d/two", "b://three", "a://d/one", "a://de/x"],
      ready: 1,
    });
    expect((await open(sources).search("tea", 2)).uris).toEqual(["a://d/two", "b://three"]);
  });

  it("gives the position of the hit in a resource", async () => {
    const { pressmark } = open(sources);
    const { hits } = await pressmark.search({ text: "coffee", limit: 1 }, call);
    expect(hits).toEqual([
      {
        resource: { uri: "b://none", name: "none", title: "b/none", mimeType: "text/plain", size: 6 },
        score: 1,
        snippet: "coffee",
        lines: [1, 1],
        isMatch: true,
      },
    ]);
  });

  it("stays below a URI", async () => {
    const { search } = open(sources);
    expect((await search("tea", 10, "a://%64")).uris).toEqual(["a://d/two", "a://d/one"]);
    expect((await search("tea", 10, "a://d/one")).uris).toEqual(["a://d/one"]);
    expect((await search("tea", 10, "b://")).uris).toEqual(["b://three"]);
  });

  it("below a missing or hidden URI is not found", async () => {
    const { search } = open(sources, { maySee: (_, __, { path }) => path !== "d" });
    await expect(search("tea", 10, "a://d")).rejects.toEqual(notFound("a://d"));
    await expect(search("tea", 10, "a://x")).rejects.toEqual(notFound("a://x"));
  });

  it("returns the requested number of visible hits, however many better ones are hidden", async () => {
    const texts = Array.from({ length: 100 }, (_, at) => [`h${at}`, "tea ".repeat(5)]);
    const { source } = createMemory({ ...Object.fromEntries(texts), v1: "tea", v2: "tea", v3: "tea" });
    const { search } = open({ m: source }, { maySee: (_, __, { path }) => !path.startsWith("h") });
    expect((await search("tea", 2)).uris).toEqual(["m://v1", "m://v2"]);
  });

  it("continues without a mount that fails, and reports the share that was searched", async () => {
    const broken: Source = { ...mute, search: () => Promise.reject(new Error("down")) };
    const { pressmark, search, clock } = open({ ...sources, x: broken });
    expect((await search("coffee")).ready).toBe(2 / 3);
    expect((await pressmark.search({ text: "coffee", limit: 1 }, call)).failures).toEqual([
      { mount: "x", message: "internal error; see the server's log for details" },
    ]);
    expect(clock.logged[0]).toMatchObject({ message: "a mount could not be searched", facts: { mount: "x" } });
  });

  it("reports the share that a source has searched itself, and why not all", async () => {
    const half: Source = { ...mute, search: async () => ({ hits: [], ready: 0.5, failure: "it is being indexed" }) };
    const { pressmark } = open({ a: half, b: sources.b });
    const { ready, failures } = await pressmark.search({ text: "tea", limit: 10 }, call);
    expect({ ready, failures }).toEqual({ ready: 0.75, failures: [{ mount: "a", message: "it is being indexed" }] });
  });

  it("is unsupported if no visible mount can be searched", async () => {
    const refusal = { kind: "unsupported", message: "no mount can be searched" };
    await expect(open({ c: mute }).search("tea")).rejects.toMatchObject(refusal);
    await expect(open(sources, { maySee: (_, mount) => mount === "c" }).search("tea")).rejects.toMatchObject(refusal);
  });

  it.each([0, -1, 1.5, Number.NaN, Infinity])("rejects a limit of %d hits", async (limit) => {
    await expect(open(sources).search("tea", limit)).rejects.toMatchObject({ kind: "invalid" });
  });
});

/** A source without `search`. */
function silent(texts: Readonly<Record<string, string>>) {
  const memory = createMemory(texts);
  const { search: _search, ...source } = memory.source;
  return { ...memory, source: source as Source };
}

describe("a search through an index", () => {
  let folder: string;
  let store: IndexStore;
  let asked: Omit<StoreQuery, "vector">[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "pressmark-searching-"));
    store = openStore(join(folder, "index.db"));
    asked = [];
  });

  afterEach(() => {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** An index of these mounts, with the given readiness. */
  async function indexOf(mounts: Readonly<Record<string, Source>>, ready: Readonly<Record<string, number>> = {}) {
    for (const [mount, source] of Object.entries(mounts)) {
      const { items } = await source.list({ limit: 1000 }, call);
      for (const entry of items) {
        const [part] = await source.read(entry, call);
        const text = part && "text" in part.body ? part.body.text : "";
        store.put([{ mount, entry, text }]);
      }
    }
    const index: SearchIndex = {
      ready: (mount) => (mount in mounts ? (ready[mount] ?? 1) : undefined),
      problem: () => undefined,
      async search(ask) {
        asked.push(ask);
        return store.search(ask);
      },
    };
    return index;
  }

  it("finds the content of sources without search, with a matching snippet", async () => {
    const { source } = silent({ "d/one": "black coffee\n\ngreen tea", two: "milk" });
    const { pressmark } = open({ m: source }, openPolicy, await indexOf({ m: source }));
    const { hits, ready } = await pressmark.search({ text: "tea", limit: 5 }, call);
    expect(ready).toBe(1);
    expect(hits).toMatchObject([{ resource: { uri: "m://d/one" }, score: 1 }]);
    const [hit] = hits;
    const [from, to] = hit!.marks![0]!;
    expect(hit!.snippet!.slice(from, to)).toBe("tea");
  });

  it("is waited for where it is nearly ready, before its readiness is reported", async () => {
    const { source } = silent({ a: "tea" });
    const ready = { m: 0 };
    const awaited: (readonly string[])[] = [];
    const index: SearchIndex = {
      ...(await indexOf({ m: source }, ready)),
      async awaitFirstPass(mounts) {
        awaited.push(mounts);
        ready.m = 1;
      },
    };
    const { pressmark } = open({ m: source }, openPolicy, index);
    expect(await pressmark.search({ text: "tea", limit: 5 }, call)).toMatchObject({ ready: 1, hits: [{ score: 1 }] });
    expect(awaited).toEqual([["m"]]);
  });

  it("is merged with the hits of the sources: by rank, each resource once", async () => {
    const [m, own] = [
      silent({ a: "tea", b: "tea and milk and sugar" }).source,
      createMemory({ c: "tea", d: "tea" }).source,
    ];
    const { search } = open({ m, own }, openPolicy, await indexOf({ m, own }));
    const { uris } = await search("tea");
    expect(uris.toSorted()).toEqual(["m://a", "m://b", "own://c", "own://d"]);
    const alone = open({ m, own }, openPolicy, await indexOf({ m }));
    // Those that are first in any list come first.
    expect((await alone.search("tea")).uris.slice(0, 2)).toEqual(["m://a", "own://c"]);
  });

  it("stays below a URI, and is told whether the last word may be incomplete", async () => {
    const { source } = silent({ "d/one": "tea", "de/two": "tea", three: "tea" });
    const { pressmark } = open({ m: source }, openPolicy, await indexOf({ m: source }));
    const { hits } = await pressmark.search({ text: "te", limit: 5, within: "m://%64", typing: true }, call);
    expect(hits.map(({ resource }) => resource.uri)).toEqual(["m://d/one"]);
    expect(asked).toEqual([{ text: "te", limit: 5, mounts: ["m"], within: "d", typing: true }]);
  });

  it("returns the requested number of visible hits, and searches no hidden mount", async () => {
    const texts = Array.from({ length: 60 }, (_, at) => [`h${at}`, "tea tea tea"]);
    const m = silent({ ...Object.fromEntries(texts), v1: "tea and milk", v2: "tea and sugar" }).source;
    const secret = silent({ s: "tea" }).source;
    const policy: Policy = { maySee: (_, mount, { path }) => mount === "m" && !path.startsWith("h") };
    const { search } = open({ m, secret }, policy, await indexOf({ m, secret }));
    expect((await search("tea", 2)).uris.toSorted()).toEqual(["m://v1", "m://v2"]);
    expect(new Set(asked.flatMap(({ mounts }) => mounts))).toEqual(new Set(["m"]));
  });

  it("reports the share that was searched", async () => {
    const [m, n] = [silent({ a: "tea" }).source, silent({ b: "tea" }).source];
    const own = createMemory({ c: "tea" }).source;
    expect((await open({ m, n }, openPolicy, await indexOf({ m, n }, { n: 0.5 })).search("tea")).ready).toBe(0.75);
    // A source with its own search has searched all of it.
    expect((await open({ m, own }, openPolicy, await indexOf({ m, own }, { own: 0.1 })).search("tea")).ready).toBe(1);
    // Unless the index contains more than the source lists.
    const both: Source = { ...own, listIndexed: own.list, indexes: () => true };
    expect((await open({ m, both }, openPolicy, await indexOf({ m, both }, { both: 0.5 })).search("tea")).ready).toBe(
      0.75,
    );
    const timeout = new ResourceError("unavailable", "statement timeout");
    const slow: Source = { ...both, search: () => Promise.reject(timeout) };
    const failed = await open({ m, slow }, openPolicy, await indexOf({ m, slow })).pressmark.search(
      { text: "tea", limit: 5 },
      call,
    );
    expect(failed).toMatchObject({ ready: 0.5, failures: [{ mount: "slow", message: "statement timeout" }] });
    const broken: SearchIndex = {
      ready: () => 1,
      problem: () => undefined,
      search: () => Promise.reject(new Error("gone")),
    };
    const { search, clock } = open({ m, own }, openPolicy, broken);
    expect(await search("tea")).toEqual({ uris: ["own://c"], ready: 0.5 });
    expect(clock.logged).toMatchObject([{ message: "the index could not be searched" }]);
  });

  it("shows no hits of a mount that cannot be read, and reports that, however ready it was", async () => {
    const [m, n] = [silent({ a: "tea", b: "tea" }).source, silent({ c: "tea" }).source];
    let isDown = false;
    const failing: Source = {
      ...m,
      stat: (at, given) =>
        isDown ? Promise.reject(new ResourceError("unavailable", '"a" is not there')) : m.stat!(at, given),
    };
    const { pressmark } = open({ m: failing, n }, openPolicy, await indexOf({ m, n }));
    const search = async () => {
      const { hits, ready, failures } = await pressmark.search({ text: "tea", limit: 5 }, call);
      return { uris: hits.map(({ resource }) => resource.uri).toSorted(), ready, failures };
    };
    expect(await search()).toEqual({ uris: ["m://a", "m://b", "n://c"], ready: 1, failures: undefined });
    isDown = true;
    // Without the name of an entry: other callers get the same message.
    const failures = [{ mount: "m", message: "it cannot be read at present, so its results are not shown" }];
    await expect.poll(search).toEqual({ uris: ["n://c"], ready: 0.5, failures });
    isDown = false;
    await expect.poll(search).toEqual({ uris: ["m://a", "m://b", "n://c"], ready: 1, failures: undefined });
  });

  it("does not wait for a slow mount, and reports that its hits may be out of date", async () => {
    const { source } = silent({ a: "tea" });
    const slow: Source = {
      ...source,
      stat: () => new Promise(() => {}),
    };
    const { pressmark, clock } = open({ m: slow }, openPolicy, await indexOf({ m: source }));
    const searched = pressmark.search({ text: "tea", limit: 5 }, call);
    await expect.poll(() => clock.waiting).toBe(1);
    await clock.advance(1000);
    const answer = await searched;
    expect(answer).toMatchObject({
      hits: [{ resource: { uri: "m://a" } }],
      ready: 0.99,
      failures: [{ mount: "m", message: expect.stringContaining("may be out of date") as string }],
    });
    expect(answer.hits[0]?.snippet).toBeUndefined();
  });

  it("does not check whether a mount responds that was read for this search", async () => {
    const { source } = silent({ a: "tea" });
    const slow: Source = { ...source, stat: () => new Promise(() => {}) };
    const index: SearchIndex = { ...(await indexOf({ m: source })), hasJustRead: () => true };
    const answer = await open({ m: slow }, openPolicy, index).pressmark.search({ text: "tea", limit: 5 }, call);
    expect(answer).toMatchObject({ hits: [{ resource: { uri: "m://a" } }], ready: 1 });
    expect(answer.failures).toBeUndefined();
  });

  it("names the mounts that the index has a problem with, including those not in it", async () => {
    const [m, large] = [silent({ a: "tea" }).source, silent({ b: "tea" }).source];
    const own = createMemory({ c: "tea" }).source;
    const index: SearchIndex = {
      ...(await indexOf({ m, own }, { m: 0.5, own: 0.5 })),
      problem: (mount) => `${mount} has a problem`,
    };
    const { hits, failures } = await open({ m, large, own }, openPolicy, index).pressmark.search(
      { text: "tea", limit: 5 },
      call,
    );
    expect(hits).toHaveLength(2);
    // A source with its own search has searched all of it.
    expect(failures).toEqual([
      { mount: "m", message: "m has a problem" },
      { mount: "large", message: "large has a problem" },
    ]);
    const policy: Policy = { maySee: (_, mount) => mount === "own" };
    const { pressmark } = open({ m, large, own }, policy, index);
    expect((await pressmark.search({ text: "tea", limit: 5 }, call)).failures).toBeUndefined();
  });

  it("reports the lower of its readiness before and after the search", async () => {
    const { source } = silent({ a: "tea" });
    const inner = await indexOf({ m: source });
    let ready = 0.5;
    const index: SearchIndex = {
      ...inner,
      ready: () => ready,
      async search(ask, signal) {
        const hits = await inner.search(ask, signal);
        ready = 1;
        return hits;
      },
    };
    const { search } = open({ m: source }, openPolicy, index);
    expect((await search("tea")).ready).toBe(0.5);
    expect((await search("tea")).ready).toBe(1);
  });

  it("checks hits of an incomplete index: no hit that is gone, and no old text of one that has changed", async () => {
    const memory = silent({ a: "green tea", b: "black tea", c: "white tea" });
    const index = await indexOf({ m: memory.source }, { m: 0.9 });
    memory.delete("a");
    memory.set("b", "hot chocolate");
    const { pressmark } = open({ m: memory.source }, openPolicy, index);
    const { hits } = await pressmark.search({ text: "tea", limit: 5 }, call);
    expect(Object.fromEntries(hits.map(({ resource, snippet }) => [resource.uri, snippet !== undefined]))).toEqual({
      "m://b": false,
      "m://c": true,
    });
  });

  it("rejects an invalid query", async () => {
    const { source } = silent({ a: "tea" });
    await expect(open({ m: source }, openPolicy, await indexOf({ m: source })).search(" ")).rejects.toMatchObject({
      kind: "invalid",
    });
  });

  it("completes paths if the source has few suggestions and the index is ready", async () => {
    const texts = { "docs/parser.md": "tea", "src/lib/parser.ts": "tea", "src/other.ts": "the parser" };
    const { source } = silent(texts);
    const templated: Source = { ...source, templates: [{ template: "{+path}{?lines}", name: "File" }] };
    const complete = async (ready: number, policy = openPolicy) => {
      const { pressmark } = open({ m: templated }, policy, await indexOf({ m: templated }, { m: ready }));
      const ask = { template: "m://{+path}{?lines}", variable: "path", value: "parse", given: {} };
      return (await pressmark.complete(ask, call)).values.toSorted();
    };
    expect(await complete(1)).toEqual(["docs/parser.md", "src/lib/parser.ts"]);
    expect(await complete(0.9)).toEqual([]);
    expect(await complete(1, { maySee: (_, __, { path }) => path !== "docs/parser.md" })).toEqual([
      "src/lib/parser.ts",
    ]);
  });
});
