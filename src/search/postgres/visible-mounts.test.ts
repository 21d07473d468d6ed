/** Searches of the same callers at the same time, on a real PostgreSQL: each sees the counts of its own state of the index. */
import { beforeEach, describe, expect, it } from "vitest";
import type { SharedDatabase } from "../../state/database.ts";
import { migrate } from "../../state/migrate.ts";
import { stateMigrations } from "../../state/tables.ts";
import { useDatabase } from "../../state/test-database.ts";
import { createVisibility, type Visibility } from "../visibility.ts";
import { openPostgresIndexStore, type PostgresIndexStore } from "./postgres-index-store.ts";
import { searchMigrations } from "./tables.ts";

const test = useDatabase();

const document = (path: string, text: string, mount = "docs") => ({ mount, entry: { path }, text });
const isCounting = (text: string): boolean => text.startsWith("select d.mount as id, count(*)");

describe.skipIf(test.missing)("the visible part of mounts", () => {
  let database: SharedDatabase;
  let shared: PostgresIndexStore;
  /** Called before and after each statement of a search. */
  let before: (text: string) => Promise<void>;
  let after: (text: string) => Promise<void>;
  beforeEach(async () => {
    const opened = test.open();
    await migrate(opened, [...stateMigrations, ...searchMigrations]);
    before = after = () => Promise.resolve();
    database = {
      ...opened,
      pool: opened.pool,
      snapshot: (work, signal) =>
        opened.snapshot(
          (sql) =>
            work({
              async query(text, values) {
                await before(text);
                const rows = await sql.query(text, values);
                await after(text);
                return rows as never;
              },
            }),
          signal,
        ),
    };
    shared = openPostgresIndexStore({ database });
  });

  /** Shows all documents but those with "secret" in their path. */
  async function decideAll(visibility: Visibility): Promise<void> {
    const ids = await shared.addresses(visibility.upTo, 10_000);
    visibility.decide(
      ids.at(-1)!.id,
      ids.filter(({ path }) => !path.includes("secret")).map(({ id }) => id),
    );
  }
  const find = async (text: string, visibility: Visibility, typing = false): Promise<string[]> =>
    (await shared.search({ text, limit: 5, visibility, typing })).map(({ entry }) => entry.path);

  it("is that of the search's own state, if another search sees a later one meanwhile", async () => {
    const many = Array.from({ length: 300 }, (_, at) => document(`many/${at}`, "tea kettle"));
    await shared.put([...many, document("secret", "merger")]);
    await shared.put([document("b", "tea", "other"), document("c", "tea", "other")]);
    const visibility = createVisibility();
    await decideAll(visibility);
    expect(await find("merger", visibility)).toEqual([]);

    await shared.remove("other", [{ path: "c" }]);
    // The first search waits for the count of the other mount, while a second one finds that all of the first mount is visible.
    let isHeld = false;
    before = async (text) => {
      if (isHeld || !isCounting(text)) return;
      isHeld = true;
      const everything = many.map(({ entry: { path } }) => ({ path }));
      await shared.remove("docs", [{ path: "secret" }, ...everything.slice(0, 10)]);
      await find("tea", visibility);
    };
    const hits = await shared.search({ text: "merger", limit: 5, visibility });
    expect([isHeld, hits.map(({ entry }) => entry.path)]).toEqual([true, []]);
  });

  it("counts the other terms of a query when there is no more room for counts", async () => {
    const letters = "bcdfghjklm";
    const word = (start: string, at: number): string =>
      start + [...String(at).padStart(4, "0")].map((digit) => letters[Number(digit)]).join("");
    const words = (start: string, count: number): string =>
      Array.from({ length: count }, (_, at) => word(start, at)).join(" ");
    await shared.put([
      document("a", words("ta", 10_000)),
      document("b", words("wu", 9985)),
      document("kettle", "x7q"),
      document("animals", animals),
      document("secret", "secret"),
    ]);
    const visibility = createVisibility();
    await decideAll(visibility);
    const wanted = ["animals", "kettle"];
    expect((await find(`x7q ${animals}`, visibility)).sort()).toEqual(wanted);
    const again = createVisibility();
    await decideAll(again);
    expect(await find("x7q", again)).toEqual(["kettle"]);
    for (const start of ["ta", "wu"]) await find(start, again, true);
    expect((await find(`x7q ${animals}`, again)).sort()).toEqual(wanted);
  }, 120_000);

  it("has a word from the moment a visible document has it, however few have changed", async () => {
    await shared.put([
      ...Array.from({ length: 400 }, (_, at) => document(`${at}`, "tea kettle")),
      document("secret", "merger"),
    ]);
    const visibility = createVisibility();
    await decideAll(visibility);
    expect(await find("merger", visibility)).toEqual([]);
    await shared.put([document("shown", "merger")]);
    // Not decided yet.
    expect(await find("merger", visibility)).toEqual([]);
    await decideAll(visibility);
    expect(await find("merger", visibility)).toEqual(["shown"]);
  });

  it("has documents that are decided while an earlier search waits", async () => {
    await shared.put(Array.from({ length: 400 }, (_, at) => document(`secret/${at}`, "tea kettle")));
    const visibility = createVisibility();
    await decideAll(visibility);
    expect(await find("tea", visibility)).toEqual([]);
    await shared.put([document("shown", "merger")]);
    let isHeld = false;
    after = async (text) => {
      if (isHeld || !text.startsWith("select d.mount, bool_or")) return;
      isHeld = true;
      await decideAll(visibility);
    };
    expect(await find("merger", visibility)).toEqual([]);
    expect(isHeld).toBe(true);
    expect(await find("merger", visibility)).toEqual(["shown"]);
  });
});

const animals =
  "zebra lion tiger gnu yak otter badger beaver walrus puma lynx moose bison camel llama koala panda gecko cobra raven heron stork crane finch robin eagle hawk owl";
