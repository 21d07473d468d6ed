import { describe, expect, it } from "vitest";
import { z } from "zod";
import { notFound, ResourceError } from "../errors.ts";
import { innerSlash, toSourceHits } from "../source.ts";
import type { SourceChange } from "../source.ts";
import { createClock } from "../testing/clock.ts";
import { sourceContract } from "../testing/source-contract.ts";
import memory, { createMemory } from "./memory.ts";
import type { Memory, MemoryTemplate } from "./memory.ts";

const call = { caller: { id: "test" }, signal: new AbortController().signal };

const planets = ["earth", "mars", "venus"];
const greeting: MemoryTemplate = {
  template: "greet/{planet}{?mood}",
  name: "greeting",
  mimeType: "text/markdown",
  read({ planet = "", mood = "calm" }) {
    if (!planets.includes(planet)) throw notFound(`greet/${planet}`);
    return [{ body: { text: `hello ${planet}, ${mood}` } }];
  },
  complete(variable, value) {
    if (variable === "planet") return planets.filter((planet) => planet.startsWith(value));
    return variable === "mood" ? [{ value: "merry", reveals: { path: "docs/a.txt" } }] : [];
  },
};

const echo = { name: "t", read: (variables: object) => [{ body: { text: JSON.stringify(variables) } }] };

let opened: Memory;
const hooks = {
  write: (path: string, text: string) => opened.set(path, text),
  remove: (path: string) => void opened.delete(path),
  async rename(from: string, to: string) {
    const [part] = await opened.source.read({ path: from }, call);
    opened.delete(from);
    opened.set(to, part && "text" in part.body ? part.body.text : "");
  },
};

sourceContract("memory", {
  abilities: ["stat", "children", "search", "watch"],
  async open(content) {
    opened = createMemory(content as Record<string, string>);
    return opened.source;
  },
  ...hooks,
});

sourceContract("memory with templates", {
  abilities: ["stat", "children", "templates", "complete", "search", "watch"],
  async open(content) {
    opened = createMemory(content as Record<string, string>, { templates: [greeting] });
    return opened.source;
  },
  ...hooks,
  expansions: [
    { at: { path: "greet/mars" }, text: "hello mars, calm" },
    { at: { path: "greet/mars", query: { mood: "über & out" } }, text: "hello mars, über & out" },
  ],
  completions: [{ template: greeting.template, variable: "planet", value: "m", expected: "mars" }],
});

