/** One schema per revision, closed: a field that a revision does not know is an error, though the official schemas let it pass. */
import { schemaOf20241007 } from "./2024-10-07/schema.ts";
import { schemaOf20241105 } from "./2024-11-05/schema.ts";
import { extensionDefinitions } from "./extensions.ts";
import { isRecord, type Json, type JsonRecord } from "./json.ts";
import { officialSchemas } from "./official-schemas.ts";

export const revisions = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"] as const;
export type Revision = (typeof revisions)[number];

export interface RevisionSchema {
  readonly revision: Revision;
  /** Draft 2020-12, or draft-07. */
  readonly dialect: "2020-12" | "draft-07";
  readonly schema: JsonRecord;
  readonly definitions: JsonRecord;
  /** What stands before a definition's name in a reference. */
  readonly base: "#/$defs/" | "#/definitions/";
}

export async function loadSchemas(): Promise<ReadonlyMap<Revision, RevisionSchema>> {
  const official = await officialSchemas();
  const find = (revision: Revision): JsonRecord => {
    const schema = official.get(revision);
    if (!schema) throw new Error(`the conformance suite has no schema for ${revision}`);
    return schema;
  };
  const found: Readonly<Record<Revision, JsonRecord>> = {
    "2026-07-28": find("2026-07-28"),
    "2025-11-25": find("2025-11-25"),
    "2025-06-18": find("2025-06-18"),
    "2025-03-26": find("2025-03-26"),
    "2024-11-05": schemaOf20241105(find("2025-03-26")),
    "2024-10-07": schemaOf20241007,
  };
  return new Map(revisions.map((revision) => [revision, closed(revision, found[revision])]));
}

/** Definitions that others are built from, and those whose members are anyone's. */
const openDefinitions = new Set(["Result", "Request", "Notification", "JSONObject", "JSONValue", "Error"]);
/** Members whose own members are anyone's. */
const openMembers = new Set(["_meta", "inputSchema", "outputSchema", "data", "experimental", "extensions"]);

function closed(revision: Revision, schema: JsonRecord): RevisionSchema {
  const key = isRecord(schema["$defs"]) ? "$defs" : "definitions";
  const own = schema[key];
  if (!isRecord(own)) throw new Error(`the schema of ${revision} has no definitions`);
  const all: JsonRecord = { ...own, ...(revision === "2026-07-28" && extensionDefinitions) };
  const definitions: JsonRecord = {
    ...Object.fromEntries(
      Object.entries(all).map(([name, definition]) => [
        name,
        openDefinitions.has(name) || /Meta(Object)?$/.test(name) ? definition : closeRecord(framed(definition)),
      ]),
    ),
    EmptyResult: { ...(isRecord(all["Result"]) ? all["Result"] : {}), additionalProperties: false },
  };
  return {
    revision,
    dialect: key === "$defs" ? "2020-12" : "draft-07",
    schema: { ...schema, [key]: definitions },
    definitions,
    base: `#/${key}/`,
  };
}

/** The older schemas describe a notification without its envelope. */
function framed(definition: Json): Json {
  if (!isRecord(definition)) return definition;
  const properties = definition["properties"];
  if (!isRecord(properties) || !("method" in properties) || "jsonrpc" in properties) return definition;
  return { ...definition, properties: { jsonrpc: { const: "2.0" }, id: {}, ...properties } };
}

function closeRecord(value: Json): Json {
  if (Array.isArray(value)) return value.map(closeRecord);
  if (!isRecord(value)) return value;
  const properties = value["properties"];
  const inner = Object.fromEntries(
    Object.entries(value).map(([key, member]): [string, Json] => {
      // What is put together from parts cannot close a part: it would refuse the others'.
      if (key === "allOf") return [key, member];
      if (key !== "properties" || !isRecord(member)) return [key, closeRecord(member)];
      return [key, Object.fromEntries(Object.entries(member).map(closeMember))];
    }),
  );
  return isRecord(properties) && value["additionalProperties"] === undefined
    ? { ...inner, additionalProperties: false }
    : inner;
}

function closeMember([name, member]: [string, Json]): [string, Json] {
  return [name, openMembers.has(name) ? member : closeRecord(member)];
}
