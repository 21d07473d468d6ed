/** What the statements of the store have in common: rows as its words, counts, and word of each change. */
import type { Row, Sql, Value } from "./database.ts";
import type { Question, TaskType } from "./question.ts";
import type { Change, Lease, Summary } from "./store.ts";

export const columns =
  "number, id, key, task, title, stored, expires, dies, passed, confidence, consensus, providers, cost, time, bytes, place";
/** What must be known of a result to remove it. */
export const removed = "number, id, bytes, place, results.key";

/** So many changes are remembered. */
const maxChanges = 10_000;

export function leaseWhere(sql: Sql, where: "key" | "token", value: Value): Lease | undefined {
  const row = sql.get(`select * from leases where ${where} = ?`, value);
  return row && toLease(row);
}

export function announce(sql: Sql, kind: Change["kind"], id: string): void {
  const seq = sql.run("insert into changes (kind, id) values (?, ?)", kind, id);
  sql.run("delete from changes where seq <= ?", seq - maxChanges);
}

/** With all that belongs to them. The rows have the columns of `removed`. */
export function remove(sql: Sql, rows: readonly Row[]): void {
  for (const { number, id, bytes, place, key } of rows) {
    for (const table of ["results", "grounds", "events"])
      sql.run(`delete from ${table} where number = ?`, Number(number));
    sql.run("delete from bodies where place = ? and key = ?", place ?? null, key ?? null);
    add(sql, "", { results: -1, bytes: -Number(bytes) });
    announce(sql, "gone", String(id));
  }
}

export function add(sql: Sql, task: string, amounts: Readonly<Record<string, number>>): void {
  for (const [name, amount] of Object.entries(amounts))
    sql.run(
      "insert into tallies values (?, ?, ?) on conflict do update set value = value + excluded.value",
      task,
      name,
      amount,
    );
}

export function total(sql: Sql, name: string): number {
  return Number(sql.get("select value from tallies where task = '' and name = ?", name)?.["value"] ?? 0);
}

export function toSummary(row: Row): Summary {
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

function toLease({ token, until, question, failed, reason }: Row): Lease {
  return {
    token: String(token),
    until: Number(until),
    question: JSON.parse(String(question)) as Question,
    ...(failed !== null && { failed: Number(failed) }),
    ...(reason !== null && { reason: String(reason) }),
  };
}
