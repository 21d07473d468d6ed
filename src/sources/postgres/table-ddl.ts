/** A table as the statements that create it and all that belongs to it. */
import { comment } from "../../backends/sql/ddl.ts";
import type { RawColumn, RawConstraint, RawIndex, CatalogTable } from "./catalog-table.ts";

/** In the order of loading: each may need what is before it. */
const sections = [
  "create",
  "alter",
  "index",
  "statistics",
  "foreign key",
  "trigger",
  "rule",
  "policy",
  "comment",
  "grant",
] as const;

export interface DdlStatement {
  readonly section: (typeof sections)[number];
  readonly sql: string;
}

/** Statements as one text. Within a section they stay in order. */
export function toText(statements: readonly DdlStatement[]): string {
  return [...statements]
    .sort((a, b) => sections.indexOf(a.section) - sections.indexOf(b.section))
    .map(({ sql }) => `${/^--[^\n]*$/.test(sql) ? sql : `${sql.trimEnd().replace(/;$/, "")};`}\n`)
    .join("");
}

interface TableDdlOptions {
  /** Whether foreign keys are part of the table; otherwise they are added when all tables exist. */
  readonly hasInlineKeys: boolean;
}

/** The table alone, without indexes and whatever is written in statements of its own. */
export function createTable(raw: CatalogTable, { hasInlineKeys }: TableDdlOptions): string {
  if (isViewLetter(raw.letter)) return createView(raw);
  const [parent] = raw.parents ?? [];
  const isPartition = raw.root !== null;
  const lines = [
    ...ownColumns(raw).map(columnLine),
    ...(raw.constraints ?? []).filter((each) => isInline(raw, each)).map(constraintLine),
    ...(hasInlineKeys ? (raw.foreignKeys ?? []).filter(({ isValid }) => isValid).map(constraintLine) : []),
  ];
  const what = `CREATE ${raw.isUnlogged ? "UNLOGGED " : ""}${raw.letter === "f" ? "FOREIGN " : ""}TABLE ${raw.quoted}`;
  const origin = isPartOf(raw) && parent ? ` PARTITION OF ${parent.quoted}` : raw.ofType ? ` OF ${raw.ofType[1]}` : "";
  const body = lines.length > 0 ? ` (\n  ${lines.join(",\n  ")}\n)` : origin === "" ? " ()" : "";
  return [
    `${what}${origin}${body}`,
    ...(isPartOf(raw) ? [raw.bound ?? ""] : []),
    ...(!isPartition && raw.parents?.length
      ? [`INHERITS (${raw.parents.map(({ quoted }) => quoted).join(", ")})`]
      : []),
    ...(raw.partition === null ? [] : [`PARTITION BY ${raw.partition}`]),
    ...(raw.server ? [`SERVER ${raw.server[0]}`] : []),
    ...(raw.server?.[1] ? [raw.server[1]] : []),
    ...storage(raw),
  ].join(" ");
}

/** The statements of a table, and of its partitions. */
export function tableStatements(
  raw: CatalogTable,
  partitions: readonly CatalogTable[],
  options: TableDdlOptions,
): readonly DdlStatement[] {
  const all = [raw, ...partitions];
  return [
    ...all.flatMap((each) =>
      (each.sequences ?? []).flatMap(({ create }) => (create === null ? [] : toStatement("create", create))),
    ),
    ...all.flatMap((each) => [toStatement("create", createTable(each, options)), ...attachment(each)]),
    // After the partitions: theirs have names of their own, and are attached.
    ...all.flatMap(keysOfPartitioned),
    ...all.flatMap((each) => belongings(each, options)),
  ];
}

function toStatement(section: DdlStatement["section"], sql: string): DdlStatement {
  return { section, sql };
}

function isViewLetter(letter: string): boolean {
  return letter === "v" || letter === "m";
}

function createView(raw: CatalogTable): string {
  const what = `CREATE ${raw.letter === "m" ? "MATERIALIZED " : ""}VIEW ${raw.quoted}`;
  if (raw.query === null) return comment(`${what}: its query names what is not served here`);
  const end = raw.letter === "m" && !raw.isPopulated ? "\nWITH NO DATA" : "";
  return `${[what, ...storage(raw)].join(" ")} AS\n${raw.query.trimEnd().replace(/;$/, "")}${end}`;
}

function storage({ method, options, tablespace }: CatalogTable): string[] {
  return [
    ...(method === null ? [] : [`USING ${method}`]),
    ...(options === "" ? [] : [`WITH (${options})`]),
    ...(tablespace === null ? [] : [`TABLESPACE ${tablespace}`]),
  ];
}

/** Whether a partition is created as such. One with another order of columns is created as a table and attached. */
function isPartOf({ root, parents, isInParentOrder }: CatalogTable): boolean {
  return root !== null && isInParentOrder === true && parents?.length === 1;
}

function attachment(raw: CatalogTable): DdlStatement[] {
  const [parent] = raw.parents ?? [];
  if (raw.root === null || isPartOf(raw) || !parent) return [];
  return [toStatement("create", `ALTER TABLE ONLY ${parent.quoted} ATTACH PARTITION ${raw.quoted} ${raw.bound}`)];
}

/** Columns that are not taken from a parent, a type or a query. */
function ownColumns(raw: CatalogTable): readonly RawColumn[] {
  if (isPartOf(raw) || raw.ofType || isViewLetter(raw.letter)) return [];
  return (raw.columns ?? []).filter(({ isLocal }) => isLocal || raw.root !== null);
}

