/** What is said of a table, whichever database it is in: the JSON that a schema resource holds. */
import { plainIdentifier } from "./segments.ts";

export const schemaType = "application/json;format=Pressmark::DatabaseSchema";

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
  /** Whether what is generated is stored; otherwise it is made when it is read. */
  readonly stored?: boolean;
  readonly identity?: "always" | "by default";
  readonly collation?: string;
  readonly comment?: string;
}

export interface Constraint {
  readonly name: string;
  readonly kind: "unique" | "check" | "exclusion";
  readonly columns: readonly string[];
  /** As it stands in DDL. */
  readonly definition: string;
}

export interface ForeignKey {
  readonly name?: string;
  readonly columns: readonly string[];
  readonly references: { readonly schema?: string; readonly table: string; readonly columns: readonly string[] };
  readonly onUpdate?: string;
  readonly onDelete?: string;
}

/** A foreign key of another table that leads here. */
export interface Reference {
  readonly schema?: string;
  readonly table: string;
  readonly columns: readonly string[];
  readonly to: readonly string[];
}

export interface TableIndex {
  readonly name: string;
  readonly unique: boolean;
  /** What is indexed, in order: columns, or expressions. */
  readonly columns: readonly string[];
  readonly definition?: string;
}

export interface TableDescription {
  readonly database: string;
  /** Absent where the database has no schemas. */
  readonly schema?: string;
  readonly table: string;
  readonly kind: TableKind;
  readonly owner?: string;
  readonly comment?: string;
  /** What the database believes; it may be far off. */
  readonly rowEstimate?: number;
  readonly columns: readonly TableColumn[];
  readonly primaryKey?: readonly string[];
  readonly constraints: readonly Constraint[];
  readonly foreignKeys: readonly ForeignKey[];
  readonly referencedBy: readonly Reference[];
  readonly indexes: readonly TableIndex[];
  /** Behind the closing bracket: WITHOUT ROWID, PARTITION BY … */
  readonly suffix?: string;
  /** The query of a view. Absent where it names what is not served. */
  readonly query?: string;
  /** The statement that makes it; made from the rest where the database does not keep it. */
  readonly definition?: string;
}

/** `schema.table`, as SQL would write it. */
export function fullName({ schema, table }: { readonly schema?: string; readonly table: string }): string {
  return schema === undefined ? plainIdentifier(table) : `${plainIdentifier(schema)}.${plainIdentifier(table)}`;
}

export function isView({ kind }: Pick<TableDescription, "kind">): boolean {
  return kind === "view" || kind === "materialized view";
}

export interface EnumDescription {
  readonly name: string;
  readonly values: readonly string[];
  readonly comment?: string;
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
