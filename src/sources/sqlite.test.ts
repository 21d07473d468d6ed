/** The SQLite source on real files: descriptions, hostile files, concurrent writers. */
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import { z } from "zod";
import { openPolicy } from "../access/policy.ts";
import { wait } from "../lib/wait.ts";
import { ResourceError } from "../errors.ts";
import type { Call } from "../resources.ts";
import { createResources } from "../router/create-resources.ts";
import type { Entry, Part, Source, SourceChange } from "../source.ts";
import { createClock } from "../testing/clock.ts";
import { sourceContract, sweepFaults } from "../testing/index.ts";
import { collectChanges } from "../testing/listen.ts";
import { asking, collect } from "../testing/pages.ts";
import { refusal } from "../testing/refusal.ts";
import definition, { openSqlite } from "./sqlite.ts";
import { createEngine } from "./sqlite/engine.ts";

type Options = Parameters<typeof definition.open>[0];

let folder: string;
let stop: AbortController;
const opened: Source[] = [];
const writers: DatabaseSync[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-sqlite-"));
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await Promise.all(opened.splice(0).map((source) => source.close?.()));
  for (const writer of writers.splice(0)) if (writer.isOpen) writer.close();
  rmSync(folder, { recursive: true, force: true });
});

const call = (): Call => ({ caller: { id: "test" }, signal: stop.signal });
const file = (name = "app.db") => join(folder, name);
const runtime = { env: process.env, now: Date.now, monotonicMs, wait, log: () => undefined };

/** Created, and left open for further writes. */
function make(sql: string, name?: string): DatabaseSync {
  const database = new DatabaseSync(file(name));
  writers.push(database);
  database.exec(sql);
  return database;
}

async function open(options: Partial<Options> = {}): Promise<Source> {
  const checked = definition.options(z).parse({ path: file(), ...options });
  const source = await definition.open(checked, runtime);
  opened.push(source);
  return source;
}

async function textAt(source: Source, path: string, query?: Record<string, string>): Promise<string> {
  const [part] = await source.read(query ? { path, query } : { path }, call());
  if (part === undefined || !("text" in part.body)) throw new Error("there is no text");
  return part.body.text;
}

async function jsonAt<T = Record<string, unknown>>(source: Source, path: string, query?: Record<string, string>) {
  return JSON.parse(await textAt(source, path, query)) as T;
}

async function listed(source: Source): Promise<string[]> {
  return (await collect<Entry>((cursor) => source.list(asking(3, cursor), call()))).map(({ path }) => path);
}

interface Rows {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly key?: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly cut?: readonly { readonly row: number; readonly column: string; readonly length: number }[];
  readonly next?: string;
  readonly more?: boolean;
}

/** The query of the next page. */
function nextOf(part: Part | undefined): string | undefined {
  return (part?.meta?.["pressmark/range"] as { readonly next?: string } | undefined)?.next;
}

/** All pages, one after the other. */
async function allRows(source: Source, path: string, limit: string): Promise<Rows["rows"]> {
  const rows: Readonly<Record<string, unknown>>[] = [];
  for (let after: string | undefined; ;) {
    const page: Rows = await jsonAt<Rows>(source, path, after === undefined ? { limit } : { limit, after });
    rows.push(...page.rows);
    if (page.next === undefined) return rows;
    after = page.next;
  }
}

async function kindsOf(source: Source): Promise<{ readonly message: string; readonly passing: boolean }> {
  const error = await refusal(source.list(asking(10), call()), ["unavailable"], "list");
  expect(error.message).not.toContain(folder);
  return { message: error.message, passing: error.passing };
}

async function askAll(source: Source): Promise<void> {
  for (const path of await listed(source)) await source.read({ path }, call());
  await source.stat?.({ path: "t/schema" }, call());
  await source.children?.({ path: "t" }, asking(10), call());
}

const hostileNames = [
  'x"; DROP TABLE users; --',
  "it's",
  "日本語の表",
  "🦊🚀",
  "～",
  "With Upper CASE",
  "a/b",
  "..",
  "100%",
  "overview",
  '"quoted"',
  "schema",
  "rows",
  "a.b",
  "new\nline",
];

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

