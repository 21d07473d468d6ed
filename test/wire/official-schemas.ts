/**
 * The official JSON schemas, as the official conformance suite carries them. They are literals inside its bundle: the bundle is
 * parsed and the literals are read from the tree, so that none of it runs.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { isRecord, type Json, type JsonRecord } from "./json.ts";

/** Revision → schema, for every revision that has an official one: 2025-03-26 and later. */
export async function officialSchemas(): Promise<ReadonlyMap<string, JsonRecord>> {
  const manifest = createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json");
  return schemasIn(await readFile(join(dirname(manifest), "dist", "index.js"), "utf8"));
}

/** The table of schemas is the one object whose key "2025-03-26" names another top-level constant. */
export function schemasIn(bundle: string): ReadonlyMap<string, JsonRecord> {
  const constants = new Map<string, unknown>();
  const { body } = parseAst(bundle);
  for (const statement of body) {
    if (statement.type !== "VariableDeclaration") continue;
    for (const { id, init } of statement.declarations) if (id.type === "Identifier") constants.set(id.name, init);
  }
  for (const value of constants.values()) {
    if (!isRecord(value) || value["type"] !== "ObjectExpression" || !Array.isArray(value["properties"])) continue;
    if (!value["properties"].some((property) => isTableRow(property))) continue;
    const table = literalOf(value, constants);
    if (isRecord(table))
      return new Map(Object.entries(table).filter((row): row is [string, JsonRecord] => isRecord(row[1])));
  }
  throw new Error("the conformance suite no longer carries its schemas as literals; look where they went");
}

function isTableRow(property: unknown): boolean {
  return (
    isRecord(property) &&
    isRecord(property["key"]) &&
    property["key"]["value"] === "2025-03-26" &&
    isRecord(property["value"]) &&
    property["value"]["type"] === "Identifier"
  );
}

/** What a node of the tree stands for, if it is nothing but data. */
function literalOf(node: unknown, constants: ReadonlyMap<string, unknown>): Json {
  if (!isRecord(node)) throw new Error("a schema is not a literal");
  const again = (inner: unknown): Json => literalOf(inner, constants);
  switch (node["type"]) {
    case "Literal":
      return node["value"] as Json;
    case "TemplateLiteral": {
      const [only, ...more] = node["quasis"] as readonly { value: { cooked: string } }[];
      if (!only || more.length > 0) throw new Error("a schema holds a template with expressions");
      return only.value.cooked;
    }
    case "UnaryExpression":
      if (node["operator"] === "!") return !again(node["argument"]);
      if (node["operator"] === "-") return -Number(again(node["argument"]));
      throw new Error(`a schema holds the operator ${String(node["operator"])}`);
    case "ArrayExpression":
      return (node["elements"] as readonly unknown[]).map(again);
    case "Identifier": {
      const named = constants.get(String(node["name"]));
      if (named === undefined) throw new Error(`a schema refers to ${String(node["name"])}, which is no constant`);
      return again(named);
    }
    case "ObjectExpression": {
      const pairs = (node["properties"] as readonly JsonRecord[]).map((property): [string, Json] => {
        const { key } = property;
        const plain = isRecord(key) && key["type"] === "Identifier" && property["computed"] !== true;
        return [String(plain ? key["name"] : again(key)), again(property["value"])];
      });
      return Object.fromEntries(pairs);
    }
    default:
      throw new Error(`a schema holds a ${String(node["type"])}`);
  }
}
