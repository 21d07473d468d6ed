/** Views of a database file show nothing of excluded tables. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import { wait } from "../../lib/wait.ts";
import type { Entry, Source } from "../../source.ts";
import { asking, collect } from "../../testing/pages.ts";
import { refusal } from "../../testing/refusal.ts";
import definition from "../sqlite.ts";

/** Each of these shows the secret, in another way. */
const leaks: Readonly<Record<string, string>> = {
  direct: "CREATE VIEW direct AS SELECT v FROM hidden",
  upper: "CREATE VIEW upper AS SELECT V FROM HIDDEN",
  in_brackets: "CREATE VIEW in_brackets AS SELECT v FROM [hidden]",
  in_ticks: "CREATE VIEW in_ticks AS SELECT v FROM `main`.`hidden`",
  in_quotes: `CREATE VIEW in_quotes AS SELECT v FROM "hidden"`,
  in_apostrophes: "CREATE VIEW in_apostrophes AS SELECT v FROM 'hidden'",
  behind_comment: "CREATE VIEW behind_comment AS SELECT v /* ' */ FROM hidden /* ' */",
  glued: "CREATE VIEW glued AS SELECT v FROM/**/hidden--",
  odd_name: `CREATE VIEW odd_name AS SELECT v FROM "hidd""en odd"`,
  through_view: "CREATE VIEW through_view AS SELECT v FROM direct",
  through_two: "CREATE VIEW through_two AS SELECT v FROM through_view JOIN open USING (v) UNION SELECT v FROM upper",
  in_subquery: "CREATE VIEW in_subquery AS SELECT (SELECT v FROM hidden) AS v FROM open",
  in_with: "CREATE VIEW in_with AS WITH h AS (SELECT v FROM hidden) SELECT v FROM h",
  index_of: "CREATE VIRTUAL TABLE index_of USING fts5(v, content='hidden', content_rowid='rowid')",
  shadow: "CREATE VIEW shadow AS SELECT c0 AS v FROM hidden_words_content",
  of_schema: "CREATE VIEW of_schema AS SELECT sql AS v FROM sqlite_schema WHERE name = 'hid' || 'den'",
};

const tables = `
  CREATE TABLE hidden (v TEXT DEFAULT 'zqx'); INSERT INTO hidden VALUES ('zqx');
  CREATE TABLE "hidd""en odd" (v); INSERT INTO "hidd""en odd" VALUES ('zqx');
  CREATE TABLE open (id INTEGER PRIMARY KEY, v); INSERT INTO open VALUES (1, 'shown');
  CREATE VIRTUAL TABLE hidden_words USING fts5(v); INSERT INTO hidden_words VALUES ('zqx');
  ${Object.values(leaks).join("\n;\n")};
  CREATE VIEW harmless AS SELECT id, v FROM open WHERE v <> 'hiddenness';
  CREATE VIEW harmless_too AS SELECT count(*) AS n FROM harmless;
  CREATE VIRTUAL TABLE words USING fts5(v); INSERT INTO words VALUES ('shown')`;

const exclude = ["hidden", 'hidd"en odd', "hidden_words"];
const call = { caller: { id: "test" }, signal: new AbortController().signal };
let folder: string;
const opened: Source[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-sqlite-"));
  const database = new DatabaseSync(join(folder, "app.db"), { enableDoubleQuotedStringLiterals: true });
  database.exec(tables);
  database.close();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((source) => source.close?.()));
  rmSync(folder, { recursive: true, force: true });
});

async function open(options: Readonly<Record<string, unknown>> = {}): Promise<Source> {
  const parsed = definition.options(z).parse({ path: join(folder, "app.db"), rows: true, ...options });
  const source = await definition.open(parsed, {
    env: process.env,
    now: Date.now,
    monotonicMs,
    wait,
    log: () => undefined,
  });
  opened.push(source);
  return source;
}

async function textAt(source: Source, path: string, query?: Record<string, string>): Promise<string> {
  const [part] = await source.read(query ? { path, query } : { path }, call);
  return (part!.body as { text: string }).text;
}

const pathsOf = async (source: Source) =>
  (await collect<Entry>((cursor) => source.list(asking(7, cursor), call))).map(({ path }) => path);

it("all show the secret if nothing is excluded", async () => {
  const source = await open();
  for (const name of Object.keys(leaks)) expect(await textAt(source, `${name}/rows`), name).toContain("zqx");
});

it.each([
  ["excluded", { tables: { exclude } }],
  ["not included", { tables: { include: ["open", "h*less*", "words*", "in_*", "*_*", "*r*", "s*", "g*"], exclude } }],
])("views that read what is %s are excluded", async (_, settings) => {
  const source = await open(settings);
  const paths = await pathsOf(source);
  const given = await Promise.all(paths.map((path) => textAt(source, path)));
  for (const format of ["ddl", "json"]) given.push(await textAt(source, "overview", { format }));
  expect(given.join("\n")).not.toContain("zqx");
  for (const name of Object.keys(leaks)) {
    expect(paths).not.toContain(`${name}/schema`);
    for (const path of [name, `${name}/schema`, `${name}/rows`]) {
      await refusal(source.read({ path }, call), ["not-found"], path);
      await refusal(source.stat!({ path }, call), ["not-found"], path);
    }
  }
  for (const name of ["open", "harmless", "words"]) expect(await textAt(source, `${name}/rows`)).toContain("shown");
  expect(await textAt(source, "harmless_too/rows")).toContain('"n":1');
  const template = source.templates![0]!;
  const suggested = await source.complete!({ template, variable: "table", value: "", given: {} }, call);
  expect(suggested.map(({ value }) => value).filter((name) => name in leaks)).toEqual([]);
  const [problem] = await source.problems!(call);
  expect(problem?.says).toMatch(/^leaves out views that read what "tables" excludes: /);
  expect(problem?.says).not.toMatch(/hidden|harmless/);
});

it("views are served if the config names them", async () => {
  for (const settings of [
    { tables: { include: ["*", "direct", "through_two"], exclude } },
    { tables: { exclude }, rows: ["direct", "through_two"] },
  ]) {
    const source = await open(settings);
    for (const name of ["direct", "through_two"]) {
      expect(await textAt(source, `${name}/rows`)).toContain("zqx");
      expect(await textAt(source, `${name}/schema`, { format: "ddl" })).not.toContain("hidden");
    }
    await refusal(source.read({ path: "through_view/schema" }, call), ["not-found"], "between");
  }
});
