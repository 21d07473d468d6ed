/** Data in the preview: tables, trees, plots, diagrams and schemas, made from real files and a real database. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import type { Visit } from "./browser.ts";
import { openToCheck, row, scrollTo, show, soon } from "./looking.ts";
import { onStage } from "./on-stage.ts";

const startSeconds = Date.UTC(2026, 10, 15, 8) / 1000;
const matrix = {
  status: "success",
  data: {
    resultType: "matrix",
    result: ["a", "b"].map((instance, order) => ({
      metric: { __name__: "load", instance },
      values: Array.from({ length: 60 }, (_, index) => [
        startSeconds + index * 60,
        index === 30 ? "NaN" : String((order + 1) * 10 + index),
      ]),
    })),
  },
};
const people = Array.from({ length: 5000 }, (_, index) =>
  index === 2 ? `3,"田中, ""太郎""",=1+1,"two\nlines"` : `${index + 1},Name ${index + 1},plain,`,
);
const files: Readonly<Record<string, string>> = {
  "people.csv": `id,name,formula,note\n${people.join("\n")}\n`,
  "places.tsv": "場所\t人口\n東京\t13,960,000\n大阪\t2,750,000\n",
  "load.csv": `time,cpu\n${Array.from({ length: 40 }, (_, index) => `2026-11-15T08:${String(index).padStart(2, "0")}:00Z,${index * 2}`).join("\n")}\n`,
  "big.csv": `n,text\n${Array.from({ length: 150_000 }, (_, index) => `${index + 1},${"some text ".repeat(4)}`).join("\n")}\n`,
  "tree.json": `{"id": 12345678901234567890, "設定": {"a": {"b": {"c": {"d": "deep"}}}}, "many": [${Array.from({ length: 250 }, (_, index) => index).join(",")}]}`,
  "records.json": JSON.stringify(
    Array.from({ length: 120 }, (_, index) => ({ id: index, tags: ["x"], ...(index === 1 && { extra: null }) })),
  ),
  "events.jsonl": '{"at":"2026-11-15","kind":"start"}\n{"kind":"stop","code":0}\n',
  "mixed.jsonl": '{"at":1}\nnot json\n[1,2]\n',
  "broken.json": '{"a": ',
  "load.json": JSON.stringify(matrix),
  "shop.md":
    "# Shop\n\n```mermaid\nerDiagram\n  CUSTOMER ||--o{ ORDER : places\n  CUSTOMER {\n    string name PK\n  }\n```\n\n```mermaid\ngraph TD\n  A --> B\n```\n",
};

function makeShop(root: string): void {
  const database = new DatabaseSync(join(root, "shop.db"));
  database.exec(`
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT UNIQUE);
    CREATE TABLE orders (
      id INTEGER PRIMARY KEY,
      customer_id INTEGER NOT NULL REFERENCES customers(id) ON DELETE CASCADE,
      placed_at TEXT DEFAULT CURRENT_TIMESTAMP
    );
    CREATE TABLE order_lines (order_id INTEGER NOT NULL REFERENCES orders(id), quantity INTEGER CHECK (quantity > 0));
    CREATE INDEX orders_by_time ON orders (placed_at, id);
  `);
  const insert = database.prepare("INSERT INTO customers (name) VALUES (?)");
  for (let number = 1; number <= 120; number += 1) insert.run(`顧客 ${number}`);
  database.close();
}

const config =
  "mounts:\n  shelf:\n    source: file\n    root: .\n  shop:\n    source: sqlite\n    path: shop.db\n    rows: [customers]\n";

onStage("data in the preview", files, { config, prepare: makeShop }, (stage) => {
  it("shows CSV as a table: quotes, lines within cells, Japanese, and formulas as nothing but text", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await open(visit, "people.csv");
    await page.getByText("5,000 rows").waitFor();
    const table = page.getByRole("table", { name: "people.csv" });
    expect(await table.locator("thead th").allTextContents()).toEqual(["#", "id", "name", "formula", "note"]);
    expect(await table.getByRole("row").nth(3).locator("td").allTextContents()).toEqual([
      "3",
      '田中, "太郎"',
      "=1+1",
      "two\nlines",
    ]);
    expect(visit.troubles).toEqual([]);
  });

  it("draws only what is near of a long table, and the rest as one scrolls", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await open(visit, "people.csv");
    const drawn = page.locator("table.data tbody th");
    await drawn.first().waitFor();
    expect(await drawn.count()).toBeLessThan(400);
    await page.evaluate(`document.querySelector(".content").scrollTo(0, 1e9)`);
    await page.getByRole("cell", { name: "Name 5000", exact: true }).waitFor();
    await expect.poll(() => drawn.count(), soon).toBeLessThan(400);
    await page.getByRole("cell", { name: "Name 1", exact: true }).waitFor({ state: "detached" });
    expect(visit.troubles).toEqual([]);
  });

  it("reads a table that is too large at once as one scrolls", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await open(visit, "big.csv");
    await page.getByText("read in parts").waitFor();
    await page.getByRole("cell", { name: "1", exact: true }).waitFor();
    const count = () => page.locator("table.data").getAttribute("aria-rowcount").then(Number);
    const before = await count();
    await page.evaluate(`document.querySelector(".content").scrollTo(0, 1e9)`);
    await expect.poll(count, soon).toBeGreaterThan(before);
    expect(visit.troubles).toEqual([]);
  });

  it("shows rows of a database as tables, page after page as one scrolls", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await row(visit, "shop").click();
    await row(visit, "customers").click();
    await row(visit, "Rows of shop.db.customers").click();
    await page.getByRole("cell", { name: "顧客 1", exact: true }).waitFor();
    const last = page.getByRole("cell", { name: "顧客 120", exact: true });
    await scrollTo(visit, last);
    expect(visit.troubles).toEqual([]);
  });

  it("shows TSV as a table", async () => {
    await using visit = await stage.open();
    await open(visit, "places.tsv");
    const cells = visit.page.getByRole("table").locator("td");
    await cells.first().waitFor();
    expect(await cells.allTextContents()).toEqual(["東京", "13,960,000", "大阪", "2,750,000"]);
    expect(visit.troubles).toEqual([]);
  });

  it("shows JSON as a tree that opens and closes, with numbers as they are written", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await open(visit, "tree.json");
    await page.locator(".json-leaf", { hasText: "id: 12345678901234567890" }).waitFor();
    expect(await page.getByText('"deep"', { exact: true }).count()).toBe(0);
    const closed = page.locator("summary", { hasText: "b: " });
    await closed.focus();
    await page.keyboard.press("Enter");
    await page.locator("summary", { hasText: "c: " }).click();
    await page.getByText('"deep"', { exact: true }).waitFor();
    await page.locator("summary", { hasText: "many: " }).click();
    await page.getByRole("button", { name: "… 150 more" }).click();
    await page.locator(".json-leaf", { hasText: "249: 249" }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("shows a list of objects as a table, and as a tree where that is wanted", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await open(visit, "records.json");
    await page.getByText("120 rows").waitFor();
    expect(await page.locator("thead th").allTextContents()).toEqual(["#", "id", "tags", "extra"]);
    expect(await page.getByRole("row").nth(2).locator("td").allTextContents()).toEqual(["1", '["x"]', "null"]);
    await page.getByRole("button", { name: "Tree" }).click();
    await page.locator(".json summary", { hasText: "[120]" }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("shows JSON line by line as a table, and says which lines are none", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await open(visit, "events.jsonl");
    await page.getByText("2 rows").waitFor();
    expect(await page.locator("thead th").allTextContents()).toEqual(["#", "at", "kind", "code"]);
    await open(visit, "mixed.jsonl");
    await page.getByText("1 line is not valid JSON").waitFor();
    expect(await page.locator("td").allTextContents()).toEqual(['{"at": 1}', "not json", "[1, 2]"]);
    await open(visit, "broken.json");
    await page.locator(".text pre", { hasText: '{"a": ' }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("plots what Prometheus answers; values are read by pointing and by keys, and lines are hidden and shown", async () => {
    await using visit = await stage.open({ timezoneId: "UTC" });
    const { page } = visit;
    await open(visit, "load.json");
    const plot = page.getByRole("slider", { name: "Values over time, 2 lines" });
    await plot.focus();
    await page.keyboard.press("Home");
    expect(await plot.getAttribute("aria-valuetext")).toMatch(/8:00:00.*: \{instance="a"\}: 10; \{instance="b"\}: 20$/);
    await page.keyboard.press("ArrowRight");
    expect(await plot.getAttribute("aria-valuetext")).toMatch(/8:01:00.*"a"\}: 11; .*"b"\}: 21$/);
    await page.keyboard.press("End");
    expect(await plot.getAttribute("aria-valuetext")).toMatch(/8:59:00.*"a"\}: 69; .*"b"\}: 79$/);
    const box = await plot.boundingBox();
    if (!box) throw new Error("there is no plot");
    await plot.hover({ position: { x: 64 + (box.width - 64 - 16) / 2, y: 100 } });
    expect(await plot.getAttribute("aria-valuetext")).toMatch(/8:(?:29|30):00/);
    expect(await page.locator(".plot path.series").count()).toBe(4);
    await page.getByRole("button", { name: '{instance="a"}' }).click();
    expect(await page.locator(".plot-area path.series").count()).toBe(1);
    await page.getByRole("button", { name: "Tree" }).click();
    await page.locator(".json", { hasText: "resultType" }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("plots a table that tells of times above the table", async () => {
    await using visit = await stage.open({ timezoneId: "UTC" });
    const { page } = visit;
    await open(visit, "load.csv");
    const plot = page.getByRole("slider", { name: "Values over time, 1 line" });
    await plot.focus();
    await page.keyboard.press("End");
    expect(await plot.getAttribute("aria-valuetext")).toMatch(/8:39:00.*: cpu: 78$/);
    await page.getByText("40 rows").waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("draws diagrams of entities in Markdown, says them in words, and shows other kinds as they are written", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await open(visit, "shop.md");
    const drawing = page.getByRole("img", { name: "Diagram: 2 tables, 1 relation" });
    await drawing.waitFor();
    expect(await drawing.locator("text").allTextContents()).toEqual([
      "CUSTOMER",
      "namePK",
      "string",
      "ORDER",
      "places",
    ]);
    await page.getByText("In words").click();
    await page.getByText("CUSTOMER (one) – ORDER (any number): places").waitFor();
    await page.locator(".markdown pre", { hasText: "graph TD" }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("shows the schema of a database as tables, and draws the whole of it", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await openSchema(visit);
    const columns = page.getByRole("table", { name: "Columns" });
    await columns.waitFor();
    expect(await columns.getByRole("row").nth(2).locator("td").allTextContents()).toEqual([
      "customer_id",
      "INTEGER",
      "foreign key",
      "required",
      "",
    ]);
    const keys = page.getByRole("table", { name: "Foreign keys" });
    expect(await keys.locator("tbody td").allTextContents()).toEqual([
      "customer_id",
      "customers",
      "id",
      "ON DELETE CASCADE",
    ]);
    expect(await page.getByRole("table", { name: "Indexes" }).textContent()).toContain("orders_by_time");
    expect(await page.getByRole("table", { name: "Referenced by" }).textContent()).toContain("order_lines");
    await page.getByRole("img", { name: "Diagram: 3 tables, 2 relations" }).waitFor();
    await page.locator(".schema .code-keyword", { hasText: "CREATE" }).first().waitFor();
    await keys.getByRole("button", { name: "customers" }).click();
    await page.locator('.uri [title$="customers/schema"]').waitFor();
    await show(visit, "Overview of shop.db");
    await page.getByRole("img", { name: "Diagram: 3 tables, 2 relations" }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("breaks no rule of axe, light and wide, dark and narrow", async () => {
    await using visit = await openToCheck(stage, "en-US");
    const shown = {
      "places.tsv": "tbody th",
      "load.csv": ".plot path",
      "tree.json": ".json-leaf",
      "mixed.jsonl": "tbody th",
      "shop.md": ".er text",
    };
    for (const [name, sign] of Object.entries(shown)) {
      await open(visit, name);
      await visit.page.locator(`.face ${sign}`).first().waitFor();
      expect(await visit.violations(), name).toEqual([]);
    }
    await openSchema(visit);
    await visit.page.locator(".schema .code-keyword").first().waitFor();
    expect(await visit.violations(), "schema").toEqual([]);
  });
});

async function open(visit: Visit, name: string): Promise<void> {
  const folder = row(visit, "shelf");
  await folder.waitFor();
  if ((await folder.getAttribute("aria-expanded")) === "false") await folder.click();
  await show(visit, name);
}

async function openSchema(visit: Visit): Promise<void> {
  await row(visit, "shop").click();
  await row(visit, "orders").click();
  await show(visit, "Database schema for shop.db.orders");
}