const contractFolder = mkdtempSync(join(tmpdir(), "pressmark-sqlite-contract-"));
let writer: DatabaseSync | undefined;
afterAll(() => {
  writer?.close();
  rmSync(contractFolder, { recursive: true, force: true });
});
sourceContract("sqlite", {
  isShared: true,
  abilities: ["stat", "children", "templates", "complete", "listIndexed", "watch"],
  content: {
    overview: undefined,
    "users/schema": undefined,
    "users/rows": undefined,
    '"overview"/schema': undefined,
    "a\0b/schema": undefined,
    '".."/schema': undefined,
    "日本語の表/schema": undefined,
    "🦊🚀/schema": undefined,
    "～/schema": undefined,
  },
  async open() {
    const path = join(contractFolder, "app.db");
    if (!writer) {
      // It waits while the file is being read.
      writer = new DatabaseSync(path, { timeout: 20_000 });
      writer.exec(`CREATE TABLE users (id INTEGER PRIMARY KEY); INSERT INTO users VALUES (1), (2);
        ${hostileNames.map((name) => `CREATE TABLE ${quoted(name)} (x)`).join(";")}`);
    }
    const documents = [{ table: "users", title: "id", text: ["id"] }];
    return definition.open(definition.options(z).parse({ path, rows: true, documents, pollMs: 100 }), runtime);
  },
  change() {
    const { lastInsertRowid: id } = writer!.prepare("INSERT INTO users DEFAULT VALUES").run();
    return [
      { kind: "changed", path: "users/rows" },
      { kind: "appeared", path: `users/rows/${id}` },
    ];
  },
  expansions: [
    { at: { path: "users/schema", query: { format: "ddl" } }, text: "CREATE TABLE users (id INTEGER PRIMARY KEY);\n" },
    { at: { path: "users/rows/2", query: { as: "text" } }, text: "# 2\n\n2\n" },
  ],
  completions: [
    { template: "{table}/schema{?format}", variable: "table", value: "use", expected: "users" },
    { template: "{table}/schema{?format}", variable: "table", value: "over", expected: '"overview"' },
    { template: "{table}/schema{?format}", variable: "format", value: "d", expected: "ddl" },
    { template: "{table}/rows/{key}{?as,lines,bytes}", variable: "table", value: "us", expected: "users" },
    {
      template: "{table}/rows/{key}{?as,lines,bytes}",
      variable: "key",
      value: "",
      given: { table: "users" },
      expected: "2",
    },
  ],
});

