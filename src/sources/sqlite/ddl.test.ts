/** The DDL of a database file, loaded into an empty one. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import type { Call } from "../../resources.ts";
import type { Source } from "../../source.ts";
import { createClock } from "../../testing/clock.ts";
import definition, { openSqlite } from "../sqlite.ts";

const schema = `
  CREATE TABLE users (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL DEFAULT 'it''s' COLLATE NOCASE, -- a note; with a semicolon
    mail TEXT UNIQUE ON CONFLICT IGNORE CHECK (mail LIKE '%@%'), age INT CONSTRAINT "is old" CHECK (age >= 0),
    twice INT GENERATED ALWAYS AS (age * 2) VIRTUAL, kept TEXT AS (name || '!') STORED);
  CREATE TABLE orders (user_id INTEGER REFERENCES users (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED, n INTEGER, total REAL,
    PRIMARY KEY (user_id, n DESC)) WITHOUT ROWID, STRICT;
  CREATE TABLE any_type (a INT, b ANY) STRICT;
  CREATE UNIQUE INDEX partial ON orders (total DESC) WHERE total > 10;
  CREATE INDEX by_expression ON users (lower(name) COLLATE BINARY, age);
  CREATE TRIGGER on_insert AFTER INSERT ON orders WHEN NEW.total > 0 BEGIN
    UPDATE users SET age = age + 1 WHERE id = NEW.user_id; -- and;
    SELECT RAISE(ABORT, 'no; never') WHERE NEW.n < 0;
  END;
  CREATE TRIGGER of_column BEFORE UPDATE OF name, age ON users BEGIN SELECT 1; END;
  CREATE VIEW totals (who, total) AS WITH t AS (SELECT user_id, sum(total) AS s FROM orders GROUP BY 1) SELECT * FROM t -- all of them
  ;
  CREATE VIEW ends AS SELECT 1 AS one -- ends;
  ;
  CREATE TRIGGER instead INSTEAD OF INSERT ON totals BEGIN INSERT INTO orders VALUES (NEW.who, 1, NEW.total); END;
  CREATE VIRTUAL TABLE notes USING fts5(title, body, content='users', tokenize = 'trigram case_sensitive 0');
  CREATE VIRTUAL TABLE words USING fts5vocab(notes, row);
  CREATE VIRTUAL TABLE boxes USING rtree(id, a, b);
  CREATE TRIGGER indexed AFTER DELETE ON users BEGIN INSERT INTO notes (notes, rowid) VALUES ('delete', OLD.id); END;
  CREATE TABLE 注文 (番号 INTEGER PRIMARY KEY, 顧客 INTEGER REFERENCES users); CREATE INDEX 顧客別 ON 注文 (顧客) WHERE 番号 > 0;
  CREATE VIEW 一覧 AS SELECT 番号 AS "番 号" FROM 注文; CREATE TRIGGER 記録 AFTER INSERT ON 注文 BEGIN SELECT '記録'; END;
  CREATE TABLE "x""; DROP TABLE users; --" ("new\nline" TEXT, [in brackets], \`ticks\`); CREATE TABLE renamed (a);
  CREATE TRIGGER "tr'ig""ger" AFTER INSERT ON "x""; DROP TABLE users; --" BEGIN DELETE FROM "x""; DROP TABLE users; --"; END;
  ALTER TABLE renamed RENAME TO "re named"; ALTER TABLE "re named" ADD COLUMN later TEXT DEFAULT (1 + 1); ALTER TABLE "re named" RENAME a TO "b c"`;

let folder: string;
let source: Source | undefined;
const opened: DatabaseSync[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-sqlite-ddl-"));
});
afterEach(async () => {
  await source?.close?.();
  for (const database of opened.splice(0)) database.close();
  rmSync(folder, { recursive: true, force: true });
});

function make(sql: string, name: string): DatabaseSync {
  const database = new DatabaseSync(join(folder, name));
  opened.push(database);
  database.exec(sql);
  return database;
}

function schemaOf(database: DatabaseSync): readonly unknown[] {
  return database.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").all();
}

async function textAt(path: string, query: Readonly<Record<string, string>>): Promise<string> {
  const call: Call = { caller: { id: "test" }, signal: AbortSignal.timeout(10_000) };
  const [part] = (await source?.read({ path, query }, call)) ?? [];
  if (part === undefined || !("text" in part.body)) throw new Error("there is no text");
  return part.body.text;
}

it("makes the same schema, as a whole and table by table", async () => {
  const original = make(schema, "original.db");
  source = openSqlite(definition.options(z).parse({ path: join(folder, "original.db") }), createClock().runtime);
  expect(schemaOf(original).length).toBeGreaterThan(25);
  const whole = await textAt("overview", { format: "ddl" });
  expect(schemaOf(make(whole, "whole.db"))).toEqual(schemaOf(original));
  const { items } = await source.list({ limit: 100 }, { caller: { id: "test" }, signal: AbortSignal.timeout(10_000) });
  const parts = await Promise.all(
    items.filter(({ path }) => path.endsWith("/schema")).map(({ path }) => textAt(path, { format: "ddl" })),
  );
  expect(schemaOf(make(parts.join(""), "parts.db"))).toEqual(schemaOf(original));
  expect(JSON.parse(await textAt("totals/schema", {}))).toMatchObject({
    triggers: [{ name: "instead", definition: expect.stringContaining("INSTEAD OF INSERT ON totals") }],
  });
});

it("can be loaded if tables are excluded, though without checks and triggers", async () => {
  make('CREATE TABLE hidden (a); CREATE TABLE "order" ("group" INT PRIMARY KEY, "x y" TEXT)', "original.db");
  const options = definition.options(z).parse({ path: join(folder, "original.db"), tables: { exclude: ["hidden"] } });
  source = openSqlite(options, createClock().runtime);
  expect(schemaOf(make(await textAt("overview", { format: "ddl" }), "loaded.db"))).toMatchObject([
    { type: "index" },
    { type: "table", name: "order" },
  ]);
});

it("has no triggers if tables are excluded, because their text may name them", async () => {
  make(
    `CREATE TABLE shown (a); CREATE TABLE zqxhidden (a);
     CREATE TRIGGER copies AFTER INSERT ON shown BEGIN INSERT INTO zqxhidden VALUES (NEW.a); END`,
    "original.db",
  );
  const options = definition.options(z).parse({ path: join(folder, "original.db"), tables: { exclude: ["zqx*"] } });
  source = openSqlite(options, createClock().runtime);
  for (const path of ["shown/schema", "overview"])
    for (const format of ["ddl", "json", "markdown"])
      expect(await textAt(path, { format })).not.toMatch(/zqxhidden|copies/);
});

it("has no statements of indexes and no comments if tables are excluded, because their text may name them", async () => {
  make(
    "CREATE TABLE shown (a DEFAULT (1 /* zqxhidden */ + 1), b DEFAULT 7); CREATE TABLE zqxhidden (a); CREATE INDEX i ON shown (a) -- as zqxhidden",
    "original.db",
  );
  const options = definition.options(z).parse({ path: join(folder, "original.db"), tables: { exclude: ["zqx*"] } });
  source = openSqlite(options, createClock().runtime);
  for (const path of ["shown/schema", "overview"])
    for (const format of ["ddl", "json", "markdown"]) expect(await textAt(path, { format })).not.toContain("zqxhidden");
  expect(JSON.parse(await textAt("shown/schema", {}))).toMatchObject({
    columns: [{}, { default: "7" }],
    indexes: [{ name: "i", columns: ["a"] }],
  });
});

it("stays a comment if the name of a view has several lines", async () => {
  make(
    'CREATE TABLE hidden (a); CREATE TABLE shown (a); CREATE VIEW "v\r\n; DROP TABLE shown; --" AS SELECT 1',
    "original.db",
  );
  const options = definition.options(z).parse({ path: join(folder, "original.db"), tables: { exclude: ["hidden"] } });
  source = openSqlite(options, createClock().runtime);
  const loaded = make(await textAt("overview", { format: "ddl" }), "loaded.db");
  expect(schemaOf(loaded)).toMatchObject([{ name: "shown" }]);
});
