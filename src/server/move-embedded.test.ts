/** Copying the state of this machine into a real PostgreSQL, with faults. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { unavailable } from "../errors.ts";
import type { SharedDatabase } from "../state/database.ts";
import { migrate } from "../state/migrate.ts";
import { createPostgresStore } from "../state/postgres-store.ts";
import { stateMigrations } from "../state/tables.ts";
import { useDatabase } from "../state/test-database.ts";
import { moveEmbedded } from "./move-embedded.ts";
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
});
