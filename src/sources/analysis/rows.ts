/** Shared by the statements of the store: row conversion, counters, and the log of changes. */
import type { TaskType } from "./question.ts";
import { all, get, type SqlRow, type SqlValue, type Work } from "./sql.ts";
import type { StoreChange, Summary } from "./store.ts";

export const columns = [
  "id",
  "key",
  "task",
  "title",
  "stored",
  "expires",
  "dies",
  "passed",
  "confidence",
  "consensus",
  "providers",
  "cost",
  "time",
  "bytes",
  "place",
] as const;
/** Columns needed to remove a result. */
export const removed = "number, id, bytes, place, results.key";

/** Most changes that are remembered. */
const maxChanges = 10_000;

export function* announce(kind: StoreChange["kind"], id: string): Work<void> {
  const row = yield* get("insert into changes (kind, id) values (?, ?) returning seq", kind, id);
  yield* all("delete from changes where seq <= ?", Number(row?.["seq"]) - maxChanges);
}

/** Removes results with everything that belongs to them. The rows have the columns of `removed`. */
export function* remove(rows: readonly SqlRow[]): Work<void> {
  for (const { number, id, bytes, place, key } of rows) {
    for (const table of ["results", "grounds", "events"])
      yield* all(`delete from ${table} where number = ?`, Number(number));
    yield* all("delete from bodies where place = ? and key = ?", Number(place), key as Uint8Array);
    yield* add("", { results: -1, bytes: -Number(bytes) });
    yield* announce("gone", String(id));
  }
}

export function* add(task: string, amounts: Readonly<Record<string, number>>): Work<void> {
  for (const [name, amount] of Object.entries(amounts))
    yield* all(
      "insert into tallies values (?, ?, ?) on conflict (task, name) do update set value = tallies.value + excluded.value",
      task,
      name,
      amount,
    );
}

export function* totalOf(name: string): Work<number> {
  return Number((yield* get("select value from tallies where task = '' and name = ?", name))?.["value"] ?? 0);
}

/** In column order, as far as the summary has them. */
export function valuesOf(summary: Summary, key: Uint8Array): SqlValue[] {
  return Object.values({ ...summary, key, passed: summary.passed ? 1 : 0 });
}

export function toSummary(row: SqlRow): Summary {
  return {
    id: String(row["id"]),
    key: Buffer.from(row["key"] as Uint8Array).toString("hex"),
    task: row["task"] as TaskType,
    title: String(row["title"]),
    stored: Number(row["stored"]),
    expires: Number(row["expires"]),
    dies: Number(row["dies"]),
    passed: row["passed"] === 1,
    confidence: Number(row["confidence"]),
    consensus: Number(row["consensus"]),
    providers: Number(row["providers"]),
    cost: Number(row["cost"]),
    time: Number(row["time"]),
  };
}
