/** The shared index on a real PostgreSQL, beside the embedded one. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { unavailable } from "../../errors.ts";
import type { SharedDatabase } from "../../state/database.ts";
import { migrate } from "../../state/migrate.ts";
import { stateMigrations } from "../../state/tables.ts";
import { failureOf, saveContents, useDatabase } from "../../state/test-database.ts";
import { openStore } from "../sqlite-store.ts";
import type { AsyncIndexStore, IndexedDocument, IndexStore, StoreHit, StoreQuery } from "../store.ts";
import { createVisibility } from "../visibility.ts";
import { openPostgresIndexStore } from "./postgres-index-store.ts";
import { searchMigrations } from "./tables.ts";
import { indexVersion, isNewerVersion } from "./version.ts";

const test = useDatabase();

const document = (path: string, text: string, more: Partial<IndexedDocument["entry"]> = {}, mount = "docs") => ({
  mount,
  entry: { path, ...more },
  text,
});

const rounded = (hit: StoreHit) => ({ ...hit, score: Number(hit.score.toPrecision(5)) });

describe.skipIf(test.missing)("the shared index", () => {
  let folder: string;
  let embedded: IndexStore;
  let shared: AsyncIndexStore;
  let database: SharedDatabase;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "pressmark-shared-"));
    embedded = openStore(join(folder, "index.db"));
    database = test.open();
    await migrate(database, [...stateMigrations, ...searchMigrations]);
    shared = openPostgresIndexStore({ database });
  });
  afterEach(() => {
    embedded.close();
    rmSync(folder, { recursive: true });
  });

  const find = async (text: string, more: Partial<StoreQuery> = {}): Promise<string[]> =>
    (await shared.search({ text, limit: 10, ...more })).map(({ entry }) => entry.path);

  /** Both stores must answer alike, down to the scores. */
  async function compare(request: StoreQuery): Promise<readonly StoreHit[]> {
    const [wanted, found] = [embedded.search(request), await shared.search(request)];
    expect(found.map(rounded), request.text).toEqual(wanted.map(rounded));
    return found;
  }

  const words = [
    "tea",
    "green",
    "kettle",
    "teas",
    "the",
    "of",
    "getUserName",
    "user_name",
    "設定",
    "再設定",
    "の",
    "サクラ",
    "さくら",
    "東京都",
    "京都",
    "boil",
  ];
  const bodies = fc
    .array(fc.oneof(fc.constantFrom(...words), fc.constantFrom("\n\n# ", ". ", "、", "\n")), { maxLength: 25 })
    .map((all) => all.join(" "));
  interface MadeUp {
    readonly path: string;
    readonly text: string;
    readonly title: string | undefined;
    readonly mount: string;
    readonly audience: "user" | "assistant" | undefined;
  }
  const toDocument = ({ path, text, title, mount, audience }: MadeUp): IndexedDocument =>
    document(
      path,
      text,
      { ...(title && { title }), ...(audience && { annotations: { audience: [audience] } }) },
      mount,
    );
  const documents = fc.uniqueArray(
    fc.record({
      path: fc.constantFrom("a.md", "b/tea.txt", "b/c.ts", "d", "設定.md", "kettle/x.py", "g", "h"),
      text: bodies,
      title: fc.option(fc.constantFrom("Tea", "設定", "Green kettle"), { nil: undefined }),
      mount: fc.constantFrom("docs", "more"),
      audience: fc.option(fc.constantFrom("user" as const, "assistant" as const), { nil: undefined }),
    }),
    { selector: ({ path, mount }) => `${mount} ${path}`, minLength: 1, maxLength: 8 },
  );
  const questions = fc.array(
    fc
      .array(
        fc.constantFrom(...words, "-green", '"green kettle"', "keetle", "source:docs", "path:b", "audience:user", "設"),
        {
          minLength: 1,
          maxLength: 4,
        },
      )
      // A word in the other kana is weighed by the documents that the filters leave, in the shared index alone.
      .filter((all) => !all.some((word) => /^-|:/.test(word)) || !all.some((word) => /^(?:サクラ|さくら)$/.test(word)))
      .map((all) => all.join(" ")),
    { minLength: 3, maxLength: 8 },
  );

  it("finds what the embedded index finds, with the same scores, whatever the documents", async () => {
    await fc.assert(
      fc.asyncProperty(documents, questions, async (all, asked) => {
        for (const mount of ["docs", "more"]) {
          await shared.removeBelow(mount, "");
          embedded.removeBelow(mount, "");
        }
        const put = all.map(toDocument);
        embedded.put(put);
        await shared.put(put);
        for (const question of asked) {
          try {
            embedded.search({ text: question, limit: 5 });
          } catch {
            continue;
          }
          await compare({ text: question, limit: 5 });
          await compare({ text: question, limit: 5, typing: true });
          await compare({ text: question, limit: 5, within: "b" });
        }
      }),
      { numRuns: 25 },
    );
  }, 240_000);

  it("answers as if hidden documents did not exist, whatever is hidden", async () => {
    await fc.assert(
      fc.asyncProperty(documents, questions, fc.nat(), async (all, asked, hidden) => {
        for (const mount of ["docs", "more"]) {
          await shared.removeBelow(mount, "");
          embedded.removeBelow(mount, "");
        }
        const isVisible = (at: number): boolean => ((hidden >> at) & 1) === 0;
        const put = all.map(toDocument);
        const before = (await shared.addresses(0, 1)).length;
        expect(before).toBe(0);
        await shared.put(put);
        embedded.put(put.filter((_, at) => isVisible(at)));
        const visibility = createVisibility();
        const ids = await shared.addresses(0, 100);
        visibility.decide(
          ids.at(-1)!.id,
          ids.filter((_, at) => isVisible(at)).map(({ id }) => id),
        );
        for (const question of asked) {
          let wanted: readonly StoreHit[];
          try {
            wanted = embedded.search({ text: question, limit: 5 });
          } catch {
            continue;
          }
          // Twice: counts are remembered.
          for (let round = 0; round < 2; round += 1)
            expect((await shared.search({ text: question, limit: 5, visibility })).map(rounded), question).toEqual(
              wanted.map(rounded),
            );
        }
      }),
      {
        numRuns: 15,
        // All passages with the prefix in their text are excluded or in another mount.
        examples: [
          [
            [
              { path: "a.md", text: "設定", title: "Green kettle", mount: "docs", audience: undefined },
              { path: "h", text: "", title: "設定", mount: "docs", audience: undefined },
              { path: "a.md", text: "設定", title: undefined, mount: "more", audience: undefined },
            ],
            ["-green source:docs 設 tea"],
            0,
          ],
        ],
      },
    );
  }, 240_000);

  it("finds enough of a word that thousands of documents contain, alone and beside a rare one", async () => {
    const many = Array.from({ length: 3500 }, (_, at) => document(`many/${at}`, "weekly report on progress"));
    await shared.put([...many, document("strong", "report report report"), document("rare", "zeppelin report")]);
    expect((await find("report", { limit: 100 })).length).toBe(100);
    expect((await find("report"))[0]).toBe("strong");
    const both = await find("zeppelin report");
    expect([both[0], both.length]).toEqual(["rare", 10]);
    expect((await find("weekly report", { limit: 100 })).length).toBe(100);
    expect((await find("report -weekly")).sort()).toEqual(["rare", "strong"]);
    expect(await find("report within", { within: "strong" })).toEqual(["strong"]);
  }, 60_000);

  it("leaves no count behind when documents are replaced and removed", async () => {
    const put = (at: number, body: string) => shared.put([document(`${at}`, `${body} 設定 ${at}`, { title: "Tea" })]);
    for (let at = 0; at < 20; at += 1) await put(at, `tea kettle ${"boil ".repeat(at)}`);
    for (let at = 0; at < 20; at += 3) await put(at, "green");
    await shared.remove("docs", [{ path: "1" }, { path: "2" }]);
    const recount = `select mount, element, count(*)::integer as passages from search_passages, unnest(elements) element group by 1, 2`;
    const [row] = await database.query<{ differences: number }>(
      `select count(*)::integer as differences from search_frequencies f full join (${recount}) r using (mount, element)
       where f.passages is distinct from r.passages`,
    );
    expect(row).toEqual({ differences: 0 });
    expect(await shared.counts()).toEqual([{ mount: "docs", documents: 18, passages: 18 }]);
    await shared.removeBelow("docs", "");
    for (const table of [
      "search_frequencies",
      "search_documents",
      "search_passages",
      "search_mounts",
      "search_removed",
    ])
      expect(await database.query(`select * from ${table}`), table).toEqual([]);
  });

  it("is started again by a newer version, and left alone by an older one", async () => {
    await shared.put([document("a", "tea")]);
    await database.query("update search_about set version = '999/1/1.0'");
    const failure = await failureOf(shared.put([document("b", "tea")]));
    expect([failure.kind, failure.message]).toEqual([
      "denied",
      "the shared search index was made by a newer version of Pressmark or Node; update this instance",
    ]);
    expect(await shared.counts()).toEqual([{ mount: "docs", documents: 1, passages: 1 }]);
    await database.query("update search_about set version = '0/1/1.0'");
    await shared.put([document("b", "tea")]);
    expect(await find("tea")).toEqual(["b"]);
  });

  /** Fails at the given transaction, counted from 1, and at all later ones. */
  function failingAt(failed: number): SharedDatabase {
    let count = 0;
    return {
      ...database,
      pool: database.pool,
      transaction: (work, signal) => {
        count += 1;
        return count < failed ? database.transaction(work, signal) : Promise.reject(unavailable("stopped"));
      },
    };
  }

  /** As the index of many documents: the rows of one table are deleted in several statements. */
  async function addFrequencies(): Promise<void> {
    await database.query(
      "insert into search_frequencies select n + 100000, (select max(id) from search_mounts), 1 from generate_series(1, 200000) n",
    );
  }

  const rowsLeft = async (table: string): Promise<number> =>
    (await database.query<{ count: number }>(`select count(*)::integer as count from ${table}`))[0]!.count;

  it("removes a large mount in several transactions, and goes on after an interruption", async () => {
    await shared.put([document("a", "tea"), document("a", "tea", {}, "other")]);
    const other = await rowsLeft("search_frequencies");
    await addFrequencies();
    await database.query(
      "update search_frequencies set mount = (select id from search_mounts where name = 'docs') where element > 100000",
    );
    const left = [await rowsLeft("search_frequencies")];
    const interrupted = openPostgresIndexStore({ database: failingAt(3) });
    expect((await failureOf(interrupted.removeBelow("docs", ""))).message).toBe("stopped");
    left.push(await rowsLeft("search_frequencies"));
    expect(left[1]).toBeGreaterThan(other);
    expect(left[1]).toBeLessThan(left[0]!);
    expect(await find("tea", { mounts: ["docs"] })).toEqual([]);
    // The mount may be there again meanwhile.
    await shared.put([document("b", "tea")]);
    await shared.removeBelow("none", "");
    expect(await rowsLeft("search_frequencies")).toBe(other);
    expect(await rowsLeft("search_removed")).toBe(0);
    expect(await find("tea", { mounts: ["docs"] })).toEqual(["b"]);
    expect(await find("tea", { mounts: ["other"] })).toEqual(["a"]);
  });

  it("asks to search again when a mount is removed during a search", async () => {
    await shared.put([document("a", "tea")]);
    let isRemoved = false;
    const between: SharedDatabase = {
      ...database,
      pool: database.pool,
      snapshot: (work, signal) =>
        database.snapshot(
          (sql) =>
            work({
              async query(text, values) {
                if (!isRemoved && text.includes("search_passages_")) {
                  isRemoved = true;
                  await shared.removeBelow("docs", "");
                }
                return sql.query(text, values);
              },
            }),
          signal,
        ),
    };
    const { kind, passing, message } = await failureOf(
      openPostgresIndexStore({ database: between }).search({ text: "tea", limit: 5 }),
    );
    expect([kind, passing]).toEqual(["unavailable", true]);
    expect(message).toBe("a mount was removed from the shared search index during this search; search again");
  });

  it("removes many documents below a path in several transactions", async () => {
    await shared.put(Array.from({ length: 1500 }, (_, at) => document(`folder/${at}`, "tea")));
    const interrupted = openPostgresIndexStore({ database: failingAt(2) });
    expect((await failureOf(interrupted.removeBelow("docs", "folder"))).message).toBe("stopped");
    expect(await rowsLeft("search_documents")).toBe(500);
    await shared.removeBelow("docs", "folder");
    expect(await rowsLeft("search_documents")).toBe(0);
    expect(await rowsLeft("search_frequencies")).toBe(0);
  });

  it("is started again step by step, answers no search meanwhile, and ends it after any interruption", async () => {
    for (let failed = 2, isDone = false; !isDone; failed += 1) {
      await shared.put([document("a", "tea"), document("a", "tea", {}, "other")]);
      await database.query("update search_about set version = '0/1/1.0'");
      // The instances of a newer version are new processes.
      shared = openPostgresIndexStore({ database });
      const interrupted = openPostgresIndexStore({ database: failingAt(failed) });
      isDone = await interrupted.put([document("b", "kettle")]).then(
        () => true,
        () => false,
      );
      const [{ version }] = (await database.query<{ version: string }>("select version from search_about")) as [
        { version: string },
      ];
      if (version !== indexVersion) expect((await failureOf(find("tea"))).kind).toBe("unavailable");
      else expect(await find("tea")).toEqual([]);
      await shared.put([document("b", "kettle")]);
      expect(await shared.counts()).toEqual([{ mount: "docs", documents: 1, passages: 1 }]);
      expect([await find("tea"), await find("kettle")]).toEqual([[], ["b"]]);
      expect((await database.query<{ id: number }>("select min(id) as id from search_terms"))[0]).toEqual({ id: 1 });
      expect(await rowsLeft("search_frequencies")).toBeLessThan(10);
      await shared.removeBelow("docs", "");
    }
  });

  it("compares versions number by number", () => {
    for (const stored of ["1/3/78.3", "1/3/100.1", "1/4/1.0", "2/1/1.0", "1/3/78.2.1"])
      expect(isNewerVersion(stored, "1/3/78.2"), stored).toBe(true);
    for (const stored of ["1/3/78.2", "1/3/78.1", "1/3/9.9", "1/2/99.0", "0/9/99.0", ""])
      expect(isNewerVersion(stored, "1/3/78.2"), stored).toBe(false);
  });

  it("refuses a writer whose lease another instance has, and changes nothing", async () => {
    const take = (fence: number) =>
      database.query(
        `insert into leases (name, holder, fence, expires) values ('index', 'x', $1, clock_timestamp() + interval '1 minute')
         on conflict (name) do update set fence = excluded.fence`,
        [fence],
      );
    await take(1);
    const first = openPostgresIndexStore({ database, fence: { name: "index", fence: 1 } });
    await first.put([document("a", "tea")]);
    await take(2);
    for (const work of [
      () => first.put([document("b", "tea")]),
      () => first.remove("docs", [{ path: "a" }]),
      () => first.removeBelow("docs", ""),
      () => first.setNote("a", "1"),
    ])
      expect((await failureOf(work())).kind).toBe("denied");
    expect(await find("tea")).toEqual(["a"]);
    expect(await first.note("a")).toBeUndefined();
  });

  it("shows no one what they may not see, nor counts it", async () => {
    const all = Array.from({ length: 12 }, (_, at) =>
      document(`${at}`, at % 3 === 0 ? "tea merger secret" : "tea kettle"),
    );
    await shared.put(all);
    const visible = all.filter((_, at) => at % 3 !== 0);
    embedded.put(visible);
    const visibility = createVisibility();
    const ids = await shared.addresses(0, 100);
    visibility.decide(
      ids.at(-1)!.id,
      ids.filter(({ path }) => Number(path) % 3 !== 0).map(({ id }) => id),
    );
    for (const text of ["tea", "merger", "tea merger", "secrt", "kettle tea", "path:1", "path:3"]) {
      const wanted = embedded.search({ text, limit: 5 }).map(rounded);
      expect((await shared.search({ text, limit: 5, visibility })).map(rounded), text).toEqual(wanted);
    }
    await shared.put([document("new", "tea merger")]);
    expect(await find("merger", { visibility })).toEqual([]);
  });

  it("hides new documents from a caller who saw all of a mount, however few have changed since", async () => {
    await shared.put(Array.from({ length: 400 }, (_, at) => document(`${at}`, "tea kettle")));
    const visibility = createVisibility();
    const ids = await shared.addresses(0, 1000);
    visibility.decide(
      ids.at(-1)!.id,
      ids.map(({ id }) => id),
    );
    expect((await find("tea", { visibility })).length).toBe(10);
    // As many documents as before: one was removed.
    await shared.remove("docs", [{ path: "7" }]);
    await shared.put([document("secret", "tea merger")]);
    expect(await find("merger")).toEqual(["secret"]);
    expect(await find("merger", { visibility })).toEqual([]);
    visibility.decide((await shared.addresses(ids.at(-1)!.id, 10)).at(-1)!.id, []);
    expect(await find("merger", { visibility })).toEqual([]);
    expect(await find("path:secret", { visibility })).toEqual([]);
  });

  it("finds the first visible documents of a mount that was hidden, however few have changed since", async () => {
    await shared.put(Array.from({ length: 400 }, (_, at) => document(`${at}`, "tea kettle")));
    const visibility = createVisibility();
    visibility.decide((await shared.addresses(0, 1000)).at(-1)!.id, []);
    expect(await find("tea", { visibility })).toEqual([]);
    for (const path of ["hidden", "shown"]) {
      await shared.put([document(path, "tea merger")]);
      const [added] = await shared.addresses(visibility.upTo, 10);
      visibility.decide(added!.id, path === "shown" ? [added!.id] : []);
      expect(await find("merger", { visibility })).toEqual(path === "shown" ? ["shown"] : []);
    }
  });

  it("mistakes no document or term for one that had its id before an older state was restored", async () => {
    const store = openPostgresIndexStore({ database });
    await store.put([document("old", "tea")]);
    const restore = await saveContents(database);
    await store.put([document("public", "kettle and cup")]);
    const visibility = createVisibility((await store.overview([])).identity);
    const ids = await store.addresses(0, 10);
    visibility.decide(
      ids.at(-1)!.id,
      ids.map(({ id }) => id),
    );
    expect(await find("kettle", { visibility })).toEqual(["public"]);
    await restore();
    await store.put([document("secret", "merger of cup and kettle")]);
    expect((await store.addresses(0, 10)).map(({ id }) => id)).toEqual(ids.map(({ id }) => id));
    expect(await find("kettle")).toEqual(["secret"]);
    expect(await find("merger cup")).toEqual(["secret"]);
    expect((await failureOf(find("merger", { visibility }))).kind).toBe("unavailable");
    expect((await store.overview([])).identity).not.toBe(visibility.file);
  });
});
