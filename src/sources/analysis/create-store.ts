/** The store of results, in a database that many processes share. */
import { createHash, randomBytes } from "node:crypto";
import { ResourceError } from "../../errors.ts";
import type { Caller } from "../../resources.ts";
import type { AnalysisQuestion } from "./question.ts";
import { add, announce, columns, remove, removed, toSummary, totalOf, valuesOf } from "./rows.ts";
import { all, type Database, get, type SqlRow, type Work } from "./sql.ts";
import type {
  StoreChange,
  Claim,
  ResultToStore,
  StoredResult,
  ComputationLease,
  AnalysisStore,
  Summary,
} from "./store.ts";

interface StoreOptions {
  readonly database: Database;
  /** Limit for all results together. Those that expire next are dropped first. */
  readonly maxBytes: number;
  /** How long a caller may compute before another caller takes over. The same for all processes that share the database. */
  readonly leaseMs: number;
  /** Limit for all running computations together. */
  readonly maxLeaseBytes?: number;
  newId?(now: number): string;
  /** The number under which the body of a key is stored. If two keys have the same number, the later one overwrites. */
  placeOf?(key: Uint8Array): number;
}

const maxEvents = 200;
const purgedAtOnce = 200;
/** An ended lease is remembered this long, so that a late caller gets the reason. */
const leaseMemoryMs = 3_600_000;
/** How far the clocks of two machines may differ. */
const clockErrorMs = 10_000;
/** Limit of concurrent computations. */
const maxLeases = 10_000;

const listed = `number, ${columns.join(", ")}`;
const overwritten = columns.filter((name) => name !== "id" && name !== "key");