describe("the description of a table", () => {
  it("has its columns, keys, indexes and the statement that created it", async () => {
    make(`CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'x', mail TEXT UNIQUE);
      CREATE TABLE orders (user_id INTEGER REFERENCES USERS(id) ON DELETE CASCADE, n INTEGER, total REAL,
        double REAL GENERATED ALWAYS AS (total * 2) VIRTUAL, kept TEXT AS (n || '') STORED, PRIMARY KEY (user_id, n)) WITHOUT ROWID, STRICT;
      CREATE INDEX by_total ON orders (total DESC) WHERE total > 0;
      ANALYZE; INSERT INTO users (name) VALUES ('a'), ('b'); ANALYZE;`);
    const source = await open();
    const orders = await jsonAt(source, "orders/schema");
    expect(orders).toMatchObject({
      database: "app.db",
      table: "orders",
      kind: "table",
      primaryKey: ["user_id", "n"],
      suffix: "WITHOUT ROWID, STRICT",
      foreignKeys: [{ columns: ["user_id"], references: { table: "users", columns: ["id"] }, onDelete: "CASCADE" }],
      indexes: [{ name: "by_total", unique: false, columns: ["total"] }],
    });
    expect(orders["columns"]).toEqual([
      { name: "user_id", type: "INTEGER", nullable: false },
      { name: "n", type: "INTEGER", nullable: false },
      { name: "total", type: "REAL", nullable: true },
      { name: "double", type: "REAL", nullable: true, generated: "…", stored: false },
      { name: "kept", type: "TEXT", nullable: true, generated: "…", stored: true },
    ]);
    expect(String(orders["definition"])).toContain("GENERATED ALWAYS AS (total * 2)");
    expect(await jsonAt(source, "users/schema")).toMatchObject({
      rowEstimate: 2,
      constraints: [{ kind: "unique", columns: ["mail"] }],
      referencedBy: [{ table: "orders", columns: ["user_id"], to: ["id"] }],
    });
    const [part] = await source.read({ path: "orders/schema" }, call());
    expect(part?.mimeType).toBe("application/json;format=Pressmark::DatabaseSchema");
  });

  it("is also DDL and Markdown, and nothing else", async () => {
    make("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT); CREATE INDEX by_name ON users (name)");
    const source = await open();
    expect(await textAt(source, "users/schema", { format: "ddl" })).toBe(
      "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT);\nCREATE INDEX by_name ON users (name);\n",
    );
    expect(await textAt(source, "users/schema", { format: "markdown" })).toContain("| `name` | `TEXT` |");
    await refusal(source.read({ path: "users/schema", query: { format: "xml" } }, call()), ["invalid"], "xml");
  });

  it("is in the overview with a diagram of relations", async () => {
    make(`CREATE TABLE users (id INTEGER PRIMARY KEY);
      CREATE TABLE "my orders" (id INTEGER PRIMARY KEY, "who's" INTEGER NOT NULL REFERENCES users(id));
      CREATE VIEW big AS SELECT * FROM users`);
    const source = await open();
    const overview = await textAt(source, "overview");
    expect(overview).toContain("2 tables, 1 view.");
    expect(overview).toContain('users ||--o{ t0 : "who\'s"');
    expect(overview).toContain('t0["my orders"] {\n    INTEGER id PK\n    INTEGER who_s FK "who\'s"\n  }');
    expect(await jsonAt(source, "overview", { format: "json" })).toMatchObject({ database: "app.db", leftOut: 0 });
    expect(await textAt(source, "overview", { format: "ddl" })).toContain("CREATE VIEW big AS");
  });

  it("omits SQLite's own tables, and the tables behind virtual ones", async () => {
    make(`CREATE TABLE users (id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO users DEFAULT VALUES; ANALYZE;
      CREATE VIRTUAL TABLE notes USING fts5(body); CREATE VIRTUAL TABLE boxes USING rtree(id, a, b);
      CREATE TABLE notes_extra (x); INSERT INTO notes VALUES ('a');`);
    const source = await open({ rows: true });
    expect(await listed(source)).toEqual(
      ["boxes", "notes", "notes_extra", "overview", "users"].flatMap((name) =>
        name === "overview" ? [name] : [`${name}/rows`, `${name}/schema`],
      ),
    );
    await refusal(source.read({ path: "notes_data/schema" }, call()), ["not-found"], "notes_data");
    await refusal(source.read({ path: "sqlite_schema/rows" }, call()), ["not-found"], "sqlite_schema");
    await refusal(source.read({ path: "USERS/schema" }, call()), ["not-found"], "another spelling");
    expect((await jsonAt<Rows>(source, "notes/rows")).rows).toEqual([{ body: "a" }]);
  });

  it("is found and read back through URIs, whatever the names", async () => {
    for (const [index, name] of hostileNames.entries()) {
      const table = quoted(name);
      make(`CREATE TABLE ${table} (${table} TEXT PRIMARY KEY); INSERT INTO ${table} VALUES ('here ${index}')`).close();
    }
    const source = await open({ rows: true });
    const pressmark = createResources({
      mounts: [{ name: "db", base: "sqlite://app.db/", source }],
      policy: openPolicy,
      runtime: createClock().runtime,
      cursorKey: new Uint8Array(32),
    });
    const { items } = await pressmark.list({}, call());
    expect(items).toHaveLength(2 * hostileNames.length + 1);
    for (const { uri } of items) expect((await pressmark.read(uri, call())).contents).toHaveLength(1);
    for (const [index, name] of hostileNames.entries()) {
      const own = items.find(({ title }) => title === `Rows of app.db.${name}`);
      const { contents } = await pressmark.read(own?.uri ?? "", call());
      const [text] = contents.map(({ body }) => ("text" in body ? body.text : ""));
      expect((JSON.parse(text ?? "{}") as Rows).rows).toEqual([{ [name]: `here ${index}` }]);
    }
    await pressmark.close();
  });
});

