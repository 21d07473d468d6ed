/** A SQLite database file: its table definitions and, if configured, rows. */
import type { z as Zod } from "zod";
import { basename, resolve } from "node:path";
import { entriesPage } from "../backends/entries-page.ts";
import { intOption } from "../lib/int-option.ts";
import { invalid, isDirectoryError, notFound } from "../errors.ts";
import { compareAddresses } from "../lib/address-order.ts";
import { directoryType } from "../resources.ts";
import { defineSource, hasQuery } from "../source.ts";
import type { Address, Entry, Part, Source, SourceTemplate, Runtime } from "../source.ts";
import { type AllowList, createAllowList } from "../backends/sql/allow-list.ts";
import { createStatement, toDdl } from "../backends/sql/ddl.ts";
import {
  overviewDescription,
  schemaType,
  type TableColumn,
  type TableDescription,
} from "../backends/sql/description.ts";
import { checkServed, documentOptions } from "../backends/sql/document-table.ts";
import {
  overviewPart,
  rowsTemplate,
  tableFormatOf,
  tableFormats,
  tablePart,
  tableTypeOf,
} from "../backends/sql/formats.ts";
import { leftOutProblem } from "../backends/sql/left-out.ts";
import { maxValueLength, parseRowsRequest, rowsPart } from "../backends/sql/rows.ts";
import { plainIdentifier } from "../backends/sql/segments.ts";
import { watchDocuments } from "../backends/sql/watch-documents.ts";
import { withDocuments } from "../backends/sql/with-documents.ts";
import { createSharedWatch } from "../backends/shared-watch.ts";
import { createSqliteDocuments } from "./sqlite/documents.ts";
import { createEngine, type Engine } from "./sqlite/engine.ts";
import { detectDatabases } from "./sqlite/detect-databases.ts";
import { parseSqlitePath, sqlitePath, encodePath } from "./sqlite/addresses.ts";
import type { NamedTable, RawTable } from "./sqlite/queries.ts";
import { parseKeyText } from "./sqlite/values.ts";
import { createSqliteWatch } from "./sqlite/watch.ts";

/** Most tables in the overview. */
const maxTables = 500;

function sqliteOptions(z: typeof Zod) {
  const patterns = z.array(z.string().min(1).max(1000)).max(1000);
  return z
    .object({
      path: z.string().min(1).describe("The database file").meta({ format: "path" }),
      immutable: z
        .boolean()
        .default(false)
        .describe(
          "The file never changes while it is served: it is read without locks and without the files beside it",
        ),
      tables: z
        .object({
          include: patterns.optional().describe("Serve only these"),
          exclude: patterns.optional().describe("Do not serve these"),
        })
        .strict()
        .optional()
        .describe(
          "Patterns of tables and views; excluded ones appear nowhere, and views that read them are excluded too",
        ),
      rows: z
        .union([z.boolean(), patterns])
        .default(false)
        .describe("Whether rows are served, or patterns of the tables whose rows are served"),
      maxRows: intOption(z, 1, 1000, 100).describe("Most rows on one page"),
      maxBytes: intOption(z, 1024, 64 * 1024 * 1024, 1024 * 1024).describe("Most bytes of rows on one page"),
      documents: documentOptions(z, z.string().min(1).max(1000), {}),
      pollMs: intOption(z, 100, 3_600_000, 2000).describe(
        "How often to check for changes while watched, where the system does not report them",
      ),
      timeoutMs: intOption(z, 100, 600_000, 5000).describe("Time limit of one call, including its time in the queue"),
    })
    .strict();
}

export type SqliteOptions = Zod.output<ReturnType<typeof sqliteOptions>>;

export default defineSource<SqliteOptions>({
  name: "sqlite",
  summary: "Tables and views of a SQLite database file; rows if configured",
  scheme: "sqlite",
  options: sqliteOptions,

  base: ({ path }) => `sqlite://${encodeURIComponent(basename(path))}/`,
  detect: detectDatabases,

  open: async (options, runtime) => openSqlite(options, runtime),
});

