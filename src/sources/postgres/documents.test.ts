/** Rows of a real PostgreSQL server as documents: their addresses, texts and changes. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { missingFor, type PostgresServer, startPostgres } from "../../../test/live/postgres.ts";
import { parseUrl } from "../../backends/postgres/url.ts";
import { ResourceError } from "../../errors.ts";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import { wait } from "../../lib/wait.ts";
import type { Call } from "../../resources.ts";
import { type Entry, type Source, type SourceChange, toSourceHits } from "../../source.ts";
import { sweepFaults } from "../../testing/index.ts";
import { collectChanges } from "../../testing/listen.ts";
import { asking, collect } from "../../testing/pages.ts";
import { refusal } from "../../testing/refusal.ts";
import definition, { openPostgres } from "../postgres.ts";
import { createConnection, type PostgresConnection } from "./connection.ts";

const tables = `
  CREATE TABLE tickets (id int PRIMARY KEY, 件名 text, 本文 text, 回答 jsonb, 添付 bytea, mail text,
    updated_at timestamptz DEFAULT '2026-11-15 08:00:00.123456+09');
  INSERT INTO tickets (id, 件名, 本文, 回答, mail) VALUES
    (1, '証明書の更新', '来月で期限が切れます。', '{"状態": "済"}', 'secret@example.org'),
    (2, NULL, 'パスワードを忘れました。', NULL, NULL),
    (10, E'  改行を\\n含む件名 ', repeat('長', 150000), NULL, NULL);
  CREATE TABLE parts (code text, lot int, note text, PRIMARY KEY (code, lot));
  INSERT INTO parts VALUES ('a/b', 1, 'スラッシュ'), ('部品', 2, '日本語の鍵'), ('', 3, NULL);
  CREATE TABLE split (day date, id int, note text, PRIMARY KEY (day, id)) PARTITION BY RANGE (day);
  CREATE TABLE split_1 PARTITION OF split DEFAULT;
  INSERT INTO split VALUES ('2026-11-15', 1, '分割された表');
  CREATE TABLE keyless (note text);
  CREATE VIEW seen AS SELECT id, 本文 FROM tickets;`;

const tickets = { table: "tickets", title: "件名", text: ["本文", "回答"], changedAt: "updated_at" };
const documents = [
  tickets,
  { table: "public.parts", title: ["code", "lot"], text: ["note"] },
  { table: "split", title: "note", text: ["note"] },
];
const ticket = (key: string) => `public/tickets/rows/${key}`;
const unfit = 'a table in "documents" cannot be indexed; "pressmark doctor" says why';
const keyed = (...values: string[]) => `~${Buffer.from(JSON.stringify(values)).toString("base64url")}`;

const logged: string[] = [];
const log = (_: string, message: string) => void logged.push(message);

describe.skipIf(missingFor("debian"))(`rows as documents (${missingFor("debian") ?? "real"})`, () => {
  let server: PostgresServer;
  let stop: AbortController;
  const opened: Source[] = [];
  beforeAll(async () => {
    server = await startPostgres("debian");
    await server.run("template1", tables);
    await server.run(
      "postgres",
      "CREATE DATABASE still; CREATE ROLE reader LOGIN PASSWORD 'reads-only'".split(";")[0]!,
    );
    await server.run(
      "still",
      "CREATE ROLE reader LOGIN PASSWORD 'reads-only'; GRANT SELECT (id, 件名) ON tickets TO reader",
    );
  }, 60_000);
  afterAll(async () => await server?.close());
  beforeEach(() => {
    stop = new AbortController();
    logged.length = 0;
  });
  afterEach(async () => {
    stop.abort();
    await Promise.all(opened.splice(0).map((source) => source.close?.()));
  });

  const call = (): Call => ({ caller: { id: "test" }, signal: stop.signal });
  function open(settings: Readonly<Record<string, unknown>> = {}, url = server.url("still")): Source {
    const options = definition.options(z).parse({ url, rows: true, documents, pollMs: 100, ...settings });
    const source = openPostgres(options, { env: {}, now: Date.now, monotonicMs, wait, log });
    opened.push(source);
    return source;
  }
  const indexed = (source: Source) => collect<Entry>((cursor) => source.listIndexed!(asking(2, cursor), call()));
  const rowsOf = async (source: Source) => (await indexed(source)).filter(({ path }) => path.includes("/rows/"));
  async function textAt(source: Source, path: string, query?: Record<string, string>): Promise<string> {
    const [part] = await source.read(query ? { path, query } : { path }, call());
    return (part!.body as { readonly text: string }).text;
  }

  async function askAll(source: Source): Promise<void> {
    await collect<Entry>((cursor) => source.listIndexed!(asking(100, cursor), call()));
    await source.stat!({ path: ticket("1") }, call());
    await textAt(source, ticket("1"), { as: "text" });
  }

  it("are indexed beside what is listed, with a title and an address each, and not listed", async () => {
    const source = open();
    const rows = await rowsOf(source);
    expect(rows.map(({ path, title }) => [path, title])).toEqual([
      ["public/tickets/rows/10", "改行を 含む件名"],
      ["public/tickets/rows/2", undefined],
      ["public/tickets/rows/1", "証明書の更新"],
      [`public/parts/rows/${keyed("部品", "2")}`, "部品 – 2"],
      [`public/parts/rows/${keyed("a/b", "1")}`, "a/b – 1"],
      [`public/parts/rows/${keyed("", "3")}`, "3"],
      [`public/split/rows/${keyed("2026-11-15", "1")}`, "分割された表"],
    ]);
    expect(rows[1]).toMatchObject({
      name: "public.tickets 2",
      mimeType: "application/json",
      annotations: { lastModified: "2026-11-14T23:00:00.123456Z" },
      meta: { "pressmark/as": ["text"] },
    });
    for (const { path, ...rest } of rows) expect(await source.stat!({ path }, call())).toEqual({ path, ...rest });
    const listed = await collect<Entry>((cursor) => source.list(asking(100, cursor), call()));
    const others = (await indexed(source)).filter(({ path }) => !path.includes("/rows/"));
    expect(others.map(({ path }) => path)).toEqual(
      listed.map(({ path }) => path).filter((path) => !/(?:tickets|parts|split)\/rows$/.test(path)),
    );
  });

  it("are read as rows are, and as Markdown with their title and texts, of which too long ones are cut", async () => {
    const source = open();
    expect(await textAt(source, ticket("1"))).toBe(await textAt(source, "public/tickets/rows", { key: "1" }));
    expect(await textAt(source, ticket("1"), { as: "text" })).toBe(
      '# 証明書の更新\n\n## 本文\n\n来月で期限が切れます。\n\n## 回答\n\n{"状態": "済"}\n',
    );
    expect(await textAt(source, ticket("1"), { as: "text", lines: "1-1" })).toBe("# 証明書の更新\n");
    expect(await textAt(source, "public/tickets/rows/2", { as: "text" })).toBe(
      "# public.tickets 2\n\n## 本文\n\nパスワードを忘れました。\n",
    );
    const long = await textAt(source, "public/tickets/rows/10", { as: "text" });
    expect(long).toHaveLength(
      100_000 + "# 改行を 含む件名\n\n## 本文\n\n\n\n(150000 characters, cut after 100000.)\n".length,
    );
    expect(await source.stat!({ path: ticket("1"), query: { as: "text" } }, call())).toMatchObject({
      mimeType: "text/markdown",
    });
  });

  it("have one address each: another form of a key, and an impossible one, is missing", async () => {
    const source = open();
    for (const key of ["3", "01", "1 ", "abc", keyed("1"), keyed("1", "2"), "~", "1/2", "", "9".repeat(30)])
      for (const asked of [source.read, source.stat!])
        await refusal(asked({ path: `public/tickets/rows/${key}` }, call()), ["not-found"], key);
    const at = { path: ticket("1") };
    await refusal(source.read({ ...at, query: { format: "ddl" } }, call()), ["not-found"], "another query");
    await refusal(source.read({ ...at, query: { as: "pdf" } }, call()), ["invalid"], "another form");
    await refusal(source.read({ path: "tickets/rows/1" }, call()), ["not-found"], "the short form of the table");
    await refusal(source.read({ path: "public/keyless/rows/1" }, call()), ["not-found"], "not a table of documents");
    // One impossible key fails no other request of the same moment.
    const both = await Promise.allSettled([source.stat!(at, call()), source.stat!({ path: ticket("x") }, call())]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  });

  it("are for callers who may see all of them, where a page shows them all", () => {
    const source = open();
    expect(source.overviewOf?.({ path: "public/tickets/rows" })).toEqual({ path: "public/tickets/rows" });
    expect(source.overviewOf?.({ path: "public/tickets/rows/1" })).toBeUndefined();
    expect(source.overviewOf?.({ path: "public/overview" })).toEqual({ path: "public" });
  });

  it("are completed", async () => {
    const source = open();
    const template = source.templates!.find(
      (each) => each.template === "{schema}/{table}/rows/{key}{?as,lines,bytes}",
    )!;
    const complete = async (variable: string, value: string, given = {}) =>
      (await source.complete!({ template, variable, value, given }, call())).map((each) => each.value);
    expect(await complete("schema", "pu")).toEqual(["public"]);
    expect(await complete("table", "", { schema: "public" })).toEqual(["tickets", "parts", "split"]);
    expect(await complete("table", "", { schema: "other" })).toEqual([]);
    expect(await complete("key", "1", { schema: "public", table: "tickets" })).toEqual(["10", "1"]);
    expect(await complete("as", "t")).toEqual(["text"]);
  });

  it.each([
    ["rows that are not served", { rows: ["parts"], documents: [tickets] }, /"tickets", whose rows are not served/],
    ["a table twice", { documents: [tickets, { ...tickets, table: "public.tickets" }] }, /names a table twice/],
  ])("refuse a config with %s", (_, settings, says) => {
    expect(() => open(settings)).toThrow(says);
  });

  it.each([
    ["a missing column", { ...tickets, text: ["本分"] }, /"本分", which "public.tickets" does not have/],
    ["a missing time", { ...tickets, changedAt: "changed" }, /"changed", which/],
    ["a time that is none", { ...tickets, changedAt: "回答" }, /"回答" of "public.tickets", which is no time/],
    ["bytes", { ...tickets, text: ["添付"] }, /"添付" of "public.tickets", which contains bytes/],
    ["a missing table", { ...tickets, table: "none" }, /"public.none", which does not exist or may not be read/],
    ["a table without a key", { table: "keyless", title: "note", text: ["note"] }, /no primary key/],
    ["a view", { table: "seen", title: "id", text: ["本文"] }, /no primary key/],
  ])("refuse %s when the index asks, and for the operator", async (_, document, says) => {
    const source = open({ documents: [document] });
    // Callers see this message, and may not know of the table.
    expect((await refusal(indexed(source), ["invalid"], "the index")).message).toBe(unfit);
    expect((await source.problems!(call())).at(-1)?.says).toMatch(says);
    await refusal(source.stat!({ path: "public/tickets/rows/1" }, call()), ["not-found"], "a row");
    expect(await textAt(source, "public/tickets/schema")).toContain("tickets");
    const [template] = source.templates!.filter((each) => each.template.includes("{key}"));
    const given = { schema: "public", table: document.table };
    expect(await source.complete!({ template: template!, variable: "key", value: "", given }, call())).toEqual([]);
  });

  it("refuse a column that the role may not read", async () => {
    const url = server.url("still", "reader", "reads-only");
    const source = open({ documents: [tickets] }, url);
    expect((await refusal(indexed(source), ["invalid"], "the index")).message).toBe(unfit);
    expect(logged).toEqual(["a table of documents cannot be indexed"]);
    expect((await source.problems!(call())).at(-1)?.says).toMatch(
      /"本文", "回答", "updated_at", which .* may not be read/,
    );
    const allowed = { table: "tickets", title: "件名", text: ["件名"] };
    expect(await rowsOf(open({ documents: [allowed] }, url))).toHaveLength(3);
  });

  it("are those with the highest keys, if there are too many, and it is reported", async () => {
    const source = open({ documents: [{ ...tickets, maxRows: 2 }] });
    expect((await rowsOf(source)).map(({ path }) => path)).toEqual(["public/tickets/rows/10", "public/tickets/rows/2"]);
    expect(logged).toEqual(["a table has more rows than are indexed; see maxRows of its documents"]);
    expect((await source.problems!(call())).at(-1)).toMatchObject({
      path: "public/tickets/rows",
      says: "has more than 2 rows; only those with the 2 highest keys are found by search",
    });
    expect(await textAt(source, "public/tickets/rows/1")).toContain("証明書");
  });

  it("have the same address in hits of the database itself", async () => {
    const source = open({ fullText: [{ table: "tickets", columns: ["mail"] }] });
    const { hits } = toSourceHits(await source.search!({ text: "secret@example.org", limit: 5 }, call()));
    expect(hits.map(({ entry }) => [entry.path, entry.query])).toEqual([["public/tickets/rows/1", undefined]]);
  });

  it("fail with a ResourceError when any statement fails, and work again afterwards", async () => {
    const url = server.url("still");
    const options = definition.options(z).parse({ url, rows: true, documents: [tickets] });
    const failed = await sweepFaults<PostgresConnection>({
      open: () => createConnection({ target: parseUrl(url), tls: [false], timeoutMs: 5000, maxConnections: 2 }),
      async run(connection) {
        const source = openPostgres(options, { env: {}, now: Date.now, monotonicMs, wait, log }, () => connection);
        opened.push(source);
        await askAll(source);
      },
      recovered: () => askAll(opened.at(-1)!),
      faults: [() => new ResourceError("unavailable", "the server is gone")],
    });
    expect(failed).toBeGreaterThan(5);
  });

  describe("are followed", () => {
    let databases = 0;
    let database: string;
    beforeEach(async () => {
      databases += 1;
      database = `moving_${databases}`;
      await server.run("postgres", `CREATE DATABASE ${database}`);
    });
    const run = (sql: string) => server.run(database, sql);
    async function follow(settings: Readonly<Record<string, unknown>>) {
      const source = open(settings, server.url(database));
      const changes = collectChanges<SourceChange>(await source.watch!(call()));
      const until = (change: SourceChange) =>
        changes.until((each) => JSON.stringify(each) === JSON.stringify(change), JSON.stringify(change));
      return { source, until, heard: changes.heard };
    }

    it.each([
      ["by the time of change", { documents: [tickets] }, ""],
      ["without one", { documents: [{ ...tickets, changedAt: undefined }] }, ""],
      ["by notifications", { documents: [tickets], listen: "told", pollMs: 3_600_000 }, "; NOTIFY told, 'tickets'"],
    ])("%s: inserted, updated and deleted rows", async (_, settings, then) => {
      const { source, until } = await follow(settings);
      const before = await source.stat!({ path: ticket("1") }, call());
      await run(`INSERT INTO tickets VALUES (20, '新しい', '本文')${then}`);
      await until({ kind: "appeared", path: ticket("20"), isUnlisted: true });
      // Neither the time nor the title says that it has changed.
      await run(`UPDATE tickets SET 本文 = '来月で期限が来ます。' WHERE id = 1${then}`);
      await until({ kind: "changed", path: ticket("1") });
      expect((await source.stat!({ path: ticket("1") }, call())).version).not.toBe(before.version);
      await run(`DELETE FROM tickets WHERE id = 2${then}`);
      await until({ kind: "gone", path: ticket("2"), isUnlisted: true });
      expect([source.indexes!({ path: ticket("20") }), source.lists!({ path: ticket("20") })]).toEqual([true, false]);
    });

    it("with another version for every change that a read shows, whoever may read what", async () => {
      await run("GRANT SELECT (id, 件名, mail) ON tickets TO reader");
      const reader = server.url(database, "reader", "reads-only");
      const few = { table: "tickets", title: "件名", text: ["件名"] };
      const sources = [open({}, server.url(database)), open({ documents: [few] }, reader)];
      const seen = sources.map(() => new Set<string | undefined>());
      for (const change of [
        "SELECT",
        "UPDATE tickets SET mail = 'new@example.org' WHERE id = 1",
        "ALTER TABLE tickets ADD COLUMN more int; GRANT SELECT (more) ON tickets TO reader",
        "UPDATE tickets SET more = 1",
      ]) {
        await run(change);
        for (const [at, source] of sources.entries())
          seen[at]!.add((await source.stat!({ path: ticket("1") }, call())).version);
      }
      expect(seen.map(({ size }) => size)).toEqual([4, 4]);
    });

    it("with a version of their content: a database that is created anew has the same transaction numbers", async () => {
      // In one transaction, as one number.
      await run(`CREATE TABLE one (id int PRIMARY KEY, note text, file bytea); CREATE TABLE two (LIKE one INCLUDING ALL);
        CREATE TABLE three (LIKE one INCLUDING ALL); CREATE TABLE four (LIKE one INCLUDING ALL);
        INSERT INTO one VALUES (1, '在庫', 'a'); INSERT INTO two VALUES (1, '在處', 'a');
        INSERT INTO three VALUES (1, '在庫', 'b'); INSERT INTO four VALUES (1, '在庫', 'a')`);
      const names = ["one", "two", "three", "four"];
      const each = names.map((table) => ({ table, title: "id", text: ["note"] }));
      const source = open({ documents: each }, server.url(database));
      const [one, two, three, four] = await Promise.all(
        names.map(async (name) => (await source.stat!({ path: `public/${name}/rows/1` }, call())).version),
      );
      expect(new Set([one, two, three]).size).toBe(3);
      expect(four).toBe(one);
    });

    it("with clocks that differ, and times that are missing", async () => {
      await run("INSERT INTO tickets (id, 件名, updated_at) VALUES (30, '未来', '9999-12-31'), (31, 'なし', NULL)");
      const { until } = await follow({ documents: [tickets] });
      await run("UPDATE tickets SET 件名 = '過去', updated_at = '1999-01-01' WHERE id = 10");
      await until({ kind: "changed", path: ticket("10") });
      await run("UPDATE tickets SET 件名 = 'まだなし' WHERE id = 31");
      await until({ kind: "changed", path: ticket("31") });
    });

    it("as one loss, if they are many", async () => {
      const { until, heard } = await follow({ documents: [tickets] });
      await run("INSERT INTO tickets (id) SELECT g FROM generate_series(1000, 2000) g");
      await until({ kind: "lost", isUnlisted: true });
      expect(heard).toHaveLength(1);
    });

    it("until their table no longer fits, and again when it does", async () => {
      const { until } = await follow({ documents: [tickets] });
      await run("ALTER TABLE tickets RENAME COLUMN 本文 TO 内容");
      await until({ kind: "gone", path: ticket("1"), isUnlisted: true });
      await run("ALTER TABLE tickets RENAME COLUMN 内容 TO 本文");
      await until({ kind: "appeared", path: ticket("1"), isUnlisted: true });
    });
  });
});
