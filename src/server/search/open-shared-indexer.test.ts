import { describe, expect, it } from "vitest";
import { searchMigrations } from "../../search/postgres/tables.ts";
import type { MountStatus } from "../../search/status.ts";
import { createMemory } from "../../sources/memory.ts";
import { migrate } from "../../state/migrate.ts";
import { stateMigrations } from "../../state/tables.ts";
import { useDatabase } from "../../state/test-database.ts";
import { openSharedIndexer } from "./open-shared-indexer.ts";

const test = useDatabase();

describe.skipIf(test.missing)("the indexer of an instance", () => {
  it("tells the status of a mount while all its writers wait for their turn", async () => {
    const database = test.open();
    await migrate(database, [...stateMigrations, ...searchMigrations]);
    const names = ["complete", "one", "two", "three"];
    let statuses: readonly MountStatus[] = [];
    const indexer = openSharedIndexer(
      { url: test.url(), instance: "1" },
      {
        runtime: test.runtime,
        maxFileBytes: 10_000,
        open: async (name) => createMemory({ [`${name}.md`]: "tea" }).source,
        follow: async () => undefined,
        tell: ({ mounts }) => void (statuses = mounts),
      },
    );
    const serve = (served: readonly string[]): void =>
      indexer.serve(served.map((name) => ({ name, key: "k1", isWatched: true })));
    const complete = (): MountStatus | undefined => statuses.find(({ name }) => name === "complete");
    const writersWaiting = () =>
      database.query(
        "select pid, query_start::text as since from pg_stat_activity where wait_event_type = 'Lock' order by pid",
      );
    serve(["complete"]);
    await expect.poll(() => complete()?.ready, { timeout: 20_000 }).toBe(1);
    await test.open().transaction(async (sql) => {
      // The turn of a writer of another instance.
      await sql.query("select version from search_about for update");
      serve(names);
      await expect.poll(async () => (await writersWaiting()).length, { timeout: 20_000 }).toBe(2);
      const before = await writersWaiting();
      indexer.hear("complete", [{ kind: "changed", path: "complete.md" }]);
      await expect.poll(() => complete()?.pending, { timeout: 20_000 }).toBe(1);
      expect(complete()).toMatchObject({ state: "indexing", documents: 1, ready: 0.5 });
      // Nobody has given up meanwhile.
      expect(await writersWaiting()).toEqual(before);
    });
    await expect
      .poll(() => statuses.map(({ name, ready }) => [name, ready]), { timeout: 20_000 })
      .toEqual(names.map((name) => [name, 1]));
    await indexer.close();
  });
});
