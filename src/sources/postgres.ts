/** A PostgreSQL database: its table definitions and, if configured, rows. */
import { invalid, isDirectoryError, notFound, quote } from "../errors.ts";
import { directoryType } from "../resources.ts";
import type { Call, Page } from "../resources.ts";
import { defineSource, hasQuery } from "../source.ts";
import type {
  Address,
  SourceCompletionRequest,
  Entry,
  ListRequest,
  Source,
  SourceHit,
  SourceTemplate,
  Suggestion,
  Runtime,
} from "../source.ts";
import { createAllowList, parseTableRef } from "../backends/sql/allow-list.ts";
import { schemaType } from "../backends/sql/description.ts";
import { checkServed } from "../backends/sql/document-table.ts";
import { rowsTemplate, tableFormats } from "../backends/sql/formats.ts";
import { watchDocuments } from "../backends/sql/watch-documents.ts";
import { withDocuments } from "../backends/sql/with-documents.ts";
import { createSharedWatch } from "../backends/shared-watch.ts";
import { createCatalog, type CatalogScope, type SuggestRequest, type CatalogItem } from "./postgres/catalog.ts";
import { createConnection } from "./postgres/connection.ts";
import { detectPostgres } from "./postgres/detect-postgres.ts";
import { createPostgresDocuments } from "./postgres/documents.ts";
import { catalogEntry } from "./postgres/entries.ts";
import { type PostgresOptions, postgresOptions } from "../backends/postgres/options.ts";
import {
  comparePaths,
  isLeaf,
  parsePostgresPath,
  postgresPath,
  type PostgresAddress,
  format,
} from "./postgres/addresses.ts";
import { problemsOf } from "./postgres/problems.ts";
import { createPostgresReader, formatAt, revealing } from "./postgres/reads.ts";
import { createMatchMarks, searchQuery, toHit } from "./postgres/search.ts";
import { baseUriOf, parseUrl, tlsAttempts } from "../backends/postgres/url.ts";
import { createPostgresWatch } from "./postgres/watch.ts";

/** How many rows the next statement reads when most of a page may not be shown. */
const longLook = 1000;

export type { PostgresOptions } from "../backends/postgres/options.ts";

export default defineSource<PostgresOptions>({
  name: "postgres",
  summary: "Tables, views, functions and types of a PostgreSQL database; rows if configured",
  scheme: "postgres",
  options: postgresOptions,

  base: ({ url }) => baseUriOf(parseUrl(url)),
  usesCredentials: () => true,
  detect: detectPostgres,

  open: async (options, runtime) => openPostgres(options, runtime),
});

