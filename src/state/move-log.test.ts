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

const move = (database: SharedDatabase, entries: readonly Entry[], origin = "here"): Promise<number> =>
  moveLog(database, "audit", origin, async function* () {
    yield* entries;
  });

/** One each millisecond. */
const entriesOf = (name: string, from: number, to: number): Entry[] =>
  Array.from({ length: to - from }, (_each, at) => ({
    time: new Date(1_700_000_000_000 + from + at).toISOString(),
    uri: `${name} ${from + at}`,
  }));

const urisIn = async (database: SharedDatabase): Promise<unknown[]> =>
  (await database.query<{ value: Entry }>("select value from logs order by number")).map(({ value }) => value["uri"]);

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

  it("contains each entry once, also if it is moved from a machine with another name", async () => {
    const database = test.open();
    await migrate(database, stateMigrations);
    const entries = entriesOf("a", 0, 1300);
    expect(await move(database, entries.slice(0, 1200), "container 1")).toBe(1200);
    // As an instance writes them meanwhile.
    await database.query("insert into logs (log, value) values ('audit', '{\"instance\":\"x\"}')");
    expect(await move(database, entries.slice(0, 1200), "container 2")).toBe(0);
    expect(await move(database, entries, "container 3")).toBe(100);
    expect(await move(database, entries, "container 1")).toBe(0);
    const uris = (await urisIn(database)).filter((uri) => uri !== undefined);
    expect(uris).toEqual(entries.map(({ uri }) => uri));
  });

  it("contains each entry once after a version that counted them by the name of the machine", async () => {
    const database = test.open();
    await migrate(database, stateMigrations);
    const entries = entriesOf("a", 0, 20);
    const [{ time }] = entries.slice(9) as [Entry];
    await move(database, entries.slice(0, 10), "container 1");
    await database.query("update records set value = $1::json", [JSON.stringify({ time, count: 1 })]);
    expect(await move(database, entries, "container 2")).toBe(10);
    // It has the entries no longer, and knows by its own record that it moved them.
    await database.query("delete from records where key like '%container 2'");
    await database.query("delete from logs");
    expect(await move(database, entries, "container 1")).toBe(10);
    expect(await urisIn(database)).toEqual(entries.slice(10).map(({ uri }) => uri));
  });

  it("contains what two copies of a log have in common once, and all that followed in each", async () => {
    const database = test.open();
    await migrate(database, stateMigrations);
    const common = entriesOf("common", 0, 600);
    const [one, two] = [entriesOf("one", 600, 700), entriesOf("two", 600, 650)];
    expect(await move(database, [...common, ...one])).toBe(700);
    expect(await move(database, [...common, ...two])).toBe(50);
    expect(await move(database, [...common, ...one])).toBe(0);
    expect(await urisIn(database)).toEqual([...common, ...one, ...two].map(({ uri }) => uri));
  });

  it("contains both of two equal entries, wherever the first run broke off", async () => {
    const database = test.open();
    await migrate(database, stateMigrations);
    const [first, last] = [entriesOf("a", 0, 1), entriesOf("a", 1, 2)] as [Entry[], Entry[]];
    const entries = [...first, ...first, ...first, ...last];
    expect(await move(database, entries.slice(0, 2), "container 1")).toBe(2);
    expect(await move(database, entries, "container 2")).toBe(2);
    expect(await urisIn(database)).toEqual(entries.map(({ uri }) => uri));
  });

  it("does not come back after its entries were removed because newer ones need the space", async () => {
    const database = test.open();
    await migrate(database, stateMigrations);
    const entries = entriesOf("a", 0, 10);
    await move(database, entries, "container 1");
    await database.query("delete from logs");
    expect(await move(database, entries, "container 2")).toBe(0);
    expect(await move(database, [...entries, ...entriesOf("a", 10, 11)], "container 3")).toBe(1);
    await database.query("delete from logs where number < (select max(number) from logs)");
    expect(await move(database, entriesOf("a", 5, 12), "container 4")).toBe(1);
  });

  it("is moved whole by a server that runs, and removes its oldest entries meanwhile", async () => {
    const database = test.open();
    await migrate(database, stateMigrations);
    const entries = entriesOf("a", 0, 20);
    await move(database, entries.slice(0, 15));
    let reads = 0;
    const moved = await moveLog(database, "audit", "here", async function* () {
      reads += 1;
      yield* reads === 1 ? entries : entries.slice(10);
    });
    expect(moved).toBe(5);
    expect(await urisIn(database)).toEqual(entries.map(({ uri }) => uri));
  });

  it("is moved from its beginning if another machine wrote an equal entry", async () => {
    const database = test.open();
    await migrate(database, stateMigrations);
    const [here, there] = [entriesOf("here", 0, 10), entriesOf("there", 0, 10)];
    here[5] = there[5] as Entry;
    expect(await move(database, here, "here")).toBe(10);
    expect(await move(database, there, "there")).toBe(10);
    expect((await urisIn(database)).length).toBe(20);
  });
});
