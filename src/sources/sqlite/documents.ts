/** Rows of SQLite tables as documents. */
import { invalid } from "../../errors.ts";
import {
  checkColumns,
  type DocumentOptions,
  type DocumentPage,
  type DocumentKeys,
  type DocumentTable,
  noKey,
  noSuchTable,
  titleColumns,
} from "../../backends/sql/document-table.ts";
import { formatKey } from "../../backends/sql/rows.ts";
import { plainIdentifier } from "../../backends/sql/segments.ts";
import { sqlitePath } from "./addresses.ts";
import type { Engine } from "./engine.ts";
import { type KeyValue, parseKeyText } from "./values.ts";

/** Number of rows in a page of versions: while one is read, writers may have to wait. */
const versionsPage = 1000;

export function createSqliteDocuments(options: DocumentOptions, engine: Engine): DocumentTable {
  const { table, text, maxRows } = options;
  const label = plainIdentifier(table);
  const title = titleColumns(options);

  async function rows(request: DocumentPage | DocumentKeys, signal: AbortSignal) {
    const parsed =
      "keys" in request
        ? { keys: request.keys.map(parsedKey), withTexts: request.withTexts }
        : { limit: request.limit, ...(request.before && { before: parsedKey(request.before) }) };
    const { result } = await engine.query({ kind: "documents", table, title, text, request: parsed }, signal);
    if (result === undefined) throw noSuchTable(label);
    checkColumns(label, [...title, ...text], new Set(result.columns));
    if (!result.hasKey) throw noKey(label);
    return result.rows ?? [];
  }

  return {
    path: sqlitePath({ kind: "rows", table }),
    label,
    options,
    rows,

    async versions(signal) {
      const versions = new Map<string, string>();
      let before: readonly string[] | undefined;
      for (let left = maxRows; left > 0; left -= versionsPage) {
        const page = await rows({ limit: Math.min(left, versionsPage), ...(before && { before }) }, signal);
        for (const { key, version } of page) versions.set(formatKey(key), version);
        if (page.length < versionsPage) break;
        before = page.at(-1)?.key;
      }
      return versions;
    },

    async exceeds(signal) {
      const { result } = await engine.query({ kind: "count", table, upTo: maxRows + 1 }, signal);
      return result > maxRows;
    },
  };
}

function parsedKey(key: readonly string[]): readonly KeyValue[] {
  return key.map((each) => {
    const value = parseKeyText(each);
    if (value === undefined) throw invalid("not a key of a row in this table");
    return value;
  });
}
