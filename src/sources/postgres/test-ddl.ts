/** Tests of DDL on a real server, which the caller starts. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { PostgresServer } from "../../../test/live/postgres.ts";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import { wait } from "../../lib/wait.ts";
import type { Call } from "../../resources.ts";
import type { Runtime, Source, SourceChange } from "../../source.ts";
import { collectChanges } from "../../testing/listen.ts";
import definition, { openPostgres } from "../postgres.ts";
import { postgresPath } from "./addresses.ts";
import { fullSchema, hostileSchema, hostileSchemaName, roles, surroundings } from "./test-schema.ts";

const runtime: Runtime = {
  env: {},
  now: () => Date.now(),
  monotonicMs,
  // Polls often: each change is waited for.
  wait: (_, signal) => wait(5, signal),
  log: () => undefined,
};

async function withSource<T>(url: string, use: (source: Source, call: Call) => Promise<T>): Promise<T> {
  const source = openPostgres(definition.options(z).parse({ url }), runtime);
  const stop = new AbortController();
  try {
    return await use(source, { caller: { id: "test" }, signal: stop.signal });
  } finally {
    stop.abort();
    await source.close?.();
  }
}

async function textAt(source: Source, call: Call, path: string, format: string): Promise<string> {
  const [part] = await source.read({ path, query: { format } }, call);
  if (part === undefined || !("text" in part.body)) throw new Error("there is no text");
  return part.body.text;
}

function schemaTexts(server: PostgresServer, database: string): Promise<readonly string[]> {
  const schemas = ["public", hostileSchemaName];
  return withSource(server.url(database), (source, call) =>
    Promise.all(schemas.map((schema) => textAt(source, call, postgresPath({ kind: "overview", schema }), "ddl"))),
  );
}

/** The statements of a dump, sorted, without comments and settings. */
async function dump({ bin, port, password }: PostgresServer, database: string): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)(
    join(bin, "pg_dump"),
    ["--schema-only", "-h", "127.0.0.1", "-p", String(port), "-U", "postgres", database],
    { env: { PGPASSWORD: password }, maxBuffer: 16 * 1024 * 1024 },
  );
  return stdout
    .split("\n")
    .filter((line) => !/^(?:--|SET |SELECT pg_catalog\.set_config|\\(?:un)?restrict )/.test(line))
    .join("\n")
    .split(/;\n\s*/)
    .map((statement) => statement.trim())
    .sort();
}

/** Each changes the description of the table `t`. */
const changes = [
  "CREATE POLICY own ON t USING (id > 0)",
  "ALTER POLICY own ON t USING (id > 1)",
  "COMMENT ON POLICY own ON t IS 'policy'",
  "ALTER TABLE t ENABLE ROW LEVEL SECURITY",
  "ALTER TABLE t FORCE ROW LEVEL SECURITY",
  "CREATE TRIGGER noted AFTER INSERT ON t EXECUTE FUNCTION note()",
  "ALTER TABLE t DISABLE TRIGGER noted",
  "COMMENT ON TRIGGER noted ON t IS 'trigger'",
  "ALTER FUNCTION note RENAME TO noting",
  "CREATE RULE kept AS ON DELETE TO t DO INSTEAD NOTHING",
  "COMMENT ON RULE kept ON t IS 'rule'",
  "CREATE STATISTICS together ON id, name FROM t",
  "COMMENT ON STATISTICS together IS 'statistics'",
  "COMMENT ON INDEX t_pkey IS 'index'",
  "COMMENT ON CONSTRAINT t_pkey ON t IS 'constraint'",
  "ALTER SEQUENCE t_id_seq INCREMENT BY 2",
  "ALTER TABLE t SET (fillfactor = 50)",
  "ALTER TABLE t REPLICA IDENTITY FULL",
  "ALTER TABLE t SET UNLOGGED",
  "ALTER TABLE t INHERIT parent",
  "GRANT SELECT (id) ON t TO PUBLIC",
];

function isOf(path: string): (change: SourceChange) => boolean {
  return (change) => "path" in change && change.path === path;
}

