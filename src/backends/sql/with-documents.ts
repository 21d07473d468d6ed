/** Adds rows as documents to the source of a database: addresses below the rows of a table, which the index takes and the list leaves out. */
import { invalid, notFound } from "../../errors.ts";
import { compareAddresses } from "../../lib/address-order.ts";
import type { Call, Page } from "../../resources.ts";
import {
  type Address,
  type Entry,
  hasQuery,
  type ListRequest,
  type Part,
  pathOf,
  type Runtime,
  segmentsOf,
  type Source,
  type SourceProblem,
  type SourceTemplate,
  toSourceHits,
} from "../../source.ts";
import { cutPart } from "../ranges/cut-part.ts";
import { parseReadQuery } from "../ranges/range.ts";
import { type DocumentRow, type DocumentTable, type DocumentText, isUnfit } from "./document-table.ts";
import { createRowBatches } from "./row-batches.ts";
import { formatKey, parseKey } from "./rows.ts";

interface DocumentsOptions {
  readonly tables: readonly DocumentTable[];
  /** Address of a table in templates: `{schema}/{table}`. */
  readonly template: string;
  /** Most bytes of a range. */
  readonly maxBytes: number;
  readonly log: Runtime["log"];
}

/** Where the next page of indexed entries begins: in the list, or in a table. */
type IndexCursor =
  | { readonly listed?: string }
  | { readonly table: number; readonly count: number; readonly before?: readonly string[] };

const mostSuggested = 100;
const mostSearched = 1000;

