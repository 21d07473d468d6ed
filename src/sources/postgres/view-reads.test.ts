/** Views, and inheriting tables, on a real server: they show nothing of excluded tables. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { flavours, missingFor, type PostgresServer, startPostgres } from "../../../test/live/postgres.ts";
import type { Entry, Source, SourceChange } from "../../source.ts";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import { wait } from "../../lib/wait.ts";
import { collectChanges } from "../../testing/listen.ts";
import { asking, collect } from "../../testing/pages.ts";
import { refusal } from "../../testing/refusal.ts";
import definition, { openPostgres } from "../postgres.ts";
import { hiddenNameTests } from "./test-hidden-names.ts";

const secret = "zqx-secret-value";

/** Each of these shows the secret, in another way. */
const leaks: Readonly<Record<string, string>> = {
  direct: "CREATE VIEW direct AS SELECT v FROM hidden",
  through_view: "CREATE VIEW through_view AS SELECT v FROM inner_view",
  through_two: "CREATE VIEW through_two AS SELECT v FROM through_view",
  in_subquery: "CREATE VIEW in_subquery AS SELECT (SELECT max(h.v) FROM hidden h) AS v FROM open LIMIT 1",
  in_with: "CREATE VIEW in_with AS WITH h AS (SELECT v FROM hidden) SELECT v FROM h",
  materialized: "CREATE MATERIALIZED VIEW materialized AS SELECT v FROM hidden",
  over_materialized: "CREATE VIEW over_materialized AS SELECT v FROM materialized",
  of_partition: "CREATE VIEW of_partition AS SELECT v FROM parts_1",
  of_parent: "CREATE VIEW of_parent AS SELECT v FROM parent",
  by_function: "CREATE VIEW by_function AS SELECT parsed_function() AS v",
  of_statistics:
    "CREATE VIEW of_statistics AS SELECT most_common_vals::text AS v FROM pg_stats WHERE tablename = 'hidden'",
  of_catalogue: "CREATE VIEW of_catalogue AS SELECT relname::text || 'zqx' AS v FROM pg_class WHERE relname = 'hidden'",
};

const tables = `
  CREATE TABLE hidden (v text); INSERT INTO hidden SELECT '${secret}' FROM generate_series(1, 100);
  CREATE TABLE open (id int PRIMARY KEY, v text); INSERT INTO open VALUES (1, 'shown');
  CREATE TABLE parts (id int, v text) PARTITION BY LIST (id); CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
  INSERT INTO parts VALUES (1, '${secret}');
  CREATE TABLE parent (v text); CREATE TABLE hidden_child () INHERITS (parent); CREATE TABLE open_child () INHERITS (parent);
  INSERT INTO parent VALUES ('shown'); INSERT INTO hidden_child VALUES ('${secret}'); INSERT INTO open_child VALUES ('shown');
  CREATE VIEW inner_view AS SELECT v FROM hidden;
  CREATE FUNCTION parsed_function() RETURNS text LANGUAGE sql BEGIN ATOMIC SELECT max(v) FROM hidden; END;
  ${Object.values(leaks).join(";\n")};
  CREATE VIEW harmless AS SELECT id, v FROM open;
  CREATE VIEW harmless_too AS SELECT count(*) AS n FROM harmless WHERE v <> 'hidden';
  CREATE SCHEMA elsewhere; CREATE TABLE elsewhere.t (v text); INSERT INTO elsewhere.t VALUES ('shown');
  CREATE VIEW of_elsewhere AS SELECT v FROM elsewhere.t;
  ANALYZE`;

const exclude = ["hidden", "hidden_*", "parts"];

