import { describe, expect, it } from "vitest";
import { openPolicy } from "../access/policy.ts";
import type { Policy } from "../access/policy.ts";
import { ResourceError } from "../errors.ts";
import type { Call, Page, Resource, Resources } from "../resources.ts";
import type { Entry, ListRequest, Source } from "../source.ts";
import { createMemory } from "../sources/memory.ts";
import { createClock } from "../testing/clock.ts";
import { createResources } from "./create-resources.ts";

const cursorKey = new Uint8Array(32).fill(1);
const call: Call = { caller: { id: "me" }, signal: new AbortController().signal };

function open(sources: Readonly<Record<string, Source>>, policy: Policy = openPolicy, pageSize = 3) {
  const clock = createClock();
  const mounts = Object.entries(sources).map(([name, source]) => ({ name, base: `${name}://`, source }));
  return { pressmark: createResources({ mounts, policy, runtime: clock.runtime, cursorKey, pageSize }), clock };
}

const files = (count: number, prefix = "") =>
  createMemory(
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${String(at).padStart(4, "0")}`, "x"])),
  );

/** A source of these entries in pages of a fixed size, whatever is requested. */
function paged(paths: readonly string[], size: number): Source {
  return {
    async list({ cursor }) {
      const start = Number(cursor ?? 0);
      const items = paths.slice(start, start + size).map((path) => ({ path }));
      return start + size < paths.length ? { items, next: String(start + size) } : { items };
    },
    read: async () => [],
  };
}

async function pagesOf(ask: (cursor?: string) => Promise<Page<Resource>>): Promise<Page<Resource>[]> {
  const pages = [await ask()];
  for (let next = pages[0]?.next; next !== undefined; next = pages.at(-1)?.next) pages.push(await ask(next));
  return pages;
}

const listAll = (pressmark: Resources) =>
  pagesOf((cursor) => pressmark.list(cursor === undefined ? {} : { cursor }, call));
const uris = (pages: readonly Page<Resource>[]) => pages.flatMap(({ items }) => items.map(({ uri }) => uri));
const failing = (cause: unknown): Source => ({ list: () => Promise.reject(cause), read: async () => [] });

describe("a list", () => {
  it("returns at most the requested number, and continues after them", async () => {
    const { pressmark } = open({ one: files(7).source, two: files(4).source }, openPolicy, 5);
    const first = await pressmark.list({ limit: 2 }, call);
    expect(uris([first])).toEqual(["one://0000", "one://0001"]);
    const rest = await pagesOf((cursor) => pressmark.list({ limit: 3, cursor: cursor ?? first.next! }, call));
    expect(rest.map(({ items }) => items.length)).toEqual([3, 3, 3]);
    expect(uris([first, ...rest])).toEqual(uris(await listAll(pressmark)));
    // A limit above the page size does not enlarge the page.
    expect((await pressmark.list({ limit: 100 }, call)).items).toHaveLength(5);
    expect((await pressmark.children("one://", { limit: 1 }, call)).items).toHaveLength(1);
    expect((await pressmark.list({ limit: 0 }, call)).items).toHaveLength(1);
  });

  it("walks the mounts in order of their base and gives all fields of every entry", async () => {
    const entry: Entry = {
      path: "a b",
      title: "T",
      description: "D",
      mimeType: "text/x",
      size: 3,
      annotations: { priority: 1 },
      icons: [{ src: "data:," }],
      meta: { k: 1 },
      version: "v1",
    };
    const { pressmark } = open({
      zoo: paged(["x/y\0z", "q/"], 10),
      art: { ...paged([], 1), list: async () => ({ items: [entry, { path: "n", name: "own", query: { q: "1" } }] }) },
    });
    const { path: _, version: __, ...said } = entry;
    expect(await pressmark.list({}, call)).toEqual({
      items: [
        { uri: "art://a%20b", name: "a b", ...said },
        { uri: "art://n?q=1", name: "own", title: "own" },
        { uri: "zoo://x/y%2Fz", name: "y/z", title: "zoo/x/y/z" },
      ],
      next: expect.any(String),
    });
    expect(uris(await listAll(pressmark)).at(-1)).toBe("zoo://q/");
  });

  it("begins with the mounts that come first", async () => {
    const mounts = ["a", "z", "y"].map((name) => ({
      name,
      base: `${name}://`,
      source: paged(["1", "2"], 1),
      isFirst: name !== "a",
    }));
    const { runtime } = createClock();
    const pressmark = createResources({ mounts, policy: openPolicy, runtime, cursorKey, pageSize: 3 });
    const pages = await pagesOf((cursor) => pressmark.list({ cursor }, call));
    expect(pages.flatMap(({ items }) => items.map(({ uri }) => uri))).toEqual([
      "y://1",
      "y://2",
      "z://1",
      "z://2",
      "a://1",
      "a://2",
    ]);
  });

  it("has disjoint pages that are together complete, whatever the pages of the source", async () => {
    const paths = Array.from({ length: 40 }, (_, at) => String(at).padStart(2, "0"));
    for (const size of [1, 2, 3, 5, 7, 100]) {
      const { pressmark } = open({ a: paged(paths, size), b: paged(paths, 4) });
      const all = [...paths.map((path) => `a://${path}`), ...paths.map((path) => `b://${path}`)];
      expect(uris(await listAll(pressmark))).toEqual(all);
    }
  });

  it("has pages that double up to twenty times the first", async () => {
    const { pressmark } = open({ a: files(300).source });
    const sizes = (await listAll(pressmark)).map(({ items }) => items.length);
    expect(sizes).toEqual([3, 6, 12, 24, 48, 60, 60, 60, 27]);
  });

  it("reaches a million in 64 pages", async () => {
    const million = 1_000_000;
    const item = { path: "x" };
    const source: Source = {
      async list({ cursor, limit }) {
        const start = Number(cursor ?? 0);
        const items = Array.from({ length: Math.min(limit, million - start) }, () => item);
        return start + limit < million ? { items, next: String(start + limit) } : { items };
      },
      read: async () => [],
    };
    const { pressmark } = open({ a: source }, openPolicy, 1000);
    let count = 0;
    let pages = 0;
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const page: Page<Resource> = await pressmark.list(cursor === undefined ? {} : { cursor }, call);
      count += page.items.length;
      pages += 1;
      cursor = page.next;
    }
    expect({ count, few: pages <= 64 }).toEqual({ count: million, few: true });
  });

  it("requests each entry from a source about once", async () => {
    const { source } = files(300);
    let given = 0;
    const counted: Source = {
      ...source,
      async list(ask, asked) {
        const page = await source.list(ask, asked);
        given += page.items.length;
        return page;
      },
    };
    const pages = await listAll(open({ a: counted }, openPolicy, 50).pressmark);
    expect(uris(pages)).toHaveLength(300);
    expect(given).toBeLessThan(300 + 100 * pages.length);
  });

  it("holds full pages of visible entries, and ends exactly with the last one", async () => {
    const paths = Array.from({ length: 60 }, (_, at) => String(at).padStart(2, "0"));
    const even: Policy = { maySee: (_, __, { path }) => path === "" || (Number(path) % 2 === 0 && Number(path) < 18) };
    for (const size of [1, 4, 100]) {
      const { pressmark } = open({ a: paged(paths, size), b: paged(paths.slice(20), size) }, even);
      const pages = await listAll(pressmark);
      expect(pages.map(({ items }) => items.length)).toEqual([3, 6]);
      expect(uris(pages)).toEqual(
        paths.filter((path) => Number(path) % 2 === 0 && Number(path) < 18).map((path) => `a://${path}`),
      );
    }
  });

  it("continues after the last entry when others appeared and went meanwhile", async () => {
    const memory = createMemory({ b: "", c: "", d: "", e: "", f: "", g: "" });
    const { pressmark } = open({ a: memory.source });
    const first = await pressmark.list({}, call);
    expect(uris([first])).toEqual(["a://b", "a://c", "a://d"]);
    for (const gone of ["c", "d", "e"]) memory.delete(gone);
    for (const path of ["a", "bb", "dd"]) memory.set(path, "");
    expect(uris([await pressmark.list({ cursor: first.next ?? "" }, call)])).toEqual(["a://dd", "a://f", "a://g"]);
  });

  it("continues by key inside a page of the source whose last entry is gone", async () => {
    let paths = ["a", "b", "c", "c/d", "c-d", "e"];
    const source: Source = { list: async () => ({ items: paths.map((path) => ({ path })) }), read: async () => [] };
    const { pressmark } = open({ m: source });
    const first = await pressmark.list({}, call);
    paths = ["a", "b", "c/d", "c-d", "e"];
    expect(uris([await pressmark.list({ cursor: first.next ?? "" }, call)])).toEqual(["m://c/d", "m://c-d", "m://e"]);
  });

  it("accepts a cursor from before a restart", async () => {
    const { next = "" } = await open({ a: files(9).source }).pressmark.list({}, call);
    expect(uris([await open({ a: files(9).source }).pressmark.list({ cursor: next }, call)])[0]).toBe("a://0003");
  });

  it("rejects a cursor of another request, of a mount that no longer exists, or a forged one", async () => {
    const { pressmark } = open({ a: files(9, "d/").source });
    const { next = "" } = await pressmark.list({}, call);
    const { next: below = "" } = await pressmark.children("a://d", {}, call);
    const refusal = {
      kind: "invalid",
      message: "the cursor is not valid for this list; start again from the first page",
    };
    await expect(pressmark.children("a://d", { cursor: next }, call)).rejects.toMatchObject(refusal);
    await expect(pressmark.list({ cursor: below }, call)).rejects.toMatchObject(refusal);
    await expect(pressmark.list({ cursor: "" }, call)).rejects.toMatchObject(refusal);
    await expect(pressmark.templates({ cursor: next }, call)).rejects.toMatchObject(refusal);
    await expect(open({ b: files(9).source }).pressmark.list({ cursor: next }, call)).rejects.toMatchObject(refusal);
  });

  it("names a mount that fails, with a short message, and serves the others", async () => {
    const { pressmark, clock } = open({
      a: files(1).source,
      b: failing(new Error("password=hunter2")),
      c: failing(new ResourceError("unavailable", "10.0.0.7 does not answer")),
      d: files(1).source,
    });
    expect(await pressmark.list({}, call)).toEqual({
      items: [expect.objectContaining({ uri: "a://0000" }), expect.objectContaining({ uri: "d://0000" })],
      failures: [
        { mount: "b", message: "it could not be listed; see the server's log for details" },
        { mount: "c", message: "it cannot be reached at present; try again later" },
      ],
    });
    expect(clock.logged.map(({ facts }) => facts?.["mount"])).toEqual(["b", "c"]);
  });

  it("does not name a mount that the caller may not know of", async () => {
    const policy: Policy = { maySee: (_, mount) => mount !== "b" };
    const { pressmark, clock } = open({ a: files(3).source, b: failing(new Error("down")) }, policy);
    const page = await pressmark.list({}, call);
    expect(page).toEqual({ items: expect.any(Array) });
    expect(clock.logged).toHaveLength(1);
  });

  it("leaves to the next page a mount that fails only when read ahead", async () => {
    let down = true;
    const flaky: Source = { ...files(2).source };
    const { pressmark } = open({
      a: files(3).source,
      b: { ...flaky, list: (ask, asked) => (down ? Promise.reject(new Error("down")) : flaky.list(ask, asked)) },
    });
    const first = await pressmark.list({}, call);
    expect(first).toEqual({ items: expect.any(Array), next: expect.any(String) });
    down = false;
    expect(uris([await pressmark.list({ cursor: first.next ?? "" }, call)])).toEqual(["b://0000", "b://0001"]);
  });

  it.each<[string, (ask: ListRequest) => Page<Entry>]>([
    ["one empty page after another", ({ cursor = "0" }) => ({ items: [], next: String(Number(cursor) + 1) })],
    ["the same cursor again", () => ({ items: [{ path: ".." }], next: "again" })],
    ["cursors in a circle", ({ cursor }) => ({ items: [{ path: ".." }], next: cursor === "x" ? "y" : "x" })],
    ["a cursor without end", () => ({ items: [], next: "x".repeat(20_000) })],
  ])("ends in a failure when a source gives %s", async (_, list) => {
    const { pressmark } = open({ a: { list: async (ask) => list(ask), read: async () => [] }, b: files(1).source });
    const page = await pressmark.list({}, call);
    expect(uris([page])).toEqual(["b://0000"]);
    expect(page.failures).toEqual([{ mount: "a", message: expect.any(String) }]);
  });

  it("stops when the call is cancelled, even if a source is endless and all of it hidden", async () => {
    const asking = new AbortController();
    const endless: Source = {
      list: async ({ cursor = "0" }) => ({ items: [{ path: cursor }], next: String(Number(cursor) + 1) }),
      read: async () => [],
    };
    const { pressmark } = open({ a: endless }, { maySee: () => false });
    setImmediate(() => asking.abort());
    await expect(pressmark.list({}, { ...call, signal: asking.signal })).rejects.toMatchObject({ kind: "cancelled" });
  });

  it("leaves out a name that no URI can express, and logs that once", async () => {
    const { pressmark, clock } = open({ a: paged(["a", "b/../c", "half \ud800", "z"], 10) });
    expect(uris([await pressmark.list({}, call)])).toEqual(["a://a", "a://z"]);
    await pressmark.list({}, call);
    expect(clock.logged).toMatchObject([{ message: "left out of lists: a name that no URI can express" }]);
  });

  it("names a mount whose own list is incomplete", async () => {
    const source: Source = {
      list: async () => ({ items: [{ path: "x" }], failures: [{ mount: "inner", message: "secret" }] }),
      read: async () => [],
    };
    const { pressmark } = open({ a: source });
    expect((await pressmark.list({}, call)).failures).toEqual([
      { mount: "a", message: "part of it could not be listed" },
    ]);
  });
});

