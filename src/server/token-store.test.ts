import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createTestStore } from "../state/test-store.ts";
import { createRuntime } from "./runtime.ts";
import { createSharedTokenStore, tokenKind } from "./shared-token-store.ts";
import { createTokenStore, hashToken, type TokenStore } from "./token-store.ts";

const folders: string[] = [];

function stateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-tokens-"));
  folders.push(folder);
  return folder;
}

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const runtime = createRuntime({ write: () => true });

/** Each call of `open` is another process with the same tokens. */
interface Kind {
  readonly name: string;
  create(): () => TokenStore;
}

const kinds: readonly Kind[] = [
  {
    name: "in files",
    create() {
      const folder = stateFolder();
      return () => createTokenStore(folder, "/project/pressmark.yaml");
    },
  },
  {
    name: "shared",
    create() {
      const store = createTestStore();
      return () => createSharedTokenStore(store, runtime);
    },
  },
];

describe.each(kinds)("tokens $name", ({ create }) => {
  it("are stored as a hash", async () => {
    const open = create();
    const { token, id } = await open().create("aki", 1000, 2000);
    expect(token).toMatch(/^pmk_[A-Za-z0-9_-]{43}$/);
    const other = open();
    await other.load();
    expect(other.list()).toEqual([{ id, caller: "aki", hash: hashToken(token), created: 1000, expires: 2000 }]);
    expect(JSON.stringify(other.list())).not.toContain(token.slice(4));
    expect(other.isCurrent()).toBe(true);
  });

  it("are revoked one by one by id, and all of a caller by name", async () => {
    const store = create()();
    const first = await store.create("aki", 1);
    await store.create("aki", 2);
    const bot = await store.create("bot", 3);
    expect((await store.revoke(first.id)).map(({ id }) => id)).toEqual([first.id]);
    expect((await store.revoke("aki")).map(({ created }) => created)).toEqual([2]);
    expect(await store.revoke("nobody")).toEqual([]);
    expect(store.list().map(({ id }) => id)).toEqual([bot.id]);
  });

  it("are all kept when several processes create some at the same time", async () => {
    const open = create();
    const names = Array.from({ length: 12 }, (_, index) => `caller-${index}`);
    await Promise.all(names.map((name) => open().create(name, 0)));
    const store = open();
    await store.load();
    expect(
      store
        .list()
        .map(({ caller }) => caller)
        .toSorted(),
    ).toEqual(names.toSorted());
  });

  it("are followed, and the stamp changes with them", async () => {
    const open = create();
    const [here, there] = [open(), open()];
    await here.load();
    const before = here.stamp();
    const stop = new AbortController();
    let isChanged = false;
    const following = here.follow(() => (isChanged = true), runtime, stop.signal);
    // A file may be written before it is watched: then the stamp differs, and nothing is called.
    const { id } = await there.create("aki", 0);
    await vi.waitUntil(async () => isChanged || (await there.create("aki", 0), false), { timeout: 30_000 });
    expect(here.stamp()).not.toBe(before);
    expect(here.list().map((token) => token.id)).toContain(id);
    stop.abort();
    await following;
  });
});

it("stores tokens in a file that only the user can read", async () => {
  const store = createTokenStore(stateFolder(), "/project/pressmark.yaml");
  const { token } = await store.create("aki", 1000, 2000);
  expect(readFileSync(store.file, "utf8")).not.toContain(token.slice(4));
  expect(statSync(store.file).mode & 0o077).toBe(0);
});

it("does not trust shared tokens that the store has not confirmed for ten seconds", async () => {
  const store = createTestStore();
  let nowMs = 0;
  const tokens = createSharedTokenStore(store, { ...runtime, monotonicMs: () => nowMs });
  expect(tokens.isCurrent()).toBe(false);
  await tokens.create("aki", 0);
  store.takeAway(true);
  nowMs = 9999;
  await expect(tokens.load()).rejects.toThrow("away");
  expect(tokens.isCurrent()).toBe(true);
  nowMs = 10_000;
  expect(tokens.isCurrent()).toBe(false);
  expect(tokens.list()).toHaveLength(1);
  store.takeAway(false);
  await tokens.load();
  expect(tokens.isCurrent()).toBe(true);
});

it.each([{}, { id: "broken", caller: "aki", hash: 1, created: "today" }, []])(
  "refuses a shared token whose record cannot be read, logs its key once, and uses all others: %j",
  async (value) => {
    const store = createTestStore();
    const logged: string[] = [];
    const log: typeof runtime.log = (level, message, facts) =>
      void logged.push(JSON.stringify([level, message, facts]));
    const tokens = createSharedTokenStore(store, { ...runtime, log });
    const { id, hash } = await tokens.create("aki", 0);
    await store.put(tokenKind, "broken", { ...value, secret: "s3cret" });
    await tokens.load();
    for (let round = 0; round < 2; round += 1) expect(tokens.list().map((token) => token.hash)).toEqual([hash]);
    expect(logged).toHaveLength(1);
    expect(logged[0]).toContain('"record":"broken"');
    expect(logged[0]).not.toContain("s3cret");
    expect((await tokens.create("bot", 1)).caller).toBe("bot");
    expect((await tokens.revoke("aki")).map((token) => token.id)).toEqual([id]);
    expect(tokens.list().map(({ caller }) => caller)).toEqual(["bot"]);
  },
);

it("keeps the tokens of two configs apart", async () => {
  const folder = stateFolder();
  await createTokenStore(folder, "/one").create("aki", 0);
  expect(createTokenStore(folder, "/two").list()).toEqual([]);
});

it.each(["", "{", "[]", '{"version":2,"tokens":[]}', '{"version":1,"tokens":[{"id":1}]}'])(
  "says that a damaged file cannot be read, and does not overwrite it: %j",
  async (text) => {
    const store = createTokenStore(stateFolder(), "/c");
    await store.create("aki", 0);
    writeFileSync(store.file, text);
    expect(() => store.list()).toThrow(/cannot be read; check its permissions/);
    await expect(store.create("bot", 0)).rejects.toThrow(/cannot be read/);
    expect(readFileSync(store.file, "utf8")).toBe(text);
  },
);