describe("rows", () => {
  it("are not served by default", async () => {
    make("CREATE TABLE users (id INTEGER PRIMARY KEY); CREATE TABLE other (x)");
    const source = await open();
    expect(await listed(source)).toEqual(["other/schema", "overview", "users/schema"]);
    await refusal(source.read({ path: "users/rows" }, call()), ["not-found"], "rows");
    const some = await open({ rows: ["us*"] });
    expect(await listed(some)).toEqual(["other/schema", "overview", "users/rows", "users/schema"]);
    await refusal(some.read({ path: "other/rows" }, call()), ["not-found"], "rows");
  });

  it("come page by page, each once, whatever the key of the table", async () => {
    const tables = {
      numbered: "(v)",
      "integer key": "(id INTEGER PRIMARY KEY, v)",
      "text key": "(v TEXT PRIMARY KEY) WITHOUT ROWID",
      "key of two columns": "(v TEXT, w INT DEFAULT 1, PRIMARY KEY (w, v)) WITHOUT ROWID",
      "columns that take the names of the number": "(rowid TEXT, oid TEXT, v)",
    };
    const values = Array.from({ length: 23 }, (_, at) => `value ${at} 'x' ～`);
    const database = make("");
    for (const [name, columns] of Object.entries(tables)) {
      database.exec(`CREATE TABLE "${name}" ${columns}`);
      const insert = database.prepare(`INSERT INTO "${name}" (v) VALUES (?)`);
      for (const value of values) insert.run(value);
    }
    const source = await open({ rows: true });
    for (const name of Object.keys(tables)) {
      const path = `${name}/rows`;
      const rows = await allRows(source, path, "5");
      expect(rows.map(({ v }) => v).sort(), name).toEqual(values.toSorted());
      const [part] = await source.read({ path, query: { limit: "5" } }, call());
      const query = Object.fromEntries(new URLSearchParams(nextOf(part)));
      expect((await jsonAt<Rows>(source, path, query)).rows, name).toEqual(rows.slice(5, 10));
    }
  });

  it("have JSON values by type, cut if long, and bytes as base64", async () => {
    const database = make("CREATE TABLE t (id INTEGER PRIMARY KEY, v)");
    const insert = database.prepare("INSERT INTO t (v) VALUES (?)");
    for (const value of [
      null,
      1.5,
      2n ** 62n,
      "text",
      new Uint8Array([0, 255]),
      "x".repeat(20_000),
      new Uint8Array(20_000),
    ])
      insert.run(value);
    const { rows, cut } = await jsonAt<Rows>(await open({ rows: true }), "t/rows");
    expect(rows.slice(0, 5).map(({ v }) => v)).toEqual([null, 1.5, String(2n ** 62n), "text", { base64: "AP8=" }]);
    expect(rows[5]?.["v"]).toBe("x".repeat(10_000));
    expect(cut).toEqual([
      { row: 5, column: "v", length: 20_000 },
      { row: 6, column: "v", length: 20_000 },
    ]);
  });

  it("stop at the limits for rows and bytes, and continue behind them", async () => {
    const database = make("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)");
    for (let index = 0; index < 10; index += 1) database.prepare("INSERT INTO t (v) VALUES (?)").run("y".repeat(900));
    const source = await open({ rows: true, maxBytes: 2048, maxRows: 4 });
    expect((await jsonAt<Rows>(source, "t/rows", { limit: "1000" })).rows).toHaveLength(2);
    expect(await allRows(source, "t/rows", "1000")).toHaveLength(10);
    const wide = await open({ rows: true, maxRows: 4 });
    expect((await jsonAt<Rows>(wide, "t/rows", { limit: "1000" })).rows).toHaveLength(4);
  });

  it("are found by their key, and an invalid key is rejected", async () => {
    make("CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (7, 'seven')");
    const source = await open({ rows: true });
    expect((await jsonAt<Rows>(source, "t/rows", { key: "7" })).rows).toEqual([{ id: 7, v: "seven" }]);
    await refusal(source.read({ path: "t/rows", query: { key: "8" } }, call()), ["not-found"], "8");
    for (const after of [
      "",
      "x' OR 1=1",
      "~e30",
      "~W10",
      `~${Buffer.from('["1","2"]').toString("base64url")}`,
      "9".repeat(30),
    ])
      await refusal(source.read({ path: "t/rows", query: { after } }, call()), ["invalid"], after);
    for (const limit of ["0", "-1", "x", "1e3", "1; DROP TABLE t"])
      await refusal(source.read({ path: "t/rows", query: { limit } }, call()), ["invalid"], limit);
  });

  it("of a view are the first ones, and it is reported that there are more", async () => {
    make("CREATE TABLE t (v); INSERT INTO t VALUES (1), (2), (3); CREATE VIEW w AS SELECT v FROM t");
    const page = await jsonAt<Rows>(await open({ rows: true }), "w/rows", { limit: "2" });
    expect(page).toMatchObject({ rows: [{ v: 1 }, { v: 2 }], more: true });
    expect(page.next).toBeUndefined();
  });
});

