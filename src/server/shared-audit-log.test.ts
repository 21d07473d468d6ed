/** The shared audit log on a real PostgreSQL. */
import { expect, describe, it, vi } from "vitest";
import { migrate } from "../state/migrate.ts";
import { createPostgresStore } from "../state/postgres-store.ts";
import { stateMigrations } from "../state/tables.ts";
import { useDatabase } from "../state/test-database.ts";
import { createSharedAuditLog, readSharedAuditLog } from "./shared-audit-log.ts";

const test = useDatabase();

async function open() {
  const database = test.open();
  await migrate(database, stateMigrations);
  const store = createPostgresStore({ database, runtime: test.runtime });
  const shared = { instance: "one", store };
  const stored = async () => {
    const [row] = await database.query<{ entries: number; bytes: number; longest: number }>(
      `select count(*) as entries, coalesce(sum(octet_length(value::text)), 0)::float as bytes,
         coalesce(max(octet_length(value::text)), 0) as longest from logs`,
    );
    return row!;
  };
  return { store, shared, stored };
}

describe.skipIf(test.missing)("a shared audit log in PostgreSQL", () => {
  it("is complete again after an outage in which callers asked for very long URIs", async () => {
    const { store, shared, stored } = await open();
    const audit = createSharedAuditLog({ shared, runtime: test.runtime });
    await test.server().stop("immediate");
    const uri = `file:///${"資料".repeat(10_000)}`;
    // A read of a resource that is not there, without a wait because nothing can be stored.
    audit.write({ what: "read", outcome: "missing", caller: "aki", uri });
    await vi.waitFor(() => expect(test.logged.join()).toContain("cannot be written yet"), { timeout: 30_000 });
    for (let count = 1; count < 10_000; count++)
      audit.write({ what: "read", outcome: "missing", caller: "aki", uri, count });
    await test.server().start();
    await vi.waitFor(() => expect(test.logged.join()).toContain("is written again"), { timeout: 30_000 });
    await audit.close();
    const { entries, bytes, longest } = await stored();
    expect(bytes).toBeLessThan(20_000_000);
    expect(longest).toBeLessThan(2500);
    let last = "";
    for await (const { detail } of readSharedAuditLog(store)) last = detail ?? "";
    expect(last).toBe(`${10_001 - entries} events could not be recorded`);
    await store.close();
  });

  it("keeps as many bytes as configured, whatever callers ask for", async () => {
    const { store, shared, stored } = await open();
    const maxBytes = 1_000_000;
    const audit = createSharedAuditLog({ shared, runtime: test.runtime, maxBytes });
    for (let round = 0; round < 20; round++) {
      for (let count = 0; count < 100; count++)
        await audit.write({ what: "read", outcome: "missing", uri: `file:///${"x".repeat(60_000)}`, count });
      await audit.close();
      // It is cut after a tenth of it was written.
      expect((await stored()).bytes).toBeLessThanOrEqual(maxBytes * 1.3);
    }
    expect((await stored()).bytes).toBeGreaterThan(maxBytes * 0.8);
    await store.close();
  });
});