/** The database `original` is created by the first test. */
export function ddlTests(serverOf: () => PostgresServer): void {
  describe("the DDL", () => {
    it("of a schema, loaded into an empty database, makes the same schema", async () => {
      const server = serverOf();
      await server.run("postgres", roles);
      for (const name of ["original", "loaded"]) {
        await server.run("postgres", `CREATE DATABASE ${name}`);
        await server.run(name, surroundings);
      }
      await server.run("original", `${fullSchema}; ${hostileSchema}`);
      const texts = await schemaTexts(server, "original");
      for (const text of texts) await server.run("loaded", text);
      expect(await schemaTexts(server, "loaded")).toEqual(texts);
      // The npm package has a server, and no pg_dump.
      if (!existsSync(join(server.bin, "pg_dump"))) return;
      const [original, loaded] = await Promise.all([dump(server, "original"), dump(server, "loaded")]);
      expect(original.length).toBeGreaterThan(200);
      expect(loaded).toEqual(original);
    });

    it("of a table has all that belongs to it, and so has the JSON", async () => {
      await withSource(serverOf().url("original"), async (source, call) => {
        expect(await textAt(source, call, "public/pair_refs/schema", "ddl")).toBe(
          `CREATE TABLE public.pair_refs (
  a integer,
  b integer,
  boss bigint,
  CONSTRAINT fully FOREIGN KEY (a, b) REFERENCES public.pairs(a, b) MATCH FULL ON UPDATE CASCADE ON DELETE SET NULL (b) DEFERRABLE INITIALLY DEFERRED
);
CREATE UNIQUE INDEX pair_refs_a ON public.pair_refs USING btree (a);
ALTER TABLE public.pair_refs ADD CONSTRAINT unchecked FOREIGN KEY (boss) REFERENCES public.people(id) DEFERRABLE NOT VALID;
CREATE CONSTRAINT TRIGGER at_end AFTER INSERT ON public.pair_refs FROM public.people DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.note();
COMMENT ON CONSTRAINT fully on public.pair_refs IS 'both or none';
`,
        );
        // Everything but the table itself is the same as in the DDL of the schema.
        const [whole = ""] = await schemaTexts(serverOf(), "original");
        for (const table of ["people", "events", "drafts", "dogs", "checked", "注文"]) {
          const [, ...rest] = (await textAt(source, call, `public/${table}/schema`, "ddl")).split(/;\n(?=[A-Z])/);
          expect(rest.filter((statement) => !whole.includes(statement.replace(/;\n$/, "")))).toEqual([]);
        }
        expect(JSON.parse(await textAt(source, call, "public/people/schema", "json"))).toMatchObject({
          rowSecurity: "forced",
          policies: [{ name: "Strict one" }, { name: "own", definition: expect.stringContaining("TO clerk, auditor") }],
          triggers: [
            { name: "always" },
            { name: "copies" },
            { name: "noted" },
            { name: "off", definition: expect.stringContaining("ALTER TABLE public.people DISABLE TRIGGER off") },
          ],
          statistics: [{ name: "people_statistics" }],
          grants: expect.arrayContaining(["GRANT INSERT, SELECT ON TABLE public.people TO clerk WITH GRANT OPTION"]),
        });
        expect(JSON.parse(await textAt(source, call, "public/events/schema", "json"))).toMatchObject({
          partitions: expect.arrayContaining([
            { name: "public.events_rest", bound: "DEFAULT" },
            { name: "public.events_2026_eu_0", bound: "FOR VALUES WITH (modulus 2, remainder 0)" },
          ]),
        });
      });
    });

    it("that differs is announced as a change of its table", async () => {
      const server = serverOf();
      await server.run("postgres", "CREATE DATABASE changing");
      await server.run(
        "changing",
        `CREATE TABLE parent (); CREATE TABLE t (id serial PRIMARY KEY, name text); CREATE TABLE other (id int);
         CREATE TABLE parts (id int) PARTITION BY LIST (id);
         CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
      );
      const client = await server.connect("changing");
      await withSource(server.url("changing"), async (source, call) => {
        const { heard, until } = collectChanges((await source.watch?.(call)) as AsyncIterable<SourceChange>);
        for (const sql of changes) {
          const before = heard.length;
          await client.query(sql);
          await until((change, index) => index >= before && isOf("public/t/schema")(change), sql);
        }
        await client.query("CREATE TABLE part PARTITION OF parts FOR VALUES IN (1)");
        await until(isOf("public/parts/schema"), "a new partition");
        await client.query("CREATE DOMAIN positive AS int CHECK (VALUE > 0)");
        await until(isOf("public/types"), "a new domain");
        expect(heard.filter(isOf("public/other/schema"))).toEqual([]);
      }).finally(() => client.end());
    });
  });
}
