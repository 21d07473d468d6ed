/** Parses the schema resource of a database table defensively. */
import { isJsonList, isJsonRecord, type Json } from "./json.ts";
import type { Diagram, Entity, Relation } from "./er.ts";

export interface SchemaColumn {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly default: string;
  readonly comment: string;
  readonly keys: readonly ("PK" | "FK" | "UK")[];
}

export interface SchemaKey {
  readonly columns: readonly string[];
  readonly table: string;
  readonly schema: string;
  readonly to: readonly string[];
  readonly rules: string;
}

export interface Schema {
  readonly table: string;
  /** The kind that the database reports: a table, a view … */
  readonly kind: string;
  readonly comment: string;
  readonly owner: string;
  readonly rowEstimate?: number;
  readonly columns: readonly SchemaColumn[];
  readonly foreignKeys: readonly SchemaKey[];
  readonly referencedBy: readonly SchemaKey[];
  readonly indexes: readonly { readonly name: string; readonly unique: boolean; readonly columns: readonly string[] }[];
  readonly constraints: readonly { readonly name: string; readonly kind: string; readonly definition: string }[];
  readonly definition: string;
}

/** Undefined if it does not describe a table. */
export function parseSchema(value: Json): Schema | undefined {
  if (!isJsonRecord(value) || value["columns"] === undefined || !isJsonList(value["columns"])) return undefined;
  const { database, table, kind, foreignKeys, indexes } = value;
  if (typeof database !== "string" || typeof table !== "string" || typeof kind !== "string") return undefined;
  if (foreignKeys === undefined || indexes === undefined || !isJsonList(foreignKeys) || !isJsonList(indexes))
    return undefined;
  const primary = new Set(words(value["primaryKey"]));
  const outward = records(foreignKeys).map((key): SchemaKey => {
    const references = isJsonRecord(key["references"]) ? key["references"] : {};
    return {
      columns: words(key["columns"]),
      table: text(references["table"]),
      schema: text(references["schema"]),
      to: words(references["columns"]),
      rules: [rule("ON UPDATE", key["onUpdate"]), rule("ON DELETE", key["onDelete"])].filter(Boolean).join(" "),
    };
  });
  const constraints = records(value["constraints"]);
  const unique = new Set(
    [
      ...constraints.filter((each) => each["kind"] === "unique"),
      ...records(indexes).filter((each) => each["unique"] === true),
    ]
      .map((each) => words(each["columns"]))
      .flatMap((columns) => (columns.length === 1 ? columns : [])),
  );
  const foreign = new Set(outward.flatMap(({ columns }) => columns));
  const rows = value["rowEstimate"];
  return {
    table,
    kind,
    comment: text(value["comment"]),
    owner: text(value["owner"]),
    ...(typeof rows === "number" && { rowEstimate: rows }),
    columns: records(value["columns"]).map((column) => {
      const name = text(column["name"]);
      return {
        name,
        type: text(column["type"]),
        nullable: column["nullable"] === true,
        default: text(column["default"]) || (column["generated"] === undefined ? "" : `= ${text(column["generated"])}`),
        comment: text(column["comment"]),
        keys: [
          ...(primary.has(name) ? (["PK"] as const) : []),
          ...(foreign.has(name) ? (["FK"] as const) : []),
          ...(unique.has(name) && !primary.has(name) ? (["UK"] as const) : []),
        ],
      };
    }),
    foreignKeys: outward,
    referencedBy: records(value["referencedBy"]).map((key) => ({
      columns: words(key["columns"]),
      table: text(key["table"]),
      schema: text(key["schema"]),
      to: words(key["to"]),
      rules: "",
    })),
    indexes: records(indexes).map((index) => ({
      name: text(index["name"]),
      unique: index["unique"] === true,
      columns: words(index["columns"]),
    })),
    constraints: constraints.map((each) => ({
      name: text(each["name"]),
      kind: text(each["kind"]),
      definition: text(each["definition"]),
    })),
    definition: text(value["definition"]),
  };
}

/** The table with those that it references, and those that reference it. */
export function diagramOf({ table, columns, foreignKeys, referencedBy }: Schema): Diagram {
  const own: Entity = { id: "", label: table, attributes: columns };
  const others = new Map<string, Entity>();
  const meet = ({ schema, table: name }: SchemaKey, isOwn: boolean): string => {
    if (isOwn) return own.id;
    const id = `${schema}.${name}`;
    if (!others.has(id)) others.set(id, { id, label: name, attributes: [] });
    return id;
  };
  const relations = [
    ...foreignKeys.map((key) => {
      const isOptional = columns.some(({ name, nullable }) => nullable && key.columns.includes(name));
      return relation(meet(key, key.table === table), own.id, key.columns, isOptional);
    }),
    // A reference to itself is already included.
    ...referencedBy
      .filter((key) => key.table !== table)
      .map((key) => relation(own.id, meet(key, false), key.columns, false)),
  ];
  return { entities: [own, ...others.values()], relations };
}

function relation(from: string, to: string, names: readonly string[], isOptional: boolean): Relation {
  const fromEnd = isOptional ? "none or one" : "one";
  return { from, to, fromEnd, toEnd: "any", label: names.join(", "), isFirm: true };
}

function rule(name: string, value: Json | undefined): string {
  const action = text(value);
  return action === "" || action.toLowerCase() === "no action" ? "" : `${name} ${action}`;
}

function text(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function words(value: Json | undefined): readonly string[] {
  return value !== undefined && isJsonList(value) ? value.filter((each) => typeof each === "string") : [];
}

function records(value: Json | undefined): readonly Readonly<Record<string, Json>>[] {
  return value !== undefined && isJsonList(value) ? value.filter(isJsonRecord) : [];
}
