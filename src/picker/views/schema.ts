/** Parses the schema resource of a database table defensively. */
import { optionalNumber, recordOf, recordsIn, textOf, textsIn } from "../loose.ts";
import type { Diagram, Entity, Relation } from "./er.ts";

export interface SchemaKey {
  readonly columns: readonly string[];
  readonly table: string;
  readonly schema: string;
  readonly to: readonly string[];
  readonly rules: string;
}

export type Schema = NonNullable<ReturnType<typeof parseSchema>>;

/** Undefined if it does not describe a table. */
export function parseSchema(value: unknown) {
  const { database, table, kind, columns, foreignKeys, indexes, constraints, ...more } = recordOf(value);
  if (typeof database !== "string" || typeof table !== "string" || typeof kind !== "string") return undefined;
  if (![columns, foreignKeys, indexes].every((each) => Array.isArray(each))) return undefined;
  const primary = new Set(textsIn(more["primaryKey"]));
  const outward = recordsIn(foreignKeys).map((key): SchemaKey => {
    const references = recordOf(key["references"]);
    return {
      columns: textsIn(key["columns"]),
      table: textOf(references["table"]),
      schema: textOf(references["schema"]),
      to: textsIn(references["columns"]),
      rules: [rule("ON UPDATE", key["onUpdate"]), rule("ON DELETE", key["onDelete"])].filter(Boolean).join(" "),
    };
  });
  const unique = new Set(
    [
      ...recordsIn(constraints).filter((each) => each["kind"] === "unique"),
      ...recordsIn(indexes).filter((each) => each["unique"] === true),
    ]
      .map((each) => textsIn(each["columns"]))
      .flatMap((names) => (names.length === 1 ? names : [])),
  );
  const foreign = new Set(outward.flatMap((key) => key.columns));
  return {
    table,
    /** The kind that the database reports: a table, a view … */
    kind,
    comment: textOf(more["comment"]),
    owner: textOf(more["owner"]),
    rowEstimate: optionalNumber(more["rowEstimate"]),
    columns: recordsIn(columns).map((column) => {
      const name = textOf(column["name"]);
      return {
        name,
        type: textOf(column["type"]),
        nullable: column["nullable"] === true,
        default:
          textOf(column["default"]) || (column["generated"] === undefined ? "" : `= ${textOf(column["generated"])}`),
        comment: textOf(column["comment"]),
        keys: [
          ...(primary.has(name) ? (["PK"] as const) : []),
          ...(foreign.has(name) ? (["FK"] as const) : []),
          ...(unique.has(name) && !primary.has(name) ? (["UK"] as const) : []),
        ],
      };
    }),
    foreignKeys: outward,
    referencedBy: recordsIn(more["referencedBy"]).map((key): SchemaKey => ({
      columns: textsIn(key["columns"]),
      table: textOf(key["table"]),
      schema: textOf(key["schema"]),
      to: textsIn(key["to"]),
      rules: "",
    })),
    indexes: recordsIn(indexes).map(({ name, unique: isUnique, columns: names }) => ({
      name: textOf(name),
      unique: isUnique === true,
      columns: textsIn(names),
    })),
    constraints: recordsIn(constraints).map(({ name, kind: constraintKind, definition }) => ({
      name: textOf(name),
      kind: textOf(constraintKind),
      definition: textOf(definition),
    })),
    definition: textOf(more["definition"]),
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

function rule(name: string, value: unknown): string {
  const action = textOf(value);
  return action === "" || action.toLowerCase() === "no action" ? "" : `${name} ${action}`;
}