/** @internal `connect` creates the connection. Nothing is connected before the first call. */
export function openPostgres(options: PostgresOptions, runtime: Runtime, connect = createConnection): Source {
  const { maxRows, maxBytes, pollMs, timeoutMs, maxConnections, fullText = [], documents = [] } = options;
  const target = parseUrl(options.url);
  const { database } = target;
  const allow = createAllowList(options);
  const functions =
    options.functions ?? (allow.restricts.tables ? "none" : allow.restricts.schemas ? "signatures" : "definitions");
  const hasFunctions = functions !== "none";
  for (const each of fullText)
    if (!allow.rows(parseTableRef(each.table)))
      throw invalid(`"fullText" names ${quote(each.table)}, whose rows are not served; add it to "rows"`);
  for (const each of documents) checkServed(each, allow.rows(parseTableRef(each.table)));
  const connection = connect({
    target,
    password: options.password,
    tls: tlsAttempts(target, options.ca),
    timeoutMs,
    maxConnections,
  });
  const catalog = createCatalog({ connection, allow, hasFunctions });
  const reads = createPostgresReader({
    connection,
    catalog,
    allow,
    database,
    functions,
    limits: { maxRows, maxBytes },
  });
  const tables = documents.map((each) =>
    createPostgresDocuments({ ref: parseTableRef(each.table), options: each, connection, shapeOf: reads.shapeOf }),
  );
  const { wait, log } = runtime;
  const detect = createPostgresWatch({ connection, allow, hasFunctions, channel: options.listen, pollMs, wait });
  const watching = createSharedWatch(
    tables.length > 0 ? watchDocuments(detect, { tables, pollMs, isAnnounced: false, wait }) : detect,
  );

  function entriesOf(thing: CatalogItem): readonly Entry[] {
    const { place } = thing;
    if (place.kind !== "table")
      return place.kind === "schema" || place.kind === "functions" ? [] : [catalogEntry(thing, database)];
    const { schema, name } = place;
    return [
      ...(allow.rows({ schema, table: name }) ? [catalogEntry(thing, database, "rows")] : []),
      catalogEntry(thing, database, "definition"),
    ];
  }

  /** One page of the entries that `entries` returns for each row: one statement, or more if many rows may not be shown. */
  async function page(
    scope: CatalogScope,
    { cursor, limit }: ListRequest,
    { signal }: Call,
    entries: (thing: CatalogItem) => readonly Entry[],
  ) {
    const items: Entry[] = [];
    let from = cursor;
    for (let wanted = limit + 1; ; wanted = longLook) {
      const { things, next } = await catalog.things({ scope, from, limit: wanted }, signal);
      for (const thing of things)
        for (const entry of entries(thing)) {
          if (cursor !== undefined && comparePaths(entry.path, cursor) <= 0) continue;
          const before = items.at(-1);
          if (before && items.length >= limit) return { items, next: before.path };
          items.push(entry);
        }
      const before = items.at(-1);
      if (next === undefined) return { items };
      if (before && items.length >= limit) return { items, next: before.path };
      from = next;
    }
  }

  /** What is at an address; throws "not-found" with the address that the caller used. */
  async function locate(
    { path }: Address,
    signal: AbortSignal,
  ): Promise<{ place: PostgresAddress; thing: CatalogItem | undefined }> {
    const place = parsePostgresPath(path);
    if (place === undefined) throw notFound(path);
    if (place.kind === "database") return { place, thing: undefined };
    if (place.kind === "rows" && !allow.rows({ schema: place.schema, table: place.name })) throw notFound(path);
    const { schema } = place;
    const thing = await catalog.find(isLeaf(place) ? { kind: "table", schema, name: place.name } : place, signal);
    if (thing === undefined) throw notFound(path);
    return { place, thing };
  }

  const templates: readonly SourceTemplate[] = [
    {
      template: "{schema}/{table}/schema{?format}",
      name: "Table",
      description:
        "Definition of a table or view: columns, keys, indexes, triggers, policies, comments; as JSON, or with format=ddl or format=markdown",
      mimeType: schemaType,
    },
    {
      template: "{schema}/overview{?format}",
      name: "Overview of a schema",
      description:
        "All tables of a schema and their relations, as Markdown with a diagram; format=ddl is the whole schema as SQL that can be loaded; also format=json",
      mimeType: "text/markdown",
    },
    ...(allow.hasRows ? [rowsTemplate("{schema}/{table}", maxRows)] : []),
    ...(hasFunctions
      ? [
          {
            template: "{schema}/functions/{name}{?format}",
            name: "Function",
            description: "A function or procedure with all its overloads; as JSON, or with format=ddl",
            mimeType: "application/json",
          },
        ]
      : []),
  ];

  async function complete(
    { template: { template }, variable, value: typed, given }: SourceCompletionRequest,
    { signal }: Call,
  ): Promise<readonly Suggestion[]> {
    if (variable === "format") {
      const known = template.includes("functions") ? ["json", "ddl"] : tableFormats;
      return known.filter((each) => each.startsWith(typed)).map((value) => ({ value, reveals: { path: "" } }));
    }
    const what = completed[variable];
    if (what === undefined) return [];
    const chosen = given["schema"] === undefined ? undefined : parsePostgresPath(given["schema"].replaceAll("/", "\0"));
    const schema = chosen?.kind === "schema" ? chosen.schema : undefined;
    if (given["schema"] !== undefined && schema === undefined) return [];
    const isRows = template.includes("/rows");
    const found = await catalog.suggest({ what, schema: what === "schema" ? undefined : schema, typed }, signal);
    const values = new Map<string, Suggestion>();
    for (const { place } of found) {
      const value = "name" in place ? place.name : place.schema;
      if (place.kind === "table" && isRows && !allow.rows({ schema: place.schema, table: place.name })) continue;
      if (!values.has(value)) values.set(value, { value: format(value), reveals: { path: postgresPath(place) } });
    }
    return [...values.values()];
  }

  async function search(
    { text, limit, within = "" }: { readonly text: string; readonly limit: number; readonly within?: string },
    { signal }: Call,
  ): Promise<readonly SourceHit[]> {
    const marks = createMatchMarks();
    const found = await Promise.all(
      fullText.map(async (searched): Promise<readonly SourceHit[]> => {
        const ref = parseTableRef(searched.table);
        const path = postgresPath({ kind: "rows", schema: ref.schema, name: ref.table });
        if (within !== "" && path !== within && !path.startsWith(`${within}/`)) return [];
        const shape = await reads.shapeOf(ref.schema, ref.table, signal);
        if (shape === undefined) return [];
        const question = searchQuery(searched, shape, { text, limit, marks });
        return (await connection.queryTables(question, signal)).map((row) => toHit(row, ref, marks));
      }),
    );
    // The sort is stable: equal scores stay in the order of the config.
    return found
      .flat()
      .sort((a, b) => b.score - a.score)
      .slice(0, limit);
  }

  const source: Source = {
    timeoutMs,
    order: comparePaths,
    cursorAfter: ({ path }) => path,

    overviewOf({ path }) {
      const place = parsePostgresPath(path);
      return place?.kind === "overview" ? { path: postgresPath({ kind: "schema", schema: place.schema }) } : undefined;
    },

    async list(request, call): Promise<Page<Entry>> {
      return page({ kind: "all" }, request, call, entriesOf);
    },

    async read(at, call) {
      const parts = await reads.read(at, call);
      if (parts) return parts;
      if (hasQuery(at)) throw notFound(at.path);
      await locate(at, call.signal);
      throw isDirectoryError(at.path);
    },

    async stat(at, call): Promise<Entry> {
      const { path, query } = at;
      const { place, thing } = await locate(at, call.signal);
      const entry: Entry =
        thing === undefined
          ? { path, name: database, mimeType: directoryType }
          : isLeaf(place)
            ? { ...catalogEntry(thing, database, place.kind), path, ...revealing(place) }
            : catalogEntry(thing, database);
      if (query === undefined || !hasQuery(at)) return entry;
      if (entry.mimeType === directoryType) throw notFound(path);
      // Only reading them shows whether such rows exist.
      if (place.kind === "rows") await reads.read(at, call);
      return { ...entry, query, ...(place.kind !== "rows" && { mimeType: formatAt(at, place).mimeType }) };
    },

    async children(at, request, call): Promise<Page<Entry>> {
      if (hasQuery(at)) throw notFound(at.path);
      const place = parsePostgresPath(at.path);
      if (place?.kind === "database")
        return page({ kind: "schemas" }, request, call, (thing) => [catalogEntry(thing, database)]);
      if (place?.kind !== "schema" && place?.kind !== "functions" && place?.kind !== "table") throw notFound(at.path);
      const { thing } = await locate(at, call.signal);
      if (place.kind === "table") {
        const all = thing ? entriesOf(thing) : [];
        return {
          items: all.filter(({ path }) => request.cursor === undefined || comparePaths(path, request.cursor) > 0),
        };
      }
      return page({ kind: place.kind, schema: place.schema }, request, call, (each) => [catalogEntry(each, database)]);
    },

    templates,

    complete,

    ...(fullText.length > 0 && { search }),

    problems: (call) => problemsOf(connection, catalog, target, call),

    async watch({ signal }) {
      return watching.watch(signal);
    },

    async close() {
      await watching.close();
      await connection.close();
    },
  };
  return tables.length > 0 ? withDocuments(source, { tables, template: "{schema}/{table}", maxBytes, log }) : source;
}

const completed: Readonly<Record<string, SuggestRequest["what"]>> = {
  schema: "schema",
  table: "table",
  name: "function",
};
