import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { createTokenStore, hashToken } from "./token-store.ts";

const folders: string[] = [];

function stateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-tokens-"));
  folders.push(folder);
  return folder;
}

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

it("stores a hash, never the token, in a file that only the user can read", async () => {
  const store = createTokenStore(stateFolder(), "/project/pressmark.yaml");
  const { token, id } = await store.create("aki", 1000, 2000);
  expect(token).toMatch(/^pmk_[A-Za-z0-9_-]{43}$/);
  expect(store.list()).toEqual([{ id, caller: "aki", hash: hashToken(token), created: 1000, expires: 2000 }]);
  expect(readFileSync(store.file, "utf8")).not.toContain(token.slice(4));
  expect(statSync(store.file).mode & 0o077).toBe(0);
});

it("revokes one token by its id, and all of a caller by its name", async () => {
  const store = createTokenStore(stateFolder(), "/project/pressmark.yaml");
  const first = await store.create("aki", 1);
  await store.create("aki", 2);
  const bot = await store.create("bot", 3);
  expect((await store.revoke(first.id)).map(({ id }) => id)).toEqual([first.id]);
  expect((await store.revoke("aki")).map(({ created }) => created)).toEqual([2]);
  expect(await store.revoke("nobody")).toEqual([]);
  expect(store.list().map(({ id }) => id)).toEqual([bot.id]);
});

it("loses nothing when several processes create tokens at the same time", async () => {
  const folder = stateFolder();
  const names = Array.from({ length: 12 }, (_, index) => `caller-${index}`);
  await Promise.all(names.map((name) => createTokenStore(folder, "/c").create(name, 0)));
  expect(
    createTokenStore(folder, "/c")
      .list()
      .map(({ caller }) => caller)
      .toSorted(),
  ).toEqual(names.toSorted());
});

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
