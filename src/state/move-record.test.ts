/** Records are moved once, on a real PostgreSQL. */
import { describe, expect, it } from "vitest";
import { migrate } from "./migrate.ts";
import { moveRecord } from "./move-record.ts";
import { createPostgresStore } from "./postgres-store.ts";
import { stateMigrations } from "./tables.ts";
import { failureOf, useDatabase } from "./test-database.ts";

const { missing, open, runtime } = useDatabase();

async function opened() {
  const database = open();
  await migrate(database, stateMigrations);
  const store = createPostgresStore({ database, runtime });
  return { database, store, [Symbol.asyncDispose]: () => store.close() };
}

describe.skipIf(missing)("a record", () => {
  it("is moved once, also if it is removed later, and instances are told", async () => {
    await using state = await opened();
    const { database, store } = state;
    const told = Promise.withResolvers<void>();
    await store.follow("tokens", told.resolve, new AbortController().signal);
    expect(await moveRecord(database, "tokens", { key: "a", value: { n: 1 } })).toBe(true);
    await told.promise;
    expect((await store.get("tokens", "a"))?.value).toEqual({ n: 1 });
    expect(await moveRecord(database, "tokens", { key: "a", value: { n: 2 } })).toBe(false);
    await store.remove("tokens", "a");
    expect(await moveRecord(database, "tokens", { key: "a", value: { n: 1 } })).toBe(false);
    expect(await store.list("tokens")).toEqual([]);
  });

  it("is not moved over another, nor after that was removed", async () => {
    await using state = await opened();
    const { database, store } = state;
    await store.put("tokens", "a", { n: 0 });
    expect(await moveRecord(database, "tokens", { key: "a", value: { n: 1 } })).toBe(false);
    expect((await store.get("tokens", "a"))?.value).toEqual({ n: 0 });
    await store.remove("tokens", "a");
    expect(await moveRecord(database, "tokens", { key: "a", value: { n: 1 } })).toBe(false);
  });

  it("is copied together with the mark, or not at all", async () => {
    await using state = await opened();
    const { database, store } = state;
    await database.query("alter table records add constraint no_marks check (kind <> 'moved-records')");
    await failureOf(moveRecord(database, "tokens", { key: "a", value: { n: 1 } }));
    expect(await store.list("tokens")).toEqual([]);
    await database.query("alter table records drop constraint no_marks");
    await database.query("alter table records add constraint no_tokens check (kind <> 'tokens')");
    await failureOf(moveRecord(database, "tokens", { key: "a", value: { n: 1 } }));
    expect(await store.list("moved-records")).toEqual([]);
  });
});
