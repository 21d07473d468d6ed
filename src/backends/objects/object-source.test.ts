import { describe, expect, it } from "vitest";
import { ResourceError } from "../../errors.ts";
import { wait } from "../../lib/wait.ts";
import { createClock } from "../../testing/clock.ts";
import { contractContent } from "../../testing/contract-content.ts";
import { sweepFaults } from "../../testing/faults.ts";
import { asking, collect } from "../../testing/pages.ts";
import { sourceContract } from "../../testing/source-contract.ts";
import { compareCodePoints } from "../../lib/address-order.ts";
import { createObjectSource, type ObjectSourceOptions } from "./object-source.ts";
import type { ObjectHead, ObjectStore, StoredObject } from "./object-store.ts";

const call = { caller: { id: "test" }, signal: new AbortController().signal };

/** Bucket → key → text. */
type Content = Record<string, Record<string, string>>;

function headOf(text: string): ObjectHead {
  return { size: Buffer.byteLength(text), mimeType: undefined, packing: undefined, mark: text, meta: {} };
}

/** A correct store, in memory. */
function createStore(content: Content): ObjectStore {
  const objectsIn = (bucket: string) => {
    const objects = Object.hasOwn(content, bucket) ? content[bucket] : undefined;
    if (!objects) throw new ResourceError("not-found", "no such bucket");
    return objects;
  };
  const textAt = ({ bucket, key, mark }: { bucket: string; key: string; mark?: string | undefined }) => {
    const objects = objectsIn(bucket);
    const text = Object.hasOwn(objects, key) ? objects[key] : undefined;
    if (text === undefined) throw new ResourceError("not-found", "no such object");
    if (mark !== undefined && mark !== text) throw new ResourceError("unavailable", "it is another by now");
    return text;
  };
  return {
    buckets: async () => Object.keys(content),
    async list({ bucket, prefix, folded, after, limit }) {
      const objects: StoredObject[] = [];
      const prefixes: string[] = [];
      for (const [key, text] of Object.entries(objectsIn(bucket)).sort(([one], [other]) =>
        Buffer.compare(Buffer.from(one), Buffer.from(other)),
      )) {
        if (!key.startsWith(prefix) || (after !== undefined && compareCodePoints(key, after) <= 0)) continue;
        const slash = folded ? key.indexOf("/", prefix.length) : -1;
        const folder = slash < 0 ? undefined : key.slice(0, slash + 1);
        if (folder !== undefined && prefixes.includes(folder)) continue;
        if (objects.length + prefixes.length === limit) return { objects, prefixes, more: true };
        if (folder !== undefined) prefixes.push(folder);
        else objects.push({ key, size: Buffer.byteLength(text), version: text, lastModified: undefined });
      }
      return { objects, prefixes, more: false };
    },
    head: async (where) => headOf(textAt(where)),
    async get(where) {
      const text = textAt(where);
      return {
        ...headOf(text),
        bytes: async (most) => (text.length > most ? undefined : Buffer.from(text)),
        cancel: async () => undefined,
      };
    },
    slice: async (where, first, last) => Buffer.from(textAt(where)).subarray(first, last + 1),
  };
}

function open(content: Content, options: Partial<ObjectSourceOptions> = {}) {
  const { runtime } = createClock();
  return createObjectSource({
    store: createStore(content),
    buckets: Object.keys(content),
    prefix: "",
    versionName: "versionId",
    maxBytes: 1000,
    linkSeconds: 0,
    timeoutMs: 1000,
    pollMs: 1000,
    runtime,
    ...options,
  });
}

const listed = async (source: ReturnType<typeof open>, limit: number) =>
  (await collect((cursor) => source.list(asking(limit, cursor), call))).map(({ path }) => path);
const childrenOf = async (source: ReturnType<typeof open>, path: string, limit: number) =>
  (await collect((cursor) => source.children!({ path }, asking(limit, cursor), call))).map((entry) => entry.path);

const known = Object.fromEntries(Object.entries(contractContent).map(([path, text]) => [path, text ?? ""]));
/** Polls continuously. */
const restless = { runtime: { ...createClock().runtime, wait }, pollMs: 20 };
let held: Content;
sourceContract("a store in memory", {
  abilities: ["stat", "children", "templates", "complete", "watch"],
  async open() {
    held = { b: { ...known } };
    return open(held, restless);
  },
  write: (path, text) => void (held["b"]![path] = text),
  remove: (path) => void delete held["b"]![path],
});

let edits = 0;
sourceContract("several buckets in memory", {
  abilities: ["stat", "children", "templates", "complete", "watch"],
  content: Object.fromEntries(["b", "b-2", "b.3"].flatMap((bucket) => Object.entries(known).map(([key, text]) => [`${bucket}/${key}`, text]))), // prettier-ignore
  async open() {
    held = { b: { ...known }, "b-2": { ...known }, "b.3": { ...known }, empty: {} };
    return open(held, restless);
  },
  change() {
    edits += 1;
    held["b-2"]![`watched-${edits}`] = "new";
    return [{ kind: "appeared", path: `b-2/watched-${edits}` }];
  },
});