/** @internal `engine` opens the file. */
export function openSqlite(
  { path: configured, immutable, maxRows, maxBytes, pollMs, timeoutMs, tables, rows, documents = [] }: SqliteOptions,
  { wait, log, checkTrust }: Pick<Runtime, "wait" | "log" | "checkTrust">,
  engine = createEngine,
): Source {
  const file = resolve(configured);
  const database = basename(file);
  const allowed = { tables, rows, isFlat: true };
  const allow = createAllowList(allowed);
  // Two processes: a slow view delays only calls for rows, not calls for definitions.
  const [facts, readers] = [open(), open()];
  for (const each of documents) checkServed(each, allow.rows({ schema: "main", table: each.table }));
  const documentTables = documents.map((each) => createSqliteDocuments(each, readers));
  const detect = createSqliteWatch({ path: file, engine: facts, allow, pollMs, wait });
  const watching = createSharedWatch(
    documents.length > 0 ? watchDocuments(detect, { tables: documentTables, pollMs, isAnnounced: true, wait }) : detect,
  );
  const limits = { maxRows, maxBytes };
  const hasRows = ({ name }: Pick<NamedTable, "name">) => allow.rows({ schema: "main", table: name });

  /** Checks trust before each query: the file is opened by its path each time. */
  function open(): Engine {
    const opened = engine({ path: file, immutable, allow: allowed, timeoutMs });
    const { query: request } = opened;
    if (!checkTrust) return opened;
    return {
      ...opened,
      async query(query, signal) {
        checkTrust();
        return request(query, signal);
      },
    };
  }

  async function shown(signal: AbortSignal): Promise<readonly NamedTable[]> {
    return (await facts.query({ kind: "tables" }, signal)).result;
  }

  /** What is at a path; throws "not-found" with the path that the caller used. */
  async function locate(path: string, signal: AbortSignal) {
    const place = parseSqlitePath(path);
    if (place === undefined) throw notFound(path);
    if (!("table" in place)) return { place, table: undefined };
    const table = (await shown(signal)).find(({ name }) => name === place.table);
    if (table === undefined || (place.kind === "rows" && !hasRows(table))) throw notFound(path);
    return { place, table };
  }

  function leavesOf(table: NamedTable): Entry[] {
    const { name, kind } = table;
    const leaf = (what: "rows" | "definition", title: string, mimeType: string): Entry => ({
      path: sqlitePath({ kind: what, table: name }),
      name: `${name} ${what === "rows" ? "rows" : "schema"}`,
      title: `${title} ${database}.${name}`,
      mimeType,
      meta: { "pressmark/kind": kind },
    });
    return [
      ...(hasRows(table) ? [leaf("rows", "Rows of", "application/json")] : []),
      leaf("definition", "Database schema for", schemaType),
    ];
  }

  const overview: Entry = {
    path: "overview",
    name: `${database} overview`,
    title: `Overview of ${database}`,
    description: overviewDescription,
    mimeType: "text/markdown",
  };

  async function describe(wanted: readonly string[], withViews: boolean, signal: AbortSignal) {
    const { result } = await facts.query({ kind: "describe", tables: wanted, withViews }, signal);
    return result.map((raw) => toDescription(raw, database, allow));
  }

  async function readOverview(at: Address, signal: AbortSignal): Promise<Part> {
    const format = tableFormatOf(at, "markdown", tableFormats);
    const all = await shown(signal);
    const names = all.map(({ name }) => name).sort(compareAddresses);
    const described = await describe(names.slice(0, maxTables), false, signal);
    const content = {
      database,
      tables: described.sort((a, b) => compareAddresses(a.table, b.table)),
      types: [],
      functions: [],
      leftOut: Math.max(0, names.length - maxTables),
    };
    return overviewPart(content, format, () => [...described].sort(byKind).map(toDdl).join("\n"));
  }

  async function readDefinition(at: Address, table: string, signal: AbortSignal): Promise<Part> {
    const format = tableFormatOf(at, "json", tableFormats);
    const [description] = allow.table({ schema: "main", table }) ? await describe([table], true, signal) : [];
    if (description === undefined) throw notFound(at.path);
    return tablePart(description, format);
  }

  async function readRows({ path: requested, query = {} }: Address, table: string, signal: AbortSignal): Promise<Part> {
    const request = parseRowsRequest(query, limits);
    if (request === undefined || !hasRows({ name: table })) throw notFound(requested);
    const given = "key" in request ? request.key : request.after;
    const values = given?.map((each) => {
      const value = parseKeyText(each);
      if (value === undefined)
        throw invalid("not a key of a row in this table; copy it unchanged from the previous page");
      return value;
    });
    const { result } = await readers.query(
      {
        kind: "rows",
        table,
        limit: request.limit,
        maxBytes,
        maxValueLength,
        ...(values && ("key" in request ? { key: values } : { after: values })),
      },
      signal,
    );
    if (result === undefined || ("key" in request && result.rows.length === 0)) throw notFound(requested);
    return rowsPart({ database, table }, result, request.limit);
  }

  async function read(at: Address, signal: AbortSignal): Promise<readonly Part[]> {
    const place = parseSqlitePath(at.path);
    if (place?.kind === "overview") return [await readOverview(at, signal)];
    if (place?.kind === "definition") return [await readDefinition(at, place.table, signal)];
    if (place?.kind === "rows") return [await readRows(at, place.table, signal)];
    if (hasQuery(at)) throw notFound(at.path);
    await locate(at.path, signal);
    throw isDirectoryError(at.path);
  }

  const templates: readonly SourceTemplate[] = [
    {
      template: "{table}/schema{?format}",
      name: "Table",
      description:
        "Definition of a table or view: columns, keys, indexes; as JSON, or with format=ddl or format=markdown",
      mimeType: schemaType,
    },
    ...(allow.hasRows ? [rowsTemplate("{table}", maxRows)] : []),
  ];

  const source: Source = {
    timeoutMs,
    cursorAfter: ({ path: last }) => last,

    overviewOf: (at) => (parseSqlitePath(at.path)?.kind === "overview" ? { path: "" } : undefined),

    async list(request, { signal }) {
      return entriesPage([overview, ...(await shown(signal)).flatMap(leavesOf)].sort(byAddress), request);
    },

    read: (at, { signal }) => read(at, signal),

    async stat(at, { signal }): Promise<Entry> {
      const { place, table } = await locate(at.path, signal);
      const entry: Entry | undefined =
        place.kind === "overview"
          ? overview
          : table === undefined
            ? { path: "", name: database, mimeType: directoryType }
            : place.kind === "table"
              ? directoryOf(table)
              : leavesOf(table).find(({ path: leaf }) => leaf === at.path);
      if (entry === undefined) throw notFound(at.path);
      if (at.query === undefined || !hasQuery(at)) return entry;
      if (entry.mimeType === directoryType) throw notFound(at.path);
      // Only reading them shows whether such rows exist.
      if (place.kind === "rows") await read(at, signal);
      return {
        ...entry,
        query: at.query,
        ...(place.kind !== "rows" && {
          mimeType: tableTypeOf(tableFormatOf(at, place.kind === "overview" ? "markdown" : "json", tableFormats)),
        }),
      };
    },

    async children(at, request, { signal }) {
      const { place, table } = await locate(at.path, signal);
      if (hasQuery(at) || (place.kind !== "database" && place.kind !== "table")) throw notFound(at.path);
      const entries = table ? leavesOf(table) : [overview, ...(await shown(signal)).map(directoryOf)];
      return entriesPage(entries.sort(byAddress), request);
    },

    templates,

    async complete({ template: { template }, variable, value }, { signal }) {
      if (variable === "format")
        return tableFormats
          .filter((each) => each.startsWith(value))
          .map((each) => ({ value: each, reveals: { path: "" } }));
      if (variable !== "table") return [];
      const typed = value.toLowerCase();
      const fitting = (await shown(signal)).filter(
        (table) => table.name.toLowerCase().includes(typed) && (!template.includes("/rows") || hasRows(table)),
      );
      const rank = ({ name }: NamedTable) =>
        name.startsWith(value) ? 0 : name.toLowerCase().startsWith(typed) ? 1 : 2;
      return fitting
        .sort((a, b) => rank(a) - rank(b) || compareAddresses(a.name, b.name))
        .slice(0, 500)
        .map(({ name }) => ({
          value: encodePath(name),
          reveals: { path: sqlitePath({ kind: "table", table: name }) },
        }));
    },

    async problems({ signal }) {
      if (!allow.restricts.tables) return [];
      const { result } = await facts.query({ kind: "leftOut" }, signal);
      return result.length === 0 ? [] : [leftOutProblem(result.map(plainIdentifier))];
    },

    async watch({ signal }) {
      return watching.watch(signal);
    },

    async close() {
      await watching.close();
      await Promise.all([facts.close(), readers.close()]);
    },
  };
  if (documents.length === 0) return source;
  return withDocuments(source, { tables: documentTables, template: "{table}", maxBytes, log });
}