for (const flavour of flavours)
  describe.skipIf(missingFor(flavour))(`views of PostgreSQL of ${flavour} (${missingFor(flavour) ?? "real"})`, () => {
    let server: PostgresServer;
    const opened: Source[] = [];
    beforeAll(async () => {
      server = await startPostgres(flavour);
      await server.run("postgres", tables);
    }, 60_000);
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((source) => source.close?.()));
    });
    afterAll(() => server?.close());

    hiddenNameTests(() => server);

    const call = { caller: { id: "test" }, signal: new AbortController().signal };

    function open(settings: Readonly<Record<string, unknown>>): Source {
      const parsed = definition.options(z).parse({ url: server.url("postgres"), rows: true, pollMs: 100, ...settings });
      const source = openPostgres(parsed, { env: process.env, now: Date.now, monotonicMs, wait, log: () => undefined });
      opened.push(source);
      return source;
    }

    const pathsOf = async (source: Source) =>
      (await collect<Entry>((cursor) => source.list(asking(7, cursor), call))).map(({ path }) => path);

    const textAt = async (source: Source, path: string, query?: Record<string, string>) => {
      const [part] = await source.read(query ? { path, query } : { path }, call);
      return (part!.body as { text: string }).text;
    };

    it("all show the secret if nothing is excluded", async () => {
      const source = open({});
      for (const name of Object.keys(leaks)) expect(await textAt(source, `public/${name}/rows`), name).toContain("zqx");
    });

    it.each([
      ["excluded", { tables: { exclude } }],
      ["not included", { tables: { include: ["open*", "h*less*", "of_*", "in_*", "public.t*", "*direct", "parent"] } }],
    ])("that read what is %s are excluded", async (_, settings) => {
      const source = open(settings);
      const paths = await pathsOf(source);
      const given = await Promise.all(paths.map((path) => textAt(source, path)));
      for (const format of ["ddl", "json"]) given.push(await textAt(source, "public/overview", { format }));
      expect(given.join("\n")).not.toContain("zqx");
      for (const name of Object.keys(leaks)) {
        expect(paths.join("\n")).not.toContain(`/${name}/`);
        expect(given.join("\n")).not.toContain(name);
        for (const path of [`public/${name}`, `public/${name}/schema`, `public/${name}/rows`, `${name}/rows`]) {
          await refusal(source.read({ path }, call), ["not-found"], path);
          await refusal(source.stat!({ path }, call), ["not-found"], path);
        }
      }
      for (const name of ["open", "parent", "harmless", "harmless_too"])
        expect(await textAt(source, `public/${name}/rows`)).toContain(name === "harmless_too" ? '"n":1' : "shown");
      const template = source.templates![0]!;
      const requested = { template, variable: "table", value: "", given: { schema: "public" } };
      const suggested = (await source.complete!(requested, call)).map(({ value }) => value);
      expect(suggested).toEqual(expect.arrayContaining(["harmless", "open"]));
      expect(suggested.filter((name) => name in leaks)).toEqual([]);
      const problems = JSON.stringify(await source.problems!(call));
      expect(problems).toContain("public.direct");
      expect(problems).not.toMatch(/hidden|harmless/);
    });

    it("are served if the config names them, without the text of their query", async () => {
      for (const settings of [
        { tables: { include: ["*", "direct", "public.through_two"], exclude } },
        { tables: { exclude }, rows: ["direct", "public.through_two", "open"] },
      ]) {
        const source = open(settings);
        for (const name of ["direct", "through_two"]) {
          expect(await textAt(source, `public/${name}/rows`)).toContain(secret);
          expect(await textAt(source, `public/${name}/schema`, { format: "ddl" })).not.toMatch(
            /hidden|through_view|FROM/,
          );
        }
        await refusal(source.read({ path: "public/through_view/schema" }, call), ["not-found"], "between");
      }
    });

    it("may read tables of schemas that are not served", async () => {
      const source = open({ schemas: ["public"], tables: { exclude } });
      expect(await textAt(source, "public/of_elsewhere/rows")).toContain("shown");
      expect(await textAt(source, "public/of_elsewhere/schema", { format: "ddl" })).not.toContain("elsewhere.t");
    });

    it("appear and disappear as what they read changes", async () => {
      await server.run("postgres", "CREATE OR REPLACE VIEW changing AS SELECT v FROM open");
      const source = open({ tables: { exclude }, listen: "rows" });
      const { heard, until } = collectChanges((await source.watch!(call)) as AsyncIterable<SourceChange>);
      await server.run("postgres", "NOTIFY rows, 'direct'; NOTIFY rows, 'changing'");
      await until((change) => change.kind === "changed" && change.path === "public/changing/rows", "its rows");
      await server.run("postgres", "CREATE OR REPLACE VIEW changing AS SELECT v FROM hidden");
      await until((change) => change.kind === "gone" && change.path === "public/changing/rows", "it went");
      await refusal(source.read({ path: "public/changing/rows" }, call), ["not-found"], "changing");
      expect(JSON.stringify(heard)).not.toContain("direct");
    });
  });
