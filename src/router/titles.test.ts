import { describe, expect, it } from "vitest";
import { openPolicy, type Policy } from "../access/policy.ts";
import { ownTitle, shortTitle } from "../lib/own-title.ts";
import type { Call, Resource } from "../resources.ts";
import { createMemory } from "../sources/memory.ts";
import type { Entry, Source } from "../source.ts";
import { createClock } from "../testing/clock.ts";
import { createResources } from "./create-resources.ts";

const call: Call = { caller: { id: "me" }, signal: new AbortController().signal };

function open(sources: Readonly<Record<string, Source>>, policy: Policy = openPolicy) {
  const mounts = Object.entries(sources).map(([name, source], at) => ({ name, base: `m${at}://`, source }));
  return createResources({ mounts, policy, runtime: createClock().runtime, cursorKey: new Uint8Array(32) });
}

const memory = (...paths: readonly string[]) =>
  createMemory(Object.fromEntries(paths.map((path) => [path, "x"]))).source;
const entries = (...items: readonly Entry[]): Source => ({ list: async () => ({ items }), read: async () => [] });
const titles = (items: readonly Resource[]) => items.map(({ title }) => title);

const hides = (...mounts: readonly string[]): Policy => ({
  maySee: (_caller, mount, { path }) => !mounts.includes(mount) || path.startsWith("open/"),
});

describe("the title of a resource without one", () => {
  it("is its path, with the same name as before", async () => {
    const { items } = await open({ shop: memory("a/index.ts", "b/index.ts", "文書/手順.md") }).list({}, call);
    expect(items.map(({ name, title }) => [name, title])).toEqual([
      ["index.ts", "a/index.ts"],
      ["index.ts", "b/index.ts"],
      ["手順.md", "文書/手順.md"],
    ]);
  });

  it("begins with the name of its mount where there are several; built-in mounts do not count", async () => {
    const several = open({ shop: memory("a.txt"), press: memory("a.txt"), "status/": memory("a.txt") });
    expect(titles((await several.list({}, call)).items)).toEqual(["shop/a.txt", "press/a.txt", "a.txt"]);
    const one = open({ shop: memory("a.txt"), "status/": memory("b.txt") });
    expect(titles((await one.list({}, call)).items)).toEqual(["a.txt", "b.txt"]);
  });

  it("is the same wherever the resource is shown", async () => {
    const shop = memory("docs/ink.md");
    const hit = { entry: { path: "docs/ink.md" }, score: 1 };
    const pressmark = open({ shop: { ...shop, search: async () => [hit] }, press: memory("a.txt") });
    const title = "shop/docs/ink.md";
    expect((await pressmark.list({}, call)).items[0]).toMatchObject({ title });
    expect((await pressmark.children("m0://docs", {}, call)).items[0]).toMatchObject({ title });
    expect(await pressmark.stat("m0://docs/ink.md", call)).toMatchObject({ title });
    expect((await pressmark.search({ text: "ink", limit: 1 }, call)).hits[0]?.resource).toMatchObject({ title });
  });

  it("is the name where the source chose one that is not part of the path", async () => {
    const source = entries({ path: "1a2b", name: "Plan" }, { path: "2b/x.md", title: "Own" });
    expect(titles((await open({ shop: source, press: memory() }).list({}, call)).items)).toEqual(["Plan", "Own"]);
  });
});

describe("a mount that a caller may not enter", () => {
  it("does not change the titles of others", async () => {
    const shop = { shop: memory("a.txt") };
    const without = await open(shop, hides()).list({}, call);
    expect(await open({ ...shop, secret: memory("b.txt") }, hides("secret")).list({}, call)).toEqual(without);
  });

  it("does not tell its name in the titles of what they may see in it", async () => {
    const both = open({ shop: memory("a.txt"), press: memory("a.txt"), secret: memory("open/b.txt") }, hides("secret"));
    expect(titles((await both.list({}, call)).items)).toEqual(["shop/a.txt", "press/a.txt", "open/b.txt"]);
  });
});

describe("a title beside a path", () => {
  it("is shown only if it says more", () => {
    expect(ownTitle({ name: "index.ts", title: "shop/a/index.ts" })).toBeUndefined();
    expect(ownTitle({ name: "index.ts", title: "index.ts" })).toBeUndefined();
    expect(ownTitle({ name: "index.ts" })).toBeUndefined();
    expect(ownTitle({ name: "ink.md", title: "How ink dries" })).toBe("How ink dries");
    expect(shortTitle({ name: "index.ts", title: "a/index.ts" })).toBe("index.ts");
  });
});
