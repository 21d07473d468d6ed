import { describe, expect, it } from "vitest";
import { openPolicy } from "../access/policy.ts";
import type { Policy } from "../access/policy.ts";
import { notFound, ResourceError } from "../errors.ts";
import { type Call, directoryType, type Freshness } from "../resources.ts";
import type { Address, Part, Source } from "../source.ts";
import { createMemory } from "../sources/memory.ts";
import { createClock } from "../testing/clock.ts";
import { createResources } from "./create-resources.ts";

const call: Call = { caller: { id: "me" }, signal: new AbortController().signal };

function open(source: Source, policy: Policy = openPolicy, freshness?: Partial<Freshness>) {
  const clock = createClock();
  const mount = { name: "m", base: "m://h/", source, ...(freshness && { freshness }) };
  const pressmark = createResources({ mounts: [mount], policy, runtime: clock.runtime, cursorKey: new Uint8Array(32) });
  return { pressmark, clock };
}

const reads = (read: (at: Address) => readonly Part[] | Promise<readonly Part[]>): Source => ({
  list: async () => ({ items: [] }),
  read: async (at) => read(at),
});

/** The parsed JSON of a directory that is read. */
async function readJson(source: Source, uri: string, policy = openPolicy) {
  const answer = await open(source, policy, { ttlMs: 5, scope: "public" }).pressmark.read(uri, call);
  const [content] = answer.contents;
  expect(answer).toEqual({ contents: [content], ttlMs: 5, scope: policy === openPolicy ? "public" : "private" });
  expect(content).toMatchObject({ uri, mimeType: "application/json" });
  return JSON.parse(content && "text" in content.body ? content.body.text : "") as Record<string, unknown>;
}

