/** Records are moved once, on a real PostgreSQL. */
import { describe, expect, it } from "vitest";
import type { SharedDatabase } from "./database.ts";
import { migrate } from "./migrate.ts";
import { mergeRecord, moveRecord } from "./move-record.ts";
import { createPostgresStore } from "./postgres-store.ts";
import type { RecordValue } from "./store.ts";
import { stateMigrations } from "./tables.ts";
import { failureOf, useDatabase } from "./test-database.ts";

const { missing, open, runtime } = useDatabase();

async function opened() {
  const database = open();
  await migrate(database, stateMigrations);
  const store = createPostgresStore({ database, runtime });
  return { database, store, [Symbol.asyncDispose]: () => store.close() };
}

const addB = (present?: RecordValue): RecordValue => ({ ...present, b: 2 });

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

  it("is merged once, also if all of it is removed later, and instances are told", async () => {
    await using state = await opened();
    const { database, store } = state;
    const told = Promise.withResolvers<void>();
    await store.follow("oauth", told.resolve, new AbortController().signal);
    await store.put("oauth", "state", { a: 1 });
    await told.promise;
    const again = Promise.withResolvers<void>();
    await store.follow("oauth", again.resolve, new AbortController().signal);
    const before = await store.get("oauth", "state");
    const merged = { value: { a: 1, b: 2 }, isChanged: true };
    expect(await mergeRecord(database, "oauth", "state", addB)).toEqual(merged);
    await again.promise;
    expect((await store.get("oauth", "state"))?.value).toEqual({ a: 1, b: 2 });
    expect(await store.put("oauth", "state", {}, { ifVersion: before?.version })).toBe(undefined);
    await store.put("oauth", "state", { a: 1 });
    const unchanged = { value: { a: 1 }, isChanged: false };
    expect(await mergeRecord(database, "oauth", "state", addB)).toEqual(unchanged);
  });

  it("is merged with nothing, and with what an instance creates at the same time", async () => {
    await using state = await opened();
    const { database, store } = state;
    let attempts = 0;
    const creating: Promise<unknown>[] = [];
    const merge = (present?: RecordValue) => {
      attempts += 1;
      creating.push(store.put("oauth", "state", { a: 1 }, { ifVersion: undefined }));
      return { ...present, b: 2 };
    };
    const slow: SharedDatabase = {
      ...database,
      transaction: (work) =>
        database.transaction((sql) =>
          work({
            async query(...given) {
              if (given[0].startsWith("with changed as (insert")) await Promise.all(creating);
              return sql.query(...given);
            },
          }),
        ),
    };
    expect((await mergeRecord(slow, "oauth", "state", merge)).value).toEqual({ a: 1, b: 2 });
    expect(attempts).toBe(2);
    await Promise.all(creating);
    expect((await store.get("oauth", "state"))?.value).toEqual({ a: 1, b: 2 });
    const added = await mergeRecord(database, "oauth", "other", () => ({ b: 2 }));
    expect(added).toEqual({ value: { b: 2 }, isChanged: true });
  });

  it("is merged together with the mark, or not at all", async () => {
    await using state = await opened();
    const { database, store } = state;
    await database.query("alter table records add constraint no_sign_ins check (kind <> 'oauth')");
    await failureOf(mergeRecord(database, "oauth", "state", () => ({ b: 2 })));
    expect(await store.list("moved-records")).toEqual([]);
  });
});
