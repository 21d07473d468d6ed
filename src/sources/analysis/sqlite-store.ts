/** The store of results in one file that many processes share. */
import { randomBytes } from "node:crypto";
import type { Caller } from "../../resources.ts";
import type { Tools } from "../../source.ts";
import { createDatabase, type Sql } from "./database.ts";
import { add, announce, columns, leaseWhere, remove, removed, toSummary, total } from "./rows.ts";
import type { Change, Kept, Store, Summary } from "./store.ts";

export interface StoreOptions {
  readonly path: string;
  /** Of all results together. What is next to die makes room. */
  readonly maxBytes: number;
  readonly tools: Pick<Tools, "now" | "wait">;
  newId?(now: number): string;
  /** Where the body of a key stands. Where two keys have one place, the later one has it. */
  placeOf?(key: Uint8Array): number;
}

const maxEvents = 200;
const purgedAtOnce = 200;
/** A lease that ended is still known for so long, so that who comes late hears why. */
const leaseMemoryMs = 3_600_000;
export function createStore({ path, maxBytes, tools, newId = timedId, placeOf = headOf }: StoreOptions): Store {
  const { now } = tools;
  const { read, write, close } = createDatabase(path, tools);

  /** One way down one tree, which is as quick among a million as among a thousand. */
  function keptAt(sql: Sql, key: Uint8Array): Kept | undefined {
    const row = sql.get("select body from bodies where place = ? and key = ?", placeOf(key), key);
    const kept = row && (JSON.parse(String(row["body"])) as Kept);
    return kept && kept.dies > now() ? kept : undefined;
  }

  function note(sql: Sql, number: number, what: string, detail?: string): void {
    sql.run("insert into events values (?, ?, ?, ?)", number, now(), what, detail ?? null);
    sql.run(
      "delete from events where rowid in (select rowid from events where number = ? order by rowid desc limit -1 offset ?)",
      number,
      maxEvents,
    );
  }

  function purgeDead(sql: Sql): boolean {
    const dead = sql.all(`select ${removed} from results where dies <= ? order by dies limit ${purgedAtOnce}`, now());
    remove(sql, dead);
    sql.run(
      `delete from leases where key in (select key from leases where until <= ? limit ${purgedAtOnce})`,
      now() - leaseMemoryMs,
    );
    return dead.length === purgedAtOnce;
  }

  function makeRoom(sql: Sql, keep: number): void {
    while (total(sql, "bytes") > maxBytes) {
      const next = sql.get(`select ${removed} from results where number <> ? order by dies limit 1`, keep);
      if (!next) return;
      remove(sql, [next]);
    }
  }

  return {
    look: (key) =>
      read((sql) => {
        const kept = keptAt(sql, key);
        const lease = leaseWhere(sql, "key", key);
        return { ...(kept && { kept }), ...(lease && { lease }) };
      }),

    find: (id) =>
      read((sql) => {
        const row = sql.get("select key from results where id = ?", id);
        return row && keptAt(sql, row["key"] as Uint8Array);
      }),

    summary: (id) =>
      read((sql) => {
        const row = sql.get(`select ${columns} from results where id = ? and dies > ?`, id, now());
        return row && toSummary(row);
      }),

    events: (id) =>
      read((sql) =>
        sql
          .all(
            "select at, what, detail from events where number = (select number from results where id = ?) order by rowid",
            id,
          )
          .map(({ at, what, detail }) => ({
            at: Number(at),
            what: String(what),
            ...(detail !== null && { detail: String(detail) }),
          })),
      ),

    page: (after, limit) =>
      read((sql) =>
        sql
          .all(`select ${columns} from results where id > ? and dies > ? order by id limit ?`, after, now(), limit)
          .map(toSummary),
      ),

    recent: ({ task, after, limit }) =>
      read((sql) => {
        const [stored, id] = after ?? [Number.MAX_SAFE_INTEGER, ""];
        const behind = "(stored < ? or (stored = ? and id > ?))";
        const query = `select ${columns} from results where ${task ? "task = ? and " : ""}stored <= ? and ${behind} and dies > ? order by stored desc, id limit ?`;
        return sql.all(query, ...(task ? [task] : []), stored, stored, stored, id, now(), limit).map(toSummary);
      }),

    ids: (prefix, limit) =>
      read((sql) =>
        sql
          .all(
            "select id from results where id >= ? and id < ? and dies > ? order by id limit ?",
            prefix,
            `${prefix}g`,
            now(),
            limit,
          )
          .map(({ id }) => String(id)),
      ),

    claim: (key, question, until) =>
      write((sql) => {
        const kept = keptAt(sql, key);
        if (kept && kept.expires > now()) return { kept };
        const held = leaseWhere(sql, "key", key);
        if (held && held.until > now() && held.failed === undefined) return { held };
        const token = randomBytes(16).toString("hex");
        sql.run(
          "insert or replace into leases (key, token, until, question) values (?, ?, ?, ?)",
          key,
          token,
          until,
          JSON.stringify(question),
        );
        return { taken: { token, until, question } };
      }),

    renew: (token, until) =>
      write((sql) => {
        const lease = leaseWhere(sql, "token", token);
        if (!lease || lease.failed !== undefined) return undefined;
        sql.run("update leases set until = ? where token = ?", until, token);
        return { ...lease, until };
      }),

    lease: (token) => read((sql) => leaseWhere(sql, "token", token)),

    fail: (token, reason) =>
      write((sql) => {
        const row = sql.get("select key from leases where token = ?", token);
        if (!row) return undefined;
        sql.run("update leases set until = ?, failed = ?, reason = ? where token = ?", now(), now(), reason, token);
        const kept = sql.get("select number from results where key = ?", row["key"] as Uint8Array);
        if (kept) note(sql, Number(kept["number"]), "failed", reason);
        const found = keptAt(sql, row["key"] as Uint8Array);
        return found ? { kept: found } : {};
      }),

    keep: ({ key, caller, token, task, title, expires, dies, events, ...body }) =>
      write((sql) => {
        const { quality, result, question } = body;
        const place = placeOf(key);
        const before = sql.get("select number, id, bytes from results where key = ?", key);
        remove(
          sql,
          sql.all(
            `select ${removed} from results where key = (select key from bodies where place = ? and key <> ?)`,
            place,
            key,
          ),
        );
        // In the order of the columns.
        const summary: Summary = {
          id: before ? String(before["id"]) : newId(now()),
          key: key.toString("hex"),
          task,
          title,
          stored: now(),
          expires,
          dies,
          passed: quality.passed,
          confidence: quality.confidence,
          consensus: quality.consensus,
          providers: quality.providers,
          cost: result.total_cost,
          time: result.processing_time_ms,
        };
        const text = JSON.stringify({ ...summary, ...body });
        const bytes = Buffer.byteLength(text);
        const number = sql.run(
          `insert or replace into results (${columns}) values (${columns.replaceAll(/\w+/g, "?")})`,
          before?.["number"] ?? null,
          ...Object.values({ ...summary, key, passed: summary.passed ? 1 : 0 }),
          bytes,
          place,
        );
        sql.run("insert or replace into bodies values (?, ?, ?)", place, key, text);
        sql.run("delete from grounds where number = ?", number);
        for (const { uri, version, isStamped } of question.grounding)
          sql.run(
            "insert or replace into grounds values (?, ?, ?, ?, ?)",
            uri,
            number,
            version,
            isStamped ? 1 : 0,
            JSON.stringify(caller),
          );
        for (const { what, detail } of events) note(sql, number, what, detail);
        note(sql, number, before ? "stored again" : "stored", quality.passed ? undefined : quality.reasons.join("; "));
        sql.run("delete from leases where key = ? or token = ?", key, token ?? "");
        announce(sql, before ? "changed" : "appeared", summary.id);
        add(sql, "", before ? { bytes: bytes - Number(before["bytes"]) } : { results: 1, bytes });
        purgeDead(sql);
        makeRoom(sql, number);
        return summary;
      }, "lasting"),

    dropGrounded: (uri, version, which) =>
      write((sql) => {
        const rows = sql.all(
          `select ${removed} from grounds join results using (number)
             where uri = ? and ((stamped = 1 and version is not ?) or (stamped = 0 and ? = 'all'))`,
          uri,
          version ?? null,
          which,
        );
        remove(sql, rows);
        if (rows.length > 0) add(sql, "", { invalidated: rows.length });
        return rows.length;
      }),

    isGround: (uri) => read((sql) => sql.get("select 1 from grounds where uri = ? limit 1", uri) !== undefined),

    grounds: (limit) =>
      read((sql) =>
        sql.all("select uri, caller from grounds group by uri, caller limit ?", limit).map(({ uri, caller }) => ({
          uri: String(uri),
          caller: JSON.parse(String(caller)) as Caller,
        })),
      ),

    purge: () => write(purgeDead),

    count: (tallies) =>
      write((sql) => {
        for (const [task, amounts] of Object.entries(tallies)) add(sql, task, amounts);
      }),

    tallies: () =>
      read((sql) => {
        const tallies: Record<string, Record<string, number>> = {};
        for (const { task, name, value } of sql.all("select * from tallies"))
          (tallies[String(task)] ??= {})[String(name)] = Number(value);
        return { tallies, results: total(sql, "results"), bytes: total(sql, "bytes") };
      }),

    changes: (after) =>
      read((sql) => {
        const bounds = sql.get("select min(seq) as first, max(seq) as last from changes");
        const [first, last] = [Number(bounds?.["first"] ?? 0), Number(bounds?.["last"] ?? 0)];
        if (after === undefined || after >= last) return { last, changes: [] };
        if (after < first - 1) return { last, changes: "lost" };
        const rows = sql.all("select seq, kind, id from changes where seq > ? order by seq", after);
        return {
          last,
          changes: rows.map(({ seq, kind, id }) => ({
            seq: Number(seq),
            kind: kind as Change["kind"],
            id: String(id),
          })),
        };
      }),

    expired: (from, to, limit) =>
      read((sql) => {
        const ids = sql
          .all("select id from results where expires > ? and expires <= ? order by expires limit ?", from, to, limit)
          .map(({ id }) => String(id));
        const next = sql.get("select min(expires) as next from results where expires > ?", to)?.["next"] ?? null;
        return { ids, ...(next !== null && { next: Number(next) }) };
      }),

    close,
  };
}

/** Newer ones stand first, and none can be guessed. */
function timedId(now: number): string {
  return (2 ** 48 - 1 - now).toString(16).padStart(12, "0") + randomBytes(16).toString("hex");
}

/** As much of a key as a number can hold. */
export function headOf(key: Uint8Array): number {
  const view = new DataView(key.buffer, key.byteOffset);
  return view.getUint32(0) * 2 ** 21 + (view.getUint32(4) >>> 11);
}
