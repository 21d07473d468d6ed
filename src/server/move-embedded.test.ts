/** Copying the state of this machine into a real PostgreSQL, with faults. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createOAuthStore, type StoredGrant } from "../auth/builtin/oauth-store.ts";
import type { PasswordHash } from "../auth/builtin/password.ts";
import { createSharedOAuthStore } from "../auth/builtin/shared-oauth-store.ts";
import { unavailable } from "../errors.ts";
import type { SharedDatabase } from "../state/database.ts";
import { migrate } from "../state/migrate.ts";
import { createPostgresStore } from "../state/postgres-store.ts";
import { stateMigrations } from "../state/tables.ts";
import { useDatabase } from "../state/test-database.ts";
import { loadSharedCursorKey } from "./cursor-key.ts";
import { moveEmbedded, type MovedState } from "./move-embedded.ts";
import { createSavedSets } from "./sets/saved-sets.ts";
import { createTokenStore } from "./token-store.ts";

const { missing, open, runtime } = useDatabase();

/** The same database, whose nth call fails. `failed` says whether it was reached. */
function failingAt(call: number, database: SharedDatabase) {
  let calls = 0;
  const fault = { failed: false };
  function count(): void {
    calls += 1;
    if (calls !== call) return;
    fault.failed = true;
    throw unavailable("the connection broke");
  }
  const failing: SharedDatabase = {
    ...database,
    schema: database.schema,
    pool: database.pool,
    async query(text, values) {
      count();
      return database.query(text, values);
    },
    async transaction(work, signal) {
      count();
      return database.transaction(work, signal);
    },
  };
  return { database: failing, fault };
}

