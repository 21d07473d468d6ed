import { describe, expect, it } from "vitest";
import { openPolicy, type Policy } from "../access/policy.ts";
import type { Call } from "../resources.ts";
import type { SearchIndex } from "../search/search-index.ts";
import type { StoreHit } from "../search/store.ts";
import type { Source, SourceHit } from "../source.ts";
import { createClock } from "../testing/clock.ts";
import { createResources } from "./create-resources.ts";

const call: Call = { caller: { id: "me" }, signal: new AbortController().signal };

/** A source whose own search returns these hits, whatever the query. */
function finding(hits: readonly SourceHit[]): Source {
  return { list: async () => ({ items: [] }), read: async () => [], search: async () => hits };
}

const own = (path: string, more: Partial<SourceHit["entry"]> = {}, hit: Partial<SourceHit> = {}): SourceHit => ({
  entry: { path, ...more },
  score: 1,
  ...hit,
});

const indexed = (path: string, tier: StoreHit["tier"], isMatch = tier > 0): StoreHit => ({
  mount: "pages",
  entry: { path },
  score: 1,
  snippet: "",
  offset: 0,
  marks: [],
  lines: [1, 1],
  tier,
  isMatch,
});

async function search(
  text: string,
  sources: Readonly<Record<string, Source>>,
  pages: readonly StoreHit[] = [],
  policy: Policy = openPolicy,
  ready = 1,
) {
  const index: SearchIndex = {
    ready: (mount) => (mount === "pages" ? ready : undefined),
    problem: () => undefined,
    search: async () => pages,
  };
  const mounts = Object.entries({ pages: { list: async () => ({ items: [] }), read: async () => [] }, ...sources }).map(
    ([name, source]) => ({ name, base: `${name}://`, source: source as Source }),
  );
  const { runtime } = createClock();
  const resources = createResources({ mounts, policy, runtime, cursorKey: new Uint8Array(32), index });
  const { hits } = await resources.search({ text, limit: 10 }, call);
  return hits;
}

const inShort = (hits: Awaited<ReturnType<typeof search>>) =>
  hits.map(({ resource, isMatch }) => `${resource.uri} ${String(isMatch)}`);

describe("the hits of all searchers", () => {
  it.each([
    ["node_cpu_seconds_total", own("series/node_cpu_seconds_total", { name: "node_cpu_seconds_total" })],
    ["widget 4999", own("rows/items", {}, { snippet: "id: 4999, name: Widget" })],
    ["docs/auth.md", own("site/docs/auth.md")],
    ['"connection refused"', own("log", {}, { snippet: "Connection refused by the peer" })],
    ["再設定の手順", own("wiki/1", { title: "再設定の手順" })],
    ["パスワードの再設定", own("wiki/1", { description: "パスワードを再設定する" })],
    ["createSearcher", own("a.ts", { mimeType: "text/x-typescript" }, { snippet: "function createSearcher() {" })],
  ])("start with what matches %s, from whichever source", async (text, hit) => {
    const hits = await search(text, { own: finding([hit]) }, [indexed("node", 0), indexed("other", 0)]);
    expect(inShort(hits)).toEqual([`own://${hit.entry.path} true`, "pages://node false", "pages://other false"]);
    const scores = hits.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((left, right) => right - left));
  });

  it("put what the query names before what only contains it", async () => {
    const metric = own("series/up", { name: "up" });
    const hits = await search("up", { own: finding([own("series/upper_up", { name: "up time" }), metric]) }, [
      indexed("page", 1),
    ]);
    expect(inShort(hits)).toEqual(["own://series/up true", "pages://page true", "own://series/upper_up true"]);
  });

  it("are only similar where the words are not shown, or only their parts", async () => {
    const hits = [own("user/get_name", { name: "get" }), own("x", {}, { snippet: "a user" })];
    expect(inShort(await search("getUserName", { own: finding(hits) }))).toEqual([
      "own://user/get_name false",
      "own://x false",
    ]);
    expect(inShort(await search("再設定", { own: finding([own("x", {}, { snippet: "再び設定" })]) }))).toEqual([
      "own://x false",
    ]);
  });

  it("keep what their searcher says", async () => {
    const said = [own("no", {}, { snippet: "tea", isMatch: false }), own("yes", {}, { isMatch: true })];
    expect(inShort(await search("tea", { own: finding(said) }))).toEqual(["own://yes true", "own://no false"]);
  });

  it("match if any searcher says so", async () => {
    const pages = finding([own("both", {}, { snippet: "tea" })]);
    const hits = await search("tea", { pages }, [indexed("first", 0), indexed("both", 0)]);
    expect(inShort(hits)).toEqual(["pages://both true", "pages://first false"]);
  });

  it("of a text that has changed match by the name, and stay similar if they were", async () => {
    const pages: Source = {
      list: async () => ({ items: [] }),
      read: async () => [],
      stat: async ({ path }) => ({ path, version: "2" }),
    };
    const found = [indexed("old", 1), indexed("far", 0, true), indexed("tea", 0), indexed("similar", 0)];
    expect(inShort(await search("tea", { pages }, found, openPolicy, 0.5))).toEqual([
      "pages://tea true",
      "pages://old undefined",
      "pages://far undefined",
      "pages://similar false",
    ]);
    const located = await search("old.md:7", { pages }, [indexed("x/old.md", 0)], openPolicy, 0.5);
    expect(inShort(located)).toContain("pages://x/old.md true");
    const filtered: Source = { ...pages, filterFiles: () => {}, filesOf: () => [{ path: "x" }] };
    const policy: Policy = { maySee: () => true, filesFor: () => ({ maySee: () => false, mayHold: () => false }) };
    expect(inShort(await search("tea", { pages: filtered }, found, policy))).toEqual([
      "pages://tea true",
      "pages://old false",
      "pages://far false",
      "pages://similar false",
    ]);
  });

  it.each(["config.yaml:42", "deep/config.yaml:42:7"])(
    "match %s, which is the end of their path with a line",
    async (text) => {
      const pages = [indexed("other", 0), indexed("very/deep/config.yaml", 0), indexed("my-config.yaml", 0)];
      expect(inShort(await search(text, {}, pages))).toEqual([
        "pages://very/deep/config.yaml true",
        "pages://other false",
        "pages://my-config.yaml false",
      ]);
    },
  );

  it("do not match a filter that a source may not have applied", async () => {
    expect(inShort(await search("tea path:docs", { own: finding([own("x", {}, { snippet: "tea" })]) }))).toEqual([
      "own://x false",
    ]);
  });

  it("have the same order and matches whatever is hidden", async () => {
    const policy: Policy = { maySee: (_, __, { path }) => path !== "hidden" };
    const shown = [own("a", {}, { snippet: "milk" }), own("b", {}, { snippet: "tea" })];
    const hidden = own("hidden", { name: "tea" }, { snippet: "tea" });
    const hits = await search("tea", { own: finding([hidden, ...shown]) }, [indexed("hidden", 2)], policy);
    expect(hits).toEqual(await search("tea", { own: finding(shown) }, [], policy));
    expect(inShort(hits)).toEqual(["own://b true", "own://a false"]);
  });
});
