import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createTestStore } from "../../state/test-store.ts";
import { createRuntime } from "../runtime.ts";
import { createSavedSets, type SavedSets } from "./saved-sets.ts";
import { openSharedSets, setKey, setKind } from "./shared-sets.ts";

const runtime = createRuntime({ write: () => true });
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Each call of `open` is another process with the same sets. */
interface Kind {
  readonly name: string;
  create(): () => Promise<SavedSets>;
}

const kinds: readonly Kind[] = [
  {
    name: "in files",
    create() {
      const folder = mkdtempSync(join(tmpdir(), "pressmark-sets-"));
      folders.push(folder);
      return async () => createSavedSets(folder, { folders: ["/project"] }, runtime);
    },
  },
  {
    name: "shared",
    create() {
      const store = createTestStore();
      return () => openSharedSets(store, runtime);
    },
  },
];

const one = { name: "one", resources: ["memory://m/a"], title: "One" };

describe.each(kinds)("saved sets $name", ({ create }) => {
  it("are known to a process that loads them", async () => {
    const open = create();
    const [here, there] = [await open(), await open()];
    await here.put(one);
    expect(here.all()).toEqual([one]);
    await there.load();
    expect(there.all()).toEqual([one]);
    expect(await there.remove(one)).toBe(true);
    expect(await there.remove(one)).toBe(false);
    await here.load();
    expect(here.all()).toEqual([]);
  });

  it("belong to a name and an owner", async () => {
    const sets = await create()();
    await sets.put(one);
    await sets.put({ ...one, owner: "aki", resources: ["memory://m/b"] });
    expect(await sets.remove({ name: "one", owner: "bot" })).toBe(false);
    expect(await sets.remove({ name: "one" })).toBe(true);
    expect(sets.all()).toEqual([{ ...one, owner: "aki", resources: ["memory://m/b"] }]);
  });

  it("are created once, whoever tries at the same time", async () => {
    const open = create();
    const all = await Promise.all(Array.from({ length: 6 }, open));
    const created = await Promise.all(all.map((sets, at) => sets.create({ ...one, title: `${at}` })));
    expect(created.filter(Boolean)).toHaveLength(1);
    const sets = await open();
    expect(sets.all()).toEqual([{ ...one, title: `${created.indexOf(true)}` }]);
  });

  it("are replaced only if nobody has changed them since", async () => {
    const open = create();
    const [here, there] = [await open(), await open()];
    await here.put(one);
    expect(await there.replace({ ...one, title: "Two" }, one)).toBe(true);
    expect(await here.replace({ ...one, title: "Three" }, one)).toBe(false);
    expect(await here.replace({ ...one, name: "new" }, { ...one, name: "new" })).toBe(false);
    await here.load();
    expect(here.all()).toEqual([{ ...one, title: "Two" }]);
  });

  it("are followed", async () => {
    const open = create();
    const [here, there] = [await open(), await open()];
    const stop = new AbortController();
    let isChanged = false;
    const following = here.follow(() => (isChanged = true), stop.signal);
    await there.put(one);
    await vi.waitUntil(() => isChanged, { timeout: 30_000 });
    expect(here.all()).toEqual([one]);
    stop.abort();
    await following;
  });
});

it("leaves out a shared set that cannot be read", async () => {
  const store = createTestStore();
  const sets = await openSharedSets(store, runtime);
  await sets.put(one);
  await store.put(setKind, setKey({ name: "bad" }), { name: "bad", resources: ["set://one"] });
  await sets.load();
  expect(sets.all()).toEqual([one]);
});