describe("memory", () => {
  it("returns the given metadata, and the size in bytes", async () => {
    const said = {
      title: "A title",
      description: "what it is",
      mimeType: "text/x-notes",
      annotations: { priority: 0.5 },
      icons: [{ src: "data:,", theme: "dark" as const }],
      meta: { "example.org/kind": 1 },
    };
    const { source } = createMemory({ "a.txt": { text: "日本", ...said }, "b.bin": new Uint8Array(3), c: "plain" });
    const { items } = await source.list({ limit: 10 }, call);
    expect(items).toMatchObject([
      { path: "a.txt", size: 6, ...said },
      { path: "b.bin", size: 3, mimeType: "application/octet-stream" },
      { path: "c", size: 5, mimeType: "text/plain" },
    ]);
    const [part] = await source.read({ path: "b.bin" }, call);
    expect(part).toEqual({ body: { bytes: new Uint8Array(3) }, mimeType: "application/octet-stream" });
  });

  it("returns the same parts until the value is set again", async () => {
    const { source, set } = createMemory({ a: "1" });
    const first = await source.read({ path: "a" }, call);
    expect(await source.read({ path: "a" }, call)).toBe(first);
    set("a", "1");
    expect(await source.read({ path: "a" }, call)).not.toBe(first);
  });

  it.each(["", "/a", "a/", "a//b", ".", "a/../b"])("refuses %j as a path", (path) => {
    expect(() => createMemory({ [path]: "x" })).toThrow(ResourceError);
  });

  it("rejects a path that is both a directory and a text", async () => {
    const { source, set, size } = createMemory({ "a/b": "x" });
    expect(() => set("a", "x")).toThrow("is a directory");
    expect(() => set("a/b/c", "x")).toThrow("is not a directory");
    expect(size).toBe(1);
    expect((await source.children?.({ path: "" }, { limit: 9 }, call))?.items).toHaveLength(1);
  });

  it("creates directories with their first value, and removes them with the last", async () => {
    const { source, set, delete: remove } = createMemory();
    const stop = new AbortController();
    const heard: SourceChange[] = [];
    const watch = await source.watch?.({ ...call, signal: stop.signal });
    set("a/b/c", "x");
    set("a/d", "x");
    expect(remove("a/b/c")).toBe(true);
    expect(remove("a/b/c")).toBe(false);
    for await (const change of watch ?? []) if (heard.push(change) === 6) stop.abort();
    expect(heard).toEqual([
      { kind: "appeared", path: "a" },
      { kind: "appeared", path: "a/b" },
      { kind: "appeared", path: "a/b/c" },
      { kind: "appeared", path: "a/d" },
      { kind: "gone", path: "a/b/c" },
      { kind: "gone", path: "a/b" },
    ]);
    await expect(source.stat?.({ path: "a/b" }, call)).rejects.toMatchObject({ kind: "not-found" });
    expect(await source.stat?.({ path: "a" }, call)).toMatchObject({ mimeType: "inode/directory" });
  });

  it("reports lost to a reader that has fallen far behind", async () => {
    const { source, set } = createMemory();
    const stop = new AbortController();
    const watch = await source.watch?.({ ...call, signal: stop.signal });
    for (let index = 0; index < 15_000; index += 1) set("a", `${index}`);
    const heard: SourceChange[] = [];
    for await (const change of watch ?? []) {
      heard.push(change);
      if (change.kind === "lost") stop.abort();
    }
    expect(heard).toEqual([{ kind: "lost" }]);
  });

  it("finds text in any case, width or composition, with its line", async () => {
    const { source } = createMemory({
      german: "eins\nDie STRASSE ist lang\n",
      french: "zero\none\nun e\u0301te\u0301 chaud",
      japanese: "一行目\nﾃﾞｰﾀの検索",
      long: `${"x".repeat(5000)} target ${"y".repeat(5000)}`,
      binary: new TextEncoder().encode("straße"),
    });
    const search = async (text: string) => toSourceHits(await source.search!({ text, limit: 10 }, call)).hits;
    expect(await search("straße")).toMatchObject([
      { entry: { path: "german" }, lines: [2, 2], snippet: "Die STRASSE ist lang" },
    ]);
    expect(await search("ÉTÉ")).toMatchObject([{ entry: { path: "french" }, lines: [3, 3] }]);
    expect(await search("データ")).toMatchObject([{ entry: { path: "japanese" }, lines: [2, 2] }]);
    const [long] = await search("target");
    expect(long?.snippet).toContain("target");
    expect(long?.snippet?.length).toBeLessThan(300);
    expect(await search("  ")).toEqual([]);
  });

  it("passes template variables decoded, with slashes that belong to a name", async () => {
    const { source } = createMemory(
      {},
      { templates: [{ template: "branch/{name}", name: "b", read: ({ name = "" }) => [{ body: { text: name } }] }] },
    );
    const parts = await source.read({ path: `branch/feature${innerSlash}a b%` }, call);
    expect(parts).toEqual([{ body: { text: "feature/a b%" } }]);
    await expect(source.read({ path: "branch/\ud800" }, call)).rejects.toMatchObject({ kind: "not-found" });
    await expect(source.read({ path: "branch/a", query: { no: "1" } }, call)).rejects.toMatchObject({
      kind: "not-found",
    });
  });

  it.each([
    ["people/{name}", "people/it's (a) *star*!", { name: "it's (a) *star*!" }],
    ["@{name}/a=b,c;d:e&f", "@bob/a=b,c;d:e&f", { name: "bob" }],
    ["x?kind=a:b{&name}", "x", { name: "1" }, { kind: "a:b", name: "1" }],
    ["files{/path*}", "files/a/b,c", { path: "a,b,c" }],
  ] as [string, string, object, Record<string, string>?][])(
    "matches %j with reserved characters as a client sends them",
    async (template, path, variables, query = {}) => {
      const { source } = createMemory({}, { templates: [{ ...echo, template }] });
      const parts = await source.read({ path, query }, call);
      expect(parts).toEqual([{ body: { text: JSON.stringify(variables) } }]);
    },
  );

  it("computes a value for each read, and leaves its search to the index", async () => {
    let count = 0;
    const read = () => [{ body: { text: `${(count += 1)}` } }];
    const { source, changed } = createMemory({ "a/count.json": { title: "Count", read }, b: "x" });
    const [entry] = (await source.list({ limit: 10 }, call)).items;
    expect(entry).toEqual({ path: "a/count.json", title: "Count", mimeType: "application/json" });
    expect(await source.stat?.({ path: "a/count.json" }, call)).toEqual(entry);
    expect(await source.read({ path: "a/count.json" }, call)).toEqual([{ body: { text: "1" } }]);
    expect(await source.read({ path: "a/count.json" }, call)).toEqual([{ body: { text: "2" } }]);
    expect(source.search).toBeUndefined();
    const stop = new AbortController();
    const watch = await source.watch?.({ ...call, signal: stop.signal });
    changed("a/count.json");
    for await (const change of watch ?? []) {
      expect(change).toEqual({ kind: "changed", path: "a/count.json" });
      stop.abort();
    }
  });

  it("reads a directory as one, even if a template matches its path", async () => {
    const { source } = createMemory({ "a/b": "x" }, { templates: [{ ...echo, template: "{name}" }] });
    await expect(source.read({ path: "a" }, call)).rejects.toMatchObject({ kind: "directory" });
    expect(await source.read({ path: "b" }, call)).toEqual([{ body: { text: '{"name":"b"}' } }]);
  });

  it("knows which addresses are listed, if templates show others", () => {
    const { source } = createMemory({ "a/b": "x" }, { templates: [{ ...echo, template: "a/{name}" }] });
    const isListed = (path: string, query = {}) => source.lists?.({ path, query });
    expect([isListed("a/b"), isListed("a/c"), isListed("b"), isListed("a/b", { q: "" })]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(createMemory({}).source.lists).toBeUndefined();
  });

  it("responds with not-found if a template returns nothing", async () => {
    const { source } = createMemory({}, { templates: [{ template: "t/{x}", name: "t", read: () => [] }] });
    await expect(source.read({ path: "t/1" }, call)).rejects.toMatchObject({ kind: "not-found" });
    await expect(source.stat?.({ path: "t/1" }, call)).rejects.toMatchObject({ kind: "not-found" });
  });

  it("opens from a configuration, with texts and base64", async () => {
    const options = memory.options(z).parse({
      resources: { "a.md": "# A", "b.png": { base64: "AQID", mimeType: "image/png", title: "B" } },
    });
    const source = await memory.open(options, createClock().runtime);
    const { items } = await source.list({ limit: 10 }, call);
    expect(items).toMatchObject([
      { path: "a.md", mimeType: "text/markdown" },
      { path: "b.png", mimeType: "image/png", title: "B", size: 3 },
    ]);
    const [part] = await source.read({ path: "b.png" }, call);
    expect(part?.body).toEqual({ bytes: Buffer.from([1, 2, 3]) });
    expect(() => memory.options(z).parse({ resources: { a: { title: "neither" } } })).toThrow("either text or base64");
  });
});