export function createAnalysisStore(options: StoreOptions): AnalysisStore {
  const { database, maxBytes, leaseMs, maxLeaseBytes = 64 * 1024 ** 2, newId = timedId, placeOf = headOf } = options;
  const { now, leaseClockMs, agree, read, write, listen, close } = database;
  /** The generation of the database at the last check for changes. */
  let watchedGeneration = database.generation;

  /** One lookup in one index: equally fast among a million results and a thousand. */
  function* keptAt(key: Uint8Array): Work<StoredResult | undefined> {
    const row = yield* get("select body from bodies where place = ? and key = ?", placeOf(key), key);
    const cached = row && (JSON.parse(String(row["body"])) as StoredResult);
    return cached && cached.dies > now() ? cached : undefined;
  }

  function* note(number: number, what: string, detail?: string): Work<void> {
    yield* all(
      "insert into events (number, at, what, detail) values (?, ?, ?, ?)",
      number,
      now(),
      what,
      detail ?? null,
    );
    yield* all(
      "delete from events where number = ? and seq <= (select seq from events where number = ? order by seq desc limit 1 offset ?)",
      number,
      number,
      maxEvents,
    );
  }

  /** Returns how many were deleted. */
  function* purgeDead(): Work<number> {
    const dead = yield* all(
      `select ${removed} from results where dies <= ? order by dies limit ${purgedAtOnce}`,
      now(),
    );
    yield* remove(dead);
    yield* all(
      `delete from leases where key in (select key from leases where until <= ? or until > ? limit ${purgedAtOnce})`,
      leaseClockMs() - leaseMemoryMs,
      latestEndMs(),
    );
    return dead.length;
  }

  /** Deletes in steps, because the limit may have been lowered. Returns how many were deleted. */
  function* makeRoom(newest: number): Work<number> {
    for (let count = 0; ; count += 1) {
      if (count === purgedAtOnce || (yield* totalOf("bytes")) <= maxBytes) return count;
      const next = yield* get(`select ${removed} from results where number <> ? order by dies limit 1`, newest);
      if (!next) return count;
      yield* remove([next]);
    }
  }

  function* hasRoomFor(bytes: number): Work<boolean> {
    const held = yield* get("select count(*) as count, sum(bytes) as bytes from leases");
    return Number(held?.["count"]) < maxLeases && Number(held?.["bytes"] ?? 0) + bytes <= maxLeaseBytes;
  }

  /** No lease may end later: one that does was written by a clock that has been set back since. */
  function latestEndMs(): number {
    return leaseClockMs() + leaseMs + clockErrorMs;
  }

  function toLease({ token, until, question, failed, reason }: SqlRow): ComputationLease {
    const leftMs = Number(until) > latestEndMs() ? 0 : Math.max(0, Number(until) - leaseClockMs());
    return {
      token: String(token),
      leftMs,
      question: JSON.parse(String(question)) as AnalysisQuestion,
      ...(failed !== null && { failedMsAgo: leaseClockMs() - Number(failed) }),
      ...(reason !== null && { reason: String(reason) }),
    };
  }

  function* leaseOf(key: Uint8Array): Work<ComputationLease | undefined> {
    const row = yield* get("select * from leases where key = ?", key);
    return row && toLease(row);
  }

  function* claim(key: Buffer, question: AnalysisQuestion): Work<Claim> {
    const cached = yield* keptAt(key);
    if (cached && cached.expires > now()) return { kept: cached };
    const held = yield* leaseOf(key);
    if (held && held.leftMs > 0 && held.failedMsAgo === undefined) return { held };
    const text = JSON.stringify(question);
    const bytes = Buffer.byteLength(text);
    if (!(yield* hasRoomFor(bytes))) {
      yield* all("delete from leases where until <= ? or until > ?", leaseClockMs(), latestEndMs());
      if (!(yield* hasRoomFor(bytes)))
        throw new ResourceError("busy", "too many computations are running; try again in a minute", {
          details: { retryAfterMs: 60_000 },
        });
    }
    const token = randomBytes(16).toString("hex");
    yield* all(
      `insert into leases (key, token, until, question, bytes) values (?, ?, ?, ?, ?)
         on conflict (key) do update set token = excluded.token, until = excluded.until, question = excluded.question,
           bytes = excluded.bytes, failed = null, reason = null`,
      key,
      token,
      leaseClockMs() + leaseMs,
      text,
      bytes,
    );
    return { taken: { token, leftMs: leaseMs, question } };
  }

  function* keep({ key, caller, token, task, title, expires, dies, events, ...body }: ResultToStore): Work<Summary> {
    const { quality, result, question } = body;
    const place = placeOf(key);
    const before = yield* get("select id, bytes from results where key = ?", key);
    yield* remove(
      yield* all(
        `select ${removed} from results where key = (select key from bodies where place = ? and key <> ?)`,
        place,
        key,
      ),
    );
    // In column order.
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
    const row = yield* get(
      `insert into results (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})
         on conflict (key) do update set ${overwritten.map((name) => `${name} = excluded.${name}`).join(", ")} returning number`,
      ...valuesOf(summary, key),
      bytes,
      place,
    );
    const number = Number(row?.["number"]);
    yield* all(
      "insert into bodies values (?, ?, ?) on conflict (place) do update set key = excluded.key, body = excluded.body",
      place,
      key,
      text,
    );
    yield* all("delete from grounds where number = ?", number);
    for (const { uri, version, isStamped } of question.grounding)
      yield* all(
        "insert into grounds values (?, ?, ?, ?, ?, ?)",
        digestOf(uri),
        number,
        uri,
        version,
        isStamped ? 1 : 0,
        JSON.stringify(caller),
      );
    for (const { what, detail } of events) yield* note(number, what, detail);
    yield* note(number, before ? "stored again" : "stored", quality.passed ? undefined : quality.reasons.join("; "));
    yield* all("delete from leases where key = ? or token = ?", key, token ?? "");
    yield* announce(before ? "changed" : "appeared", summary.id);
    yield* add("", before ? { bytes: bytes - Number(before["bytes"]) } : { results: 1, bytes });
    yield* purgeDead();
    yield* makeRoom(number);
    return summary;
  }

  return {
    agree,

    look: (key) =>
      read(function* () {
        const cached = yield* keptAt(key);
        const lease = yield* leaseOf(key);
        return { kept: cached, lease };
      }),

    find: (id) =>
      read(function* () {
        const row = yield* get("select key from results where id = ?", id);
        return row && (yield* keptAt(row["key"] as Uint8Array));
      }),

    summary: (id) =>
      read(function* () {
        const row = yield* get(`select ${listed} from results where id = ? and dies > ?`, id, now());
        return row && toSummary(row);
      }),

    events: (id) =>
      read(function* () {
        const rows = yield* all(
          "select at, what, detail from events where number = (select number from results where id = ?) order by seq",
          id,
        );
        return rows.map(({ at, what, detail }) => ({
          at: Number(at),
          what: String(what),
          ...(detail !== null && { detail: String(detail) }),
        }));
      }),

    page: (after, limit) =>
      read(function* () {
        const query = `select ${listed} from results where id > ? and dies > ? order by id limit ?`;
        return (yield* all(query, after, now(), limit)).map(toSummary);
      }),

    recent: ({ task, after, limit }) =>
      read(function* () {
        const [stored, id] = after ?? [Number.MAX_SAFE_INTEGER, ""];
        const behind = "(stored < ? or (stored = ? and id > ?))";
        const query = `select ${listed} from results where ${task ? "task = ? and " : ""}stored <= ? and ${behind} and dies > ? order by stored desc, id limit ?`;
        const rows = yield* all(query, ...(task ? [task] : []), stored, stored, stored, id, now(), limit);
        return rows.map(toSummary);
      }),

    ids: (prefix, limit) =>
      read(function* () {
        const query = "select id from results where id >= ? and id < ? and dies > ? order by id limit ?";
        return (yield* all(query, prefix, `${prefix}g`, now(), limit)).map(({ id }) => String(id));
      }),

    claim: (key, question) => write(() => claim(key, question), { key, isSmall: true }),

    renew: (token, key) =>
      write(
        function* () {
          const query = "update leases set until = ? where token = ? and key = ? and failed is null returning *";
          const row = yield* get(query, leaseClockMs() + leaseMs, token, key);
          return row && toLease(row);
        },
        { key, isSmall: true },
      ),

    lease: (token) =>
      read(function* () {
        const row = yield* get("select * from leases where token = ?", token);
        return row && toLease(row);
      }),

    fail: (token, reason) =>
      write(
        function* () {
          const row = yield* get(
            "update leases set until = ?, failed = ?, reason = ? where token = ? and failed is null returning key",
            leaseClockMs(),
            leaseClockMs(),
            reason,
            token,
          );
          if (!row) return undefined;
          const key = row["key"] as Uint8Array;
          const held = yield* get("select number from results where key = ?", key);
          if (held) yield* note(Number(held["number"]), "failed", reason);
          const cached = yield* keptAt(key);
          return { key: Buffer.from(key).toString("hex"), kept: cached };
        },
        { tells: (failed) => failed?.key },
      ),

    keep: (keeping) => write(() => keep(keeping), { key: keeping.key, isLasting: true, tells: ({ key }) => key }),

    dropGrounded: (uri, version, which, caller) =>
      write(
        function* () {
          const rows = yield* all(
            `select ${removed} from grounds join results using (number)
               where digest = ? and caller = ? and ((stamped = 1 and version is distinct from ?) or (stamped = 0 and ? = 'all'))`,
            digestOf(uri),
            JSON.stringify(caller),
            version ?? null,
            which,
          );
          yield* remove(rows);
          if (rows.length > 0) yield* add("", { invalidated: rows.length });
          return rows.length;
        },
        { tells: (count) => (count > 0 ? "" : undefined) },
      ),

    isGround: (uri) =>
      read(function* () {
        return (yield* get("select 1 as one from grounds where digest = ? limit 1", digestOf(uri))) !== undefined;
      }),

    grounds: (limit) =>
      read(function* () {
        const rows = yield* all("select uri, caller from grounds group by uri, caller limit ?", limit);
        return rows.map(({ uri, caller }) => ({
          uri: String(uri),
          caller: JSON.parse(String(caller)) as Caller,
        }));
      }),

    async purge() {
      const most = await write(
        function* () {
          return Math.max(yield* purgeDead(), yield* makeRoom(0));
        },
        { tells: (count) => (count > 0 ? "" : undefined) },
      );
      return most === purgedAtOnce;
    },

    count: (tallies) =>
      write(function* () {
        for (const [task, amounts] of Object.entries(tallies)) yield* add(task, amounts);
      }),

    tallies: () =>
      read(function* () {
        const tallies: Record<string, Record<string, number>> = {};
        for (const { task, name, value } of yield* all("select * from tallies"))
          (tallies[String(task)] ??= {})[String(name)] = Number(value);
        return { tallies, results: yield* totalOf("results"), bytes: yield* totalOf("bytes") };
      }),

    async changes(after) {
      const answer = await read(function* () {
        const bounds = yield* get("select min(seq) as first, max(seq) as last from changes");
        const [first, last] = [Number(bounds?.["first"] ?? 0), Number(bounds?.["last"] ?? 0)];
        if (after === undefined || after === last) return { last, changes: [] };
        if (after > last || after < first - 1) return { last, changes: "lost" as const };
        const rows = yield* all("select seq, kind, id from changes where seq > ? order by seq", after);
        return {
          last,
          changes: rows.map(({ seq, kind, id }) => ({
            seq: Number(seq),
            kind: kind as StoreChange["kind"],
            id: String(id),
          })),
        };
      });
      // Change numbers of another database do not apply to this one.
      const isOther = after !== undefined && database.generation !== watchedGeneration;
      watchedGeneration = database.generation;
      return isOther ? { ...answer, changes: "lost" as const } : answer;
    },

    expired: (from, to, limit) =>
      read(function* () {
        const rows = yield* all(
          "select id from results where expires > ? and expires <= ? order by expires limit ?",
          from,
          to,
          limit,
        );
        const ids = rows.map(({ id }) => String(id));
        const next = (yield* get("select min(expires) as next from results where expires > ?", to))?.["next"] ?? null;
        return { ids, ...(next !== null && { next: Number(next) }) };
      }),

    listen,
    close,
  };
}

/** Newer ids sort first, and ids cannot be guessed. */
function timedId(now: number): string {
  return (2 ** 48 - 1 - now).toString(16).padStart(12, "0") + randomBytes(16).toString("hex");
}

/** A URI may be longer than an index allows. */
function digestOf(uri: string): Uint8Array {
  return createHash("sha256").update(uri).digest();
}

/** The first bytes of a key, as many as a number can hold. */
export function headOf(key: Uint8Array): number {
  const view = new DataView(key.buffer, key.byteOffset);
  return view.getUint32(0) * 2 ** 21 + (view.getUint32(4) >>> 11);
}
