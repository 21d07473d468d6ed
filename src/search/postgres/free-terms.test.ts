/** The ids of terms are limited: here to so few that they are used up. */
import { beforeEach, describe, expect, it } from "vitest";
import type { SharedDatabase } from "../../state/database.ts";
import { migrate } from "../../state/migrate.ts";
import { stateMigrations } from "../../state/tables.ts";
import { failureOf, useDatabase } from "../../state/test-database.ts";
import { createVisibility, type Visibility } from "../visibility.ts";
import { openPostgresIndexStore, type PostgresIndexStore } from "./postgres-index-store.ts";
import { searchMigrations } from "./tables.ts";

const test = useDatabase();
const lastTerm = 200;

const letters = "bcdfghjklm";
/** As many different words. */
const words = (start: string, count: number): string =>
  Array.from({ length: count }, (_, at) =>
    [...String(at).padStart(3, "0")].reduce((word, digit) => word + letters[Number(digit)]!, start),
  ).join(" ");
const document = (path: string, text: string, mount = "docs") => ({ mount, entry: { path }, text });

describe.skipIf(test.missing)("the ids of terms", () => {
  let database: SharedDatabase;
  let shared: PostgresIndexStore;
  let other: PostgresIndexStore;
  beforeEach(async () => {
    database = test.open();
    await migrate(database, [...stateMigrations, ...searchMigrations]);
    [shared, other] = [1, 2].map(() => openPostgresIndexStore({ database, lastTerm })) as [
      PostgresIndexStore,
      PostgresIndexStore,
    ];
  });

  const find = async (text: string, visibility?: Visibility): Promise<string[]> =>
    (await shared.search({ text, limit: 10, ...(visibility && { visibility }) })).map(({ entry }) => entry.path);
  const highest = async (): Promise<number> =>
    (await database.query<{ id: number }>("select max(id) as id from search_terms"))[0]!.id;
  const laterBy = (minutes: number) =>
    database.query(`update search_about set terms_checked = terms_checked - interval '${minutes} minutes'`);

  it("are used again when no document has the term any more, for ever", async () => {
    await shared.put([document("kept", "tea kettle")]);
    for (let round = 0; round < 12; round += 1) {
      const start = `${"tuvwxz"[round % 6]!}${"ae"[round % 2]!}${letters[round % 10]!}`;
      const store = round % 3 === 0 ? other : shared;
      await store.put([document("log", words(start, 80))]);
      const [first] = words(start, 1).split(" ");
      expect([await find(first!), await find("tea kettle")], `round ${round}`).toEqual([["log"], ["kept"]]);
      expect(await highest()).toBeLessThanOrEqual(lastTerm);
    }
    await shared.removeBelow("docs", "");
    await other.put([document("new", words("ve", 150), "more")]);
    expect(await find(words("ve", 1))).toEqual(["new"]);
    const recount = `select mount, element, count(*)::integer as passages from search_passages, unnest(elements) element group by 1, 2`;
    const [row] = await database.query<{ differences: number }>(
      `select count(*)::integer as differences from search_frequencies f full join (${recount}) r using (mount, element)
       where f.passages is distinct from r.passages`,
    );
    expect(row).toEqual({ differences: 0 });
  }, 60_000);

  it("are not taken for those of the terms that had them, by another writer or by callers who see a part", async () => {
    // Few of many documents change, so that counts stay remembered.
    const rest = Array.from({ length: 1000 }, (_, at) => ({
      mount: "docs",
      entry: {
        path: "tea",
        query: {
          at: String(at % 10),
          of: "tea".repeat(1 + (Math.floor(at / 10) % 2)),
          in: "x".repeat(1 + Math.floor(at / 20)),
        },
      },
      text: "tea",
    }));
    const old = ["old/1", "old/2", "old/3"];
    await other.put([...rest, document("hidden", "merger"), ...old.map((path) => document(path, words("ta", 60)))]);
    const decide = async (visibility: Visibility): Promise<Visibility> => {
      const ids = await shared.addresses(visibility.upTo, 2000);
      visibility.decide(
        ids.at(-1)?.id ?? visibility.upTo,
        ids.filter(({ path }) => path !== "hidden").map(({ id }) => id),
      );
      return visibility;
    };
    const visibility = await decide(createVisibility());
    expect((await find(words("ta", 60), visibility)).sort()).toEqual(old);
    await shared.remove(
      "docs",
      old.map((path) => ({ path })),
    );
    await shared.put([document("a", words("we", 120))]);
    // The other writer remembers the ids of "ta…".
    expect((await failureOf(other.put([document("b", words("ta", 60))]))).kind).toBe("unavailable");
    await other.put([document("b", words("ta", 1))]);
    await decide(visibility);
    for (const seen of [undefined, visibility]) {
      expect(await find(words("ta", 1), seen)).toEqual(["b"]);
      expect(await find(words("we", 1), seen)).toEqual(["a"]);
      expect(await find(words("we", 120).split(" ").at(-1)!, seen)).toEqual(["a"]);
    }
    const scores = async (seen: Visibility) => {
      const asked = words("we", 120).split(" ");
      const both = [asked.slice(0, 60), asked.slice(60)].map((some) =>
        shared.search({ text: some.join(" "), limit: 5, visibility: seen }),
      );
      return (await Promise.all(both)).flat().map(({ score }) => score.toPrecision(6));
    };
    expect(await scores(visibility)).toEqual(await scores(await decide(createVisibility())));
  }, 60_000);

  it("are used up only by terms of documents, not by writes that failed", async () => {
    const failing = openPostgresIndexStore({
      database: {
        ...database,
        pool: database.pool,
        transaction: (work, signal) =>
          database.transaction(async (sql) => {
            await work(sql);
            throw new Error("stopped");
          }, signal),
      },
      lastTerm,
    });
    for (const start of ["ta", "wu", "xe"])
      await expect(failing.put([document("a", words(start, 90))])).rejects.toThrow("stopped");
    await shared.put([document("b", words("ve", 150))]);
    expect(await find(words("ve", 1))).toEqual(["b"]);
  });

  it("are refused with what to do while documents use them all, and free some time after these are removed", async () => {
    await shared.put([document("a", words("ta", 190))]);
    for (const store of [shared, other]) {
      const { kind, message } = await failureOf(store.put([document("b", words("wu", 100))]));
      expect([kind, message]).toEqual([
        "unavailable",
        "the shared search index has 200 terms, and cannot have more; exclude generated files, such as logs, from the mounts: terms that no document has any more make room within 10 minutes",
      ]);
    }
    expect(await find(words("ta", 1))).toEqual(["a"]);
    // Known terms need no room.
    await shared.put([document("c", words("ta", 1))]);
    await shared.remove("docs", [{ path: "a" }]);
    await laterBy(10);
    await shared.put([document("b", words("wu", 100))]);
    expect(await find(words("wu", 1))).toEqual(["b"]);
  });

  it("begin at 1 when the index is started again", async () => {
    await shared.put([document("a", words("ta", 150))]);
    await shared.remove("docs", [{ path: "a" }]);
    await shared.put([document("b", words("wu", 150))]);
    await database.query("update search_about set version = '0/1/1.0'");
    await other.put([document("c", words("ve", 150))]);
    expect(await highest()).toBeLessThan(160);
    expect(await database.query("select * from search_free_terms")).toEqual([]);
    // It remembers ids of the index before.
    await shared.put([document("d", words("wu", 10))]);
    expect(await find(words("wu", 1))).toEqual(["d"]);
    expect(await find(words("ve", 1))).toEqual(["c"]);
  });
});
