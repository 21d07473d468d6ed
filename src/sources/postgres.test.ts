/** The PostgreSQL source on real servers, Debian's and the npm package's: descriptions, hidden tables, and lost servers. */
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import { z } from "zod";
import { flavours, missingFor, type PostgresServer, startPostgres } from "../../test/live/postgres.ts";
import { openPolicy } from "../access/policy.ts";
import { ResourceError } from "../errors.ts";
import type { Call, Change } from "../resources.ts";
import { createResources } from "../router/create-resources.ts";
import { type Entry, type Part, type Source, type SourceChange, toSourceHits, type Runtime } from "../source.ts";
import { sourceContract, sweepFaults } from "../testing/index.ts";
import { collectChanges } from "../testing/listen.ts";
import { asking, collect } from "../testing/pages.ts";
import { refusal } from "../testing/refusal.ts";
import definition, { openPostgres } from "./postgres.ts";
import { type PostgresConnection, createConnection } from "./postgres/connection.ts";
import { ddlTests } from "./postgres/test-ddl.ts";

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
  "functions",
  '"quoted"',
  "schema",
  "rows",
  "a.b",
  "new\nline",
  "\\",
  "$1",
  "x".repeat(63),
];
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

const shop = `
  CREATE TYPE mood AS ENUM ('glad', 'sad');
  COMMENT ON TYPE mood IS 'how it goes';
  CREATE TABLE users (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL DEFAULT 'x', mood mood, mail text UNIQUE,
    upper_name text GENERATED ALWAYS AS (upper(name)) STORED);
  COMMENT ON TABLE users IS 'people | who buy';
  COMMENT ON COLUMN users.mail IS 'where to write';
  CREATE TABLE orders (user_id bigint REFERENCES users ON DELETE CASCADE, n int, total numeric(10, 2) CHECK (total > 0),
    tags text[], doc jsonb, bytes bytea, at timestamptz, big bigint, PRIMARY KEY (user_id, n));
  CREATE INDEX by_total ON orders (total DESC) WHERE total > 10;
  CREATE TABLE logs (line text);
  CREATE TABLE events (day date NOT NULL, what text) PARTITION BY RANGE (day);
  CREATE TABLE events_2026 PARTITION OF events FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
  CREATE VIEW sums AS SELECT user_id, sum(total) AS total FROM orders GROUP BY user_id;
  CREATE FUNCTION add(a int, b int DEFAULT 2) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT a + b';
  CREATE FUNCTION add(a text) RETURNS text LANGUAGE sql AS 'SELECT a';
  CREATE SCHEMA audit; COMMENT ON SCHEMA audit IS 'who did what';
  CREATE TABLE audit.trail (id int PRIMARY KEY, who bigint REFERENCES public.users);
  INSERT INTO users (name, mail) SELECT 'user ' || g, 'u' || g || '@example.org' FROM generate_series(1, 25) g;
  INSERT INTO orders SELECT g, 1, 12.5, ARRAY['a', 'b'], '{"a": [1, 2]}', '\\x00ff', '2026-11-15 08:00:00+09', 9007199254740993
    FROM generate_series(1, 25) g;
  INSERT INTO logs SELECT 'line ' || g FROM generate_series(1, 23) g;
  INSERT INTO events SELECT '2026-01-01'::date + g, 'e' || g FROM generate_series(1, 23) g;
  CREATE MATERIALIZED VIEW kept AS SELECT id, name FROM users;
  ANALYZE;`;

const runtime: Runtime = {
  env: process.env,
  now: () => Date.now(),
  monotonicMs,
  wait: (ms, signal) =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      };
      const timer = setTimeout(() => {
        signal.removeEventListener("abort", leave);
        resolve();
      }, ms);
      signal.addEventListener("abort", leave, { once: true });
    }),
  log: () => undefined,
};

type Settings = Readonly<Record<string, unknown>> & { readonly url: string };

let stop: AbortController;
const opened: Source[] = [];
beforeEach(() => {
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await Promise.all(opened.splice(0).map((source) => source.close?.()));
});
const call = (): Call => ({ caller: { id: "test" }, signal: stop.signal });

