/** What results show as the location of a resource finds it. */
import { expect, it } from "vitest";
import { openPolicy, type Policy } from "../access/policy.ts";
import type { Call } from "../resources.ts";
import type { SearchIndex } from "../search/search-index.ts";
import type { StoreHit } from "../search/store.ts";
import type { Source } from "../source.ts";
import { createMemory } from "../sources/memory.ts";
import { createClock } from "../testing/clock.ts";
import { createResources } from "./create-resources.ts";

const call: Call = { caller: { id: "me" }, signal: new AbortController().signal };

function silent(texts: Readonly<Record<string, string>>): Source {
  const { search: _search, ...source } = createMemory(texts).source;
  return source as Source;
}

const similar: StoreHit = {
  mount: "a",
  entry: { path: "other" },
  score: 1,
  snippet: "",
  offset: 0,
  marks: [],
  lines: [1, 1],
  tier: 0,
  isMatch: false,
};

async function search(text: string, policy: Policy = openPolicy, within?: string): Promise<string[]> {
  const a = silent({ "config.yaml": "x", "d/a b.md": "x", "設計/決済.md": "x", "odd:42": "x", other: "x" });
  const mounts = [
    { name: "a", base: "file:///home/me/a/", source: a },
    { name: "b", base: "b://", source: silent({ "e/config.yaml": "x" }) },
  ];
  const index: SearchIndex = { ready: () => 1, problem: () => undefined, search: async () => [similar] };
  const { runtime } = createClock();
  const resources = createResources({ mounts, policy, runtime, cursorKey: new Uint8Array(32), index });
  const { hits } = await resources.search({ text, limit: 10, ...(within !== undefined && { within }) }, call);
  return hits.filter(({ isMatch }) => isMatch).map(({ resource }) => resource.uri);
}

it.each([
  ["config.yaml:42", "file:///home/me/a/config.yaml"],
  ["./config.yaml:42:7", "file:///home/me/a/config.yaml"],
  ["file:///home/me/a/config.yaml", "file:///home/me/a/config.yaml"],
  ["file:///home/me/a/config.yaml:42:", "file:///home/me/a/config.yaml"],
  ["/home/me/a/config.yaml", "file:///home/me/a/config.yaml"],
  ["/home/me/a/設計/決済.md:3", "file:///home/me/a/%E8%A8%AD%E8%A8%88/%E6%B1%BA%E6%B8%88.md"],
  ["file:///home/me/a/設計/決済.md", "file:///home/me/a/%E8%A8%AD%E8%A8%88/%E6%B1%BA%E6%B8%88.md"],
  ["d/a b.md:1", "file:///home/me/a/d/a%20b.md"],
  ["odd:42", "file:///home/me/a/odd:42"],
  ["e/config.yaml:1", "b://e/config.yaml"],
  ["b://e/config.yaml:1", "b://e/config.yaml"],
])("%s finds what it locates", async (text, uri) => {
  expect(await search(text)).toEqual([uri]);
});

it.each([
  "/elsewhere/config.yaml",
  "config.yaml:x",
  "c://config.yaml",
  "../a/config.yaml",
  "d/",
  "/home/me/a/d",
  "/\ud800.md",
  ".",
])("%s locates nothing", async (text) => {
  expect(await search(text)).toEqual([]);
});

it("finds nothing that is hidden, or outside of what is searched", async () => {
  const policy: Policy = { maySee: (_, __, { path }) => path !== "config.yaml" };
  expect(await search("config.yaml:42", policy)).toEqual([]);
  expect(await search("file:///home/me/a/config.yaml", policy)).toEqual([]);
  expect(await search("config.yaml:42", openPolicy, "b://")).toEqual([]);
  expect(await search("config.yaml:42", openPolicy, "file:///home/me/a/d")).toEqual([]);
});