/** Views and virtual tables come after the tables that they may need. */
function byKind({ kind: one }: TableDescription, { kind: other }: TableDescription): number {
  const kinds = ["table", "virtual table", "view"];
  return kinds.indexOf(one) - kinds.indexOf(other);
}

function byAddress(one: Entry, other: Entry): number {
  return compareAddresses(one.path, other.path);
}

function directoryOf({ name }: NamedTable): Entry {
  return { path: sqlitePath({ kind: "table", table: name }), name, mimeType: directoryType };
}

/** Removes everything that may not be shown. The SQL in the file may name hidden tables, so with restrictions it is generated. */
function toDescription(raw: RawTable, database: string, allow: AllowList): TableDescription {
  const { sql, name, digest: _, triggers, ...stated } = raw;
  const maySay = (table: string) => allow.table({ schema: "main", table });
  const isOpen = !allow.restricts.tables;
  const description: TableDescription = {
    database,
    table: name,
    ...stated,
    ...(!isOpen && {
      columns: raw.columns.map(withoutComment),
      indexes: raw.indexes.map(({ definition: _index, ...index }) => index),
    }),
    foreignKeys: raw.foreignKeys.filter(({ references }) => maySay(references.table)),
    referencedBy: raw.referencedBy.filter(({ table }) => maySay(table)),
    ...(isOpen && triggers && { triggers }),
  };
  return { ...description, definition: isOpen ? sql : createStatement(description) };
}

/** A default value is stored as written. */
function withoutComment({ default: initial, ...column }: TableColumn): TableColumn {
  return initial === undefined || /--|\/\*/.test(initial) ? column : { ...column, default: initial };
}
