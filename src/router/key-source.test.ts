import { describe, expect, it } from "vitest";
import { openPolicy, type Policy } from "../access/policy.ts";
import { ResourceError, unsupported } from "../errors.ts";
import type { Call, Change, Page, Resource, Resources, Watch } from "../resources.ts";
import type { Source } from "../source.ts";
import { createMemory } from "../sources/memory.ts";
import { createClock } from "../testing/clock.ts";
import { collect } from "../testing/pages.ts";
import { createResources } from "./create-resources.ts";
import { createKeySource } from "./test-key-source.ts";

const call: Call = { caller: { id: "me" }, signal: new AbortController().signal };
const users = ["user:1", "user:1:friends", "user:1:friends:2", "user:2", "group:a:members"];

function open(sources: Readonly<Record<string, Source>>, policy: Policy = openPolicy, pageSize = 1000) {
  const clock = createClock();
  const mounts = Object.entries(sources).map(([name, source]) => ({ name, base: `${name}://`, source }));
  const options = { mounts, policy, runtime: clock.runtime, pageSize };
  return { resources: createResources({ ...options, cursorKey: new Uint8Array(32) }), clock };
}

const urisOf = ({ items }: Page<Resource>) => items.map(({ uri }) => uri).sort();
const flagOf = ({ meta }: Resource) => meta?.["pressmark/hasChildren"];
const children = async (resources: Resources, uri: string) => urisOf(await resources.children(uri, {}, call));

const say = (change: Change) => (change.kind === "updated" ? change.uri : change.kind);
const isHidden = (path: string) => path.startsWith("user/1/");

/** Collects what a watch reports from now on. */
function hear(watch: Watch): string[] {
  const heard: string[] = [];
  void (async () => {
    for await (const change of watch) heard.push(say(change));
  })();
  return heard;
}

describe("a resource that has children", () => {
  it("is listed and read as a resource, and has children", async () => {
    const { resources } = open({ k: createKeySource(users).source });
    expect(urisOf(await resources.list({}, call))).toContain("k://user/1");
    const { contents } = await resources.read("k://user/1", call);
    expect(contents).toEqual([{ uri: "k://user/1", mimeType: "text/plain", body: { text: "value of user:1" } }]);
    expect(await children(resources, "k://user")).toEqual(["k://user/1", "k://user/2"]);
    expect(await children(resources, "k://user/1")).toEqual(["k://user/1/friends"]);
    await expect(resources.children("k://user/2", {}, call)).rejects.toMatchObject({ kind: "not-found" });
  });

  it("says so wherever it is described, and nothing else does", async () => {
    const { resources } = open({ k: createKeySource(users).source });
    const { items } = await resources.list({}, call);
    expect(
      items
        .filter(flagOf)
        .map(({ uri }) => uri)
        .sort(),
    ).toEqual(["k://user/1", "k://user/1/friends"]);
    expect(await resources.stat("k://user/1", call)).toMatchObject({
      mimeType: "text/plain",
      meta: { "pressmark/hasChildren": true },
    });
    expect(flagOf(await resources.stat("k://user", call))).toBeUndefined();
    const [listing] = (await resources.read("k://user", call)).contents;
    expect(JSON.parse((listing!.body as { text: string }).text)).toMatchObject({
      count: 2,
      children: expect.arrayContaining([
        { uri: "k://user/1", name: "1", mimeType: "text/plain", size: 15, hasChildren: true },
        { uri: "k://user/2", name: "2", mimeType: "text/plain", size: 15 },
      ]),
    });
  });

  it("can be the mount itself", async () => {
    const { resources } = open({ k: createKeySource(["", "a"]).source });
    expect(urisOf(await resources.list({}, call))).toEqual(["k://", "k://a"]);
    expect((await resources.read("k://", call)).contents).toMatchObject([{ body: { text: "value of " } }]);
    expect(await children(resources, "k://")).toEqual(["k://a"]);
    expect(flagOf(await resources.stat("k://", call))).toBe(true);
  });

  it("does not tell a caller of children that are hidden", async () => {
    const policy: Policy = {
      maySee: (_, __, { path }) => !isHidden(path),
      maySeeAll: (_, __, { path }) => path !== "" && path !== "user" && path !== "user/1" && !isHidden(path),
    };
    const { resources } = open({ k: createKeySource(users).source }, policy);
    const bare = open({ k: createKeySource(["user:1", "user:2", "group:a:members"]).source }, policy).resources;
    for (const ask of [
      async (each: Resources) => (await each.list({}, call)).items.toSorted((a, b) => (a.uri < b.uri ? -1 : 1)),
      (each: Resources) => each.stat("k://user/1", call),
      (each: Resources) => each.children("k://user/1", {}, call).catch((cause: ResourceError) => cause.message),
      (each: Resources) => each.read("k://user/1", call),
    ])
      expect(await ask(resources)).toEqual(await ask(bare));
  });
});