export function withDocuments(
  inner: Source,
  { tables: documentTables, template, maxBytes, log }: DocumentsOptions,
): Source {
  const tables = documentTables.map((table) => ({
    ...table,
    row: createRowBatches((keys, signal) => table.rows({ keys, withTexts: false }, signal)),
    texts: createRowBatches((keys, signal) => table.rows({ keys, withTexts: true }, signal)),
  }));
  const byPath = new Map(tables.map((table) => [table.path, table]));
  if (byPath.size < tables.length) throw invalid('"documents" names a table twice; combine its entries');
  const saidLarger = new Set<DocumentTable>();
  const saidUnfit = new Set<string>();

  /** The table and key that a path names. */
  function find(path: string) {
    const segments = segmentsOf(path);
    const written = segments.pop();
    const table = segments[0] === "" ? undefined : byPath.get(pathOf(segments));
    const key = table && written !== undefined ? keyOf(written) : undefined;
    return table && key && { table, key };
  }

  const listOrder = inner.order ?? compareAddresses;
  /** Documents come after everything that is listed. Those of one table are in the order of the database, which only it knows. */
  function order(left: string, right: string): number {
    const [one, other] = [find(left)?.table, find(right)?.table];
    if (!one && !other) return listOrder(left, right);
    return one && other ? tables.indexOf(one) - tables.indexOf(other) : one ? 1 : -1;
  }

  /** Throws "not-found" if there is no such row, or if its key has another form in addresses. */
  async function rowAt(path: string, withTexts: boolean, signal: AbortSignal) {
    const { table, key } = find(path)!;
    try {
      const row = await (withTexts ? table.texts : table.row)(key, signal);
      if (row !== undefined) return { table, row };
    } catch (cause) {
      if (!isUnfit(cause)) throw cause;
    }
    throw notFound(path);
  }

  async function readText(path: string, { signal }: Call): Promise<Part> {
    const { table, row } = await rowAt(path, true, signal);
    return { body: { text: toMarkdown(toEntry(table, row), row.texts ?? []) }, mimeType: "text/markdown" };
  }

  async function readJson(path: string, call: Call): Promise<Part> {
    const { table, row } = await rowAt(path, false, call.signal);
    const [part] = await inner.read({ path: table.path, query: { key: formatKey(row.key) } }, call);
    if (part === undefined) throw notFound(path);
    return part;
  }

  async function readDocument({ path, query = {} }: Address, call: Call): Promise<readonly Part[]> {
    const request = parseReadQuery(query);
    if (request === undefined) throw notFound(path);
    const part = await (request.asText ? readText : readJson)(path, call);
    return [(await cutPart(part, { path, query }, { maxBytes, signal: call.signal })) ?? part];
  }

  /** First what is listed, then each table. The rows of a table of documents are not indexed once more as a page. */
  async function listIndexed({ cursor, ...request }: ListRequest, call: Call): Promise<Page<Entry>> {
    const at = (cursor === undefined ? {} : JSON.parse(cursor)) as IndexCursor;
    if ("table" in at) return listTable(at, request.limit, call.signal);
    const page = await inner.list({ ...request, ...(at.listed !== undefined && { cursor: at.listed }) }, call);
    return {
      items: page.items.filter(({ path }) => !byPath.has(path)),
      next: toCursor(page.next === undefined ? { table: 0, count: 0 } : { listed: page.next }),
    };
  }

  async function listTable(
    { table: index, count, before }: Extract<IndexCursor, { table: number }>,
    most: number,
    signal: AbortSignal,
  ): Promise<Page<Entry>> {
    const table = tables[index]!;
    const { maxRows } = table.options;
    const limit = Math.min(Math.max(1, most), maxRows - count);
    const rows = await table.rows({ limit, before }, signal).catch((cause: unknown) => {
      if (!isUnfit(cause)) throw cause;
      if (!saidUnfit.has(cause.message)) log("warn", "a table of documents cannot be indexed", { cause });
      saidUnfit.add(cause.message);
      // Search shows this to callers, who may not know of the table.
      throw invalid('a table in "documents" cannot be indexed; "pressmark doctor" says why');
    });
    const last = rows.at(-1);
    const items: Entry[] = [];
    // Rows of inheriting tables may have the same key. A key that is too long for an address cannot be read back.
    for (const entry of rows.map((row) => toEntry(table, row)))
      if (items.at(-1)?.path !== entry.path && find(entry.path)) items.push(entry);
    if (last && rows.length === limit && count + limit < maxRows)
      return { items, next: toCursor({ table: index, count: count + limit, before: last.key }) };
    if (count + rows.length >= maxRows && !saidLarger.has(table) && (await table.exceeds(signal))) {
      saidLarger.add(table);
      log("warn", "a table has more rows than are indexed; see maxRows of its documents", {
        table: table.label,
        maxRows,
      });
    }
    return { items, ...(index + 1 < tables.length && { next: toCursor({ table: index + 1, count: 0 }) }) };
  }

  const rowTemplate: SourceTemplate = {
    template: `${template}/rows/{key}{?as,lines,bytes}`,
    name: "Row",
    description:
      "One row of a table as JSON, or its title and texts as Markdown with as=text; lines or bytes select a part",
    mimeType: "application/json",
  };

  async function complete(request: Parameters<NonNullable<Source["complete"]>>[0], call: Call) {
    if (request.template.template !== rowTemplate.template) return inner.complete!(request, call);
    const { variable, value, given } = request;
    if (variable === "as")
      return [{ value: "text", reveals: { path: "" } }].filter((each) => each.value.startsWith(value));
    const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
    const fitting = tables.filter(({ path }) => {
      const segments = segmentsOf(path);
      return names.every((name, at) => name === variable || given[name] === undefined || given[name] === segments[at]);
    });
    const at = names.indexOf(variable);
    if (at >= 0) {
      const values = new Map(fitting.map(({ path }) => [segmentsOf(path)[at]!, { path }]));
      return [...values].flatMap(([name, reveals]) => (name.startsWith(value) ? [{ value: name, reveals }] : []));
    }
    const [table] = fitting;
    if (variable !== "key" || !table || names.some((name) => given[name] === undefined)) return [];
    const rows = await table.rows({ limit: mostSearched }, call.signal).catch((cause: unknown) => {
      if (!isUnfit(cause)) throw cause;
      // The message names the table and its columns, which may be hidden from the caller.
      return [];
    });
    return rows
      .map(({ key }) => ({ value: formatKey(key), reveals: { path: documentPath(table, key) } }))
      .filter((each) => each.value.startsWith(value))
      .slice(0, mostSuggested);
  }

  return {
    ...inner,
    order,
    overviewOf: (at) => (byPath.has(at.path) ? { path: at.path } : inner.overviewOf?.(at)),
    read: (at, call) => (find(at.path) ? readDocument(at, call) : inner.read(at, call)),
    async stat(at, call) {
      if (!find(at.path)) return inner.stat!(at, call);
      const request = parseReadQuery(at.query ?? {});
      if (request === undefined) throw notFound(at.path);
      const { table, row } = await rowAt(at.path, false, call.signal);
      const entry = toEntry(table, row);
      return hasQuery(at) ? { ...entry, query: at.query, ...(request.asText && { mimeType: "text/markdown" }) } : entry;
    },
    listIndexed,
    indexes: ({ path }) => !byPath.has(path),
    lists: (at) => find(at.path) === undefined && (inner.lists?.(at) ?? true),
    templates: [...(inner.templates ?? []), rowTemplate],
    complete,
    // A row has one address, so that a hit of the index and a hit of the database are one.
    ...(inner.search && {
      async search(request, call) {
        const found = toSourceHits(await inner.search!(request, call));
        return {
          ...found,
          hits: found.hits.map((hit) => {
            const key = byPath.has(hit.entry.path) ? hit.entry.query?.["key"] : undefined;
            if (key === undefined) return hit;
            const { query: _, ...entry } = hit.entry;
            return { ...hit, entry: { ...entry, path: `${entry.path}/${key}` } };
          }),
        };
      },
    }),
    async problems(call) {
      const own: SourceProblem[] = [];
      for (const table of tables) own.push(...(await problemsOf(table, call.signal)));
      return [...((await inner.problems?.(call)) ?? []), ...own];
    },
  };
}

