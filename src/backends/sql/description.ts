/** The description of a table in any database: the JSON of a schema resource. */
import { plainIdentifier } from "./segments.ts";

export const schemaType = "application/json;format=Pressmark::DatabaseSchema";

/** Of an overview whose database gives no comment. */
export const overviewDescription = "All tables with their columns and relations, and a diagram";

export type TableKind =
  | "table"
  | "partitioned table"
  | "foreign table"
  | "virtual table"
  | "view"
  | "materialized view";

export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly default?: string;
  readonly generated?: string;
  /** Whether a generated value is stored; otherwise it is computed on each read. */
  readonly stored?: boolean;
  readonly identity?: "always" | "by default";
  readonly collation?: string;
  readonly comment?: string;
}

export interface Constraint {
  readonly name: string;
  readonly kind: "unique" | "check" | "exclusion";
  readonly columns: readonly string[];
  /** As in DDL. */
  readonly definition: string;
}

export interface ForeignKey {
  readonly name?: string;
  readonly columns: readonly string[];
  readonly references: { readonly schema?: string; readonly table: string; readonly columns: readonly string[] };
  readonly onUpdate?: string;
  readonly onDelete?: string;
  /** As in DDL. */
  readonly definition?: string;
}

/** A foreign key of another table that refers to this one. */
export interface Reference {
  readonly schema?: string;
  readonly table: string;
  readonly columns: readonly string[];
  readonly to: readonly string[];
}

export interface TableIndex {
  readonly name: string;
  readonly unique: boolean;
  /** Indexed columns or expressions, in order. */
  readonly columns: readonly string[];
  readonly definition?: string;
}

/** A trigger, rule, policy or extended statistics, as the statements that create it. */
export interface NamedStatement {
  readonly name: string;
  readonly definition: string;
}

/** How many are described of each kind of which there are more. */
export type Limited = Readonly<Record<string, number>>;

export interface TableDescription {
  readonly database: string;
  /** Absent if the database has no schemas. */
  readonly schema?: string;
  readonly table: string;
  readonly kind: TableKind;
  readonly owner?: string;
  readonly comment?: string;
  /** An estimate of the database; it may be far off. */
  readonly rowEstimate?: number;
  /** Whether its rows are lost after a crash. */
  readonly unlogged?: boolean;
  readonly columns: readonly TableColumn[];
  readonly primaryKey?: readonly string[];
  readonly constraints: readonly Constraint[];
  readonly foreignKeys: readonly ForeignKey[];
  readonly referencedBy: readonly Reference[];
  readonly indexes: readonly TableIndex[];
  /** After the closing bracket: WITHOUT ROWID, PARTITION BY … */
  readonly suffix?: string;
  /** Tables whose columns it inherits, as SQL names them. */
  readonly inherits?: readonly string[];
  /** Partitions at every level, as SQL names them. */
  readonly partitions?: readonly { readonly name: string; readonly bound: string }[];
  /** Present if there are more partitions than are described. */
  readonly limited?: Limited;
  /** "forced": for the owner too. */
  readonly rowSecurity?: "enabled" | "forced";
  readonly policies?: readonly NamedStatement[];
  readonly triggers?: readonly NamedStatement[];
  readonly rules?: readonly NamedStatement[];
  readonly statistics?: readonly NamedStatement[];
  /** Privileges that differ from those of a new table, as statements. */
  readonly grants?: readonly string[];
  /** The query of a view. Absent if it names what is not served. */
  readonly query?: string;
  /** The statement that creates it; generated if the database does not store it. */
  readonly definition?: string;
}

/** `schema.table`, as SQL would write it. */
export function fullName({ schema, table }: { readonly schema?: string; readonly table: string }): string {
  return schema === undefined ? plainIdentifier(table) : `${plainIdentifier(schema)}.${plainIdentifier(table)}`;
}

export function isView({ kind }: Pick<TableDescription, "kind">): boolean {
  return kind === "view" || kind === "materialized view";
}

export interface TypeDescription {
  readonly name: string;
  readonly kind: "enum" | "domain" | "composite" | "range";
  /** Of an enum. */
  readonly values?: readonly string[];
  readonly comment?: string;
  /** As in DDL. */
  readonly definition: string;
}

export interface FunctionDescription {
  readonly name: string;
  readonly kind: "function" | "procedure" | "aggregate" | "window function";
  readonly arguments: string;
  readonly returns?: string;
  readonly language: string;
  readonly volatility: "immutable" | "stable" | "volatile";
  readonly owner?: string;
  readonly comment?: string;
  readonly definition?: string;
}