function open(settings: Settings, connect?: typeof createConnection): Source {
  const source = openPostgres(definition.options(z).parse(settings), runtime, connect);
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

async function entriesOf(source: Source, limit = 100): Promise<Entry[]> {
  return collect<Entry>((cursor) => source.list(asking(limit, cursor), call()));
}

const listed = async (source: Source) => (await entriesOf(source)).map(({ path }) => path);

interface Rows {
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

async function allRows(source: Source, path: string, limit: string): Promise<Rows["rows"]> {
  const rows: Readonly<Record<string, unknown>>[] = [];
  for (let after: string | undefined; ;) {
    const page: Rows = await jsonAt<Rows>(source, path, after === undefined ? { limit } : { limit, after });
    rows.push(...page.rows);
    if (page.next === undefined) return rows;
    after = page.next;
  }
}

/** The output of every possible call, errors included. */
async function everything(source: Source, more: readonly string[] = []): Promise<string> {
  const given: unknown[] = [];
  const request = async (requested: Promise<unknown> | undefined) =>
    given.push(
      await requested?.catch((cause: unknown) => [
        String(cause),
        cause instanceof Error ? String(cause.cause) : "",
        cause,
      ]),
    );
  const entries = await entriesOf(source).catch(() => []);
  given.push(entries);
  await request(source.list(asking(1000), call()));
  for (const path of ["", ...new Set(entries.map(({ path: each }) => each.slice(0, each.lastIndexOf("/"))))])
    await request(source.children?.({ path }, asking(1000), call()));
  for (const path of [...entries.map((entry) => entry.path), ...more]) {
    await request(source.read({ path }, call()));
    await request(source.stat?.({ path }, call()));
    for (const format of ["ddl", "markdown", "json"]) await request(source.read({ path, query: { format } }, call()));
    await request(source.read({ path, query: { after: "1" } }, call()));
  }
  for (const template of source.templates ?? [])
    for (const variable of ["schema", "table", "name"])
      for (const value of ["", "s", "hid"]) {
        await request(source.complete?.({ template, variable, value, given: {} }, call()));
        await request(source.complete?.({ template, variable, value, given: { schema: "public" } }, call()));
      }
  await request(source.search?.({ text: "user", limit: 100 }, call()));
  await request(source.problems?.(call()));
  return JSON.stringify([source.templates, given]);
}

async function askAll(source: Source): Promise<void> {
  for (const path of await listed(source)) await source.read({ path }, call());
  await source.stat?.({ path: "t/schema" }, call());
  await source.children?.({ path: "public" }, asking(10), call());
  await source.problems?.(call());
}

/** A mount with every option enabled. */
function watchful(url: string) {
  const fullText = [{ table: "users", columns: ["name"] }];
  return definition.options(z).parse({ url, rows: true, timeoutMs: 1000, fullText });
}

async function refused(url: string, kinds: readonly ("denied" | "unavailable")[]): Promise<string> {
  return (await refusal(open({ url }).list(asking(1), call()), kinds, "list")).message;
}

/** The text around an unwanted string; empty if it does not occur. */
function around(text: string, unwanted: string): string {
  const at = text.indexOf(unwanted);
  return at < 0 ? "" : text.slice(Math.max(0, at - 200), at + 100);
}

for (const flavour of flavours)
  describe.skipIf(missingFor(flavour))(`PostgreSQL of ${flavour} (${missingFor(flavour) ?? "real"})`, () => {
    let server: PostgresServer;
    let role = 0;
    beforeAll(async () => {
      server = await startPostgres(flavour);
      for (const sql of [
        "CREATE DATABASE shop",
        "CREATE DATABASE names",
        "CREATE ROLE reader LOGIN PASSWORD 'reads-only'",
      ])
        await server.run("postgres", sql);
      await server.run(
        "shop",
        `${shop}; GRANT USAGE ON SCHEMA public, audit TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA public, audit TO reader;
         REVOKE CREATE ON SCHEMA public FROM PUBLIC`,
      );
      await server.run(
        "names",
        hostileNames.map((name) => `CREATE TABLE ${quoted(name)} (${quoted(name)} text PRIMARY KEY)`).join(";"),
      );
    }, 60_000);
    afterAll(async () => await server?.close(), 60_000);

    const inShop = (settings: Readonly<Record<string, unknown>> = {}, connect?: typeof createConnection) =>
      open({ url: server.url("shop", "reader", "reads-only"), ...settings }, connect);

    /** A new database, named after its purpose. */
    async function fresh(sql: string): Promise<string> {
      role += 1;
      const name = `fresh_${role}`;
      await server.run("postgres", `CREATE DATABASE ${name}`);
      await server.run(name, sql);
      return server.url(name);
    }

    // Promises that do not depend on the version of the server are tested with one.
    const isLast = flavour === flavours.findLast((each) => !missingFor(each));

    let contractUrl: string | undefined;
    let contractTables = 0;
    const hasDocuments = flavour === "npm";
    sourceContract("postgres", {
      isShared: true,
      abilities: [
        ...(["stat", "children", "templates", "complete", "search", "watch"] as const),
        ...(hasDocuments ? (["listIndexed"] as const) : []),
      ],
      content: {
        "audit/overview": undefined,
        "audit/trail/schema": undefined,
        "public/types": undefined,
        "public/functions/add": undefined,
        "public/overview": undefined,
        "public/users/schema": undefined,
        "public/users/rows": undefined,
        "public/sums/schema": undefined,
      },
      async open() {
        contractUrl ??= await fresh(shop);
        const options = {
          url: contractUrl,
          rows: true,
          fullText: [{ table: "users", columns: ["name"] }],
          ...(hasDocuments && { documents: [{ table: "users", title: "name", text: ["name", "mail"] }] }),
          pollMs: 100,
        };
        return openPostgres(definition.options(z).parse(options), runtime);
      },
      async change() {
        contractTables += 1;
        await server.run(new URL(contractUrl!).pathname.slice(1), `CREATE TABLE watched_${contractTables} (x int)`);
        const appeared = { kind: "appeared", path: `public/watched_${contractTables}/schema` } as const;
        if (!hasDocuments) return [appeared];
        await server.run(new URL(contractUrl!).pathname.slice(1), "UPDATE users SET mood = 'glad' WHERE id = 7");
        return [appeared, { kind: "changed", path: "public/users/rows/7" }];
      },
      expansions: [
        {
          at: { path: "logs/schema", query: { format: "ddl" } },
          text: "CREATE TABLE public.logs (\n  line text\n);\n",
        },
      ],
      completions: [
        { template: "{schema}/{table}/schema{?format}", variable: "schema", value: "au", expected: "audit" },
        {
          template: "{schema}/{table}/schema{?format}",
          variable: "table",
          value: "tr",
          given: { schema: "audit" },
          expected: "trail",
        },
        {
          template: "{schema}/functions/{name}{?format}",
          variable: "name",
          value: "",
          given: { schema: "public" },
          expected: "add",
        },
      ],
      findable: { text: "user", path: hasDocuments ? "public/users/rows/1" : "public/users/rows" },
    });

    describe("the description of tables", () => {
      it("has columns, keys, references, indexes, comments, owner, estimate and definition", async () => {
        const source = inShop();
        expect(await jsonAt(source, "public/users/schema")).toEqual({
          database: "shop",
          schema: "public",
          table: "users",
          kind: "table",
          owner: "postgres",
          comment: "people | who buy",
          rowEstimate: 25,
          columns: [
            { name: "id", type: "bigint", nullable: false, identity: "always" },
            { name: "name", type: "text", nullable: false, default: "'x'::text" },
            { name: "mood", type: "public.mood", nullable: true },
            { name: "mail", type: "text", nullable: true, comment: "where to write" },
            { name: "upper_name", type: "text", nullable: true, generated: "upper(name)", stored: true },
          ],
          primaryKey: ["id"],
          constraints: [{ name: "users_mail_key", kind: "unique", columns: ["mail"], definition: "UNIQUE (mail)" }],
          foreignKeys: [],
          referencedBy: [
            { schema: "audit", table: "trail", columns: ["who"], to: ["id"] },
            { schema: "public", table: "orders", columns: ["user_id"], to: ["id"] },
          ],
          indexes: [],
          grants: ["GRANT SELECT ON TABLE public.users TO reader"],
          definition: expect.stringContaining(
            "CREATE TABLE public.users (\n  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,",
          ),
        });
        expect(await textAt(source, "public/orders/schema", { format: "ddl" })).toBe(
          `CREATE TABLE public.orders (
  user_id bigint NOT NULL,
  n integer NOT NULL,
  total numeric(10,2),
  tags text[],
  doc jsonb,
  bytes bytea,
  at timestamp with time zone,
  big bigint,
  CONSTRAINT orders_pkey PRIMARY KEY (user_id, n),
  CONSTRAINT orders_total_check CHECK (total > 0::numeric),
  CONSTRAINT orders_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE
);
CREATE INDEX by_total ON public.orders USING btree (total DESC) WHERE (total > (10)::numeric);
GRANT SELECT ON TABLE public.orders TO reader;
`,
        );
        const [part] = await source.read({ path: "public/sums/schema" }, call());
        expect(part?.mimeType).toBe("application/json;format=Pressmark::DatabaseSchema");
        expect(await textAt(source, "public/sums/schema", { format: "ddl" })).toContain("CREATE VIEW public.sums AS");
        expect(await textAt(source, "public/events/schema", { format: "ddl" })).toContain(
          ") PARTITION BY RANGE (day);",
        );
        await refusal(source.read({ path: "public/events_2026/schema" }, call()), ["not-found"], "a partition");
      });

      it("is the same without a schema, which is then public, and never shows more than with it", async () => {
        const source = inShop();
        expect(await textAt(source, "users/schema")).toBe(await textAt(source, "public/users/schema"));
        expect(await source.stat?.({ path: "users/schema" }, call())).toMatchObject({
          path: "users/schema",
          reveals: { path: "public/users/schema" },
        });
        const [part] = await source.read({ path: "users/schema" }, call());
        expect(part?.reveals).toEqual({ path: "public/users/schema" });
        expect(await listed(source)).not.toContain("users/schema");
        await refusal(source.read({ path: "trail/schema" }, call()), ["not-found"], "of another schema");
      });

      it("is in the overview, with a diagram", async () => {
        const overview = await textAt(inShop(), "public/overview");
        expect(overview).toContain("# shop: public");
        expect(overview).toContain("4 tables, 2 views, 1 type, 1 function.");
        expect(overview).toContain('  users ||--o{ orders : "user\\_id"'.replace("\\", ""));
        expect(overview).toContain("people \\| who buy");
        expect(overview).toContain("- `mood`: `glad`, `sad` – how it goes");
        expect(await jsonAt(inShop(), "audit/overview", { format: "json" })).toMatchObject({
          schema: "audit",
          comment: "who did what",
          leftOut: 0,
        });
      });

      it("is accompanied by types and by functions with their overloads", async () => {
        const source = inShop();
        expect(await jsonAt(source, "public/types")).toMatchObject({
          types: [{ name: "mood", kind: "enum", values: ["glad", "sad"], comment: "how it goes" }],
        });
        expect(await textAt(source, "public/types", { format: "ddl" })).toBe(
          "CREATE TYPE public.mood AS ENUM ('glad', 'sad');\nCOMMENT ON TYPE public.mood IS 'how it goes';\n",
        );
        const { functions } = await jsonAt<{ functions: readonly { arguments: string }[] }>(
          source,
          "public/functions/add",
        );
        expect(functions.map((each) => each.arguments)).toEqual(["a integer, b integer DEFAULT 2", "a text"]);
        expect(await textAt(source, "public/functions/add", { format: "ddl" })).toContain(
          "CREATE OR REPLACE FUNCTION public.add(",
        );
        await refusal(source.read({ path: "audit/types" }, call()), ["not-found"], "no types");
      });

      it("is found and read back through URIs, whatever the names", async () => {
        const source = open({ url: server.url("names"), rows: true });
        for (const name of hostileNames)
          await server.run("names", `INSERT INTO ${quoted(name)} VALUES ('here') ON CONFLICT DO NOTHING`);
        const pressmark = createResources({
          mounts: [{ name: "db", base: definition.base?.({ url: server.url("names") } as never) ?? "", source }],
          policy: openPolicy,
          runtime,
          cursorKey: new Uint8Array(32),
        });
        const { items } = await pressmark.list({}, call());
        expect(items).toHaveLength(2 * hostileNames.length + 1);
        for (const { uri } of items) expect((await pressmark.read(uri, call())).contents).toHaveLength(1);
        for (const name of hostileNames) {
          const own = items.find(({ title }) => title === `Rows of names.public.${name}`);
          const { contents } = await pressmark.read(own?.uri ?? "", call());
          const [text] = contents.map(({ body }) => ("text" in body ? body.text : ""));
          expect((JSON.parse(text ?? "{}") as Rows).rows).toEqual([{ [name]: "here" }]);
        }
        await refusal(source.read({ path: `public/${"x".repeat(64)}/schema` }, call()), ["not-found"], "cut to 63");
        await pressmark.close();
      });
    });

    describe("rows", () => {
      it("are not served by default", async () => {
        const none = inShop();
        expect((await listed(none)).filter((path) => path.endsWith("rows"))).toEqual([]);
        await refusal(none.read({ path: "public/users/rows" }, call()), ["not-found"], "rows");
        const some = inShop({ rows: ["audit.*", "us*"] });
        expect((await listed(some)).filter((path) => path.endsWith("rows"))).toEqual([
          "audit/trail/rows",
          "public/users/rows",
        ]);
        await refusal(some.read({ path: "public/orders/rows" }, call()), ["not-found"], "rows");
      });

      it.each([
        ["one column", "users", 25],
        ["two columns", "orders", 25],
        ["no key at all", "logs", 23],
        ["no key, in parts", "events", 23],
        ["no key, kept from a query", "kept", 25],
      ])("of a table with a key of %s come page by page, each once", async (_, table, count) => {
        const source = inShop({ rows: true });
        const rows = await allRows(source, `public/${table}/rows`, "4");
        expect(new Set(rows.map((row) => JSON.stringify(row))).size).toBe(count);
        const [part] = await source.read({ path: `public/${table}/rows`, query: { limit: "4" } }, call());
        const query = Object.fromEntries(new URLSearchParams(nextOf(part)));
        expect((await jsonAt<Rows>(source, `public/${table}/rows`, query)).rows).toEqual(rows.slice(4, 8));
      });

      it("have JSON values by type", async () => {
        const { rows, key } = await jsonAt<Rows>(inShop({ rows: true }), "public/orders/rows", { limit: "1" });
        expect(key).toEqual(["user_id", "n"]);
        expect(rows).toEqual([
          {
            user_id: 1,
            n: 1,
            total: "12.50",
            tags: ["a", "b"],
            doc: { a: [1, 2] },
            bytes: { base64: "AP8=" },
            at: "2026-11-14 23:00:00+00",
            big: "9007199254740993",
          },
        ]);
      });

      it("are cut if they are long, by value and by page, before they leave the server", async () => {
        const url = await fresh(`CREATE TABLE t (id int PRIMARY KEY, v text, b bytea);
          INSERT INTO t SELECT g, repeat('y', 20000), decode(repeat('00', 20000), 'hex') FROM generate_series(1, 9) g`);
        const source = open({ url, rows: true, maxBytes: 50_000 });
        const { rows, cut } = await jsonAt<Rows>(source, "public/t/rows");
        expect(rows).toHaveLength(2);
        expect(rows[0]?.["v"]).toBe("y".repeat(10_000));
        expect(cut).toContainEqual({ row: 0, column: "b", length: 20_000 });
        expect(await allRows(source, "public/t/rows", "100")).toHaveLength(9);
        expect((await jsonAt<Rows>(open({ url, rows: true, maxBytes: 1024 }), "public/t/rows")).rows).toHaveLength(1);
      });

      it("are in key order even if its type and operators are user-defined", async () => {
        const url = await fresh(`CREATE SCHEMA types; CREATE EXTENSION citext SCHEMA types;
          CREATE TABLE t (a types.citext, b int, PRIMARY KEY (a, b)); CREATE TABLE one (a types.citext PRIMARY KEY);
          INSERT INTO one VALUES ('B'), ('a'), ('C'), ('d'); INSERT INTO t SELECT a, g FROM one, generate_series(1, 3) g`);
        const source = open({ url, rows: true });
        expect((await allRows(source, "public/one/rows", "1")).map(({ a }) => a)).toEqual(["a", "B", "C", "d"]);
        const rows = (await allRows(source, "public/t/rows", "2")).map(({ a, b }) => `${String(a)}${String(b)}`);
        expect(rows).toEqual(["a", "B", "C", "d"].flatMap((a) => [1, 2, 3].map((b) => `${a}${b}`)));
        expect((await jsonAt<Rows>(source, "public/one/rows", { key: "c" })).rows).toEqual([{ a: "C" }]);
      });

      it("are found by their key, and an invalid key is rejected", async () => {
        const source = inShop({ rows: true });
        expect((await jsonAt<Rows>(source, "public/users/rows", { key: "7" })).rows).toMatchObject([{ id: 7 }]);
        await refusal(source.read({ path: "public/users/rows", query: { key: "700" } }, call()), ["not-found"], "700");
        for (const after of [
          "",
          "x'",
          "1; DROP TABLE users",
          "~e30",
          `~${Buffer.from('["1","2"]').toString("base64url")}`,
        ])
          await refusal(source.read({ path: "public/users/rows", query: { after } }, call()), ["invalid"], after);
        for (const limit of ["0", "-1", "1e3", "all"])
          await refusal(source.read({ path: "public/users/rows", query: { limit } }, call()), ["invalid"], limit);
        await refusal(
          source.read({ path: "public/users/rows", query: { where: "1=1" } }, call()),
          ["not-found"],
          "where",
        );
      });

      it("of a view are the first ones, and it is reported that there are more", async () => {
        const page = await jsonAt<Rows>(inShop({ rows: true }), "public/sums/rows", { limit: "2" });
        expect(page).toMatchObject({ more: true });
        expect(page.rows).toHaveLength(2);
        expect(page.next).toBeUndefined();
      });

      it("contain only the columns that the role may read", async () => {
        const url =
          await fresh(`CREATE TABLE t (id int PRIMARY KEY, open text, closed text); INSERT INTO t VALUES (1, 'o', 'c');
          GRANT USAGE ON SCHEMA public TO reader; GRANT SELECT (id, open) ON t TO reader; CREATE TABLE unseen (x int)`);
        const source = open({ url: url.replace(/\/\/[^@]*@/, "//reader:reads-only@"), rows: true });
        expect((await jsonAt<Rows>(source, "public/t/rows")).rows).toEqual([{ id: 1, open: "o" }]);
        expect(await listed(source)).toEqual(["public/overview", "public/t/rows", "public/t/schema"]);
      });

      it("are searched by the database itself in the configured columns", async () => {
        const url = await fresh(`CREATE TABLE notes (id int PRIMARY KEY, title text, body text, secret text);
          INSERT INTO notes VALUES (1, 'Gardens', 'Many gardens are <b>walled</b>.', 'zebra'), (2, 'Walls', NULL, 'zebra'),
            (3, 'A payment by post', '${"filler ".repeat(200)} 返金 invoice', 'zebra')`);
        const source = open({
          url,
          rows: true,
          fullText: [{ table: "notes", columns: ["title", "body"], config: "english" }],
        });
        const { hits } = toSourceHits(await source.search!({ text: "garden", limit: 10 }, call()));
        expect(hits).toHaveLength(1);
        expect(hits[0]?.entry).toMatchObject({ path: "public/notes/rows", query: { key: "1" } });
        const { snippet = "", marks = [] } = hits[0] ?? {};
        expect(marks.map(([from, to]) => snippet.slice(from, to).toLowerCase())).toEqual(["gardens", "gardens"]);
        expect(await source.search?.({ text: "wall", limit: 10 }, call())).toHaveLength(2);
        expect(await source.search?.({ text: "zebra", limit: 10 }, call())).toEqual([]);
        expect(await source.search?.({ text: "wall", limit: 10, within: "public/other" }, call())).toEqual([]);
        expect(() => open({ url, rows: ["other"], fullText: [{ table: "notes", columns: ["title"] }] })).toThrow(
          /"rows"/,
        );
        // The third row has all words, too far apart for a snippet.
        const isMatch = async (text: string) =>
          toSourceHits(await source.search!({ text, limit: 1 }, call())).hits.map((hit) => hit.isMatch);
        for (const text of ["payment invoice", "the payments of invoices", '"by post" invoice', "返金 payment"])
          expect([text, await isMatch(text)]).toEqual([text, [true]]);
        // The database ignores a word, or reads the text in another way.
        for (const text of [
          "down payment",
          "payment or zebra",
          "payment -zebra",
          "payment - zebra",
          'post "by invoice',
        ])
          expect([text, await isMatch(text)]).toEqual([text, [undefined]]);
      });
    });

    describe("an allow-list", () => {
      const hidden = "zqxhidden";
      const schema = `
        CREATE SCHEMA ${hidden}_s; CREATE TYPE ${hidden}_s.kind AS ENUM ('a');
        CREATE TABLE ${hidden}_people (id serial PRIMARY KEY, name text);
        CREATE FUNCTION ${hidden}_s.number() RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
        CREATE TABLE users (id int PRIMARY KEY DEFAULT nextval('${hidden}_people_id_seq'), boss int REFERENCES ${hidden}_people,
          kind ${hidden}_s.kind DEFAULT 'a', one int DEFAULT ${hidden}_s.number(), person ${hidden}_people, people ${hidden}_people[],
          CHECK (boss > ${hidden}_s.number()));
        CREATE INDEX by_number ON users ((id + ${hidden}_s.number()));
        ALTER TABLE ${hidden}_people ADD COLUMN "user" int REFERENCES users;
        CREATE TABLE ${hidden}_s.inner (id int PRIMARY KEY, "user" int REFERENCES users);
        CREATE VIEW joined AS SELECT u.id FROM users u LEFT JOIN ${hidden}_people p ON p.id = u.boss;
        CREATE VIEW plain AS SELECT id FROM users;
        CREATE VIEW over_view AS SELECT * FROM joined;
        CREATE FUNCTION reads_it() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM ${hidden}_people';
        CREATE FUNCTION takes_it(x ${hidden}_s.kind) RETURNS int LANGUAGE sql AS 'SELECT 1';
        CREATE POLICY own ON users USING (EXISTS (SELECT FROM ${hidden}_people)); COMMENT ON POLICY own ON users IS 'zqx-policy';
        CREATE FUNCTION ${hidden}_s.noting() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
        CREATE FUNCTION noting() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
        CREATE TRIGGER elsewhere AFTER INSERT ON users EXECUTE FUNCTION ${hidden}_s.noting();
        CREATE TRIGGER with_text AFTER INSERT ON users EXECUTE FUNCTION noting('${hidden}_people');
        CREATE TRIGGER shown AFTER INSERT ON users EXECUTE FUNCTION noting();
        CREATE RULE copied AS ON DELETE TO users DO ALSO DELETE FROM ${hidden}_people;
        CREATE STATISTICS together ON one, (id + ${hidden}_s.number()) FROM users;
        CREATE TABLE child (own int) INHERITS (${hidden}_people); CREATE SEQUENCE ${hidden}_numbers;
        CREATE TABLE parts (id int) PARTITION BY LIST (id); CREATE TABLE ${hidden}_part PARTITION OF parts FOR VALUES IN (1);
        CREATE TABLE tree (id int PRIMARY KEY) PARTITION BY LIST (id); CREATE TABLE ${hidden}_mid PARTITION OF tree DEFAULT PARTITION BY LIST (id);
        CREATE TABLE leaf PARTITION OF ${hidden}_mid FOR VALUES IN (1); CREATE INDEX on_tree ON tree ((id + 1));
        CREATE TYPE pair AS (a ${hidden}_people); CREATE DOMAIN of_kind AS ${hidden}_s.kind; CREATE TYPE fine AS ENUM ('a');
        CREATE DOMAIN checked AS int CHECK (VALUE > ${hidden}_s.number());
        CREATE VIEW ruled AS SELECT id FROM users; CREATE RULE also AS ON INSERT TO ruled DO INSTEAD INSERT INTO ${hidden}_people (name) VALUES ('x');
        INSERT INTO users (id) VALUES (1); INSERT INTO ${hidden}_people (name) VALUES ('p')`;
      const secretPaths = [
        `public/${hidden}_people`,
        `public/${hidden}_people/schema`,
        `${hidden}_people/rows`,
        `${hidden}_s`,
        `${hidden}_s/overview`,
        `${hidden}_s/inner/schema`,
      ];

      let hidingUrl: string | undefined;
      const allowLists = [
        ["exclusion", { tables: { exclude: [`*${hidden}*`, `${hidden}_s.*`] }, schemas: ["public"] }],
        ["inclusion", { tables: { include: ["public.users", "public.joined", "public.plain", "public.over_view"] } }],
        ["schemas alone", { schemas: ["public"], tables: { exclude: [`${hidden}_*`] }, functions: "signatures" }],
      ] as const;
      it.each(isLast ? allowLists : allowLists.slice(0, 1))("applies to every operation, as %s", async (_, allowed) => {
        hidingUrl ??= await fresh(schema);
        const source = open({ url: hidingUrl, rows: ["public.users", "public.plain", `*${hidden}*`], ...allowed });
        const given = await everything(source);
        expect(around(given, hidden)).toBe("");
        expect(around(given, "zqx-policy")).toBe("");
        expect(await textAt(source, "public/users/schema", { format: "ddl" })).toContain("CREATE TRIGGER shown");
        expect(given).toContain("public/users/schema");
        expect(await textAt(source, "public/plain/schema", { format: "ddl" })).toContain("FROM public.users");
        const isNamed = "include" in allowed.tables;
        if (isNamed)
          expect(await textAt(source, "public/joined/schema", { format: "ddl" })).toContain(
            "names what is not served here",
          );
        for (const path of [...secretPaths, ...(isNamed ? [] : ["public/joined/schema", "public/over_view/schema"])])
          for (const requested of [
            () => source.read({ path }, call()),
            () => source.stat?.({ path }, call()) ?? Promise.resolve(),
            () => source.children?.({ path }, asking(1), call()) ?? Promise.resolve(),
          ])
            await refusal(requested(), ["not-found"], path);
      });

      it("applies to watches", async () => {
        const url = await fresh("CREATE TABLE users (id int); CREATE TABLE zqxhidden (id int)");
        const source = open({ url, rows: true, tables: { exclude: ["zqx*"] }, listen: "rows", pollMs: 100 });
        const { heard, until } = collectChanges((await source.watch?.(call())) as AsyncIterable<SourceChange>);
        const name = new URL(url).pathname.slice(1);
        await server.run(
          name,
          "ALTER TABLE zqxhidden ADD COLUMN x int; NOTIFY rows, 'zqxhidden'; CREATE TABLE zqx_more (x int)",
        );
        await server.run(name, "NOTIFY rows, 'users'; ALTER TABLE users ADD COLUMN x int");
        await until((change) => change.kind === "changed" && change.path === "public/users/schema", "the last change");
        expect(JSON.stringify(heard)).not.toContain("zqx");
      });

      it.runIf(isLast)("is the same for lists, reads, directories and completion, whatever the patterns", async () => {
        const tables = ["alpha", "beta", "Beta", "al/pha", "日本", "x*y", "[z]"];
        const url = await fresh(
          `CREATE SCHEMA other; ${["public", "other"].flatMap((each) => tables.map((name) => `CREATE TABLE ${each}.${quoted(name)} (x int)`)).join(";")}`,
        );
        const pattern = fc.constantFrom(
          "*",
          "a*",
          "?eta",
          "{alpha,beta}",
          "other.*",
          "public.[a-b]*",
          "o*.日*",
          "al/pha",
          "*.\\[z]",
          "none.*",
        );
        await fc.assert(
          fc.asyncProperty(
            fc.option(fc.array(fc.constantFrom("*", "public", "o*", "none"), { maxLength: 2 }), { nil: undefined }),
            fc.option(fc.array(pattern, { maxLength: 2 }), { nil: undefined }),
            fc.array(pattern, { maxLength: 1 }),
            async (schemas, include, exclude) => {
              const source = open({
                url,
                tables: { ...(include && { include }), exclude },
                ...(schemas && { schemas }),
              });
              const definitions = (await entriesOf(source, 3))
                .map(({ path }) => path)
                .filter((path) => path.endsWith("/schema"));
              const readable: string[] = [];
              for (const each of ["public", "other"])
                for (const name of tables) {
                  const path = `${each}/${name.replaceAll("/", "\0")}/schema`;
                  const isThere = await source.read({ path }, call()).then(
                    () => true,
                    () => false,
                  );
                  if (isThere) readable.push(path);
                }
              expect([...definitions].sort()).toEqual(readable.sort());
              const template = source.templates![0]!;
              const suggested =
                (await source.complete?.(
                  { template, variable: "table", value: "", given: { schema: "other" } },
                  call(),
                )) ?? [];
              expect(suggested).toHaveLength(readable.filter((path) => path.startsWith("other/")).length);
              await source.close?.();
            },
          ),
          { numRuns: 12 },
        );
      });
    });

    describe("a hostile database", () => {
      it("never causes a write: not by a view, not by a function, and not in the next query", async () => {
        const url = await fresh(`CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE trace (x text);
          CREATE FUNCTION evil() RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.trace VALUES ('x'); RETURN 1; END $$;
          CREATE FUNCTION turn() RETURNS text LANGUAGE sql AS $$ SELECT set_config('default_transaction_read_only', 'off', false) $$;
          CREATE VIEW writes AS SELECT evil() AS x; CREATE VIEW turns AS SELECT turn() AS x`);
        const source = open({ url, rows: true, maxConnections: 1 });
        await refusal(source.read({ path: "public/writes/rows" }, call()), ["unsupported"], "writes");
        await source.read({ path: "public/turns/rows" }, call());
        await refusal(source.read({ path: "public/writes/rows" }, call()), ["unsupported"], "writes");
        expect((await jsonAt<Rows>(source, "public/trace/rows")).rows).toEqual([]);
      });

      it("cannot replace built-in operators and functions by its own", async () => {
        const url =
          await fresh(`CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'a'); CREATE TABLE trace (x text);
          CREATE FUNCTION public.left(text, int) RETURNS text LANGUAGE sql AS $$ SELECT 'hijacked' $$;
          CREATE FUNCTION public.obj_description(oid, name) RETURNS text LANGUAGE sql AS $$ SELECT 'hijacked' $$;
          ALTER DATABASE ${`fresh_${role + 1}`} SET search_path = public, pg_catalog`);
        expect(await everything(open({ url, rows: true }))).not.toContain('"hijacked"');
      });

      it.runIf(isLast)("that is slow hits the time limit, and others are served meanwhile", async () => {
        const url = await fresh("CREATE TABLE t (id int); CREATE VIEW sleeps AS SELECT pg_sleep(60)::text AS x");
        const source = open({ url, rows: true, timeoutMs: 300 });
        const slow = refusal(source.read({ path: "public/sleeps/rows" }, call()), ["unavailable"], "sleeps");
        expect(await listed(source)).toContain("public/sleeps/schema");
        const error = await slow;
        expect(error).toMatchObject({ passing: false, message: expect.stringContaining("300 ms") });
      });

      it("is stopped when the caller cancels, and the connection is released", async () => {
        const url = await fresh("CREATE VIEW sleeps AS SELECT pg_sleep(60)::text AS x; CREATE TABLE t (id int)");
        const source = open({ url, rows: true, timeoutMs: 30_000, maxConnections: 1 });
        await listed(source);
        const leaving = new AbortController();
        const requested = source.read({ path: "public/sleeps/rows" }, { caller: { id: "x" }, signal: leaving.signal });
        const watcher = await server.connect("postgres");
        const sleeping =
          "SELECT 1 FROM pg_stat_activity WHERE query LIKE '%\"sleeps\"%' AND state = 'active' AND pid <> pg_backend_pid()";
        while ((await watcher.query(sleeping)).rowCount === 0);
        leaving.abort();
        await refusal(requested, ["cancelled"], "left");
        // With only one connection, this completes only after the other query has ended.
        expect(await listed(source)).toContain("public/t/schema");
        expect((await watcher.query(sleeping)).rowCount).toBe(0);
        await watcher.end();
      });

      it.runIf(isLast)("that holds a lock is not waited for without end", async () => {
        const url = await fresh("CREATE TABLE t (id int PRIMARY KEY)");
        const locker = await server.connect(new URL(url).pathname.slice(1));
        await locker.query("BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE");
        const source = open({ url, rows: true, timeoutMs: 400 });
        await refusal(source.read({ path: "public/t/rows" }, call()), ["unavailable"], "locked");
        await locker.query("ROLLBACK");
        await locker.end();
        expect((await jsonAt<Rows>(source, "public/t/rows")).rows).toEqual([]);
      });
    });

    describe("changes", () => {
      it("of tables, functions, types and schemas are reported, and nothing that stays the same", async () => {
        const url =
          await fresh(`CREATE TABLE t (id int); CREATE TABLE same (id int); CREATE TABLE base (id int PRIMARY KEY);
          CREATE TABLE child (base int REFERENCES base); CREATE VIEW seen AS SELECT id FROM base`);
        const name = new URL(url).pathname.slice(1);
        const source = open({ url, rows: true, pollMs: 100 });
        const { heard, until } = collectChanges((await source.watch?.(call())) as AsyncIterable<SourceChange>);
        const given = (kind: SourceChange["kind"], path: string) =>
          until((change) => change.kind === kind && "path" in change && change.path === path, `${kind} ${path}`);
        await server.run(name, "CREATE TABLE u (id int)");
        for (const path of ["public/u", "public/u/schema", "public/u/rows"]) await given("appeared", path);
        await given("changed", "public/overview");
        await server.run(name, "COMMENT ON COLUMN t.id IS 'said later'");
        await given("changed", "public/t/schema");
        await server.run(
          name,
          "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE TYPE mood AS ENUM ('a')",
        );
        await given("appeared", "public/functions/f");
        await given("appeared", "public/types");
        await server.run(
          name,
          "CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 2'; ALTER TYPE mood ADD VALUE 'b'",
        );
        await given("changed", "public/functions/f");
        await given("changed", "public/types");
        await server.run(name, "ALTER TABLE base RENAME TO other_base");
        await given("gone", "public/base/schema");
        for (const path of ["public/child/schema", "public/seen/schema"]) await given("changed", path);
        await server.run(name, "DROP TABLE u; CREATE SCHEMA more");
        await given("gone", "public/u/schema");
        await given("appeared", "more/overview");
        expect(heard.filter((change) => "path" in change && change.path.includes("same"))).toEqual([]);
      });

      it("of rows are reported through the configured channel", async () => {
        const url = await fresh('CREATE TABLE t (id int); CREATE SCHEMA s; CREATE TABLE s."T u" (id int)');
        const name = new URL(url).pathname.slice(1);
        const source = open({ url, rows: true, listen: 'Row "changes"', pollMs: 60_000 });
        const { heard, until } = collectChanges((await source.watch?.(call())) as AsyncIterable<SourceChange>);
        const tell = (payload: string) => server.run(name, `NOTIFY "Row ""changes""", '${payload}'`);
        for (const payload of ["nonsense", "{}", "{broken", "other.t"]) await tell(payload);
        await tell("t");
        await until((change) => "path" in change && change.path === "public/t/rows", "t");
        await tell("s.T u");
        await until((change) => "path" in change && change.path === "s/T u/rows", "T u");
        await tell('{"schema":"s","table":"T u"}');
        await tell("");
        await until((change) => change.kind === "lost", "that anything may have changed");
        expect(heard).toHaveLength(6);
      });
    });

    it.runIf(isLast)("a thousand tables are listed with one statement per page, whatever the page size", async () => {
      const url = await fresh(
        `CREATE SCHEMA many; DO $$ BEGIN FOR i IN 1..1000 LOOP EXECUTE 'CREATE TABLE many.t' || i || ' (id int PRIMARY KEY)'; END LOOP; END $$`,
      );
      let requested = 0;
      const counting: typeof createConnection = (options) => {
        const connection = createConnection(options);
        return { ...connection, query: (...query) => ((requested += 1), connection.query(...query)) };
      };
      for (const [settings, limit] of [
        [{}, 100],
        [{}, 999],
        [{ tables: { include: ["many.t*"] } }, 100],
        [{ schemas: ["many"] }, 100],
      ] as const) {
        const source = open({ url, ...settings }, counting);
        requested = 0;
        let pages = 0;
        const entries = await collect<Entry>((cursor) => ((pages += 1), source.list(asking(limit, cursor), call())));
        expect(entries.filter(({ path }) => path.startsWith("many/t"))).toHaveLength(1000);
        expect(requested).toBe(pages);
        requested = 0;
        const children = await source.children?.({ path: "many" }, asking(100), call());
        expect(children?.items).toHaveLength(100);
        // Whether the directory exists, and its content.
        expect(requested).toBe(2);
      }
    });

    it.runIf(isLast)(
      "returns or throws a ResourceError when any statement fails, and works again afterwards",
      async () => {
        const url = await fresh(
          "CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1); CREATE TYPE m AS ENUM ('a')",
        );
        const options = definition.options(z).parse({ url, rows: true });
        const failed = await sweepFaults<PostgresConnection>({
          open: () =>
            createConnection({
              target: { ...parse(url), sslmode: "disable" },
              tls: [false],
              timeoutMs: 5000,
              maxConnections: 2,
            }),
          async run(connection) {
            const source = openPostgres(options, runtime, () => connection);
            opened.push(source);
            await askAll(source);
          },
          recovered: () => askAll(opened.at(-1) as Source),
          faults: [() => new ResourceError("unavailable", "the server is gone")],
        });
        expect(failed).toBeGreaterThan(8);
      },
    );

    describe("a secret", () => {
      it.runIf(isLast).each([
        ["a server that answers", () => server.url("shop")],
        ["a wrong password", () => server.url("shop", "postgres", `${server.password}-wrong`)],
        ["no such database", () => server.url("no-such-database")],
        ["no such user", () => server.url("shop", "no-such-user")],
        ["no server", () => server.url("shop").replace(String(server.port), "1")],
        ["no TLS", () => `${server.url("shop")}?sslmode=require`],
      ])("appears in no output: no list, no content, no error, no log (%s)", async (_, urlOf) => {
        const url = urlOf();
        const logged: unknown[] = [];
        const source = openPostgres(watchful(url), { ...runtime, log: (...given) => void logged.push(given) });
        opened.push(source);
        expect(await everything(source, ["public/users/schema", "no/such/schema"])).not.toContain(server.password);
        const watched = await source.watch?.(call()).catch((cause: unknown) => cause);
        const given = [watched, String(watched), definition.base?.(watchful(url)), logged];
        expect(JSON.stringify(given)).not.toContain(server.password);
        expect(definition.base?.(watchful(server.url("shop")))).toBe(`postgres://127.0.0.1:${server.port}/shop/`);
      });

      it("that is wrong, and an invalid address, are rejected with advice", async () => {
        expect(await refused(server.url("shop", "postgres", "wrong"), ["denied"])).toContain('check "url"');
        expect(await refused(server.url("nowhere"), ["unavailable"])).toContain("no such database");
        expect(await refused(server.url("shop").replace(/:[^:@]*@/, "@"), ["denied"])).toContain("requires a password");
        expect(await refused(server.url("shop").replace(String(server.port), "1"), ["unavailable"])).toContain(
          "check that it runs",
        );
        expect(await refused(`${server.url("shop")}?sslmode=require`, ["unavailable"])).toContain(
          "does not support TLS",
        );
      });
    });

    it("is checked: a role that can write is reported, one that only reads is not", async () => {
      const superuser = (await open({ url: server.url("shop") }).problems?.(call())) ?? [];
      expect(superuser).toMatchObject([{ says: expect.stringContaining("superuser") }]);
      expect(await inShop().problems?.(call())).toEqual([]);
      await server.run("shop", "GRANT INSERT ON logs TO reader");
      expect(await inShop().problems?.(call())).toMatchObject([{ says: expect.stringContaining("could write") }]);
      await server.run("shop", "REVOKE INSERT ON logs FROM reader");
    });

    ddlTests(() => server);

    // Last: the server is stopped.
    it("serves again after the server was restarted, and watches report possibly lost changes", async () => {
      const url = server.url("shop");
      const source = open({ url, rows: true, pollMs: 100, listen: "rows" });
      const pressmark = createResources({
        mounts: [{ name: "db", base: "postgres://h/shop/", source }],
        policy: openPolicy,
        runtime,
        cursorKey: new Uint8Array(32),
      });
      const uri = "postgres://h/shop/public/logs/rows";
      const { until } = collectChanges<Change>(await pressmark.watch({ uris: [uri], list: true }, call()));
      expect(await listed(source)).toContain("public/logs/schema");
      for (const how of ["fast", "immediate"] as const) {
        await server.stop(how);
        await refusal(source.list(asking(1), call()), ["unavailable"], how);
        await server.start();
        expect(await listed(source)).toContain("public/logs/schema");
        expect((await jsonAt<Rows>(source, "public/logs/rows")).rows).not.toHaveLength(0);
      }
      await until((change) => change.kind === "list-changed", "that anything may be another");
      await until((change) => change.kind === "updated", "that the rows may be others");
      await pressmark.close();
    });
  });

function parse(url: string) {
  const { port, pathname, username, password } = new URL(url);
  return { host: "127.0.0.1", port: Number(port), database: pathname.slice(1), user: username, password };
}
