/**
 * The known state of a Drive, stored on disk: every file, and the position in each log of changes. A batch is written together with its
 * next token, so that after a crash no change is lost and none is applied twice.
 */
import type { DatabaseSync } from "node:sqlite";
import { shuttingDown } from "../../errors.ts";
import { createStatements, inTransaction } from "../../backends/sql/sqlite-statements.ts";
import { type DriveFile, type DrivePermission, folderType, shortcutType } from "./drive-objects.ts";
import { isReadable } from "./formats.ts";
import { isAlive } from "./holder.ts";
import { openLedgerDatabase } from "./open-database.ts";
import {
  changeOf,
  type LedgerChange,
  type DriveChangeLog,
  type Opened,
  type Raw,
  type LedgerRow,
  toLog,
  toOpened,
  toRow,
} from "./rows.ts";

interface Batch {
  readonly log: string;
  readonly files: readonly DriveFile[];
  /** Ids removed from this log. */
  readonly removed?: readonly string[];
}

export interface Ledger {
  readonly logs: readonly DriveChangeLog[];
  /** Starts listing all files of a log again. Returns the number of the scan; undefined while another process lists. */
  beginLook(log: string, token: string, holder: string, monotonicMs: number): number | undefined;
  /** Writes one page of a scan. False if the scan is no longer the current one. */
  look(look: number, batch: Batch, holder: string, monotonicMs: number): boolean;
  /** Removes what the scan did not find; changes continue from the token with which it started. */
  endLook(look: number, log: string): boolean;
  /** Releases a failed scan. */
  leaveLook(log: string, holder: string): void;
  /** Writes changes and their next token. False if another process has already continued from `from`. */
  advance(batch: Batch, from: string, to: string): boolean;
  /** Adds files that no log reports. Files that a log reports stay unchanged. */
  learn(files: readonly DriveFile[]): void;
  /** Writes the current readers of a file. */
  setPermissions(id: string, permissions: readonly DrivePermission[]): void;
  /** Its token is invalid: all files are listed again. Known files stay until then. */
  restartLog(log: string): void;
  forgetLog(log: string): void;
  /** Clears everything if it belonged to another account, and returns whether it did. */
  belongTo(account: string): boolean;
  note(name: string): string | undefined;
  setNote(name: string, value: string): void;
  /** Counts the writes. */
  readonly seq: number;
  /** Increases each time the ledger was created again: then `seq` restarts. Absent if this never happens. */
  readonly generation?: number;
  /** Undefined if there are more than `most`, or if they are no longer known. */
  changesSince(seq: number, most: number): readonly LedgerChange[] | undefined;
  row(id: string): LedgerRow | undefined;
  /** Includes removed files: who was told of a file must also be told of its removal. */
  known(id: string): LedgerRow | undefined;
  files(after: string, limit: number): readonly LedgerRow[];
  /** The files of a log, a page at a time, for another ledger to start with. */
  listing(log: string, after: string, limit: number): { readonly files: readonly DriveFile[]; readonly last?: string };
  childrenOf(parent: string): readonly LedgerRow[];
  /** A folder, and all folders that lead to it, through folders and shortcuts. */
  above(folder: string): ReadonlySet<string>;
  /** Folders that are in no other shown folder. */
  tops(): readonly LedgerRow[];
  /** Targets of shortcuts about which nothing is known. */
  unknownTargets(limit: number): readonly Opened[];
  /** Targets that no log reports. */
  linkedTargets(limit: number): readonly Opened[];
  /** By a part of the title. */
  titled(piece: string, kind: "file" | "folder", limit: number): readonly LedgerRow[];
  unreadable(limit: number): readonly LedgerRow[];
  close(): void;
}

interface LedgerOptions {
  /** Undefined to keep everything in memory. */
  readonly file: string | undefined;
  /** Only files in these folders are shown; all if empty. */
  readonly folders: readonly string[];
}

/** How long a listing process is waited for. */
const leaseMs = 120_000;