it("returns or throws a ResourceError when any request to the store fails, and works again afterwards", async () => {
  const content = { a: { "x/y": "one\ntwo\n", "x-y": "1" }, empty: {}, z: { k: "2" } };
  const request = async (store: ObjectStore) => {
    const source = open(content, { store, buckets: [] });
    expect(await listed(source, 1)).toEqual(["a/x-y", "a/x/y", "z/k"]);
    expect(await childrenOf(source, "a", 1)).toEqual(["a/x-y", "a/x"]);
    await source.stat!({ path: "a/x" }, call);
    await source.read({ path: "a/x/y" }, call);
    await source.read({ path: "a/x/y", query: { lines: "2-2" } }, call);
    const [template] = source.templates!;
    await source.complete!({ template: template!, variable: "key", value: "", given: { bucket: "a" } }, call);
    const stop = new AbortController();
    await source.watch!({ ...call, signal: stop.signal });
    stop.abort();
  };
  const failed = await sweepFaults({
    open: () => createStore(content),
    run: request,
    recovered: request,
    faults: [() => new ResourceError("unavailable", "the store is gone")],
  });
  expect(failed).toBeGreaterThan(20);
});

describe("a list", () => {
  it.each([1, 2, 1000])("of several buckets is in path order, %i at a time", async (limit) => {
    const source = open({ logs: { a: "" }, "logs-old": { a: "", b: "" }, "logs.x": {}, empty: {}, logs2: { a: "" } });
    const paths = await listed(source, limit);
    expect(paths).toEqual(["logs-old/a", "logs-old/b", "logs/a", "logs2/a"]);
    expect(paths).toEqual([...paths].sort(source.order));
    expect(await childrenOf(source, "", limit)).toEqual(["empty", "logs-old", "logs.x", "logs", "logs2"]);
  });

  it.each([1, 3])("contains every key with an odd name, and each reads back, %i at a time", async (limit) => {
    const keys = ["a//b", "/lead", "//", "a b", "a+b", "a%20b", "é", "e\u0301", "😀", "\uffee", "\u{10ffff}x", "a/b"]; // prettier-ignore
    const source = open({ b: Object.fromEntries(keys.map((key) => [key, key])) });
    const paths = await listed(source, limit);
    expect(paths).toEqual(
      keys.filter((key) => key !== "//").sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other))),
    );
    for (const path of paths) {
      expect(await source.read({ path }, call)).toMatchObject([{ body: { text: path } }]);
      expect(await source.stat!({ path }, call)).toMatchObject({ path, version: path });
    }
    const top = await childrenOf(source, "", limit);
    expect(new Set(top).size).toBe(top.length);
    // Keys with a leading slash are listed, but no address leads to a folder without a name.
    expect(top).not.toContain("");
    expect(await childrenOf(source, "a", limit)).toEqual(["a/", "a/b"]);
  });

  it("of a store that repeats the same page ends with an error", async () => {
    const object = { key: "a", size: 1, version: "1", lastModified: undefined };
    const store = { ...createStore({}), list: async () => ({ objects: [object], prefixes: [], more: true }) };
    const source = open({ b: {} }, { store });
    const { next } = await source.list({ limit: 1 }, call);
    await expect(source.list({ limit: 1, cursor: next! }, call)).rejects.toMatchObject({ kind: "unavailable" });
    await expect(source.watch!(call)).rejects.toMatchObject({ kind: "unavailable" });
  });

  it("omits keys outside the prefix, or without a name", async () => {
    const objects = ["", "private/a", "public/a"].map((key) => ({
      key,
      size: 1,
      version: "1",
      lastModified: undefined,
    }));
    const store = { ...createStore({}), list: async () => ({ objects, prefixes: ["private/"], more: false }) };
    expect(await listed(open({ b: {} }, { store, prefix: "public/" }), 10)).toEqual(["public/a"]);
  });

  it("of all buckets omits those without access, and reports it; a configured one without access is an error", async () => {
    const content = { a: { x: "" }, closed: { x: "" }, z: { x: "" } };
    const plain = createStore(content);
    const store: ObjectStore = {
      ...plain,
      buckets: async () => ["a", "closed", "z", "../up", "evil.example/", ".."],
      list: (request, signal) =>
        request.bucket === "closed" ? Promise.reject(new ResourceError("denied", "no")) : plain.list(request, signal),
    };
    const { runtime, logged } = createClock();
    const source = open(content, { store, buckets: [], runtime });
    expect(await listed(source, 1)).toEqual(["a/x", "z/x"]);
    await source.watch!(call);
    expect(logged).toMatchObject([{ level: "warn", facts: { bucket: "closed" } }]);
    expect(await childrenOf(source, "", 10)).toEqual(["a", "closed", "z"]);
    await expect(listed(open(content, { store }), 1)).rejects.toMatchObject({ kind: "denied" });
  });
});

