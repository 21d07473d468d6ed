/** Opens the database of an index, or creates it again if necessary. */
import { rmSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { ResourceError } from "../errors.ts";
import { IndexVersionError, isLoss } from "./index-problem.ts";
import { segmentTables } from "./segments.ts";
import { textTables } from "./texts.ts";
import { tokenizerVersion } from "./tokens.ts";
import { vectorTables } from "./vectors.ts";

/** The first number changes with the file format, and with how texts are cut into passages and get their headings. */
const madeBy = `5/${tokenizerVersion}`;

const tables = `
  create table counters (name text primary key, value integer not null) strict, without rowid;
  insert into counters values ('passage', 1), ('block', 1), ('segment', 1);
  create table notes (name text primary key, value text not null) strict, without rowid;
  create table mounts (id integer primary key, name text not null unique) strict;
  create table documents (
    id integer primary key, mount integer not null, key blob not null, query text not null, version text, reveals text, mime text,
    lang text not null, modified integer, priority real, passages integer not null, embedded integer not null
  ) strict;
  create unique index documents_by_address on documents (mount, key, query);
  create index documents_unembedded on documents (id) where embedded = 0;
  ${segmentTables}
  ${textTables}
  ${vectorTables}
  create table made_by (version text not null) strict;
`;

const busyMs = 2000;
/**
 * No memory mapping: a file that another program truncates would kill the process with SIGBUS. A small cache: what is read repeatedly is
 * cached by the segments, and the rest by the system.
 */
const inMemory = "pragma mmap_size = 0; pragma cache_size = -4096";

/** Never writes. Throws "unavailable" if there is no index made by this version. */
export function openToRead(file: string): DatabaseSync {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { readOnly: true });
    database.exec(`pragma busy_timeout = ${busyMs}; ${inMemory}`);
    if (readMaker(database) === madeBy) return database;
  } catch (cause) {
    database?.close();
    throw new ResourceError("unavailable", "the search index cannot be read yet", { cause });
  }
  database.close();
  throw new ResourceError("unavailable", "the search index was made by another version", {
    cause: new IndexVersionError(),
  });
}

/** Returns whether everything on disk can be read, whoever wrote it. */
export function isWhole(file: string): boolean {
  let database: DatabaseSync | undefined;
  try {
    database = openToRead(file);
    return passesCheck(database);
  } catch {
    return false;
  } finally {
    database?.close();
  }
}

/**
 * A damaged file, or one made by another version, is discarded: everything can be read again from its source. With `isKnownWhole` the file is
 * not checked for damage.
 */
export function openToWrite(file: string, isKnownWhole = false): DatabaseSync {
  const existing = openWhole(file, isKnownWhole);
  if (existing) return existing;
  for (const ending of ["", "-wal", "-shm", "-journal"]) rmSync(file + ending, { force: true });
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const database = new DatabaseSync(file);
  prepare(database);
  database.exec("begin immediate");
  database.exec(tables);
  database.prepare("insert into made_by values (?)").run(madeBy);
  database.exec("commit");
  return database;
}

/** Undefined if the file is missing, damaged or made by another version. */
function openWhole(file: string, isKnownWhole: boolean): DatabaseSync | undefined {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file);
    prepare(database);
    if (readMaker(database) === madeBy && (isKnownWhole || passesCheck(database))) return database;
  } catch (cause) {
    if (!isDamage(cause)) {
      database?.close();
      throw cause;
    }
  }
  database?.close();
  return undefined;
}

function prepare(database: DatabaseSync): void {
  // Page size and vacuum mode can only be set while the file is empty.
  database.exec(`
    pragma busy_timeout = ${busyMs}; pragma page_size = 8192; pragma auto_vacuum = incremental;
    pragma journal_mode = wal; pragma synchronous = normal; pragma journal_size_limit = 67108864;
    ${inMemory};
  `);
}

function passesCheck(database: DatabaseSync): boolean {
  return database.prepare("pragma quick_check(1)").get()?.["quick_check"] === "ok";
}

function readMaker(database: DatabaseSync): string | undefined {
  const isThere = database.prepare("select 1 from sqlite_schema where name = 'made_by'").get();
  return isThere && (database.prepare("select version from made_by").get()?.["version"] as string | undefined);
}

/**
 * A damaged file, or unexpected tables (SQLITE_ERROR). Also SQLITE_BUSY: the writer gets that only if a file was emptied while
 * others were reading it.
 */
function isDamage(cause: unknown): boolean {
  const { errcode = 0 } = cause as { errcode?: number };
  return isLoss(cause) || errcode === 1 || (errcode & 0xff) === 5;
}