/** Removed files are remembered for at least this many batches, so that every watch sees the removal. */
const sweepEvery = 1000;
/** Stands for the log of files reached only through shortcuts. */
const linked = "@";

export async function openLedger({ file, folders }: LedgerOptions): Promise<Ledger> {
  return createLedger(await openLedgerDatabase(file), folders);
}

function createLedger(database: DatabaseSync, folders: readonly string[]): Ledger {
  const statement = createStatements(database);
  const sql = (text: string) => {
    if (!database.isOpen) throw shuttingDown();
    return statement(text);
  };
  const all = (text: string, ...values: (string | number | null)[]): LedgerRow[] =>
    sql(text)
      .all(...values)
      .map(toRow);

  /** Runs in one transaction. */
  function together<T>(work: () => T): T {
    if (!database.isOpen) throw shuttingDown();
    return inTransaction(database, "begin immediate", work);
  }

  const noteOf = (name: string): string | undefined =>
    sql("select value from notes where name = ?").get(name)?.["value"] as string | undefined;
  const setNote = (name: string, value: string): void =>
    void sql("insert or replace into notes (name, value) values (?, ?)").run(name, value);
  const seqNow = (): number => Number(noteOf("seq") ?? 0);

  const logOf = (name: string): Raw | undefined => sql("select * from logs where name = ?").get(name);

  /** Writes files newer than the known ones. */
  function write({ log, files, removed = [] }: Batch, look: number): void {
    const seq = seqNow() + 1;
    let isOther = false;
    for (const file of files) isOther = put(file, log, look, seq) || isOther;
    for (const id of removed) {
      const gone = sql(
        "update files set able = 0, shown = 0, died = iif(shown, ?, died), seq = ? where id = ? and log = ? and able",
      ).run(seq, seq, id, log);
      isOther = Number(gone.changes) > 0 || isOther;
    }
    if (!isOther) return;
    setNote("seq", String(seq));
    if (folders.length > 0) confine(seq);
    if (seq % sweepEvery === 0) sweep(seq - sweepEvery);
  }

  /** Watches have long seen these; one that has not is told that changes were lost. */
  function sweep(before: number): void {
    sql("delete from files where not able and died > 0 and died < ?").run(before);
    sql("delete from moves where seq < ?").run(before);
    setNote("since", String(before));
  }

  function put(file: DriveFile, from: string, look: number, seq: number): boolean {
    // The account's own log also reports files in shared drives; only the log of the shared drive removes them.
    const log = from === "" ? (file.driveId ?? "") : from;
    const before = sql("select * from files where id = ?").get(file.id);
    if (before && Number(before["version"]) > file.version) return touch(file.id, look);
    const kind = file.mimeType === folderType ? "folder" : file.mimeType === shortcutType ? "shortcut" : "file";
    const isAble = !file.isTrashed && (kind !== "file" || (file.canDownload && isReadable(file.mimeType)));
    const permissions = file.permissions === undefined ? null : JSON.stringify(file.permissions);
    const isSame =
      before?.["version"] === file.version &&
      before["able"] === Number(isAble) &&
      before["log"] === log &&
      before["name"] === file.name &&
      before["permissions"] === permissions;
    if (isSame) return touch(file.id, look);
    const wasShown = before?.["shown"] === 1;
    // Whether it lies in a served folder is known only when all folders are.
    const isShown = folders.length > 0 ? isAble && wasShown : isAble;
    const parent = file.parent ?? null;
    const isMoved = before !== undefined && before["parent"] !== parent;
    if (isMoved && before["parent"] !== null)
      sql("insert or replace into moves (id, parent, seq) values (?, ?, ?)").run(file.id, before["parent"]!, seq);
    const isPlaced = isMoved || before?.["name"] !== file.name || before["target"] !== (file.target?.id ?? null);
    sql(
      `insert or replace into files (id, log, kind, name, mime, description, parent, version, modified, size, md5, downloads,
        resource_key, target, target_key, permissions, look, able, shown, seq, born, died, placed)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ).run(
      file.id,
      log,
      kind,
      file.name,
      file.mimeType,
      file.description ?? null,
      parent,
      file.version,
      file.modifiedTime ?? null,
      file.size ?? null,
      file.md5 ?? null,
      Number(file.canDownload),
      file.resourceKey ?? null,
      file.target?.id ?? null,
      file.target?.resourceKey ?? null,
      permissions,
      Math.max(look, Number(before?.["look"] ?? 0)),
      Number(isAble),
      Number(isShown),
      seq,
      isShown && !wasShown ? seq : Number(before?.["born"] ?? 0),
      wasShown && !isShown ? seq : Number(before?.["died"] ?? 0),
      isPlaced ? seq : Number(before["placed"]),
    );
    return true;
  }

  /** It was seen again, unchanged. */
  function touch(id: string, look: number): false {
    sql("update files set look = max(look, ?) where id = ?").run(look, id);
    return false;
  }

  /** Shows files in the served folders, and nothing else. */
  function confine(seq: number): void {
    const inside = `with recursive inside (id) as (
      select value from json_each(?) union select f.id from files f join inside on f.parent = inside.id where f.able)`;
    const roots = JSON.stringify(folders);
    sql(
      `${inside} update files set shown = 1, born = ?, seq = ? where able and not shown and id in (select id from inside)`,
    ).run(roots, seq, seq);
    sql(
      `${inside} update files set shown = 0, died = ?, seq = ? where shown and not (able and id in (select id from inside))`,
    ).run(roots, seq, seq);
  }

  return {
    get logs() {
      return sql("select * from logs order by name").all().map(toLog);
    },

    beginLook: (name, token, holder, nowMs) =>
      together(() => {
        const before = logOf(name);
        const leftMs = Number(before?.["until"] ?? 0) - nowMs;
        // The processes of a machine share the clock since boot; a lease that ends too late was written before the last boot.
        const isHeld = before?.["holder"] !== null && leftMs > 0 && leftMs <= leaseMs;
        if (before && isHeld && before["holder"] !== holder && isAlive(String(before["holder"]))) return undefined;
        const look = Number(noteOf("look") ?? 0) + 1;
        setNote("look", String(look));
        sql("insert or replace into logs (name, token, listed, look, holder, until) values (?, ?, 0, ?, ?, ?)").run(
          name,
          token,
          look,
          holder,
          nowMs + leaseMs,
        );
        return look;
      }),

    look: (look, batch, holder, nowMs) =>
      together(() => {
        if (logOf(batch.log)?.["look"] !== look) return false;
        write(batch, look);
        sql("update logs set holder = ?, until = ? where name = ?").run(holder, nowMs + leaseMs, batch.log);
        return true;
      }),

    endLook: (look, name) =>
      together(() => {
        const log = logOf(name);
        if (log?.["look"] !== look || log["listed"] !== 0) return false;
        const unseen = sql("select id from files where log = ? and look < ? and able").all(name, look);
        write({ log: name, files: [], removed: unseen.map(({ id }) => String(id)) }, look);
        sql("update logs set listed = 1, holder = null, until = 0 where name = ?").run(name);
        return true;
      }),

    leaveLook: (name, holder) =>
      void sql("update logs set holder = null, until = 0 where name = ? and holder = ?").run(name, holder),

    advance: (batch, from, to) =>
      together(() => {
        const log = logOf(batch.log);
        if (log?.["token"] !== from || log["listed"] !== 1) return false;
        write(batch, Number(log["look"]));
        sql("update logs set token = ? where name = ?").run(to, batch.log);
        return true;
      }),

    learn: (files) =>
      together(() => {
        const fresh = files.filter(({ id }) => !sql("select 1 from files where id = ? and log <> ?").get(id, linked));
        write(
          { log: linked, files: fresh, removed: fresh.filter(({ isTrashed }) => isTrashed).map(({ id }) => id) },
          0,
        );
      }),

    setPermissions: (id, permissions) =>
      void sql("update files set permissions = ? where id = ? and able").run(JSON.stringify(permissions), id),

    restartLog: (name) => void sql("delete from logs where name = ?").run(name),

    forgetLog: (name) =>
      together(() => {
        const left = sql("select id from files where log = ? and able").all(name);
        write({ log: name, files: [], removed: left.map(({ id }) => String(id)) }, 0);
        sql("delete from logs where name = ?").run(name);
      }),

    belongTo: (account) =>
      together(() => {
        const before = noteOf("account");
        const isAnother = before !== undefined && before !== account;
        if (isAnother) {
          const [look, seq] = [noteOf("look") ?? "0", String(seqNow() + 1)];
          for (const table of ["logs", "files", "moves", "notes"]) database.exec(`delete from ${table}`);
          // Numbers are never reused: a running scan of the other account must not count.
          for (const [name, value] of Object.entries({ look, seq, since: seq })) setNote(name, value);
        }
        setNote("account", account);
        return isAnother;
      }),

    note: noteOf,
    setNote,
    get seq() {
      return seqNow();
    },

    changesSince(seq, most) {
      if (seq < Number(noteOf("since") ?? 0)) return undefined;
      const rows = sql("select * from files where seq > ? order by seq limit ?").all(seq, most + 1);
      if (rows.length > most) return undefined;
      const moves = Map.groupBy(sql("select * from moves where seq > ?").all(seq), ({ id }) => id);
      return rows.flatMap((row) => changeOf(row, moves.get(row["id"] ?? null) ?? [], seq) ?? []);
    },

    row: (id) => all("select * from files where id = ? and able", id)[0],
    known: (id) => all("select * from files where id = ?", id)[0],
    files: (after, limit) =>
      all("select * from files where id > ? and shown and kind = 'file' order by id limit ?", after, limit),
    listing(log, after, limit) {
      const found = sql("select * from files where log = ? and id > ? order by id limit ?").all(log, after, limit);
      const files = found.flatMap((raw) => {
        const { kind, isShown: _, ...file } = toRow(raw);
        // What cannot be read exists, too; everything else that is not able was removed.
        const isThere = raw["able"] === 1 || (kind === "file" && !(file.canDownload && isReadable(file.mimeType)));
        return isThere ? [{ ...file, isTrashed: false }] : [];
      });
      return { files, last: found.at(-1)?.["id"] as string | undefined };
    },
    childrenOf: (parent) => all("select * from files where parent = ? and shown order by id", parent),
    above: (folder) =>
      new Set(
        sql(
          `with recursive above (id) as (
             select ? union
             select f.parent from files f join above on f.id = above.id where f.shown and f.parent is not null union
             select s.parent from files s join above on s.target = above.id where s.shown and s.parent is not null)
           select id from above`,
        )
          .all(folder)
          .map(({ id }) => String(id)),
      ),
    tops: () =>
      all(
        `select * from files f where kind = 'folder' and shown
         and not exists (select 1 from files p where p.id = f.parent and p.shown) order by id`,
      ),
    unknownTargets: (limit) =>
      sql(
        `select distinct target, target_key from files s where target is not null and able
         and not exists (select 1 from files t where t.id = s.target) limit ?`,
      )
        .all(limit)
        .map(toOpened),
    linkedTargets: (limit) =>
      sql(
        `select target, target_key from files s where target is not null and able
         and exists (select 1 from files t where t.id = s.target and t.log = ?) group by target limit ?`,
      )
        .all(linked, limit)
        .map(toOpened),
    titled: (piece, kind, limit) =>
      all(
        `select * from files where shown and kind = ? and (instr(lower(name), lower(?)) > 0 or id = ?)
         order by instr(lower(name), lower(?)), length(name), id limit ?`,
        kind,
        piece,
        piece,
        piece,
        limit,
      ),
    unreadable: (limit) =>
      all("select * from files where kind = 'file' and not able and log <> ? limit 10000", linked)
        .filter(({ canDownload, mimeType }) => !canDownload || !isReadable(mimeType))
        .slice(0, limit),
    close: () => void (database.isOpen && database.close()),
  };
}