describe("an allow-list", () => {
  const secret = "zqxhidden";
  const schema = `
    CREATE TABLE users (id INTEGER PRIMARY KEY, boss INTEGER REFERENCES ${secret}_people(id));
    CREATE TABLE ${secret}_people (id INTEGER PRIMARY KEY, "user" INTEGER REFERENCES users(id));
    CREATE VIEW joined AS SELECT u.id FROM users u JOIN ${secret}_people p ON p.id = u.boss;
    INSERT INTO users VALUES (1, NULL); INSERT INTO ${secret}_people VALUES (1, 1)`;

  it.each([
    ["an exclusion", { exclude: [`${secret}*`] }],
    ["an inclusion", { include: ["users", "joined"] }],
  ])("applies to every operation, as %s", async (_, tables) => {
    make(schema);
    const source = await open({ rows: true, tables });
    const given: unknown[] = [];
    for (const entry of await collect<Entry>((cursor) => source.list(asking(2, cursor), call()))) {
      given.push(entry, await source.stat?.(entry, call()), await source.read(entry, call()));
      for (const format of ["ddl", "markdown", "json"])
        if (!entry.path.endsWith("rows")) given.push(await textAt(source, entry.path, { format }));
    }
    given.push(await source.children?.({ path: "" }, asking(100), call()));
    for (const template of source.templates ?? [])
      given.push(await source.complete?.({ template, variable: "table", value: "", given: {} }, call()));
    expect(given.length).toBeGreaterThan(10);
    expect(JSON.stringify(given)).not.toContain(secret);
    expect(JSON.stringify(given)).toContain("users");
    for (const path of [`${secret}_people`, `${secret}_people/schema`, `${secret}_people/rows`])
      for (const requested of [
        () => source.read({ path }, call()),
        () => source.stat?.({ path }, call()) ?? Promise.resolve(),
        () => source.children?.({ path }, asking(1), call()) ?? Promise.resolve(),
      ])
        await refusal(requested(), ["not-found"], path);
  });

  it("is the same for lists, reads and completion, whatever the patterns", async () => {
    const names = ["alpha", "beta", "Beta", "al/pha", "日本", "a.b", "x*y", "[z]"];
    make(
      names
        .map((name) => `CREATE TABLE ${quoted(`${name}`)} (x)`)
        .slice(0, 2)
        .join(";"),
    );
    for (const name of names.slice(3)) writers[0]?.exec(`CREATE TABLE ${quoted(name)} (x)`);
    const pattern = fc.constantFrom(
      "*",
      "a*",
      "?eta",
      "{alpha,beta}",
      "[a-b]*",
      "日*",
      "a.b",
      "al/pha",
      "\\[z]",
      "nothing",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(pattern, { maxLength: 2 }),
        fc.array(pattern, { maxLength: 2 }),
        async (include, exclude) => {
          const source = await open({ tables: { include, exclude } });
          const paths = (await listed(source)).filter((path) => path !== "overview");
          const readable: string[] = [];
          const children = (await source.children?.({ path: "" }, asking(100), call()))?.items ?? [];
          for (const name of names) {
            const path = `${name.replaceAll("/", "\0")}/schema`;
            const isThere = await source.read({ path }, call()).then(
              () => true,
              () => false,
            );
            if (isThere) readable.push(path);
          }
          expect([...paths].sort()).toEqual(readable.sort());
          expect(children.filter(({ path }) => path !== "overview")).toHaveLength(paths.length);
          await source.close?.();
        },
      ),
      { numRuns: 8 },
    );
  });
});

