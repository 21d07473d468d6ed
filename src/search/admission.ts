/** Selects, in the database, the documents that meet the conditions of a query. */
import type { DatabaseSync } from "node:sqlite";
import { fromKey } from "./address-key.ts";
import type { SqlCondition } from "./filters.ts";

/** A document that may be shown. */
export interface Admitted {
  readonly id: number;
  readonly mount: string;
  /** Factor for its priority and age. */
  readonly boost: number;
}

/** Fewer matching documents are looked up before anything is scored. */
const fewDocuments = 4096;

const priorityCounts = 0.2;
const recencyCounts = 0.06;
const halfLifeMs = 90 * 86_400_000;

export type Admission = ReturnType<typeof createAdmission>;

export function createAdmission(database: DatabaseSync, { sql, values, keeps }: SqlCondition, now: number) {
  // Registered for each query, because its result depends on the query.
  if (sql.includes("keeps("))
    database.function("keeps", (key, mimeType) =>
      keeps(fromKey(key as Uint8Array), (mimeType as string | null) ?? "") ? 1 : 0,
    );
  const from = "from documents d join mounts m on m.id = d.mount";
  const columns = "select d.id, m.name as mount, d.modified, d.priority";
  const where = sql === "" ? "true" : sql;
  const toAdmitted = (row: Record<string, unknown>): Admitted => ({
    id: row["id"] as number,
    mount: row["mount"] as string,
    boost: boostOf(row["priority"] as number | null, row["modified"] as number | null, now),
  });
  return {
    /** Those of these ids that exist and meet the condition. */
    admit(ids: readonly number[]): ReadonlyMap<number, Admitted> {
      const rows = database
        .prepare(`${columns} ${from} where d.id in (select value from json_each(?)) and ${where}`)
        .all(JSON.stringify(ids), ...values);
      return new Map(rows.map((row) => [row["id"] as number, toAdmitted(row)]));
    },
    /** The path of each of these ids that exists. */
    pathsOf(ids: readonly number[]): ReadonlyMap<number, string> {
      const rows = database
        .prepare("select id, key from documents where id in (select value from json_each(?))")
        .all(JSON.stringify(ids));
      return new Map(rows.map((row) => [row["id"] as number, fromKey(row["key"] as Uint8Array)]));
    },
    /** All that meet the condition, if there is one and they are few. */
    ifFew(): ReadonlySet<number> | undefined {
      if (sql === "") return undefined;
      const select = `select d.id ${from} where ${where}`;
      if (database.prepare(`${select} limit 1 offset ${fewDocuments - 1}`).get(...values)) return undefined;
      return new Set(
        database
          .prepare(select)
          .all(...values)
          .map((row) => row["id"] as number),
      );
    },
    /** Ids of those that meet the condition, by priority, then the latest first. */
    latest(limit: number): readonly number[] {
      return database
        .prepare(
          `select d.id ${from} where ${where} order by d.priority desc nulls last, d.modified desc nulls last, d.id limit ?`,
        )
        .all(...values, limit)
        .map((row) => row["id"] as number);
    },
  };
}

/** Factor for the priority and the age of a document. */
export function boostOf(priority: number | null, modified: number | null, now: number): number {
  const age = modified === null ? Infinity : Math.max(0, now - modified);
  return (1 + priorityCounts * ((priority ?? 0.5) - 0.5)) * (1 + recencyCounts * 2 ** (-age / halfLifeMs));
}
