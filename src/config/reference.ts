/** Generates the tables of docs/configuration.md, and of the page of each source, from the schemas. */
import type { z } from "zod";
import { markdownTable } from "../lib/markdown-table.ts";
import type { SourceDefinition } from "../source.ts";
import { sources } from "../sources/index.ts";
import type { Registry } from "./find-source.ts";
import { issuerSchema, scopesSchema } from "./auth.ts";
import {
  callerSchema,
  limitsSchema,
  mountSchema,
  quotaSchema,
  ruleSchema,
  searchSchema,
  serverSchema,
  setSchema,
} from "./schema.ts";

/** Replaces the tables of the page, each between `<!-- name -->` and `<!-- end -->`. */
export async function withTables(page: string, registry: Registry = sources): Promise<string> {
  const { z: zod } = await import("zod");
  const tables = new Map<string, string>([
    ["mount", optionTable(mountSchema(zod), zod)],
    ["search", optionTable(searchSchema(zod), zod)],
    ["set", optionTable(setSchema(zod), zod)],
    ["caller", optionTable(callerSchema(zod), zod)],
    ["rule", optionTable(ruleSchema(zod), zod)],
    ["quota", optionTable(quotaSchema(zod), zod)],
    ["server", optionTable(serverSchema(zod), zod)],
    ["issuer", optionTable(issuerSchema(zod), zod)],
    ["scopes", optionTable(scopesSchema(zod), zod)],
    ["limits", optionTable(limitsSchema(zod), zod)],
    ["sources", await sourceTable(registry)],
  ]);
  return [...tables].reduce((filled, [name, rows]) => withTable(filled, name, rows), page);
}

/** Replaces the table of options in the page of a source, between `<!-- options -->` and `<!-- end -->`. */
export async function withOptions(page: string, { options }: Pick<SourceDefinition, "options">): Promise<string> {
  const { z: zod } = await import("zod");
  return withTable(page, "options", optionTable(options(zod), zod));
}

function withTable(page: string, name: string, rows: string): string {
  const [mark, endMark] = [`<!-- ${name} -->`, "<!-- end -->"];
  const start = page.indexOf(mark);
  const end = page.indexOf(endMark, start);
  if (start < 0 || end < 0)
    throw new Error(`the page has no place for a table; add the lines "${mark}" and "${endMark}"`);
  return `${page.slice(0, start)}${mark}\n\n${rows}\n\n${page.slice(end)}`;
}

async function sourceTable(registry: Registry): Promise<string> {
  const rows: string[][] = [];
  for (const [name, load] of Object.entries(registry))
    rows.push([`[\`${name}\`](sources/${name}.md)`, (await load()).default.summary]);
  return markdownTable(["Source", "Serves"], rows);
}

type Json = Readonly<Record<string, unknown>>;

function optionTable(schema: z.ZodType, zod: typeof z): string {
  const json = zod.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Json;
  const required = (json["required"] as readonly string[] | undefined) ?? [];
  const rows = Object.entries((json["properties"] ?? {}) as Readonly<Record<string, Json>>).map(([name, option]) => {
    const initial = option["default"];
    const byDefault = initial === undefined ? "" : `. Default: \`${JSON.stringify(initial)}\``;
    const text = `${String(option["description"] ?? "")}${byDefault}${required.includes(name) ? ". Required" : ""}`;
    return [`\`${name}\``, typeOf(option), text];
  });
  return markdownTable(["Key", "Type", "Description"], rows);
}

function typeOf(option: Json): string {
  if (Array.isArray(option["enum"])) return option["enum"].map((each) => `\`${String(each)}\``).join(" or ");
  if (option["format"] === "path") return "path";
  if (Array.isArray(option["anyOf"]))
    return [...new Set(option["anyOf"].map((each: Json) => typeOf(each)))].join(" or ");
  switch (option["type"]) {
    case "integer":
      return "whole number";
    case "array":
      return "list";
    case "object":
      return "object";
    case "string":
      return "string";
    case "boolean":
      return "boolean";
    default:
      return String(option["type"] ?? "string or object");
  }
}
