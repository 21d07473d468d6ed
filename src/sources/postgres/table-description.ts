/** The description of a table, as JSON shows it. */
import type { ForeignKey, NamedStatement, TableColumn, TableDescription } from "../../backends/sql/description.ts";
import type { AttachedObject } from "./attached.ts";
import type { RawColumn, RawForeignKey, CatalogTable } from "./catalog-table.ts";
import { tableKinds } from "./tables.ts";

export function toDescription(
  raw: CatalogTable,
  partitions: readonly CatalogTable[],
  database: string,
  definition: string,
): TableDescription {
  const constraints = raw.constraints ?? [];
  const kind = tableKinds[raw.letter] ?? "table";
  const attached = (wanted: AttachedObject["kind"]): readonly NamedStatement[] | undefined =>
    unlessEmpty(
      (raw.attached ?? [])
        .filter((each) => each.kind === wanted)
        .map(({ name, statements }) => ({ name, definition: statements.join(";\n") })),
    );
  return {
    database,
    schema: raw.schema,
    table: raw.name,
    kind,
    owner: raw.owner,
    ...(raw.comment !== null && { comment: raw.comment }),
    // Negative: never counted.
    ...(raw.estimate >= 0 && kind !== "view" && { rowEstimate: Math.round(raw.estimate) }),
    ...(raw.isUnlogged && { unlogged: true }),
    columns: (raw.columns ?? []).map(toColumn),
    primaryKey: constraints.find((each) => each.kind === "p")?.columns,
    constraints: constraints
      .filter((each) => each.kind !== "p")
      .map(({ name, kind: letter, columns, definition: text }) => ({
        name,
        kind: letter === "u" ? "unique" : letter === "c" ? "check" : "exclusion",
        columns,
        definition: text,
      })),
    foreignKeys: (raw.foreignKeys ?? []).map(toForeignKey),
    referencedBy: raw.referencedBy ?? [],
    indexes: (raw.indexes ?? []).map(({ name, unique, columns, definition: text }) => ({
      name,
      unique,
      columns,
      definition: text,
    })),
    ...(raw.partition !== null && { suffix: `PARTITION BY ${raw.partition}` }),
    inherits: unlessEmpty((raw.parents ?? []).map(({ quoted }) => quoted)),
    partitions: unlessEmpty(partitions.map(({ quoted, bound }) => ({ name: quoted, bound: bound ?? "" }))),
    ...(raw.hasRowSecurity && { rowSecurity: raw.isForced ? ("forced" as const) : ("enabled" as const) }),
    policies: attached("policy"),
    triggers: attached("trigger"),
    rules: attached("rule"),
    statistics: attached("statistics"),
    grants: unlessEmpty([...(raw.grants ?? []), ...(raw.columnGrants ?? [])]),
    ...(raw.query !== null && { query: raw.query }),
    definition,
  };
}

function unlessEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

function toColumn(raw: RawColumn): TableColumn {
  const { name, type, nullable, generated, identity, collation, comment } = raw;
  return {
    name,
    type,
    nullable,
    ...(raw.default !== null &&
      (generated === "" ? { default: raw.default } : { generated: raw.default, stored: generated === "s" })),
    ...(identity !== "" && { identity: identity === "a" ? ("always" as const) : ("by default" as const) }),
    ...(collation !== null && { collation: collation[1] }),
    ...(comment !== null && { comment }),
  };
}

const actions: Readonly<Record<string, string>> = {
  r: "RESTRICT",
  c: "CASCADE",
  n: "SET NULL",
  d: "SET DEFAULT",
};

function toForeignKey({ name, columns, schema, table, to, onUpdate, onDelete, definition }: RawForeignKey): ForeignKey {
  return {
    name,
    columns,
    references: { schema, table, columns: to },
    onUpdate: actions[onUpdate],
    onDelete: actions[onDelete],
    definition,
  };
}