describe("children", () => {
  it.each([1, 2])("are not cut short by the marker of the folder itself, %i at a time", async (limit) => {
    const source = open({ b: { "made/": "", "made/a": "", "made/b/c": "" } });
    expect(await childrenOf(source, "made", limit)).toEqual(["made/a", "made/b"]);
  });

  it.each([1, 2, 100])("contain each name once if an object and a folder share it, %i at a time", async (limit) => {
    const source = open({ b: { a: "", "a!": "", "a-b": "", "a/x": "", c: "" } });
    expect((await childrenOf(source, "", limit)).sort()).toEqual(["a", "a!", "a-b", "c"]);
  });
});

describe("a prefix", () => {
  const content = { b: { "a/pub": "secret", "a/public/x": "1", "a/pubs": "2", a: "secret", "a/other": "secret" } };

  it("hides other keys, in any version", async () => {
    const source = open(content, { prefix: "a/public/" });
    for (const path of ["a", "a/public", "a/pub", "a/other", ""]) {
      const at = { path, query: { versionId: "1" } };
      await expect(source.stat!(at, call), path).rejects.toMatchObject({ kind: "not-found" });
      await expect(source.read(at, call), path).rejects.toBeInstanceOf(ResourceError);
    }
  });

  it("that ends within a name serves every name that starts with it", async () => {
    const source = open(content, { prefix: "a/pub" });
    expect(await listed(source, 2)).toEqual(["a/pub", "a/public/x", "a/pubs"]);
    expect(await childrenOf(source, "", 1)).toEqual(["a"]);
    expect((await childrenOf(source, "a", 1)).sort()).toEqual(["a/pub", "a/public", "a/pubs"]);
    for (const path of ["a/other", "a/../a/other", "a/pub/../other"])
      await expect(source.read({ path }, call)).rejects.toMatchObject({ kind: "not-found" });
    await expect(source.read({ path: "a" }, call)).rejects.toMatchObject({ kind: "directory" });
  });
});

it("a key with dot segments is never requested: a URL would resolve them", async () => {
  const source = open({ b: { "x/../../other/secret": "1" } });
  for (const path of ["x/../../other/secret", "../other/secret", ".", "a/./b"])
    for (const request of [source.read({ path }, call), source.stat!({ path }, call)])
      await expect(request).rejects.toMatchObject({ kind: "not-found" });
});

it("a bucket has no second address", async () => {
  const source = open({ one: { a: "" }, two: {} });
  const at = { path: "one/" };
  for (const request of [source.stat!(at, call), source.read(at, call), source.children!(at, { limit: 1 }, call)])
    await expect(request).rejects.toMatchObject({ kind: "not-found" });
});

it("a folder marker is no object, in any operation", async () => {
  const source = open({ b: { "made/": "mark", "made/a": "" } });
  await expect(source.read({ path: "made/" }, call)).rejects.toMatchObject({ kind: "not-found" });
  await expect(source.stat!({ path: "made/", query: { versionId: "mark" } }, call)).rejects.toMatchObject({
    kind: "not-found",
  });
});

it("a range of an object that changes during the read is rejected, not mixed from both", async () => {
  const content: Content = { b: { a: "one\n" } };
  const plain = createStore(content);
  const store: ObjectStore = {
    ...plain,
    async head(where, signal) {
      const head = await plain.head(where, signal);
      content["b"]!["a"] = "two\n";
      return head;
    },
  };
  const requested = open(content, { store }).read({ path: "a", query: { bytes: "0-2" } }, call);
  await expect(requested).rejects.toMatchObject({ kind: "unavailable", passing: true });
});

it("a range of an empty object is empty, or invalid", async () => {
  const source = open({ b: { a: "" } });
  for (const query of [{ bytes: "0-9" }, { lines: "1-9" }] as Record<string, string>[])
    await source.read({ path: "a", query }, call).then(
      ([part]) => expect(part?.body).toEqual({ text: "" }),
      (cause: unknown) => expect(cause).toMatchObject({ kind: "invalid" }),
    );
});

it("a link to a large object is only for its caller, and is not cached", async () => {
  const store = { ...createStore({ b: { a: "12345" } }), link: async () => "https://signed.example/" };
  const [part] = await open({ b: {} }, { store, maxBytes: 3, linkSeconds: 5 }).read({ path: "a" }, call);
  expect(part).toMatchObject({ mimeType: "text/uri-list", freshness: { scope: "private", ttlMs: 0 } });
});

it("a watch with a slow first listing becomes active anyway, and reports possibly lost changes", async () => {
  const { runtime, advance } = createClock();
  const plain = createStore({ b: { a: "1" } });
  const looked = Promise.withResolvers<void>();
  const store: ObjectStore = {
    ...plain,
    async list(request, signal) {
      await looked.promise;
      return plain.list(request, signal);
    },
  };
  const stop = new AbortController();
  const arming = open({ b: {} }, { store, runtime }).watch!({ ...call, signal: stop.signal });
  await advance(10_000);
  const changes = (await arming)[Symbol.asyncIterator]();
  const first = changes.next();
  looked.resolve();
  expect(await first).toEqual({ done: false, value: { kind: "lost" } });
  stop.abort();
  expect(await changes.next()).toMatchObject({ done: true });
});