function columnLine(column: RawColumn): string {
  const { quoted, type, collation, identity, identityOptions, generated, default: initial } = column;
  return [
    quoted,
    type,
    ...(column.foreignOptions === null ? [] : [column.foreignOptions]),
    ...(collation === null ? [] : [`COLLATE ${collation[2]}`]),
    ...(identity === "" ? [] : [`GENERATED ${identity === "a" ? "ALWAYS" : "BY DEFAULT"} AS IDENTITY`]),
    ...(identityOptions ? [`(${identityOptions})`] : []),
    ...(generated === "" || initial === null
      ? []
      : [`GENERATED ALWAYS AS (${initial}) ${generated === "s" ? "STORED" : "VIRTUAL"}`]),
    ...(generated !== "" || initial === null ? [] : [`DEFAULT ${initial}`]),
    ...(column.nullable ? [] : [column.notNull ? column.notNull.inline : "NOT NULL"]),
  ]
    .filter((clause) => clause !== null)
    .join(" ");
}

function constraintLine({ quoted, definition }: { readonly quoted: string; readonly definition: string }): string {
  return `CONSTRAINT ${quoted} ${definition}`;
}

/** Whether a constraint is part of the statement that creates the table. */
function isInline(raw: CatalogTable, { kind, isLocal, isLate }: RawConstraint): boolean {
  if (isLate) return false;
  if (kind === "c") return isLocal || (raw.root !== null && !isPartOf(raw));
  return raw.partition === null && raw.root === null;
}

/** Primary keys and other constraints with an index, where each partition has its own. */
function keysOfPartitioned(raw: CatalogTable): DdlStatement[] {
  if (raw.partition === null && raw.root === null) return [];
  return (raw.constraints ?? []).flatMap((each) =>
    each.kind === "c"
      ? []
      : [
          toStatement("create", `ALTER TABLE ONLY ${raw.quoted} ADD ${constraintLine(each)}`),
          ...attachedIndex("create", each.index),
        ],
  );
}

function attachedIndex(section: "create" | "index", index: RawIndex | null): DdlStatement[] {
  return index?.parent ? [toStatement(section, `ALTER INDEX ${index.parent} ATTACH PARTITION ${index.quoted}`)] : [];
}

function belongings(raw: CatalogTable, { hasInlineKeys }: TableDdlOptions): DdlStatement[] {
  const { quoted } = raw;
  const only = `ALTER TABLE ONLY ${quoted}`;
  const own = new Set(ownColumns(raw));
  const indexes = [...(raw.constraints ?? []), ...(raw.indexes ?? [])].flatMap(({ index }) => index ?? []);
  const identity = "rpm".includes(raw.letter) ? { n: "NOTHING", f: "FULL" }[raw.identity] : undefined;
  return [
    ...(raw.sequences ?? []).flatMap(({ own: sql }) => (sql === null ? [] : toStatement("alter", sql))),
    ...(raw.columns ?? [])
      .filter(({ notNull }) => notNull?.isLocal)
      .filter((column) => !own.has(column) || column.notNull?.inline === null)
      .map(({ notNull }) => toStatement("alter", `ALTER TABLE ${quoted} ${notNull?.add}`)),
    ...(raw.columns ?? []).flatMap((column) =>
      [...(own.has(column) ? [] : inheritedChanges(column)), ...column.changes].map((change) =>
        toStatement("alter", `${only} ALTER COLUMN ${column.quoted} ${change}`),
      ),
    ),
    ...(raw.constraints ?? [])
      .filter(({ isLate, isLocal }) => isLate && isLocal)
      .map((each) => toStatement("alter", `ALTER TABLE ${quoted} ADD ${constraintLine(each)}`)),
    ...(raw.indexes ?? []).flatMap(({ definition, index }) => [
      toStatement("index", definition),
      ...attachedIndex("index", index),
    ]),
    ...indexes.flatMap(({ quoted: index, name, isClustered, isIdentity, changes }) => [
      ...changes.map((change) => toStatement("index", `ALTER INDEX ${index} ${change}`)),
      ...(isClustered ? [toStatement("index", `ALTER TABLE ${quoted} CLUSTER ON ${name}`)] : []),
      ...(isIdentity ? [toStatement("index", `${only} REPLICA IDENTITY USING INDEX ${name}`)] : []),
    ]),
    ...(identity === undefined ? [] : [toStatement("alter", `${only} REPLICA IDENTITY ${identity}`)]),
    ...(raw.foreignKeys ?? [])
      .filter(({ isValid }) => !hasInlineKeys || !isValid)
      .map((each) => toStatement("foreign key", `ALTER TABLE ${quoted} ADD ${constraintLine(each)}`)),
    ...(raw.attached ?? []).flatMap(({ kind, statements }) => statements.map((sql) => toStatement(kind, sql))),
    ...(raw.hasRowSecurity ? [toStatement("policy", `ALTER TABLE ${quoted} ENABLE ROW LEVEL SECURITY`)] : []),
    ...(raw.isForced ? [toStatement("policy", `${only} FORCE ROW LEVEL SECURITY`)] : []),
    ...(raw.comments ?? []).map(({ statement }) => toStatement("comment", statement)),
    ...[
      ...(raw.sequences ?? []).flatMap(({ grants }) => grants ?? []),
      ...(raw.grants ?? []),
      ...(raw.columnGrants ?? []),
    ].map((sql) => toStatement("grant", sql)),
  ];
}

/** What differs from the column of the parent or type, or of the query of a view. */
function inheritedChanges(column: RawColumn): string[] {
  const { default: initial, parentDefault, nullable, parentNullable, generated, notNull } = column;
  return [
    ...(generated !== "" || initial === parentDefault
      ? []
      : [initial === null ? "DROP DEFAULT" : `SET DEFAULT ${initial}`]),
    ...(notNull || nullable === parentNullable ? [] : [nullable ? "DROP NOT NULL" : "SET NOT NULL"]),
  ];
}