it("metadata of a source does not tell of children", async () => {
  const meta = { own: 1, "pressmark/hasChildren": true, "pressmark/children": 7 };
  const { source } = createMemory({ a: "" });
  const list: Source["list"] = async () => ({ items: [{ path: "a", meta }] });
  for (const policy of [openPolicy, { maySee: () => true } as Policy]) {
    const { items } = await open({ m: { ...source, list } }, policy).resources.list({}, call);
    expect(items[0]?.meta).toEqual({ own: 1 });
  }
});

describe("an unknown query variable", () => {
  it.each(["read", "stat"] as const)("makes an address a missing one for %s", async (operation) => {
    const { resources } = open({ k: createKeySource(users).source, m: createMemory({ a: "1\n2\n3\n" }).source });
    for (const uri of ["k://user/1?x=1", "k://user/1?as=text", "m://a?x=1", "m://a?lines=1-2&x=1"])
      await expect(resources[operation](uri, call), uri).rejects.toMatchObject({ kind: "not-found" });
    await expect(resources.children("k://user?x=1", {}, call)).rejects.toMatchObject({ kind: "not-found" });
  });

  it("is not the range of lines that the router cuts itself", async () => {
    const { resources } = open({ m: createMemory({ a: "1\n2\n3\n" }).source });
    expect((await resources.read("m://a?lines=2-3", call)).contents).toMatchObject([{ body: { text: "2\n3\n" } }]);
  });
});

