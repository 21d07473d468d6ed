/** Tests of DDL on a real server, which the caller starts: it names nothing that is not served. */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { PostgresServer } from "../../../test/live/postgres.ts";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import { wait } from "../../lib/wait.ts";
import definition, { openPostgres } from "../postgres.ts";

const schema = `
  CREATE SCHEMA zqx; CREATE COLLATION zqx.coll (provider = icu, locale = 'en'); CREATE DOMAIN zqx.kind AS text;
  CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
  CREATE TABLE t (a int, b int, n regnamespace DEFAULT 'zqx', EXCLUDE USING btree ((b::text) COLLATE zqx.coll WITH =));
  CREATE STATISTICS zqx.st ON a, b FROM t; CREATE STATISTICS kept ON a, b FROM t;
  CREATE TRIGGER audits AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION note('zqx.audit');
  CREATE TRIGGER plain AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION note();
  CREATE TABLE parts (x text) PARTITION BY RANGE (x COLLATE zqx.coll);
  CREATE TABLE cast_parts (x text) PARTITION BY LIST ((x::zqx.kind));
  CREATE FOREIGN DATA WRAPPER remote; CREATE SERVER far FOREIGN DATA WRAPPER remote;
  CREATE FOREIGN TABLE f (a int OPTIONS (column_name 'zqx')) SERVER far OPTIONS (schema_name 'zqx')`;

const partitions = `
  CREATE TABLE days (at int, v text) PARTITION BY LIST (at); CREATE TABLE zqx_day PARTITION OF days FOR VALUES IN (1);
  CREATE TABLE other_day PARTITION OF days FOR VALUES IN (2);
  CREATE VIEW of_hidden AS SELECT v FROM zqx_day; CREATE VIEW of_shown AS SELECT v FROM other_day;
  CREATE TABLE t (a int); CREATE RULE to_hidden AS ON INSERT TO t DO ALSO INSERT INTO zqx_day VALUES (1, 'x');
  CREATE RULE to_shown AS ON INSERT TO t DO ALSO INSERT INTO other_day VALUES (2, 'x')`;

const foreign = `
  CREATE ROLE reader; CREATE TABLE i (id int GENERATED ALWAYS AS IDENTITY); GRANT USAGE ON SEQUENCE i_id_seq TO reader;
  CREATE FOREIGN DATA WRAPPER remote; CREATE SERVER far FOREIGN DATA WRAPPER remote;
  CREATE FOREIGN TABLE f (a int OPTIONS (column_name 'named', pwd 'zqx')) SERVER far
    OPTIONS (table_name 'remote_t', api_key 'zqx', filename '/srv/zqx')`;

const many = "DO $$ BEGIN FOR i IN 1..1001 LOOP EXECUTE format('CREATE DOMAIN d%s AS int', i); END LOOP; END $$";

/** The overview of a new database. */
async function overviewOf(
  server: PostgresServer,
  database: string,
  sql: string,
  settings: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<"ddl" | "json", string>>> {
  await server.run("postgres", `CREATE DATABASE ${database}`);
  await server.run(database, sql);
  const options = definition.options(z).parse({ url: server.url(database), ...settings });
  const source = openPostgres(options, { env: {}, now: Date.now, monotonicMs, wait, log: () => undefined });
  const call = { caller: { id: "test" }, signal: new AbortController().signal };
  async function as(format: string): Promise<string> {
    const [part] = await source.read({ path: "public/overview", query: { format } }, call);
    if (part === undefined || !("text" in part.body)) throw new Error("there is no text");
    return part.body.text;
  }
  try {
    return { ddl: await as("ddl"), json: await as("json") };
  } finally {
    await source.close?.();
  }
}

export function hiddenNameTests(serverOf: () => PostgresServer): void {
  describe("the DDL", () => {
    it("names no schema that is not served", async () => {
      const { ddl, json } = await overviewOf(serverOf(), "hidden_schema", schema, { schemas: ["public"] });
      expect(ddl).toContain("CREATE STATISTICS public.kept");
      expect(ddl).toContain("CREATE TRIGGER plain");
      expect(ddl).toContain("CREATE FOREIGN TABLE public.f");
      expect(`${ddl}${json}`).not.toContain("zqx");
    });

    it("names no partition that is excluded", async () => {
      const { ddl, json } = await overviewOf(serverOf(), "hidden_partition", partitions, {
        tables: { exclude: ["zqx*"] },
      });
      expect(ddl).toContain("CREATE VIEW public.of_shown");
      expect(ddl).toContain("CREATE RULE to_shown");
      expect(`${ddl}${json}`).not.toMatch(/zqx|of_hidden|to_hidden/);
    });

    it("has grants on the sequence of an identity column, and only harmless options of foreign tables", async () => {
      const { ddl, json } = await overviewOf(serverOf(), "foreign_options", foreign, {});
      expect(ddl).toContain("GRANT USAGE ON SEQUENCE public.i_id_seq TO reader;");
      expect(ddl).toContain("(column_name 'named') /* other options are not shown */");
      expect(ddl).toContain("OPTIONS (table_name 'remote_t') /* other options are not shown */;");
      expect(`${ddl}${json}`).not.toContain("zqx");
    });

    it("says that types are missing because there are too many", async () => {
      const { ddl, json } = await overviewOf(serverOf(), "many", many, {});
      expect(ddl).toMatch(/^-- Only the first 1000 types are part of this\.\n/);
      expect(ddl.match(/^CREATE DOMAIN /gm)).toHaveLength(1000);
      expect(JSON.parse(json)).toMatchObject({ limited: { types: 1000 } });
    });
  });
}
