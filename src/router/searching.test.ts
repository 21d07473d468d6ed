import { describe, expect, it } from "vitest";
import { openPolicy } from "../access/policy.ts";
import type { Policy } from "../access/policy.ts";
import { notFound } from "../errors.ts";
import type { Call } from "../resources.ts";
import type { Source } from "../source.ts";
import { createMemory } from "../sources/memory.ts";
import { createClock } from "../testing/clock.ts";
import { createResources } from "./create-resources.ts";

const call: Call = { caller: { id: "me" }, signal: new AbortController().signal };
const mute: Source = { list: async () => ({ items: [] }), read: async () => [] };

function open(sources: Readonly<Record<string, Source>>, policy: Policy = openPolicy) {
  const clock = createClock();
  const mounts = Object.entries(sources).map(([name, source]) => ({ name, base: `${name}://`, source }));
  const house = createResources({ mounts, policy, tools: clock.tools, cursorKey: new Uint8Array(32) });
  const search = async (text: string, limit = 10, within?: string) => {
    const { hits, ready } = await house.search({ text, limit, ...(within !== undefined && { within }) }, call);
    return { uris: hits.map(({ resource }) => resource.uri), ready };
  };
  return { house, clock, search };
}

const sources = {
  a: createMemory({ "d/one": "tea", "d/two": "tea tea tea", "de/x": "tea" }).source,
  b: createMemory({ three: "tea tea", none: "coffee" }).source,
  c: mute,
};

describe("a search", () => {
  it("goes through every mount that can, best first", async () => {
    expect(await open(sources).search("tea")).toEqual({
      uris: ["a://d/two", "b://three", "a://d/one", "a://de/x"],
      ready: 1,
    });
    expect((await open(sources).search("tea", 2)).uris).toEqual(["a://d/two", "b://three"]);
  });

  it("tells where in a resource the hit is", async () => {
    const { house } = open(sources);
    const { hits } = await house.search({ text: "coffee", limit: 1 }, call);
    expect(hits).toEqual([
      {
        resource: { uri: "b://none", name: "none", mimeType: "text/plain", size: 6 },
        score: 0.5,
        snippet: "coffee",
        lines: [1, 1],
      },
    ]);
  });

  it("stays below a URI", async () => {
    const { search } = open(sources);
    expect((await search("tea", 10, "a://%64")).uris).toEqual(["a://d/two", "a://d/one"]);
    expect((await search("tea", 10, "a://d/one")).uris).toEqual(["a://d/one"]);
    expect((await search("tea", 10, "b://")).uris).toEqual(["b://three"]);
  });

  it("below what is not there, or may not be seen, is not found", async () => {
    const { search } = open(sources, { maySee: (_, __, { path }) => path !== "d" });
    await expect(search("tea", 10, "a://d")).rejects.toEqual(notFound("a://d"));
    await expect(search("tea", 10, "a://x")).rejects.toEqual(notFound("a://x"));
  });

  it("gives as many as asked of what may be seen, however many better ones are hidden", async () => {
    const texts = Array.from({ length: 100 }, (_, at) => [`h${at}`, "tea ".repeat(5)]);
    const { source } = createMemory({ ...Object.fromEntries(texts), v1: "tea", v2: "tea", v3: "tea" });
    const { search } = open({ m: source }, { maySee: (_, __, { path }) => !path.startsWith("h") });
    expect((await search("tea", 2)).uris).toEqual(["m://v1", "m://v2"]);
  });

  it("does without a mount that fails, and says how much was searched", async () => {
    const broken: Source = { ...mute, search: () => Promise.reject(new Error("down")) };
    const { search, clock } = open({ ...sources, x: broken });
    expect((await search("coffee")).ready).toBe(2 / 3);
    expect(clock.logged).toMatchObject([{ message: "a mount could not be searched", facts: { mount: "x" } }]);
  });

  it("is unsupported where nothing that may be seen can be searched", async () => {
    const refusal = { kind: "unsupported", message: "nothing here can be searched" };
    await expect(open({ c: mute }).search("tea")).rejects.toMatchObject(refusal);
    await expect(open(sources, { maySee: (_, mount) => mount === "c" }).search("tea")).rejects.toMatchObject(refusal);
  });

  it.each([0, -1, 1.5, Number.NaN, Infinity])("cannot be for %d hits", async (limit) => {
    await expect(open(sources).search("tea", limit)).rejects.toMatchObject({ kind: "invalid" });
  });
});