describe("a list without order", () => {
  it("has its first page after two calls of 150,000 entries' backend, without sorting them", async () => {
    const keys = Array.from({ length: 150_000 }, (_, index) => `key${index}`);
    const { source, calls } = createKeySource(keys);
    const { resources } = open({ k: source });
    const { items, next } = await resources.list({}, call);
    expect([items.length, typeof next]).toEqual([1000, "string"]);
    expect(calls).toEqual({ list: 2, children: 0, stat: 0, read: 0 });
    const all = await collect((cursor) => resources.list({ cursor }, call));
    expect(new Set(all.map(({ uri }) => uri)).size).toBe(150_000);
    expect(all).toHaveLength(150_000);
  });

  it.each([
    ["empty pages", { emptyPages: 40 }],
    ["repeated entries", { repeats: true }],
    ["both", { emptyPages: 3, repeats: true }],
    ["small pages that repeat entries", { repeats: true, maxPage: 10 }],
  ])("is complete with %s, and a page never names an entry twice", async (_, options) => {
    const keys = Array.from({ length: 137 }, (__, index) => `a:${index}`);
    const sources = {
      b: createMemory({ x: "" }).source,
      k: createKeySource(keys, options).source,
      z: createMemory({ y: "" }).source,
    };
    for (const [pageSize, limit] of [[10], [7, 3], [1000]] as const) {
      // A cursor works after a restart.
      const again = () => open(sources, openPolicy, pageSize).resources;
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page: Page<Resource> = await again().list({ cursor, ...(limit !== undefined && { limit }) }, call);
        const uris = urisOf(page);
        expect(new Set(uris).size).toBe(uris.length);
        seen.push(...uris);
        cursor = page.next;
      } while (cursor !== undefined);
      expect(new Set(seen)).toEqual(new Set(["b://x", ...keys.map((key) => `k://${key.replace(":", "/")}`), "z://y"]));
      if (!("repeats" in options)) expect(seen).toHaveLength(139);
      const inside = await collect((at) => again().children("k://a", { cursor: at }, call));
      expect(new Set(inside.map(({ uri }) => uri)).size).toBe(137);
    }
  });

  it.each([true, undefined])("ends though a page names an entry twice (unordered: %s)", async (isUnordered) => {
    const names = isUnordered ? ["a", "b", "a", "c"] : ["a", "a", "b", "c"];
    const items = names.map((path) => ({ path }));
    const list: Source["list"] = async () => ({ items });
    const { resources } = open({ k: { list, read: createMemory().source.read, ...(isUnordered && { isUnordered }) } });
    const seen = await collect((cursor) => resources.list({ cursor, limit: 1 }, call));
    expect(seen.map(({ name }) => name)).toEqual(["a", "b", "c"]);
  });

  it("is filtered, and shows each caller what they may see", async () => {
    const keys = Array.from({ length: 500 }, (_, index) => `n:${index}`);
    const policy: Policy = { maySee: (_, __, { path }) => path === "" || path === "n" || path.endsWith("7") };
    const { resources } = open({ k: createKeySource(keys, { emptyPages: 2 }).source }, policy, 20);
    const seen = await collect((cursor) => resources.list({ cursor, filter: { namePatterns: ["*77"] } }, call));
    const names = ["177", "277", "377", "477", "77"];
    expect(seen.map(({ name }) => name).sort()).toEqual(names);
    const all = await collect((cursor) => resources.list({ cursor }, call));
    expect([all.length, new Set(all.map(({ uri }) => uri)).size]).toEqual([50, 50]);
  });

  it("loses nothing when the entry that a page ended with is gone", async () => {
    const keys = Array.from({ length: 30 }, (_, index) => `n:${index}`);
    for (let pageSize = 1; pageSize < 30; pageSize += 1) {
      const { source, ...store } = createKeySource(keys);
      // Whole pages of 30, so that the router must cut them.
      const list: Source["list"] = (request, each) => source.list({ ...request, limit: 30 }, each);
      const { resources } = open({ k: { ...source, list } }, openPolicy, pageSize);
      const first = await resources.list({}, call);
      store.delete(`n:${first.items.at(-1)?.name ?? ""}`);
      const rest = await collect((cursor) => resources.list({ cursor }, call), first.next);
      expect(new Set([...first.items, ...rest].map(({ uri }) => uri)).size, `pages of ${pageSize}`).toBe(30);
    }
  });

  it("ends a page early, with a cursor, if the backend returns nothing for long", async () => {
    const { source, calls } = createKeySource(["a", "b"], { emptyPages: 1500 });
    const { resources } = open({ k: source }, openPolicy, 1);
    const page = await resources.list({}, call);
    expect([page.items.length, typeof page.next, calls.list]).toEqual([0, "string", 1001]);
    expect((await collect((cursor) => resources.list({ cursor }, call))).map(({ name }) => name).sort()).toEqual([
      "a",
      "b",
    ]);
  });
});

describe("changes of a key store", () => {
  it("concern the directories above, which exist only through keys", async () => {
    const store = createKeySource(users);
    const { resources, clock } = open({ k: store.source });
    const heard = hear(await resources.watch({ uris: ["k://user", "k://", "k://group"], list: true }, call));
    store.set("user:9:friends:1");
    await clock.advance(2000);
    expect(heard.sort()).toEqual(["k://", "k://user", "list-changed"]);
  });

  it("of a resource do not concern its children, and make it a directory", async () => {
    const store = createKeySource(users);
    const { resources, clock } = open({ k: store.source });
    const heard = hear(await resources.watch({ uris: ["k://user/1", "k://user/1/friends"], list: true }, call));
    store.delete("user:1");
    await clock.advance(2000);
    expect(heard.sort()).toEqual(["k://user/1", "list-changed"]);
    expect(await resources.stat("k://user/1", call)).toMatchObject({ mimeType: "inode/directory" });
    expect(await children(resources, "k://user/1")).toEqual(["k://user/1/friends"]);
  });
});

