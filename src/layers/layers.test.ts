import { describe, expect, it } from "vitest";
import { ResourceError } from "../errors.ts";
import { stack } from "../layer.ts";
import type { Layer } from "../layer.ts";
import { createMemory } from "../sources/memory.ts";
import type { Memory } from "../sources/memory.ts";
import type { Source } from "../source.ts";
import { createClock } from "../testing/clock.ts";
import { sweepFaults } from "../testing/faults.ts";
import { collectChanges } from "../testing/listen.ts";
import { sourceContract } from "../testing/source-contract.ts";
import { cache } from "./cache.ts";
import { explain } from "./explain.ts";
import { limit } from "./limit.ts";
import { retry } from "./retry.ts";
import { standardLayers } from "./standard.ts";
import { deadlinesByHand } from "./test-deadlines.ts";
import { timeout } from "./timeout.ts";

const call = { caller: { id: "test" }, signal: new AbortController().signal };
const mount = { name: "m" };
/** Waits take no time. */
const hasty = { ...createClock().runtime, wait: async (_ms: number, signal: AbortSignal) => signal.throwIfAborted() };

const layers: Readonly<Record<string, () => readonly Layer[]>> = {
  explain: () => [explain()],
  timeout: () => [timeout()],
  retry: () => [retry(hasty)],
  limit: () => [limit({ maxAtOnce: 2 })],
  cache: () => [cache()],
  "the standard layers": () => standardLayers(hasty),
};

for (const [name, make] of Object.entries(layers)) {
  let memory: Memory;
  sourceContract(`memory behind ${name}`, {
    abilities: ["stat", "children", "search", "watch"],
    async open(content) {
      memory = createMemory(content as Record<string, string>);
      return stack(memory.source, mount, make());
    },
    write: (path, text) => memory.set(path, text),
    remove: (path) => void memory.delete(path),
    rename(from, to) {
      memory.delete(from);
      memory.set(to, "renamed");
    },
  });

  describe(name, () => {
    it("neither removes nor adds an ability", () => {
      const { source } = createMemory(
        {},
        { templates: [{ template: "t/{x}", name: "t", read: () => [], complete: () => [] }] },
      );
      const skilled: Source = {
        ...source,
        skills: async () => ({ items: [] }),
        skill: async ({ path }) => ({ path, frontMatter: { name: "", description: "" }, files: [] }),
        problems: async () => [],
      };
      expect(abilitiesOf(stack(source, mount, make()))).toEqual(abilitiesOf(source));
      expect(abilitiesOf(stack(skilled, mount, make()))).toEqual(abilitiesOf(skilled));
      const { list, read } = source;
      expect(abilitiesOf(stack({ list, read }, mount, make()))).toEqual(["list", "read"]);
    });

    it("passes on a synchronous throw or result", async () => {
      const rude = {
        list() {
          throw new Error("at once");
        },
        read: () => [{ body: { text: "at once" } }],
      } as unknown as Source;
      const layered = stack(rude, mount, [explain(), ...make()]);
      await expect(layered.list({ limit: 1 }, call)).rejects.toMatchObject({ kind: "unexpected" });
      expect(await layered.read({ path: "a" }, call)).toEqual([{ body: { text: "at once" } }]);
    });
  });
}

describe("the standard layers", () => {
  it("let nothing but a ResourceError out, never hang and recover, whichever call of the source fails", async () => {
    let layered: Source;
    const swept = await sweepFaults<Source>({
      open: () => createMemory({ "a.txt": "alpha", "d/b.txt": "beta" }).source,
      async run(faulty) {
        layered = stack(faulty, mount, standardLayers(hasty, { attempts: 1 }));
        await useAll(layered);
      },
      recovered: async () => await useAll(layered),
    });
    // list, read, stat and read, stat, stat, stat, children, search, watch
    expect(swept).toBe(10);
  });

  it("still return a result when a single call of the source fails with a passing error", async () => {
    const { source } = createMemory({ "a.txt": "alpha", "d/b.txt": "beta" });
    const { watch: _watch, ...unwatched } = source;
    await sweepFaults<Source>({
      open: () => unwatched,
      run: async (faulty) => await useAll(stack(faulty, mount, standardLayers(hasty))),
      faults: [() => new ResourceError("unavailable", "gone for a moment")],
      refused(error) {
        throw error;
      },
    });
  });
});

