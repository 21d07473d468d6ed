/** The process that opens the database file: a hostile file can harm only this process. */
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { type AllowList, createAllowList } from "../../backends/sql/allow-list.ts";
import type { FromEngine, ToEngine } from "./engine.ts";
import { runSqliteQuery, InvalidKeyError } from "./queries.ts";

interface Open {
  readonly database: DatabaseSync;
  /** Identifies the file: another may have replaced it under the same name. */
  readonly identity: string;
}

let open: Open | undefined;
/** The same for all queries to this process. */
let allow: AllowList | undefined;

function databaseAt({ path, immutable }: ToEngine): DatabaseSync {
  const identity = identityOf(path);
  if (open?.identity === identity) return open.database;
  open?.database.close();
  open = undefined;
  const url = pathToFileURL(path);
  if (immutable) url.searchParams.set("immutable", "1");
  const database = new DatabaseSync(url, {
    readOnly: true,
    allowExtension: false,
    enableForeignKeyConstraints: false,
    // A Node version that does not know these options ignores them. The file is only read, and time is limited, too.
    defensive: true,
    limits: { length: 256 * 1024 * 1024 },
  });
  for (const setting of [
    "trusted_schema = OFF",
    "query_only = ON",
    "cell_size_check = ON",
    "mmap_size = 0",
    "temp_store = MEMORY",
    "busy_timeout = 1000",
  ])
    database.exec(`PRAGMA ${setting}`);
  open = { database, identity };
  return database;
}

function identityOf(path: string): string {
  const stats = statSync(path, { bigint: true });
  if (!stats.isFile()) throw Object.assign(new Error("no file"), { code: "EISDIR" });
  const { dev, ino } = stats;
  return `${dev}:${ino}`;
}

process.on("message", (request: ToEngine) => {
  let reply: FromEngine;
  try {
    const database = databaseAt(request);
    // One query reads one consistent snapshot.
    database.exec("BEGIN");
    try {
      allow ??= createAllowList(request.allow);
      reply = { result: runSqliteQuery(database, request.query, allow), identity: open?.identity ?? "" };
    } finally {
      database.exec("COMMIT");
    }
  } catch (cause) {
    const { code, errcode, message } = cause as {
      readonly code?: unknown;
      readonly errcode?: unknown;
      readonly message?: unknown;
    };
    reply = {
      fault: cause instanceof InvalidKeyError ? "KEY" : typeof errcode === "number" ? errcode : String(code ?? ""),
      message: String(message).slice(0, 300),
    };
  }
  process.send?.(reply);
});

// The parent process is gone.
process.on("disconnect", () => process.exit());
