import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import { wait } from "../../lib/wait.ts";
import { createTestStore } from "../../state/test-store.ts";
import { createOAuthStore, hashSecret, type OAuthStore } from "./oauth-store.ts";
import { hashPassword, isPassword } from "./password.ts";
import { createSharedOAuthStore } from "./shared-oauth-store.ts";
import { connectClient, startBuiltin } from "./test-builtin.ts";

const day = 86_400_000;
let folder: string;
let now: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-oauth-"));
  now = Date.UTC(2026, 0, 1);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const inFile = () => createOAuthStore(folder, "/config.yaml", () => now);

/** Each call of `open` is another process with the same sign-ins. */
const kinds: readonly { readonly name: string; create(): () => OAuthStore }[] = [
  { name: "in a file", create: () => inFile },
  {
    name: "shared",
    create() {
      const store = createTestStore();
      return () => createSharedOAuthStore(store, { now: () => now, monotonicMs, wait });
    },
  },
];

function grant(name: string, client = "client", expires = now + 30 * day) {
  return { id: `id-${name}`, account: name, client, created: now, expires, payload: {} };
}

describe.each(kinds)("the sign-ins $name", ({ create }) => {
  it("have keys that stay the same", async () => {
    const open = create();
    const store = open();
    await store.prepare();
    const { keys, cookieKeys } = store.read();
    await open().prepare();
    expect([keys.length, cookieKeys.length]).toEqual([1, 1]);
    expect(store.read()).toMatchObject({ keys, cookieKeys });
  });

  it("lose nothing when several processes write", async () => {
    const open = create();
    const store = open();
    const stores = Array.from({ length: 4 }, () => open());
    await Promise.all(
      Array.from({ length: 20 }, (_, count) =>
        stores[count % 4]!.change((state) => {
          state.grants[`grant-${count}`] = grant(`caller-${count}`);
        }),
      ),
    );
    await store.load();
    expect(Object.keys(store.read().grants)).toHaveLength(20);
  });

  it("forget what has expired: grants with their tokens, and clients that nobody uses", async () => {
    const store = create()();
    await store.change((state) => {
      state.clients = { used: { metadata: {}, created: now, used: now }, unused: { metadata: {}, created: now } };
      state.grants = { one: grant("aki", "used"), two: grant("bo", "used", now + day) };
      for (const key of ["one", "two"]) state.refreshTokens[key] = { grant: key, expires: now + 60 * day, payload: {} };
    });
    now += 2 * day;
    await store.change(() => undefined);
    const { clients, grants, refreshTokens } = store.read();
    expect([Object.keys(clients), Object.keys(grants), Object.keys(refreshTokens)]).toEqual([
      ["used"],
      ["one"],
      ["one"],
    ]);
  });

  it("are limited in number", async () => {
    const store = create()();
    await store.change((state) => {
      for (let count = 0; count < 600; count += 1) {
        state.grants[`grant-${count}`] = { ...grant("aki", `used-${count}`), created: now + count };
        state.clients[`unused-${count}`] = { metadata: {}, created: now + count };
        state.clients[`used-${count}`] = { metadata: {}, created: now, used: now + count };
      }
      for (let count = 0; count < 40; count += 1)
        state.refreshTokens[`token-${count}`] = {
          grant: "grant-599",
          expires: now + day,
          consumed: count < 39 ? count : undefined,
          payload: {},
        };
    });
    const { grants, clients, refreshTokens } = store.read();
    expect([Object.keys(grants).length, Object.keys(clients).length]).toEqual([500, 700]);
    expect(Object.keys(clients)).toEqual(expect.arrayContaining(["unused-599", "used-599"]));
    expect(Object.keys(refreshTokens)).toEqual(Array.from({ length: 11 }, (_, index) => `token-${index + 29}`));
  });

  it("are revoked by id, or with everything of a caller", async () => {
    const store = create()();
    const password = await hashPassword("correct horse");
    await store.change((state) => {
      state.grants = { one: grant("aki"), two: { ...grant("aki"), id: "other" }, three: grant("bo") };
      state.refreshTokens = { x: { grant: "one", expires: now + day, payload: {} } };
      state.passwords = { aki: password };
    });
    expect(await store.revoke("other")).toMatchObject({ grants: [{ id: "other" }], hadPassword: false });
    expect(await store.revoke("aki")).toMatchObject({ grants: [{ id: "id-aki" }], hadPassword: true });
    expect(store.read()).toMatchObject({ grants: { three: { account: "bo" } }, refreshTokens: {}, passwords: {} });
    expect(await store.revoke("nobody")).toEqual({ grants: [], hadPassword: false });
  });

  it("are known to another process that loads or follows them", async () => {
    const open = create();
    const [here, there] = [open(), open()];
    await here.prepare();
    const stop = new AbortController();
    let isChanged = false;
    there.follow(() => (isChanged = true), stop.signal);
    await here.change((state) => {
      state.grants["one"] = grant("aki");
    });
    await there.load();
    expect(Object.keys(there.read().grants)).toEqual(["one"]);
    await vi.waitUntil(() => isChanged, { timeout: 30_000 });
    expect(there.isCurrent()).toBe(true);
    stop.abort();
  });
});

describe("the sign-ins in a file", () => {
  it("are readable by their owner only, and contain neither tokens nor passwords", async () => {
    await using builtin = await startBuiltin();
    const { accessToken, refreshToken, form } = await connectClient(builtin);
    const hash = await hashPassword("correct horse");
    await builtin.store.change((state) => Object.assign(state.passwords, { aki: hash }));
    const text = readFileSync(builtin.store.file, "utf8");
    expect(statSync(builtin.store.file).mode & 0o777).toBe(0o600);
    expect(text).toContain(hashSecret(refreshToken));
    for (const secret of [accessToken, refreshToken, form.code, "correct horse"]) expect(text).not.toContain(secret);
  });

  it("are not replaced if the file is damaged", async () => {
    const store = inFile();
    await store.prepare();
    writeFileSync(store.file, "{");
    expect(() => store.read()).toThrow(/cannot be read; check its permissions, or remove it/);
    await expect(store.prepare()).rejects.toThrow(/cannot be read/);
    expect(readFileSync(store.file, "utf8")).toBe("{");
  });
});

describe("a password", () => {
  it("is recognised in any normal form, and nothing else is", { timeout: 60_000 }, async () => {
    const stored = await hashPassword("Café au lait ");
    expect(stored.hash).not.toBe((await hashPassword("Café au lait ")).hash);
    expect(await isPassword("Café au lait ", stored)).toBe(true);
    for (const wrong of ["Café au lait", stored.hash]) expect(await isPassword(wrong, stored)).toBe(false);
    expect(await isPassword("", undefined)).toBe(false);
  });

  it("has at least ten characters, and an error does not repeat it", async () => {
    await expect(hashPassword("short")).rejects.toThrow(/^a password needs at least 10 characters$/);
    await expect(hashPassword("x".repeat(1025))).rejects.toThrow(/^a password may have 1024 characters at most$/);
  });
});
