/** Which schemas and tables are served. Every request is checked against the same rules. */
import { invalid, quote } from "../../errors.ts";
import { createGlob, type Glob, GlobError } from "../../lib/glob.ts";

export interface TableRef {
  readonly schema: string;
  readonly table: string;
}

/** `table`, which is then in `public`, or `schema.table`. */
export function parseTableRef(text: string): TableRef {
  const dot = text.indexOf(".");
  return dot < 0 ? { schema: "public", table: text } : { schema: text.slice(0, dot), table: text.slice(dot + 1) };
}

export interface AllowOptions {
  /** Patterns of schemas. Default: all. */
  readonly schemas?: readonly string[];
  readonly tables?:
    | { readonly include?: readonly string[]; readonly exclude?: readonly string[] | undefined }
    | undefined;
  /** Tables whose rows are served: all, none, or those that match the patterns. */
  readonly rows: boolean | readonly string[];
  /** The database has no schemas, and a dot is part of a name. */
  readonly isFlat?: boolean;
}

export interface AllowList {
  /** Whether anything of this schema is served. */
  schema(name: string): boolean;
  table(ref: TableRef): boolean;
  /** Whether its rows are served; then the table is served, too. */
  rows(ref: TableRef): boolean;
  /** Whether `tables` excludes it, whatever its schema. */
  leavesOut(ref: TableRef): boolean;
  /** Whether `tables` or `rows` names it without a wildcard. */
  names(ref: TableRef): boolean;
  /** Whether schemas, or tables, are excluded. */
  readonly restricts: { readonly schemas: boolean; readonly tables: boolean };
  /** Whether rows of any table are served. */
  readonly hasRows: boolean;
  /** Prefixes of the names of all served tables, if known, to narrow a query. */
  readonly beginnings: readonly Beginning[] | undefined;
}

interface Beginning {
  readonly schema: string;
  readonly table: string;
}

/** A pattern is `table` (in any schema) or `schema.table`. */
export function createAllowList({ schemas, tables, rows, isFlat = false }: AllowOptions): AllowList {
  const schemaGlobs = schemas?.map((pattern) => toGlob(pattern));
  const include = tables?.include?.map((pattern) => tableGlob(pattern, isFlat));
  const exclude = tables?.exclude?.map((pattern) => tableGlob(pattern, isFlat)) ?? [];
  const rowGlobs = typeof rows === "boolean" ? undefined : rows.map((pattern) => tableGlob(pattern, isFlat));
  const beginnings = beginningsOf(schemas, tables?.include);

  const schema = (name: string) =>
    (schemaGlobs === undefined || schemaGlobs.some((glob) => glob.matches(asSegment(name)))) &&
    (include === undefined || include.some((glob) => glob.mayLead(asSegment(name))));
  const leavesOut = (ref: TableRef) => {
    const path = pathOf(ref);
    const isIncluded = include === undefined || include.some((glob) => glob.matches(path));
    return !isIncluded || exclude.some((glob) => glob.matches(path));
  };
  const table = (ref: TableRef) => schema(ref.schema) && !leavesOut(ref);
  const named = [...(tables?.include ?? []), ...(typeof rows === "boolean" ? [] : rows)]
    .filter((pattern) => beginningOf(pattern) === pattern.normalize("NFC"))
    .map((pattern) => tableGlob(pattern, isFlat));
  return {
    schema,
    table,
    leavesOut,
    names: (ref) => named.some((glob) => glob.matches(pathOf(ref))),
    rows: (ref) =>
      (rowGlobs === undefined ? rows === true : rowGlobs.some((glob) => glob.matches(pathOf(ref)))) && table(ref),
    restricts: { schemas: schemaGlobs !== undefined, tables: include !== undefined || exclude.length > 0 },
    hasRows: rowGlobs === undefined ? rows === true : rowGlobs.length > 0,
    beginnings,
  };
}

function pathOf({ schema, table }: TableRef): string {
  return `${asSegment(schema)}/${asSegment(table)}`;
}

/** A slash in a name is not a separator. */
function asSegment(name: string): string {
  return name.replaceAll("/", "\0");
}

function tableGlob(pattern: string, isFlat: boolean): Glob {
  return toGlob((isFlat ? ["*", pattern] : splitPattern(pattern)).map(asSegment).join("/"));
}

/** The first dot separates schema and table. */
function splitPattern(pattern: string): [schema: string, table: string] {
  const dot = pattern.indexOf(".");
  return dot < 0 ? ["*", pattern] : [pattern.slice(0, dot), pattern.slice(dot + 1)];
}

function toGlob(pattern: string): Glob {
  try {
    return createGlob(pattern);
  } catch (cause) {
    if (cause instanceof GlobError) throw invalid(`invalid pattern ${quote(pattern)}: ${cause.message}`);
    throw cause;
  }
}

function beginningsOf(
  schemas: readonly string[] | undefined,
  include: readonly string[] | undefined,
): readonly Beginning[] | undefined {
  if (include === undefined) return schemas?.map((pattern) => ({ schema: beginningOf(pattern), table: "" }));
  return include.map((pattern) => {
    const [schema, table] = splitPattern(pattern).map(beginningOf);
    return { schema: schema ?? "", table: table ?? "" };
  });
}

/** The part before the first character that may match others or be written in two ways. */
function beginningOf(pattern: string): string {
  return /^[ -)+->@-Z\]-z|}~]*/.exec(pattern.normalize("NFC"))?.[0] ?? "";
}
