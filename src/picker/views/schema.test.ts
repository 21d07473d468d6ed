import { describe, expect, it } from "vitest";
import type { Json } from "./json.ts";
import { diagramOf, parseSchema } from "./schema.ts";

const orders: Readonly<Record<string, Json>> = {
  database: "shop",
  table: "orders",
  kind: "table",
  rowEstimate: 12,
  columns: [
    { name: "id", type: "INTEGER", nullable: false },
    { name: "customer_id", type: "INTEGER", nullable: true, comment: "顧客" },
    { name: "code", type: "TEXT", nullable: false, generated: "upper(x)" },
  ],
  primaryKey: ["id"],
  constraints: [],
  foreignKeys: [
    {
      columns: ["customer_id"],
      references: { table: "customers", columns: ["id"] },
      onDelete: "CASCADE",
      onUpdate: "NO ACTION",
    },
    { columns: ["id"], references: { table: "orders", columns: ["id"] } },
  ],
  referencedBy: [
    { table: "order_lines", columns: ["order_id"], to: ["id"] },
    { table: "orders", columns: ["id"], to: ["id"] },
  ],
  indexes: [{ name: "by_code", unique: true, columns: ["code"] }],
};

describe("the schema of a table", () => {
  it("is parsed with the keys of each column", () => {
    const schema = parseSchema(orders);
    expect(schema?.columns.map(({ name, keys, default: value }) => [name, keys, value])).toEqual([
      ["id", ["PK", "FK"], ""],
      ["customer_id", ["FK"], ""],
      ["code", ["UK"], "= upper(x)"],
    ]);
    expect(schema?.foreignKeys.map(({ table, rules }) => [table, rules])).toEqual([
      ["customers", "ON DELETE CASCADE"],
      ["orders", ""],
    ]);
  });

  it("is drawn with its related tables, each relation once", () => {
    const schema = parseSchema(orders);
    const { entities, relations } = schema ? diagramOf(schema) : { entities: [], relations: [] };
    expect(entities.map(({ label }) => label)).toEqual(["orders", "customers", "order_lines"]);
    expect(relations.map(({ from, to, fromEnd }) => [from, to, fromEnd])).toEqual([
      [".customers", "", "none or one"],
      ["", "", "one"],
      ["", ".order_lines", "one"],
    ]);
  });

  it("is not found in anything else", () => {
    const others: readonly Json[] = [
      null,
      [],
      {},
      "x",
      { ...orders, columns: {} },
      { ...orders, table: 1 },
      { columns: [] },
    ];
    expect(others.map(parseSchema)).toEqual(others.map(() => undefined));
  });
});