describe("a concurrent writer", () => {
  it("is read consistently, including the write-ahead log", async () => {
    const database = make(
      "PRAGMA journal_mode = WAL; CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 'a')",
    );
    const source = await open({ rows: true });
    expect((await jsonAt<Rows>(source, "t/rows")).rows).toEqual([{ id: 1, v: "a" }]);
    database.exec("BEGIN; INSERT INTO t VALUES (2, 'not yet')");
    expect((await jsonAt<Rows>(source, "t/rows")).rows).toHaveLength(1);
    database.exec("COMMIT");
    expect((await jsonAt<Rows>(source, "t/rows")).rows).toHaveLength(2);
    expect(statSync(`${file()}-wal`).size).toBeGreaterThan(0);
  });

  it("has its file unchanged by us", async () => {
    make("CREATE TABLE t (v); CREATE VIEW w AS SELECT v FROM t").close();
    const before = statSync(file(), { bigint: true });
    const source = await open({ rows: true });
    for (const path of await listed(source)) await source.read({ path }, call());
    expect(statSync(file(), { bigint: true }).mtimeNs).toBe(before.mtimeNs);
    expect(readdirSync(folder)).toEqual(["app.db"]);
  });

  it("that replaces the file is noticed at the next call", async () => {
    make("CREATE TABLE old (v)").close();
    const source = await open();
    expect(await listed(source)).toEqual(["old/schema", "overview"]);
    make("CREATE TABLE young (v)", "next.db").close();
    renameSync(file("next.db"), file());
    expect(await listed(source)).toEqual(["overview", "young/schema"]);
  });

  it("is reported: rows, added and removed tables, and a replaced file", async () => {
    const database = make("PRAGMA journal_mode = WAL; CREATE TABLE t (v)");
    const source = await open({ rows: true, pollMs: 100 });
    const { until } = collectChanges((await source.watch?.(call())) as AsyncIterable<SourceChange>);
    const given = (kind: SourceChange["kind"], path: string) =>
      until((change) => change.kind === kind && "path" in change && change.path === path, `${kind} ${path}`);
    database.exec("INSERT INTO t VALUES (1)");
    await given("changed", "t/rows");
    database.exec("CREATE TABLE u (v)");
    await given("appeared", "u/schema");
    await given("appeared", "u");
    await given("changed", "overview");
    database.exec("ALTER TABLE t ADD COLUMN w");
    await given("changed", "t/schema");
    database.exec("DROP TABLE u");
    await given("gone", "u/rows");
    database.close();
    make("CREATE TABLE another (v)", "next.db").close();
    for (const name of ["app.db-wal", "app.db-shm"]) rmSync(file(name), { force: true });
    renameSync(file("next.db"), file());
    await given("appeared", "another/schema");
  });
});

describe("an unusable file", () => {
  it("that is missing does not stop the start, and is served once it exists", async () => {
    const source = await open();
    expect(await kindsOf(source)).toMatchObject({ passing: true });
    make("CREATE TABLE t (v)");
    expect(await listed(source)).toEqual(["overview", "t/schema"]);
  });

  it("that is no database, empty, truncated or scrambled is rejected with an error", async () => {
    writeFileSync(file(), "no database at all, ".repeat(100));
    expect((await kindsOf(await open())).message).toContain("not an SQLite database");
    make("CREATE TABLE t (v); INSERT INTO t VALUES (zeroblob(100000))", "cut.db").close();
    truncateSync(file("cut.db"), 6000);
    const cut = await open({ path: file("cut.db"), rows: true });
    await refusal(cut.read({ path: "t/rows" }, call()), ["unavailable"], "cut");
    writeFileSync(file("empty.db"), "");
    expect(await listed(await open({ path: file("empty.db") }))).toEqual(["overview"]);
    mkdirSync(file("folder.db"));
    expect((await kindsOf(await open({ path: file("folder.db") }))).passing).toBe(false);
  });

  it("with flipped bytes never crashes the server", async () => {
    const database = make(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); CREATE INDEX i ON t (v); CREATE VIEW w AS SELECT * FROM t",
    );
    for (let index = 0; index < 200; index += 1)
      database.prepare("INSERT INTO t (v) VALUES (?)").run(`value ${index}`.repeat(10));
    const bytes = Buffer.from(database.serialize());
    const source = await open({ path: file("hostile.db"), rows: true });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 40 }),
        async (turned) => {
          const hostile = Buffer.from(bytes);
          for (const [at, byte] of turned) hostile[at] = byte;
          // As another file: that is noticed at the next call.
          writeFileSync(file("new.db"), hostile);
          renameSync(file("new.db"), file("hostile.db"));
          for (const request of [
            () => source.list(asking(10), call()),
            () => source.read({ path: "t/rows" }, call()),
            () => source.read({ path: "w/rows" }, call()),
            () => source.read({ path: "overview" }, call()),
          ])
            await request().catch((cause: unknown) => {
              if (!(cause instanceof ResourceError)) throw cause;
            });
        },
      ),
      { numRuns: 10 },
    );
  }, 120_000);

  it("with an endless view hits the time limit, and the rest is served meanwhile and afterwards", async () => {
    make(`CREATE TABLE t (v); INSERT INTO t VALUES (1);
      CREATE VIEW bomb AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS c FROM n`);
    // Long enough to start another process, even on a busy machine.
    const source = await open({ rows: true, timeoutMs: 3000 });
    const bombed = refusal(source.read({ path: "bomb/rows" }, call()), ["unavailable"], "bomb");
    expect(await listed(source)).toContain("bomb/schema");
    expect((await bombed).message).toContain("3000 ms");
    expect((await jsonAt<Rows>(source, "t/rows")).rows).toEqual([{ v: 1 }]);
    expect(await textAt(source, "bomb/schema", { format: "ddl" })).toContain("RECURSIVE");
  });

  it("with a view that needs all memory is rejected", async () => {
    make("CREATE VIEW huge AS SELECT hex(zeroblob(400000000)) AS h");
    const source = await open({ rows: true, timeoutMs: 1000 });
    await refusal(source.read({ path: "huge/rows" }, call()), ["too-large", "unavailable"], "huge");
  });

  it("cannot load or write anything through its schema", async () => {
    make(`CREATE TABLE t (v);
      CREATE VIEW loads AS SELECT load_extension('/tmp/none') AS x; CREATE VIEW attached AS SELECT * FROM t;
      CREATE TRIGGER kept INSTEAD OF INSERT ON attached BEGIN INSERT INTO t VALUES (1); END`);
    const source = await open({ rows: true });
    await refusal(source.read({ path: "loads/rows" }, call()), ["unsupported", "unexpected"], "loads");
    expect((await jsonAt<Rows>(source, "attached/rows")).rows).toEqual([]);
  });

  it("in a folder without shared memory is read only as immutable", async () => {
    const database = make("CREATE TABLE t (v); PRAGMA journal_mode = WAL; CREATE TABLE in_the_log (v)");
    for (const ending of ["", "-wal"]) copyFileSync(file() + ending, file("sealed.db") + ending);
    database.close();
    // Root can open every folder; a dangling link blocks everyone.
    symlinkSync(file("nowhere/at-all"), file("sealed.db-shm"));
    expect((await kindsOf(await open({ path: file("sealed.db") }))).message).toContain("immutable");
    const sealed = await open({ path: file("sealed.db"), immutable: true });
    expect(await listed(sealed)).toEqual(["overview", "t/schema"]);
  });
});