describe("a read", () => {
  it("returns the URI as the caller wrote it and passes the body on unchanged", async () => {
    const body = { text: "hello" };
    const { pressmark } = open(reads(() => [{ body, mimeType: "text/plain", meta: { k: 1 } }]));
    const answer = await pressmark.read("M://h/%61", call);
    expect(answer).toEqual({
      contents: [{ uri: "M://h/%61", mimeType: "text/plain", body, meta: { k: 1 } }],
      ttlMs: 0,
      scope: "private",
    });
    expect(answer.contents[0]?.body).toBe(body);
  });

  it("keeps the URI of a part that was read from another mount, if the caller may see it there", async () => {
    const from = ["o://x/%62", "o://x/secret", "nowhere://x"];
    const source = reads(() => [{ body: { text: "" } }, ...from.map((readFrom) => ({ body: { text: "" }, readFrom }))]);
    const mounts = ["m://h/", "o://x/"].map((base) => ({ name: base, base, source }));
    const policy: Policy = { maySee: (_caller, _mount, { path }) => path !== "secret" };
    const { runtime } = createClock();
    const pressmark = createResources({ mounts, policy, runtime, cursorKey: new Uint8Array(32) });
    const { contents } = await pressmark.read("M://h/a", call);
    expect(contents.map(({ uri }) => uri)).toEqual(["M://h/a", "o://x/%62"]);
  });

  it("gives the source the decoded address", async () => {
    let asked: Address | undefined;
    const { pressmark } = open(reads((at) => ((asked ??= at), [{ body: { text: "1\n" } }])));
    await pressmark.read("m://h/a%20b/%E6%97%A5%2F?lines=1-2", call);
    expect(asked).toEqual({ path: "a b/日\0", query: Object.assign(Object.create(null), { lines: "1-2" }) });
  });

  it("cuts lines out of a text whose source has no ranges, and says where it continues", async () => {
    const source: Source = {
      ...reads(({ path, query }) => {
        if (query || path !== "a") throw path === "d" && !query ? new ResourceError("directory", "d") : notFound(path);
        return [{ body: { text: "1\n2\n3\n4\n" }, mimeType: "text/plain", meta: { k: 1 } }];
      }),
      stat: async ({ path, query }) => {
        if (query || path === "x") throw notFound(path);
        return path === "d" ? { path, mimeType: directoryType } : { path, size: 8 };
      },
      children: async () => ({ items: [] }),
    };
    const { pressmark } = open(source);
    const uri = "m://h/a?lines=2-3";
    expect((await pressmark.read(uri, call)).contents).toEqual([
      {
        uri,
        mimeType: "text/plain",
        body: { text: "2\n3\n" },
        meta: { k: 1, "pressmark/range": { lines: [2, 3], total: 4, next: "lines=4-5" } },
      },
    ]);
    expect(await pressmark.stat(uri, call)).toEqual({ uri, name: "a", title: "a" });
    await expect(pressmark.read("m://h/a?lines=5-6", call)).rejects.toMatchObject({
      kind: "invalid",
      message: '"m://h/a?lines=5-6" has 4 lines, so there is none at 5',
    });
    for (const missing of ["m://h/x?lines=1-2", "m://h/d?lines=1-2", "m://h/a?other=1", "m://h/a?lines=0-1"]) {
      await expect(pressmark.read(missing, call), missing).rejects.toMatchObject({ kind: "not-found" });
      await expect(pressmark.stat(missing, call), missing).rejects.toMatchObject({ kind: "not-found" });
    }
  });

  it("cuts the whole text if its source ignores the range, and leaves lines of another kind as they are", async () => {
    const whole = "1\n2\n3\n4\n";
    const ignoring = open(reads(() => [{ body: { text: whole } }])).pressmark;
    expect((await ignoring.read("m://h/a?lines=2-3", call)).contents).toMatchObject([{ body: { text: "2\n3\n" } }]);
    const own = open(reads(({ query }) => [{ body: { text: query ? "lines as colours" : whole } }])).pressmark;
    expect((await own.read("m://h/a?lines=2-3", call)).contents).toMatchObject([
      { body: { text: "lines as colours" } },
    ]);
  });

  it("gives parts at other addresses their own URI, and those at the same address the caller's", async () => {
    const parts = [
      { at: { path: "d/ä" }, body: { text: "1" } },
      { at: { path: "d" }, body: { text: "2" } },
    ];
    const { contents } = await open(reads(() => parts)).pressmark.read("m://h/%64", call);
    expect(contents.map(({ uri }) => uri)).toEqual(["m://h/d/%C3%A4", "m://h/%64"]);
  });

  it("leaves out parts that the caller may not see or no URI can express", async () => {
    const policy: Policy = { maySee: (_, __, { path }) => path !== "d/secret" };
    const body = { text: "" };
    const parts = [
      { body, at: { path: "d/a" } },
      { body, at: { path: "d/secret" } },
      { body, at: { path: "d/.." } },
    ];
    const freshness = { ttlMs: 9, scope: "public" } as const;
    const { pressmark } = open(
      reads(() => parts),
      policy,
      freshness,
    );
    expect(await pressmark.read("m://h/d", call)).toEqual({
      contents: [{ uri: "m://h/d/a", body }],
      ttlMs: 9,
      scope: "private",
    });
    const nothing = open(
      reads(() => parts.slice(1)),
      policy,
      freshness,
    );
    await expect(nothing.pressmark.read("m://h/d", call)).rejects.toEqual(notFound("m://h/d"));
  });

  it.each<[string, Partial<Freshness> | undefined, (Partial<Freshness> | undefined)[], Freshness]>([
    ["nothing unless said", undefined, [undefined], { ttlMs: 0, scope: "private" }],
    ["the mount's", { ttlMs: 5, scope: "public" }, [undefined], { ttlMs: 5, scope: "public" }],
    ["the part's over the mount's", { ttlMs: 5, scope: "public" }, [{ ttlMs: 9 }], { ttlMs: 9, scope: "public" }],
    [
      "the minimum of all parts",
      { ttlMs: 50, scope: "public" },
      [{ ttlMs: 9 }, { ttlMs: 7, scope: "private" }, {}],
      { ttlMs: 7, scope: "private" },
    ],
  ])("stays fresh for %s", async (_, mount, parts, expected) => {
    const source = reads(() => parts.map((freshness) => ({ body: { text: "" }, ...(freshness && { freshness }) })));
    expect(await open(source, openPolicy, mount).pressmark.read("m://h/x", call)).toMatchObject(expected);
  });

  it("is private where another caller may see less, whatever the mount and the source say", async () => {
    const scope = "public" as const;
    const source = reads(() => [{ body: { text: "" }, freshness: { scope } }]);
    const some: Policy = { maySee: () => true };
    expect(await open(source, openPolicy, { scope }).pressmark.read("m://h/x", call)).toMatchObject({
      scope: "public",
    });
    expect(await open(source, some, { scope }).pressmark.read("m://h/x", call)).toMatchObject({ scope: "private" });
  });

  it.each<[string, Source["read"]]>([
    ["is not there", () => Promise.reject(notFound("its/own/words"))],
    ["is empty", async () => []],
    ["the backend refuses", () => Promise.reject(new ResourceError("denied", "EACCES /home/me/x"))],
    ["is a directory of a source that knows none", () => Promise.reject(new ResourceError("directory", "a directory"))],
  ])("whose source %s is not found", async (_, read) => {
    const { pressmark } = open({ list: async () => ({ items: [] }), read });
    await expect(pressmark.read("m://h/x", call)).rejects.toEqual(notFound("m://h/x"));
  });

  it("of a hidden resource is not found, and the source is not called", async () => {
    const asked: string[] = [];
    const source = reads(({ path }) => (asked.push(path), [{ body: { text: "" } }]));
    const { pressmark } = open(source, { maySee: () => false });
    for (const ask of [pressmark.read, pressmark.stat])
      await expect(ask("m://h/%78", call)).rejects.toEqual(notFound("m://h/%78"));
    await expect(pressmark.children("m://h/%78", {}, call)).rejects.toEqual(notFound("m://h/%78"));
    expect(asked).toEqual([]);
  });

  it("logs that the backend denied access", async () => {
    const cause = new ResourceError("denied", "EACCES");
    const { pressmark, clock } = open(reads(() => Promise.reject(cause)));
    await expect(pressmark.read("m://h/x", call)).rejects.toThrow();
    expect(clock.logged).toEqual([
      expect.objectContaining({ level: "warn", facts: { mount: "m", asked: "read", uri: "m://h/x", cause } }),
    ]);
  });

  it("passes on a ResourceError of the source, and hides any other error", async () => {
    const large = new ResourceError("too-large", "ask for less", { details: { size: 9 } });
    await expect(open(reads(() => Promise.reject(large))).pressmark.read("m://h/x", call)).rejects.toBe(large);
    const { pressmark, clock } = open(reads(() => Promise.reject(new Error("/etc/passwd is broken"))));
    await expect(pressmark.read("m://h/x", call)).rejects.toMatchObject({
      kind: "unexpected",
      message: "internal error; see the server's log for details",
    });
    expect(clock.logged).toMatchObject([{ level: "error", message: "the source failed" }]);
  });

  it("of a resource that is too large says what to read instead, in URIs", async () => {
    const template = "{+path}{?lines}";
    const details = { size: 9, template, next: "lines=1-2", ranges: ["lines=1-2", "bytes=0-3"] };
    const large = new ResourceError("too-large", "ask for less", { details });
    const source = { ...reads(() => Promise.reject(large)), templates: [{ template, name: "file" }] };
    await expect(open(source).pressmark.read("m://h/%78?as=text", call)).rejects.toMatchObject({
      kind: "too-large",
      message: "ask for less",
      details: {
        size: 9,
        template: "m://h/{+path}{?lines}",
        next: "lines=1-2",
        ranges: ["m://h/%78?lines=1-2", "m://h/%78?bytes=0-3"],
      },
    });
  });

  it("leaves a template unchanged that the source does not list", async () => {
    const large = new ResourceError("too-large", "ask for less", { details: { template: "other://{+path}" } });
    await expect(open(reads(() => Promise.reject(large))).pressmark.read("m://h/x", call)).rejects.toBe(large);
  });

  it("that the caller aborts is cancelled, whatever the source throws", async () => {
    const asking = new AbortController();
    const { pressmark } = open(reads(() => (asking.abort(), Promise.reject(new Error("socket closed")))));
    await expect(pressmark.read("m://h/x", { ...call, signal: asking.signal })).rejects.toMatchObject({
      kind: "cancelled",
    });
  });
});