describe.skipIf(missing)("the state of a single server", () => {
  it("does not come back once it was removed, wherever the first run broke off", async () => {
    const folder = mkdtempSync(join(tmpdir(), "pressmark-move-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const config = join(folder, "team.yaml");
    for (const caller of ["aki", "bo"]) await createTokenStore(folder, config).create(caller, 1000);
    await createSavedSets(folder, { config }, runtime).put({ name: "review", resources: ["file:///a"] });
    const database = open();
    await migrate(database, stateMigrations);
    const store = createPostgresStore({ database, runtime });
    onTestFinished(() => store.close());

    for (let call = 1, hasFailed = true; hasFailed; call += 1) {
      await database.query("delete from records");
      const { database: failing, fault } = failingAt(call, database);
      const failingStore = createPostgresStore({ database: failing, runtime });
      const options = { stateFolder: folder, config, runtime };
      await moveEmbedded({ ...options, store: failingStore, database: failing }).catch(() => undefined);
      await failingStore.close();
      hasFailed = fault.failed;
      const removed: string[] = [];
      for (const kind of ["tokens", "sets"])
        for (const { key } of await store.list(kind)) {
          removed.push(key);
          await store.remove(kind, key);
        }
      await moveEmbedded({ ...options, store, database });
      const left = [...(await store.list("tokens")), ...(await store.list("sets"))].map(({ key }) => key);
      expect(
        left.filter((key) => removed.includes(key)),
        `after a fault at call ${call}`,
      ).toEqual([]);
      expect(left.length + removed.length, `after a fault at call ${call}`).toBe(3);
    }
  });

  it("adds the sign-ins to those of an instance that was started before, which keeps its keys", async () => {
    const { embedded, shared, move } = await openStarted();
    const { keys, cookieKeys } = shared.read();
    expect((await move())["sign-ins"]).toEqual({ what: "sign-ins", moved: 1, present: 0, leftOut: [] });
    expect(shared.read()).toEqual({ ...embedded.read(), keys, cookieKeys });
    expect(embedded.read().keys).not.toEqual(keys);
    expect((await move())["sign-ins"]).toEqual({ what: "sign-ins", moved: 0, present: 1, leftOut: [] });
  });

  it("replaces no password and no client that the shared state has, and names what was left out", async () => {
    const { embedded, shared, move } = await openStarted();
    await shared.change((state) => {
      state.passwords["aki"] = passwordOf("new aki");
      state.passwords["cy"] = passwordOf("new cy");
      state.clients["c2"] = { metadata: { name: "two" }, created: runtime.now() };
      state.grants["g2"] = grantOf("cy", "c2");
    });
    expect((await move())["sign-ins"]).toEqual({
      what: "sign-ins",
      moved: 1,
      present: 0,
      leftOut: [
        'left out the passwords of "aki", because the shared state has others; to set one, run: pressmark token password NAME',
      ],
    });
    const { passwords, clients, grants } = shared.read();
    expect(passwords).toEqual({
      aki: passwordOf("new aki"),
      bo: embedded.read().passwords["bo"],
      cy: passwordOf("new cy"),
    });
    expect([Object.keys(clients).sort(), Object.keys(grants).sort()]).toEqual([
      ["c1", "c2"],
      ["g1", "g2"],
    ]);
  });

  it("brings back no sign-in that was revoked since, and names what it left out", async () => {
    const { embedded, shared, move } = await openStarted();
    await move();
    await shared.revoke("aki");
    await shared.revoke("bo");
    await embedded.change((state) => void (state.passwords["di"] = passwordOf("later")));
    expect((await move())["sign-ins"]).toEqual({
      what: "sign-ins",
      moved: 0,
      present: 1,
      leftOut: [
        'left out the passwords of "aki", "bo", "di", because they were revoked in the shared state, or set here after the first copy; to set one, run: pressmark token password NAME',
        "left out 1 connected client, because it was revoked in the shared state, or connected here after the first copy; its caller connects it again",
      ],
    });
    expect(shared.read()).toMatchObject({ passwords: {}, grants: {} });
  });

  it("brings back no sign-in that a former version has copied", async () => {
    const { embedded, shared, store, move } = await openStarted();
    await store.put("oauth", "state", { ...embedded.read() });
    await shared.revoke("aki");
    await shared.revoke("bo");
    expect((await move())["sign-ins"]).toMatchObject({ moved: 0, present: 1 });
    expect(shared.read().passwords).toEqual({});
  });

  it("says that the cursor key was left out if an instance has created another", async () => {
    const { store, move } = await openStarted();
    const before = await store.get("keys", "cursor");
    expect((await move())["cursor key"]).toEqual({
      what: "cursor key",
      moved: 0,
      present: 0,
      leftOut: [
        "left out, because the shared state has another, with which instances sign; clients that read a list page by page begin it again",
      ],
    });
    expect(await store.get("keys", "cursor")).toEqual(before);
  });

  it("adds the sign-ins whoever changes the record at the same time", async () => {
    const { shared, database, move } = await openStarted();
    for (const kind of ["oauth", "moved-records"]) await database.query("delete from records where kind = $1", [kind]);
    const changes = ["x", "y", "z"].map((name) =>
      shared.change((state) => void (state.passwords[name] = passwordOf(name))),
    );
    await Promise.all([shared.prepare(), move(), ...changes]);
    await shared.load();
    expect(Object.keys(shared.read().passwords).sort()).toEqual(["aki", "bo", "x", "y", "z"]);
  });
});

function passwordOf(hash: string): PasswordHash {
  return { salt: "salt", hash } as unknown as PasswordHash;
}

function grantOf(account: string, client: string): StoredGrant {
  return { id: `id of ${account}`, account, client, created: Date.now(), expires: Date.now() + 60_000, payload: {} };
}

/** A single server with sign-ins, and the shared state of an instance that was started before the move. */
async function openStarted() {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-move-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const config = join(folder, "team.yaml");
  const embedded = createOAuthStore(folder, config, runtime.now);
  await embedded.prepare();
  await embedded.change((state) => {
    state.passwords["aki"] = passwordOf("old aki");
    state.passwords["bo"] = passwordOf("old bo");
    state.clients["c1"] = { metadata: { name: "one" }, created: runtime.now() };
    state.grants["g1"] = grantOf("aki", "c1");
    state.refreshTokens["r1"] = { grant: "g1", expires: runtime.now() + 60_000, payload: {} };
  });
  writeFileSync(join(folder, "cursor-key"), Buffer.alloc(32, 7));
  const database = open();
  await migrate(database, stateMigrations);
  const store = createPostgresStore({ database, runtime });
  onTestFinished(() => store.close());
  await loadSharedCursorKey(store);
  const shared = createSharedOAuthStore(store, runtime);
  await shared.prepare();
  const move = async (): Promise<Readonly<Record<string, MovedState>>> => {
    const all = await moveEmbedded({ store, database, stateFolder: folder, config, runtime });
    await shared.load();
    return Object.fromEntries(all.map((each) => [each.what, each]));
  };
  return { embedded, shared, store, database, move };
}
