import { describe, expect, it } from "vitest";
import { openPolicy } from "../access/policy.ts";
import type { Call, Change, Resources, Watch } from "../resources.ts";
import { createResources } from "../router/create-resources.ts";
import { createRoutes, type Mount } from "../router/route.ts";
import { createMemory, type Memory } from "../sources/memory.ts";
import { createClock } from "../testing/clock.ts";
import { resourcesContract } from "../testing/resources-contract.ts";
import { createLiveHouse, type Furnishing, type LiveHouse } from "./live-house.ts";
import { createTools } from "./tools.ts";

const tools = createTools({ write: () => true });
const cursorKey = new Uint8Array(32);

interface Furnished extends Furnishing {
  readonly closed: boolean;
}

function furnish(mounts: readonly Mount[], wrap: (resources: Resources) => Resources = (same) => same): Furnished {
  const kept = mounts.map(({ source: { close: _close, ...source }, ...rest }) => ({ ...rest, source }));
  const { close, ...resources } = createResources({ mounts: kept, policy: openPolicy, tools, cursorKey, pageSize: 2 });
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

/** Changes, one after the other, as long as they are asked for. */
function ears(watch: Watch): { next(): Promise<Change | undefined> } {
  const iterator = watch[Symbol.asyncIterator]();
  return { next: async () => (await iterator.next()).value as Change | undefined };
}

const updated = (uri: string): Change => ({ kind: "updated", uri });
const listChanged: Change = { kind: "list-changed" };

describe("a house that is furnished anew", () => {
  it("answers every question from how it is furnished now", async () => {
    const { call } = ask();
    const house = createLiveHouse(furnish([mount("a", createMemory({ x: "old" }))]), tools);
    expect((await house.list({}, call)).items.map(({ uri }) => uri)).toEqual(["a://x"]);
    await house.swap(furnish([mount("b", createMemory({ x: "new", "d/y": "deep" }))]));
    expect((await house.list({}, call)).items.map(({ uri }) => uri)).toEqual(["b://d/y", "b://x"]);
    expect((await house.read("b://x", call)).contents[0]!.body).toEqual({ text: "new" });
    expect((await house.children("b://d", {}, call)).items.map(({ uri }) => uri)).toEqual(["b://d/y"]);
    expect((await house.stat("b://x", call)).uri).toBe("b://x");
    expect((await house.search({ text: "deep", limit: 5 }, call)).hits.map(({ resource }) => resource.uri)).toEqual([
      "b://d/y",
    ]);
    expect((await house.templates({}, call)).items).toEqual([]);
    await expect(house.complete({ template: "a://{x}", variable: "x", value: "", given: {} }, call)).rejects.toThrow();
    await expect(house.read("a://x", call)).rejects.toMatchObject({ kind: "not-found" });
    expect(house.listFreshness).toEqual({ ttlMs: 0, scope: "private" });
    await house.close();
  });

  it("tells every watch of the list that it changed, and only those", async () => {
    const { call } = ask();
    const memory = createMemory({ x: "1", y: "1" });
    const house = createLiveHouse(furnish([mount("a", memory)]), tools);
    const list = ears(await house.watch({ list: true }, call));
    const one = ears(await house.watch({ uris: ["a://x"] }, call));
    await house.swap(furnish([mount("a", memory), mount("b", createMemory())]));
    expect(await list.next()).toEqual(listChanged);
    memory.set("x", "2");
    expect(await one.next()).toEqual(updated("a://x"));
    memory.set("z", "new");
    expect(await list.next()).toEqual(listChanged);
    await house.close();
    expect(await one.next()).toBeUndefined();
    expect(await list.next()).toBeUndefined();
  });

  it("announces what is answered from another place now, what is gone, and what came back", async () => {
    const { call } = ask();
    const kept = createMemory({ x: "1" });
    const house = createLiveHouse(furnish([mount("a", createMemory({ x: "1" })), mount("k", kept)]), tools);
    const watch = await house.watch({ uris: ["a://x", "k://x", "a://never"] }, call);
    expect(watch.uris).toEqual(["a://x", "k://x"]);
    const heard = ears(watch);

    await house.swap(furnish([mount("a", createMemory({ x: "other" })), mount("k", kept)]));
    expect(await heard.next()).toEqual(updated("a://x"));
    await house.swap(furnish([mount("k", kept)]));
    expect(await heard.next()).toEqual(updated("a://x"));
    const back = createMemory({ x: "back" });
    await house.swap(furnish([mount("a", back), mount("k", kept)]));
    expect(await heard.next()).toEqual(updated("a://x"));
    back.set("x", "and changed");
    expect(await heard.next()).toEqual(updated("a://x"));
    kept.set("x", "2");
    expect(await heard.next()).toEqual(updated("k://x"));
    await house.close();
  });

  it("still watches what was gone when it changed, as soon as it is back", async () => {
    const { call } = ask();
    const memory = createMemory({ x: "1", other: "1" });
    const house = createLiveHouse(furnish([mount("a", memory)]), tools);
    const heard = ears(await house.watch({ uris: ["a://x", "a://other"] }, call));
    memory.delete("x");
    expect(await heard.next()).toEqual(updated("a://x"));
    await house.swap(furnish([mount("a", memory), mount("b", createMemory())]));
    memory.set("x", "back");
    expect(await heard.next()).toEqual(updated("a://x"));
    memory.set("x", "again");
    expect(await heard.next()).toEqual(updated("a://x"));
    memory.set("other", "2");
    expect(await heard.next()).toEqual(updated("a://other"));
    await house.close();
  });

  it("loses no change that was made before, between and after", async () => {
    const { call } = ask();
    const memory = createMemory(Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`f${index}`, "1"])));
    const house = createLiveHouse(furnish([mount("a", memory)]), tools);
    const uris = Array.from({ length: 50 }, (_, index) => `a://f${index}`);
    const watch = await house.watch({ uris }, call);
    const heard = new Set<string>();
    for (let index = 0; index < 50; index += 1) {
      memory.set(`f${index}`, "2");
      if (index % 10 === 5) void house.swap(furnish([mount("a", memory)]));
      await Promise.resolve();
    }
    for await (const change of watch) {
      if (change.kind === "updated") heard.add(change.uri);
      if (heard.size === uris.length) break;
    }
    expect([...heard].toSorted()).toEqual(uris.toSorted());
    await house.close();
  });

  it("moves a watch that was being armed when it changed", async () => {
    const { call } = ask();
    const memory = createMemory({ x: "1" });
    const reached = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const slow = furnish([mount("a", memory)], (resources) => ({
      ...resources,
      async watch(filter, each) {
        const watch = await resources.watch(filter, each);
        reached.resolve();
        await go.promise;
        return watch;
      },
    }));
    const house = createLiveHouse(slow, tools);
    const watching = house.watch({ uris: ["a://x"] }, call);
    await reached.promise;
    const next = createMemory({ x: "new" });
    const swapped = house.swap(furnish([mount("a", next)]));
    go.resolve();
    const heard = ears(await watching);
    await swapped;
    next.set("x", "2");
    expect(await heard.next()).toEqual(updated("a://x"));
    await house.close();
  });

  it("lets the furnishing of before go once no watch is left there", async () => {
    const { call, stop } = ask();
    const memory = createMemory({ x: "1" });
    const [first, second] = [furnish([mount("a", memory)]), furnish([mount("a", memory)])];
    const clock = createClock();
    const house = createLiveHouse(first, clock.tools);
    const heard = ears(await house.watch({ list: true }, call));
    await house.swap(second);
    expect(first.closed).toBe(false);
    await clock.advance(1500);
    expect([first.closed, second.closed]).toEqual([true, false]);
    expect(await heard.next()).toEqual(listChanged);
    stop.abort();
    expect(await heard.next()).toBeUndefined();
    await house.close();
    expect(second.closed).toBe(true);
  });

  it("ends a watch whose reader leaves, and starts none for a caller who has left", async () => {
    const { call, stop } = ask();
    const house = createLiveHouse(furnish([mount("a", createMemory({ x: "1" }))]), tools);
    const watch = await house.watch({ list: true }, call);
    await watch[Symbol.asyncIterator]().return?.();
    expect(await ears(watch).next()).toBeUndefined();
    stop.abort();
    await expect(house.watch({ list: true }, call)).rejects.toMatchObject({ kind: "cancelled" });
    await house.swap(furnish([]));
    await house.close();
  });
});

let contractHouse: LiveHouse;
let contractMemory: Memory;

/** Swapped once before it is asked anything: nothing of the first furnishing may show. */
resourcesContract("a house that was furnished anew", {
  async open(content) {
    const greeting = {
      template: "greet/{planet}",
      name: "greeting",
      read: ({ planet = "" }) => [{ body: { text: planet } }],
      complete: (variable: string) => (variable === "planet" ? ["mars"] : []),
    };
    contractMemory = createMemory(content as Record<string, string>, { templates: [greeting] });
    contractHouse = createLiveHouse(furnish([mount("before", createMemory({ old: "old" }))]), tools);
    await contractHouse.swap(furnish([{ ...mount("m", contractMemory), base: "memory://m/" }]));
    return contractHouse;
  },
  uriOf: (path) => encodeURI(`memory://m/${path}`).replaceAll("#", "%23").replaceAll("?", "%3F"),
  write: (path, text) => contractMemory.set(path, text),
  remove: (path) => void contractMemory.delete(path),
  clear: () => contractHouse.close(),
  findable: { text: "needle-in-a-haystack", path: "docs/deep/er/c.txt" },
  completion: { template: "memory://m/greet/{planet}", variable: "planet", value: "m", expected: "mars" },
});