describe("a directory", () => {
  const tree = createMemory({ "d/a": "", "d/b/1": "", "d/b/2": "", "d/c": "", "d/e": "", "d/f": "", x: "" });
  const { pressmark } = open({ m: tree.source });

  it("lists its direct children in pages, directories included", async () => {
    const pages = await pagesOf((cursor) => pressmark.children("m://d", cursor === undefined ? {} : { cursor }, call));
    expect(uris(pages)).toEqual(["m://d/a", "m://d/b", "m://d/c", "m://d/e", "m://d/f"]);
    expect(pages.map(({ items }) => items.length)).toEqual([3, 2]);
    expect(pages[0]?.items[1]).toEqual({ uri: "m://d/b", name: "b", title: "d/b", mimeType: "inode/directory" });
  });

  it("may be the mount itself", async () => {
    expect(uris([await pressmark.children("m://", {}, call)])).toEqual(["m://d", "m://x"]);
  });

  it("continues with another form of its URI", async () => {
    const { next = "" } = await pressmark.children("m://d", {}, call);
    expect(uris([await pressmark.children("M://%64", { cursor: next }, call)])).toEqual(["m://d/e", "m://d/f"]);
  });

  it.each(["m://x", "m://nothing", "m://d/", "m://d?x=1", "other://d"])("is not %s", async (uri) => {
    await expect(pressmark.children(uri, {}, call)).rejects.toMatchObject({
      kind: "not-found",
      message: `no resource at ${JSON.stringify(uri)}`,
    });
  });

  it("does not exist in a source without directories", async () => {
    const other = open({ p: paged(["a"], 1) });
    await expect(other.pressmark.children("p://", {}, call)).rejects.toMatchObject({ kind: "not-found" });
  });

  it("that cannot be reached gives an error", async () => {
    const down = new ResourceError("unavailable", "the backend is away");
    const other = open({ p: { ...paged([], 1), children: () => Promise.reject(down) } });
    await expect(other.pressmark.children("p://", {}, call)).rejects.toBe(down);
  });
});

describe("the list of one mount", () => {
  it("has only its resources, on any page", async () => {
    const { pressmark } = open({ one: files(5).source, two: files(5).source });
    const first = await pressmark.list({ mount: "two" }, call);
    expect(first.items.map(({ uri }) => uri)).toEqual(["two://0000", "two://0001", "two://0002"]);
    const rest = await pressmark.list({ mount: "two", cursor: first.next! }, call);
    expect(rest.items.map(({ uri }) => uri)).toEqual(["two://0003", "two://0004"]);
    expect(rest.next).toBeUndefined();
    await expect(pressmark.list({ cursor: first.next! }, call)).rejects.toMatchObject({ kind: "invalid" });
    expect((await pressmark.list({ mount: "none" }, call)).items).toEqual([]);
  });
});
