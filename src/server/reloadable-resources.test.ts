import { describe, expect, it } from "vitest";
import { openPolicy } from "../access/policy.ts";
import { unavailable } from "../errors.ts";
import type { Call, Change, Relayed, Resources, Watch } from "../resources.ts";
import { createResources } from "../router/create-resources.ts";
import { createRoutes, type Mount } from "../router/route.ts";
import { createMemory, type Memory } from "../sources/memory.ts";
import { createClock } from "../testing/clock.ts";
import { resourcesContract } from "../testing/resources-contract.ts";
import { createReloadableResources, type ResourcesBuild, type ReloadableResources } from "./reloadable-resources.ts";
import { createRuntime } from "./runtime.ts";

const runtime = createRuntime({ write: () => true });
const cursorKey = new Uint8Array(32);

interface Built extends ResourcesBuild {
  readonly closed: boolean;
}

function build(mounts: readonly Mount[], wrap: (resources: Resources) => Resources = (same) => same): Built {
  const kept = mounts.map(({ source: { close: _close, ...source }, ...rest }) => ({ ...rest, source }));
  const { close, ...resources } = createResources({
    mounts: kept,
    policy: openPolicy,
    runtime,
    cursorKey,
    pageSize: 2,
  });
  const routes = createRoutes(mounts);
  let closed = false;
  return {
    resources: wrap(resources),
    answersFor: (uri) => routes.find(uri)?.mount.source,
    get closed() {
      return closed;
    },
    async close() {
      closed = true;
      await close();
    },
  };
}

function mount(name: string, { source }: Memory): Mount {
  return { name, base: `${name}://`, source };
}

function ask(): { readonly call: Call; readonly stop: AbortController } {
  const stop = new AbortController();
  return { call: { caller: { id: "someone" }, signal: stop.signal }, stop };
}

/** Yields changes on demand. */
function ears(watch: Watch): { next(): Promise<Change | undefined> } {
  const iterator = watch[Symbol.asyncIterator]();
  return { next: async () => (await iterator.next()).value as Change | undefined };
}

/** Watches fail until it ends. */
function createOutage() {
  const reached = Promise.withResolvers<void>();
  let isAway = true;
  let count = 0;
  const failing =
    (isFailing: (watched: number) => boolean) =>
    (resources: Resources): Resources => {
      let watched = 0;
      return {
        ...resources,
        async watch(filter, call) {
          if (!isAway || !isFailing((watched += 1))) return resources.watch(filter, call);
          count += 1;
          reached.resolve();
          throw unavailable("the source is away");
        },
      };
    };
  return {
    reached: reached.promise,
    /** Number of watches that failed. */
    get count() {
      return count;
    },
    wrap: failing(() => true),
    /** Not the watch that moves, and that of the list. */
    wrapLooks: failing((watched) => watched > 2),
    end: () => void (isAway = false),
  };
}

const updated = (uri: string): Change => ({ kind: "updated", uri });
const listChanged: Change = { kind: "list-changed" };