describe("reading a directory", () => {
  it("gives its first visible children and their number as JSON", async () => {
    const { source } = createMemory({ "d/a b": "abc", "d/e/f": "", "d/secret": "", x: "" });
    const policy: Policy = { maySee: (_, __, { path }) => path !== "d/secret" };
    expect(await readJson(source, "m://h/%64", policy)).toEqual({
      uri: "m://h/%64",
      count: 2,
      children: [
        { uri: "m://h/d/a%20b", name: "a b", mimeType: "text/plain", size: 3 },
        { uri: "m://h/d/e", name: "e", mimeType: "inode/directory" },
      ],
      more: false,
    });
  });

  it.each([
    [100, { count: 100, more: false }],
    [101, { count: 101, more: true }],
    [10_000, { count: 10_000, more: true }],
    [10_001, { count: 10_000, countIsAtLeast: true, more: true }],
  ])("shows a hundred of %i and counts to ten thousand", async (count, expected) => {
    const { source } = createMemory(Object.fromEntries(Array.from({ length: count }, (_, at) => [`d/${at}`, ""])));
    const { uri: _, children, ...rest } = await readJson(source, "m://h/d");
    expect(rest).toEqual(expected);
    expect(children).toHaveLength(100);
  });
});

describe("stat", () => {
  it("gives the source's entry, with the URI as the caller wrote it", async () => {
    const { pressmark } = open(createMemory({ "d/a": { text: "abc", title: "A" } }).source);
    expect(await pressmark.stat("m://h/d/%61", call)).toEqual({
      uri: "m://h/d/%61",
      name: "a",
      title: "A",
      mimeType: "text/plain",
      size: 3,
    });
    expect(await pressmark.stat("m://h/d", call)).toEqual({
      uri: "m://h/d",
      name: "d",
      title: "d",
      mimeType: "inode/directory",
    });
    expect(await pressmark.stat("m://h", call)).toEqual({
      uri: "m://h",
      name: "m",
      title: "m",
      mimeType: "inode/directory",
    });
  });

  it("reads the resource if the source has no stat", async () => {
    const memory = createMemory({ "d/a": "abc" }).source;
    const { stat: _, ...source } = memory;
    const { pressmark } = open(source);
    expect(await pressmark.stat("m://h/d/a", call)).toEqual({
      uri: "m://h/d/a",
      name: "a",
      title: "d/a",
      mimeType: "text/plain",
    });
    expect(await pressmark.stat("m://h/d", call)).toEqual({
      uri: "m://h/d",
      name: "d",
      title: "d",
      mimeType: "inode/directory",
    });
    await expect(pressmark.stat("m://h/x", call)).rejects.toEqual(notFound("m://h/x"));
  });
});
