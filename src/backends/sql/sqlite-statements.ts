/** Prepared statements and transactions of a SQLite file. */
import type { DatabaseSync, StatementSync } from "node:sqlite";

/** Prepares each statement once. */
export function createStatements(database: DatabaseSync): (text: string) => StatementSync {
  const prepared = new Map<string, StatementSync>();
  return (text) => {
    let statement = prepared.get(text);
    if (!statement) prepared.set(text, (statement = database.prepare(text)));
    return statement;
  };
}

/** Commits the work, or rolls it back if it throws. */
export function inTransaction<T>(database: DatabaseSync, begin: "begin" | "begin immediate", work: () => T): T {
  database.exec(begin);
  try {
    const done = work();
    database.exec("commit");
    return done;
  } catch (cause) {
    // A full disk has already rolled back.
    if (database.isTransaction) database.exec("rollback");
    throw cause;
  }
}