describe("reloadable resources", () => {
  it("watch no tools and prompts for a call that has already ended", async () => {
    const { call, stop } = ask();
    stop.abort();
    const armed: Call[] = [];
    const relayed = { watch: async (watching: Call) => void armed.push(watching) } as unknown as Relayed;
    const pressmark = createReloadableResources(
      build([], (resources) => ({ ...resources, relayed })),
      runtime,
    );
    for await (const kind of await pressmark.relayed!.watch(call)) expect.unreachable(kind);
    await pressmark.swap(build([]));
    expect(armed.filter(({ signal }) => !signal.aborted)).toEqual([]);
    await pressmark.close();
  });

  it("use the current build for every request", async () => {
    const { call } = ask();
    const pressmark = createReloadableResources(build([mount("a", createMemory({ x: "old" }))]), runtime);
    expect((await pressmark.list({}, call)).items.map(({ uri }) => uri)).toEqual(["a://x"]);
    await pressmark.swap(build([mount("b", createMemory({ x: "new", "d/y": "deep" }))]));
    expect((await pressmark.list({}, call)).items.map(({ uri }) => uri)).toEqual(["b://d/y", "b://x"]);
    expect((await pressmark.read("b://x", call)).contents[0]!.body).toEqual({ text: "new" });
    expect((await pressmark.children("b://d", {}, call)).items.map(({ uri }) => uri)).toEqual(["b://d/y"]);
    expect((await pressmark.stat("b://x", call)).uri).toBe("b://x");
    expect((await pressmark.search({ text: "deep", limit: 5 }, call)).hits.map(({ resource }) => resource.uri)).toEqual(
      ["b://d/y"],
    );
    expect((await pressmark.templates({}, call)).items).toEqual([]);
    await expect(
      pressmark.complete({ template: "a://{x}", variable: "x", value: "", given: {} }, call),
    ).rejects.toThrow();
    await expect(pressmark.read("a://x", call)).rejects.toMatchObject({ kind: "not-found" });
    expect(pressmark.listFreshness).toEqual({ ttlMs: 0, scope: "private" });
    await pressmark.close();
  });

  it("notify every watch of the list, and only those", async () => {
    const { call } = ask();
    const memory = createMemory({ x: "1", y: "1" });
    const pressmark = createReloadableResources(build([mount("a", memory)]), runtime);
    const list = ears(await pressmark.watch({ list: true }, call));
    const one = ears(await pressmark.watch({ uris: ["a://x"] }, call));
    await pressmark.swap(build([mount("a", memory), mount("b", createMemory())]));
    expect(await list.next()).toEqual(listChanged);
    memory.set("x", "2");
    expect(await one.next()).toEqual(updated("a://x"));
    memory.set("z", "new");
    expect(await list.next()).toEqual(listChanged);
    await pressmark.close();
    expect(await one.next()).toBeUndefined();
    expect(await list.next()).toBeUndefined();
  });

  it("announces what is answered from another place now, what is gone, and what came back", async () => {
    const { call } = ask();
    const kept = createMemory({ x: "1" });
    const pressmark = createReloadableResources(
      build([mount("a", createMemory({ x: "1" })), mount("k", kept)]),
      runtime,
    );
    const watch = await pressmark.watch({ uris: ["a://x", "k://x", "a://never"] }, call);
    expect(watch.uris).toEqual(["a://x", "k://x"]);
    const heard = ears(watch);

    await pressmark.swap(build([mount("a", createMemory({ x: "other" })), mount("k", kept)]));
    expect(await heard.next()).toEqual(updated("a://x"));
    await pressmark.swap(build([mount("k", kept)]));
    expect(await heard.next()).toEqual(updated("a://x"));
    const back = createMemory({ x: "back" });
    await pressmark.swap(build([mount("a", back), mount("k", kept)]));
    expect(await heard.next()).toEqual(updated("a://x"));
    back.set("x", "and changed");
    expect(await heard.next()).toEqual(updated("a://x"));
    kept.set("x", "2");
    expect(await heard.next()).toEqual(updated("k://x"));
    await pressmark.close();
  });

  it("still watches what was gone when it changed, as soon as it is back", async () => {
    const { call } = ask();
    const memory = createMemory({ x: "1", other: "1" });
    const pressmark = createReloadableResources(build([mount("a", memory)]), runtime);
    const heard = ears(await pressmark.watch({ uris: ["a://x", "a://other"] }, call));
    memory.delete("x");
    expect(await heard.next()).toEqual(updated("a://x"));
    await pressmark.swap(build([mount("a", memory), mount("b", createMemory())]));
    memory.set("x", "back");
    expect(await heard.next()).toEqual(updated("a://x"));
    memory.set("x", "again");
    expect(await heard.next()).toEqual(updated("a://x"));
    memory.set("other", "2");
    expect(await heard.next()).toEqual(updated("a://other"));
    await pressmark.close();
  });

  it("moves a watch later, if a source was away when it changed, and announces what may have been missed", async () => {
    const { call } = ask();
    const memory = createMemory({ x: "1" });
    const pressmark = createReloadableResources(build([mount("a", memory)]), runtime);
    const both = ears(await pressmark.watch({ list: true, uris: ["a://x"] }, call));
    const outage = createOutage();
    await pressmark.swap(build([mount("a", memory)], outage.wrap));
    // Moved in vain: another change of the config meanwhile changes nothing.
    await pressmark.swap(build([mount("a", memory)], outage.wrap));
    outage.end();
    expect([await both.next(), await both.next()]).toEqual([listChanged, updated("a://x")]);
    memory.set("x", "2");
    expect(await both.next()).toEqual(updated("a://x"));
    await pressmark.close();
  });

  it("still watches what was gone when it changed, if its source is away when it is back", async () => {
    const { call } = ask();
    const memory = createMemory({ x: "1" });
    const pressmark = createReloadableResources(build([mount("a", memory)]), runtime);
    const one = ears(await pressmark.watch({ uris: ["a://x"] }, call));
    memory.delete("x");
    expect(await one.next()).toEqual(updated("a://x"));
    const outage = createOutage();
    await pressmark.swap(build([mount("a", memory)], outage.wrapLooks));
    await outage.reached;
    memory.set("x", "2");
    outage.end();
    expect(await one.next()).toEqual(updated("a://x"));
    memory.set("x", "3");
    expect(await one.next()).toEqual(updated("a://x"));
    await pressmark.close();
  });

  it("gives up a watch whose caller leaves before its source is back", async () => {
    const { call, stop } = ask();
    const clock = createClock();
    const memory = createMemory({ x: "1" });
    const pressmark = createReloadableResources(build([mount("a", memory)]), clock.runtime);
    for (const filter of [{ uris: ["a://x"] }, { list: true }]) await pressmark.watch(filter, call);
    const outage = createOutage();
    await pressmark.swap(build([mount("a", memory)], outage.wrap));
    await clock.advance(10_000);
    expect(outage.count).toBe(2 * 4);
    stop.abort();
    await clock.advance(60_000);
    expect([outage.count, clock.waiting]).toEqual([2 * 4, 0]);
    await pressmark.close();
  });

  it("loses no change that was made before, between and after", async () => {
    const { call } = ask();
    const memory = createMemory(Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`f${index}`, "1"])));
    const pressmark = createReloadableResources(build([mount("a", memory)]), runtime);
    const uris = Array.from({ length: 50 }, (_, index) => `a://f${index}`);
    const watch = await pressmark.watch({ uris }, call);
    const heard = new Set<string>();
    for (let index = 0; index < 50; index += 1) {
      memory.set(`f${index}`, "2");
      if (index % 10 === 5) void pressmark.swap(build([mount("a", memory)]));
      await Promise.resolve();
    }
    for await (const change of watch) {
      if (change.kind === "updated") heard.add(change.uri);
      if (heard.size === uris.length) break;
    }
    expect([...heard].toSorted()).toEqual(uris.toSorted());
    await pressmark.close();
  });

  it("moves a watch that was being armed when it changed", async () => {
    const { call } = ask();
    const memory = createMemory({ x: "1" });
    const reached = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const slow = build([mount("a", memory)], (resources) => ({
      ...resources,
      async watch(filter, each) {
        const watch = await resources.watch(filter, each);
        reached.resolve();
        await go.promise;
        return watch;
      },
    }));
    const pressmark = createReloadableResources(slow, runtime);
    const watching = pressmark.watch({ uris: ["a://x"] }, call);
    await reached.promise;
    const next = createMemory({ x: "new" });
    const swapped = pressmark.swap(build([mount("a", next)]));
    go.resolve();
    const heard = ears(await watching);
    await swapped;
    next.set("x", "2");
    expect(await heard.next()).toEqual(updated("a://x"));
    await pressmark.close();
  });

  it("release the previous build once no watch is left", async () => {
    const { call, stop } = ask();
    const memory = createMemory({ x: "1" });
    const [first, second] = [build([mount("a", memory)]), build([mount("a", memory)])];
    const clock = createClock();
    const pressmark = createReloadableResources(first, clock.runtime);
    const heard = ears(await pressmark.watch({ list: true }, call));
    await pressmark.swap(second);
    expect(first.closed).toBe(false);
    await clock.advance(1500);
    expect([first.closed, second.closed]).toEqual([true, false]);
    expect(await heard.next()).toEqual(listChanged);
    stop.abort();
    expect(await heard.next()).toBeUndefined();
    await pressmark.close();
    expect(second.closed).toBe(true);
  });

  it("ends a watch whose reader leaves, and starts none for a caller who has left", async () => {
    const { call, stop } = ask();
    const pressmark = createReloadableResources(build([mount("a", createMemory({ x: "1" }))]), runtime);
    const watch = await pressmark.watch({ list: true }, call);
    await watch[Symbol.asyncIterator]().return?.();
    expect(await ears(watch).next()).toBeUndefined();
    stop.abort();
    await expect(pressmark.watch({ list: true }, call)).rejects.toMatchObject({ kind: "cancelled" });
    await pressmark.swap(build([]));
    await pressmark.close();
  });
});

let contractServer: ReloadableResources;
let contractMemory: Memory;

/** Swapped once before use: nothing of the first build may be visible. */
resourcesContract("a house that was furnished anew", {
  async open(content) {
    const greeting = {
      template: "greet/{planet}",
      name: "greeting",
      read: ({ planet = "" }) => [{ body: { text: planet } }],
      complete: (variable: string) => (variable === "planet" ? ["mars"] : []),
    };
    contractMemory = createMemory(content as Record<string, string>, { templates: [greeting] });
    contractServer = createReloadableResources(build([mount("before", createMemory({ old: "old" }))]), runtime);
    await contractServer.swap(build([{ ...mount("m", contractMemory), base: "memory://m/" }]));
    return contractServer;
  },
  uriOf: (path) => encodeURI(`memory://m/${path}`).replaceAll("#", "%23").replaceAll("?", "%3F"),
  write: (path, text) => contractMemory.set(path, text),
  remove: (path) => void contractMemory.delete(path),
  clear: () => contractServer.close(),
  findable: { text: "needle-in-a-haystack", path: "docs/deep/er/c.txt" },
  completion: { template: "memory://m/greet/{planet}", variable: "planet", value: "m", expected: "mars" },
});
