/** Entries of a log that are moved into the shared state, on a real PostgreSQL. */
import { describe, expect, it } from "vitest";
import type { SharedDatabase } from "./database.ts";
import { migrate } from "./migrate.ts";
import { moveLog } from "./move-log.ts";
import type { RecordValue } from "./store.ts";
import { stateMigrations } from "./tables.ts";
import { useDatabase } from "./test-database.ts";

const test = useDatabase();

type Entry = RecordValue & { readonly time: string };

const move = (database: SharedDatabase, entries: readonly Entry[]): Promise<number> =>
  moveLog(database, "audit", "here", async function* () {
    yield* entries;
  });

describe.skipIf(test.missing)("a moved log", () => {
  it("contains each entry once, whatever characters a client has put into it", async () => {
    const database = test.open();
    await migrate(database, stateMigrations);
    const entries = ["a\0b", "\ud800", "\u2028", "plain"].map((uri, at) => ({ time: `2026-01-01T00:00:0${at}Z`, uri }));
    expect(await move(database, entries)).toBe(4);
    expect(await move(database, [...entries, { time: "2026-01-01T00:00:03Z", uri: "later" }])).toBe(1);
    const rows = await database.query<{ value: Entry; at: Date }>("select value, at from logs order by number");
    expect(rows.map(({ value }) => value["uri"])).toEqual(["a\0b", "\ud800", "\u2028", "plain", "later"]);
    expect(rows[1]?.at.toISOString()).toBe("2026-01-01T00:00:01.000Z");
  });

  it("contains each entry once, also if a clock was set back and old entries were removed", async () => {
    const database = test.open();
    await migrate(database, stateMigrations);
    const seconds = [5, 6, 6, 7, 3, 4, 6, 7, 7, 8];
    const entries = seconds.map((second, at) => ({ time: `2026-01-01T00:00:0${second}Z`, uri: `${at}` }));
    for (let end = 1; end <= entries.length; end += 1) expect(await move(database, entries.slice(0, end))).toBe(1);
    expect(await move(database, entries)).toBe(0);
    expect(await move(database, [{ time: "2026-01-01T00:00:09Z", uri: "last" }])).toBe(1);
    const rows = await database.query<{ value: Entry }>("select value from logs order by number");
    expect(rows.map(({ value }) => value["uri"])).toEqual([...entries.map(({ uri }) => uri), "last"]);
  });
});