describe("a source that cannot be watched", () => {
  const { source } = createKeySource(users);
  const { watch: _, ...silent } = source;
  const off = 'keyspace notifications are off; run: redis-cli config set notify-keyspace-events "KEA"';
  let starts = 0;
  const refusing: Source = {
    ...source,
    async watch() {
      starts += 1;
      throw unsupported(off);
    },
  };

  it.each([
    ["has no watch", silent, "its source does not report changes"],
    ["refuses it", refusing, off],
  ])("and %s says so to whoever watches only it", async (__, unwatched, why) => {
    const { resources } = open({ k: unwatched });
    const reason = `the mount "k" cannot be watched: ${why}`;
    await expect(resources.watch({ uris: ["k://user/1"] }, call)).rejects.toMatchObject({
      kind: "unsupported",
      message: reason,
    });
    const missing = await resources.watch({ uris: ["k://nothing"] }, call);
    expect([missing.uris, missing.unwatched]).toEqual([[], undefined]);
  });

  it("is named beside what is watched, which goes on", async () => {
    const memory = createMemory({ a: "1" });
    const { resources, clock } = open({ k: refusing, m: memory.source });
    const watch = await resources.watch({ uris: ["m://a", "k://user/1"] }, call);
    expect(watch.uris).toEqual(["m://a"]);
    expect(watch.unwatched).toEqual([{ uri: "k://user/1", reason: `the mount "k" cannot be watched: ${off}` }]);
    const heard = hear(watch);
    memory.set("a", "2");
    await clock.advance(2000);
    expect(heard).toEqual(["m://a"]);
  });

  it("is tried again every minute and for everyone who joins, and says once why", async () => {
    const { resources, clock } = open({ k: refusing });
    starts = 0;
    for (let times = 0; times < 3; times += 1) await resources.watch({ uris: ["k://user/1"], list: true }, call);
    expect(starts).toBe(3);
    await clock.advance(600_000);
    expect(starts).toBe(13);
    const message = `the mount cannot be watched, trying again every minute: ${off}`;
    expect(clock.logged).toMatchObject([{ level: "info", message, facts: { mount: "k" } }]);
  });

  it("until its operator has changed that can be watched without a restart", async () => {
    const store = createKeySource(users);
    let isOn = false;
    const fixed: Source = {
      ...store.source,
      async watch(each) {
        if (!isOn) throw unsupported(off);
        return store.source.watch!(each);
      },
    };
    const { resources, clock } = open({ k: fixed });
    const early = hear(await resources.watch({ uris: ["k://user/1"], list: true }, call));
    isOn = true;
    const watch = await resources.watch({ uris: ["k://user/1"] }, call);
    expect([watch.uris, watch.unwatched]).toEqual([["k://user/1"], undefined]);
    const late = hear(watch);
    await clock.advance(2000);
    late.length = 0;
    store.set("user:1", "changed");
    await clock.advance(2000);
    expect(late).toEqual(["k://user/1"]);
    // The first watch was refused this URI and expects no changes of it.
    expect(early).toEqual(["list-changed"]);
  });

  it("at present is tried again, and whoever watches gets what may have changed", async () => {
    const failures = [new ResourceError("unavailable", "down"), new Error("odd")];
    const flaky: Source = {
      ...source,
      async watch(each) {
        const failure = failures.shift();
        if (failure) throw failure;
        return source.watch!(each);
      },
    };
    const { resources, clock } = open({ k: flaky });
    const watch = await resources.watch({ uris: ["k://user/1"], list: true }, call);
    expect(watch).toMatchObject({ uris: ["k://user/1"] });
    const heard = hear(watch);
    await clock.advance(60_000);
    expect(heard.sort()).toEqual(["k://user/1", "list-changed"]);
  });

  it.each(["ends", "throws"])(
    "any more, because its iteration %s, is tried again, also after it is refused",
    async (how) => {
      let attempts = 0;
      const ending: Source = {
        ...source,
        async watch(each) {
          attempts += 1;
          if (attempts === 3 || attempts === 4) throw unsupported(off);
          if (attempts > 4) return source.watch!(each);
          return (async function* () {
            await Promise.resolve();
            if (how === "throws") throw new Error("the connection is lost");
            yield* [];
          })();
        },
      };
      const { resources, clock } = open({ k: ending });
      const heard = hear(await resources.watch({ uris: ["k://user/1"], list: true }, call));
      await clock.advance(30_000);
      expect(attempts).toBe(3);
      // Once when it is back, and once when it is refused: nothing is known of the time after.
      expect(heard.sort()).toEqual(["k://user/1", "k://user/1", "list-changed", "list-changed"]);
      await expect(resources.watch({ uris: ["k://user/1"] }, call)).rejects.toMatchObject({ kind: "unsupported" });
      heard.length = 0;
      await clock.advance(120_000);
      expect(heard.sort()).toEqual(["k://user/1", "list-changed"]);
    },
  );
});
