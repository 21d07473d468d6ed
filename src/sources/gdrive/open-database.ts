/** Opens the database file of a ledger. */
import { chmodSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";

const schema = `
  create table if not exists logs (
    name text primary key, token text not null, listed integer not null default 0,
    look integer not null default 0, holder text, until integer not null default 0
  ) without rowid;
  create table if not exists files (
    id text primary key, log text not null, kind text not null, name text not null, mime text not null, description text,
    parent text, version integer not null, modified text, size integer, md5 text, downloads integer not null,
    resource_key text, target text, target_key text, permissions text, look integer not null, able integer not null,
    shown integer not null, seq integer not null, born integer not null, died integer not null, placed integer not null
  ) without rowid;
  create index if not exists files_by_parent on files (parent);
  create index if not exists files_by_seq on files (seq);
  create index if not exists files_by_target on files (target) where target is not null;
  create table if not exists moves (id text not null, parent text not null, seq integer not null, primary key (id, parent)) without rowid;
  create index if not exists moves_by_seq on moves (seq);
  create table if not exists notes (name text primary key, value text not null) without rowid;`;

/** In memory without a file. */
export async function openLedgerDatabase(file: string | undefined): Promise<DatabaseSync> {
  const { DatabaseSync: Database } = await import("node:sqlite");
  if (file !== undefined) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const database = new Database(file ?? ":memory:");
  try {
    // Titles and permissions must not be readable by other users.
    if (file !== undefined) chmodSync(file, 0o600);
    database.exec("pragma busy_timeout = 5000; pragma journal_mode = wal; pragma synchronous = normal;");
    database.exec(schema);
    return database;
  } catch (cause) {
    database.close();
    throw cause;
  }
}