async function problemsOf(table: DocumentTable, signal: AbortSignal): Promise<readonly SourceProblem[]> {
  const { path, options } = table;
  try {
    await table.rows({ limit: 1 }, signal);
  } catch (cause) {
    if (!isUnfit(cause)) throw cause;
    return [{ path, says: `cannot be searched: ${cause.message}` }];
  }
  if (!(await table.exceeds(signal))) return [];
  return [
    {
      path,
      says: `has more than ${options.maxRows} rows; only those with the ${options.maxRows} highest keys are found by search`,
      advice: 'raise "maxRows" of the table in "documents"',
    },
  ];
}

function documentPath({ path }: Pick<DocumentTable, "path">, key: readonly string[]): string {
  return `${path}/${formatKey(key)}`;
}

/** Undefined for a text that is not the form of any key: each row has one address, which rules can name. */
function keyOf(written: string): readonly string[] | undefined {
  try {
    const key = parseKey(written, "key");
    return formatKey(key) === written ? key : undefined;
  } catch {
    return undefined;
  }
}

function toEntry(table: DocumentTable, { key, title, version, changedAt }: DocumentRow): Entry {
  const titles = title.map((each) => (each ?? "").toWellFormed().replaceAll(/\s+/g, " ").trim());
  const shown = titles.filter((each) => each !== "").join(" – ");
  return {
    path: documentPath(table, key),
    name: `${table.label} ${key.join(", ").slice(0, 100)}`.toWellFormed(),
    ...(shown !== "" && { title: shown }),
    mimeType: "application/json",
    version,
    ...(changedAt !== undefined && { annotations: { lastModified: changedAt } }),
    meta: { "pressmark/kind": "row", "pressmark/as": ["text"] },
  };
}

/** Each column under a heading, if there are several. Says what was cut. */
function toMarkdown({ title, name }: Entry, texts: readonly DocumentText[]): string {
  const filled = texts.filter(({ text }) => text.trim() !== "");
  const blocks = filled.flatMap(({ column, text, length }) => [
    ...(texts.length > 1 ? [`## ${column}`] : []),
    text.toWellFormed(),
    ...(length > text.length ? [`(${length} characters, cut after ${text.length}.)`] : []),
  ]);
  return `${[`# ${title ?? name}`, ...blocks].join("\n\n")}\n`;
}

function toCursor(cursor: IndexCursor): string {
  return JSON.stringify(cursor);
}