it("a thousand tables are listed with one query per page", async () => {
  make(`BEGIN; ${Array.from({ length: 1000 }, (_, index) => `CREATE TABLE t${index} (v)`).join(";")}; COMMIT`);
  const source = await open();
  expect(await collect<Entry>((cursor) => source.list(asking(100, cursor), call()))).toHaveLength(1001);
});

it("returns or throws a ResourceError when any query to the file fails, and works again afterwards", async () => {
  make("CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1); CREATE VIEW w AS SELECT * FROM t");
  const options = definition.options(z).parse({ path: file(), rows: true });
  const shared = createEngine({ path: file(), immutable: false, allow: { rows: true, isFlat: true }, timeoutMs: 5000 });
  const failed = await sweepFaults({
    // One process for all runs.
    open: () => ({ ...shared, close: () => Promise.resolve() }),
    async run(engine) {
      opened.push(engineSource(engine));
      await askAll(opened.at(-1) as Source);
    },
    recovered: () => askAll(opened.at(-1) as Source),
    faults: [() => new ResourceError("unavailable", "the file is gone")],
  });
  await shared.close();
  expect(failed).toBeGreaterThan(5);

  function engineSource(engine: ReturnType<typeof createEngine>): Source {
    return openSqlite(options, runtime, () => engine);
  }
});

it("keeps no program running, and lets none end before it is closed", () => {
  make("CREATE TABLE t (v)").close();
  const program = `
    import { openSqlite } from ${JSON.stringify(new URL("./sqlite.ts", import.meta.url).href)};
    const options = { path: ${JSON.stringify(file())}, immutable: false, rows: true, maxRows: 1, maxBytes: 1024, pollMs: 1000, timeoutMs: 5000 };
    const call = { caller: { id: "x" }, signal: new AbortController().signal };
    const left = openSqlite(options, {});
    await left.list({ limit: 1 }, call);
    const closed = openSqlite(options, {});
    await closed.list({ limit: 1 }, call);
    await closed.close();
    console.log("closed");`;
  const { stdout, status } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  expect([stdout, status]).toEqual(["closed\n", 0]);
});