describe("the deadline of a call", () => {
  it("is one for all attempts, which share one signal", async () => {
    const { deadlines, setMs, pass } = deadlinesByHand();
    const signals: AbortSignal[] = [];
    const slow: Source = {
      timeoutMs: 3000,
      list: async () => ({ items: [] }),
      read(_at, { signal }) {
        signals.push(signal);
        if (signals.length < 3) return Promise.reject(new ResourceError("unavailable", "gone for a moment"));
        pass();
        return new Promise(() => undefined);
      },
    };
    const layered = stack(slow, mount, standardLayers(hasty, { deadlines }));
    await expect(layered.read({ path: "a" }, call)).rejects.toMatchObject({ kind: "unavailable", passing: true });
    expect(signals).toHaveLength(3);
    expect(new Set(signals).size).toBe(1);
    expect(signals[0]?.aborted).toBe(true);
    expect(new Set(setMs)).toEqual(new Set([3000]));
  });

  it("is one for all requests of the cache", async () => {
    const { deadlines, pass } = deadlinesByHand();
    const { source } = createMemory({ a: "alpha" });
    let reads = 0;
    const slow: Source = {
      ...source,
      read(at, asked) {
        reads += 1;
        return source.read(at, asked);
      },
      stat() {
        pass();
        return new Promise(() => undefined);
      },
    };
    const layered = stack(slow, mount, standardLayers(hasty, { deadlines }));
    await layered.read({ path: "a" }, call);
    // From the second read on, the version is requested first.
    await expect(layered.read({ path: "a" }, call)).rejects.toMatchObject({ kind: "unavailable" });
    await new Promise(setImmediate);
    expect(reads).toBe(1);
  });

  it("ends a shared read, even if later callers keep joining", async () => {
    const { deadlines, pending, pass } = deadlinesByHand();
    const given: AbortSignal[] = [];
    const silent: Source = {
      list: async () => ({ items: [] }),
      read(_at, { signal }) {
        given.push(signal);
        return new Promise(() => undefined);
      },
    };
    const layered = stack(silent, mount, standardLayers(hasty, { deadlines }));
    const first = layered.read({ path: "a" }, call).catch((cause: unknown) => cause);
    await new Promise(setImmediate);
    const due = pending();
    const late = layered.read({ path: "a" }, call).catch((cause: unknown) => cause);
    pass(due);
    expect(await first).toMatchObject({ kind: "unavailable" });
    expect(await late).toMatchObject({ kind: "unavailable" });
    expect(given.map(({ aborted }) => aborted)).toEqual([true]);
  });
});

async function useAll(source: Source): Promise<void> {
  const { items } = await source.list({ limit: 10 }, call);
  expect(items.map(({ path }) => path)).toEqual(["a.txt", "d/b.txt"]);
  for (let round = 0; round < 3; round += 1)
    expect(await source.read({ path: "a.txt" }, call)).toMatchObject([{ body: { text: "alpha" } }]);
  expect(await source.stat?.({ path: "d/b.txt" }, call)).toMatchObject({ size: 4 });
  expect((await source.children?.({ path: "d" }, { limit: 10 }, call))?.items).toHaveLength(1);
  expect(await source.search?.({ text: "alp", limit: 10 }, call)).toHaveLength(1);
  if (!source.watch) return;
  const stop = new AbortController();
  const { ended } = collectChanges(await source.watch({ ...call, signal: stop.signal }));
  stop.abort();
  await ended;
}

function abilitiesOf(source: Source): string[] {
  return Object.keys(source)
    .filter((key) => source[key as keyof Source] !== undefined)
    .sort();
}
