/** Rows of a SQLite file as documents: their addresses, texts and changes. */
import { mkdtempSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import { wait } from "../../lib/wait.ts";
import type { Call } from "../../resources.ts";
import type { Entry, Source, SourceChange } from "../../source.ts";
import { collectChanges } from "../../testing/listen.ts";
import { asking, collect } from "../../testing/pages.ts";
import { refusal } from "../../testing/refusal.ts";
import definition from "../sqlite.ts";

const tables = `
  CREATE TABLE tickets (id INTEGER PRIMARY KEY, 件名 TEXT, 本文 TEXT, mail TEXT);
  INSERT INTO tickets VALUES (1, '証明書の更新', '来月で期限が切れます。', 'secret@example.org'),
    (2, NULL, 42, NULL), (10, x'00ff', x'00ff', NULL);
  CREATE TABLE parts (code TEXT, lot INTEGER, note TEXT, PRIMARY KEY (code, lot)) WITHOUT ROWID;
  INSERT INTO parts VALUES ('a/b', 1, 'スラッシュ'), ('部品', 2, '日本語の鍵');
  CREATE VIEW seen AS SELECT 件名, 本文 FROM tickets;`;

const tickets = { table: "tickets", title: "件名", text: ["本文"] };
const documents = [tickets, { table: "parts", title: ["code", "lot"], text: ["note"] }];
const unfit = 'a table in "documents" cannot be indexed; "pressmark doctor" says why';
const keyed = (...values: string[]) => `~${Buffer.from(JSON.stringify(values)).toString("base64url")}`;
const runtime = { env: {}, now: Date.now, monotonicMs, wait, log: () => undefined };

let folder: string;
let writer: DatabaseSync;
let stop: AbortController;
const opened: Source[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-sqlite-documents-"));
  // It waits while the file is being read.
  writer = new DatabaseSync(join(folder, "app.db"), { timeout: 20_000 });
  writer.exec(tables);
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await Promise.all(opened.splice(0).map((source) => source.close?.()));
  writer.close();
  rmSync(folder, { recursive: true, force: true });
});

const call = (): Call => ({ caller: { id: "test" }, signal: stop.signal });

async function open(settings: Readonly<Record<string, unknown>> = {}): Promise<Source> {
  const options = { path: join(folder, "app.db"), rows: true, documents, ...settings };
  const source = await definition.open(definition.options(z).parse(options), runtime);
  opened.push(source);
  return source;
}

async function textAt(source: Source, path: string, query?: Record<string, string>): Promise<string> {
  const [part] = await source.read(query ? { path, query } : { path }, call());
  return (part!.body as { readonly text: string }).text;
}

const indexed = (source: Source) => collect<Entry>((cursor) => source.listIndexed!(asking(2, cursor), call()));

describe("rows as documents", () => {
  it("are indexed beside what is listed, with a title and an address each", async () => {
    const source = await open();
    const all = await indexed(source);
    expect(all.map(({ path, title }) => [path, title])).toEqual([
      ["overview", "Overview of app.db"],
      ["parts/schema", "Database schema for app.db.parts"],
      ["seen/rows", "Rows of app.db.seen"],
      ["seen/schema", "Database schema for app.db.seen"],
      ["tickets/schema", "Database schema for app.db.tickets"],
      ["tickets/rows/10", undefined],
      ["tickets/rows/2", undefined],
      ["tickets/rows/1", "証明書の更新"],
      [`parts/rows/${keyed("t:部品", "2")}`, "部品 – 2"],
      [`parts/rows/${keyed("t:a/b", "1")}`, "a/b – 1"],
    ]);
    expect(await source.stat!({ path: "tickets/rows/1" }, call())).toEqual(all[7]);
    expect(await textAt(source, "tickets/rows/1")).toBe(await textAt(source, "tickets/rows", { key: "1" }));
    expect(await textAt(source, "tickets/rows/1", { as: "text" })).toBe("# 証明書の更新\n\n来月で期限が切れます。\n");
    expect(await textAt(source, "tickets/rows/10", { as: "text" })).toBe("# tickets 10\n");
    expect(source.overviewOf?.({ path: "tickets/rows" })).toEqual({ path: "tickets/rows" });
    for (const key of ["3", "01", "t:1", "abc", keyed("1"), keyed("1", "2"), "r:1"])
      await refusal(source.read({ path: `tickets/rows/${key}` }, call()), ["not-found"], key);
  });

  it.each([
    ["a missing column", { ...tickets, text: ["本分"] }, /"本分", which "tickets" does not have/],
    ["a missing table", { ...tickets, table: "none" }, /"none", which does not exist/],
    ["a view", { ...tickets, table: "seen" }, /no primary key/],
  ])("refuse %s", async (_, document, says) => {
    const source = await open({ documents: [document] });
    // Callers see this message, and may not know of the table.
    expect((await refusal(indexed(source), ["invalid"], "the index")).message).toBe(unfit);
    expect((await source.problems!(call())).at(-1)?.says).toMatch(says);
    const [template] = source.templates!.filter((each) => each.template.includes("{key}"));
    const given = { table: document.table };
    expect(await source.complete!({ template: template!, variable: "key", value: "", given }, call())).toEqual([]);
  });

  it("refuse rows that are not served, and report those that are too many", async () => {
    await expect(open({ rows: ["parts"] })).rejects.toThrow(/"tickets", whose rows are not served/);
    const source = await open({ documents: [{ ...tickets, maxRows: 2 }] });
    expect((await indexed(source)).filter(({ path }) => path.includes("/rows/"))).toHaveLength(2);
    expect((await source.problems!(call())).at(-1)?.says).toContain("has more than 2 rows");
  });

  it("are followed: inserted, updated and deleted rows", async () => {
    const source = await open();
    const { until } = collectChanges<SourceChange>(await source.watch!(call()));
    const at = (kind: SourceChange["kind"], path: string) =>
      until((change) => change.kind === kind && "path" in change && change.path === path, `${kind} ${path}`);
    writer.exec("INSERT INTO tickets VALUES (20, '新しい', '本文', NULL)");
    await at("appeared", "tickets/rows/20");
    writer.exec("UPDATE tickets SET 本文 = '来月で期限が来ます。' WHERE id = 1");
    await at("changed", "tickets/rows/1");
    // Not a column of the document, but of the row that is read.
    writer.exec("UPDATE tickets SET mail = 'other@example.org' WHERE id = 2");
    await at("changed", "tickets/rows/2");
    writer.exec("DELETE FROM tickets WHERE id = 10");
    await at("gone", "tickets/rows/10");
  });

  it("have another version with every change that a read shows", async () => {
    const source = await open();
    const versions = new Set<string | undefined>();
    const changes = [
      "",
      "UPDATE tickets SET mail = 'other@example.org' WHERE id = 2",
      "UPDATE tickets SET mail = NULL WHERE id = 2",
      "UPDATE tickets SET 本文 = '42' || char(0) WHERE id = 2",
      "ALTER TABLE tickets ADD COLUMN more",
      `UPDATE tickets SET more = '${"x".repeat(10_000)}' WHERE id = 2`,
      `UPDATE tickets SET more = '${"x".repeat(10_001)}' WHERE id = 2`,
    ];
    for (const change of changes) {
      writer.exec(change);
      versions.add((await source.stat!({ path: "tickets/rows/2" }, call())).version);
    }
    expect(versions.size).toBe(changes.length - 1);
  });
});
