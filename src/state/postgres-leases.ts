/** Leases as rows of the shared database, which expire by its clock. */
import { denied, quote, shuttingDown } from "../errors.ts";
import type { Runtime } from "../runtime.ts";
import type { SharedDatabase, SharedSql } from "./database.ts";
import { createHeldLeases } from "./held-leases.ts";
import type { HeldLease, LeaseInfo, Leases } from "./leases.ts";

export interface PostgresLeaseOptions {
  readonly database: SharedDatabase;
  /** Name of this process among all instances. */
  readonly instance: string;
  readonly runtime: Pick<Runtime, "monotonicMs" | "wait" | "log">;
  readonly ttlMs?: number;
  readonly renewMs?: number;
  /** How often to ask for leases that another instance holds. */
  readonly pollMs?: number;
}

/** The first fence is the time, so that it also exceeds those of a schema that was lost. */
const nowMs = "(extract(epoch from clock_timestamp()) * 1000)::bigint";

/** A lease that a transaction relies on (`checkFence`) is locked, and skipped: it is taken after the transaction has ended. */
const acquireSql = `
  with free as (
    select name from leases where name = any($1::text[]) and expires <= clock_timestamp() order by name for update skip locked
  ), taken as (
    update leases l
    set holder = $2, fence = greatest(l.fence + 1, ${nowMs}), expires = clock_timestamp() + $3::integer * interval '1 ms'
    from free where l.name = free.name returning l.name, l.fence
  ), made as (
    insert into leases (name, holder, fence, expires)
    select name, $2, ${nowMs}, clock_timestamp() + $3::integer * interval '1 ms' from unnest($1::text[]) as name order by name
    on conflict do nothing returning name, fence
  )
  select name, fence from taken union all select name, fence from made`;

/** One that has expired is lost even if nobody took it: an older state of the database may have been restored, which lacks what was written since. */
const renewSql = `
  update leases l set expires = clock_timestamp() + $4::integer * interval '1 ms'
  from unnest($1::text[], $2::bigint[]) as mine (name, fence)
  where l.name = mine.name and l.fence = mine.fence and l.holder = $3 and l.expires > clock_timestamp() returning l.name`;

const releaseSql = `
  update leases l set expires = '-infinity' from unnest($1::text[], $2::bigint[]) as mine (name, fence)
  where l.name = mine.name and l.fence = mine.fence and l.holder = $3`;

export function createPostgresLeases(options: PostgresLeaseOptions): Leases {
  const { database, instance, runtime, ttlMs = 6000, renewMs = 2000, pollMs = 1000 } = options;
  const leases = createHeldLeases();
  // The holder stops a little before the database lets others take the lease: clocks do not run at exactly the same speed.
  const ownMs = ttlMs - ttlMs / 12;
  const closing = new AbortController();
  /** By the monotonic clock: until when each held lease is certainly ours. */
  const untilMs = new Map<HeldLease, number>();
  let loop: Promise<void> | undefined;
  let isAway = false;
  /** Ends the pause of the loop. */
  let wake = new AbortController();

  async function take(names: readonly string[]): Promise<readonly HeldLease[]> {
    const sentMs = runtime.monotonicMs();
    const rows = await database.query<{ name: string; fence: number }>(acquireSql, [names, instance, ttlMs]);
    return rows.map(({ name, fence }) => {
      const lease = leases.own(name, fence, () => release([{ name, fence }]));
      untilMs.set(lease, sentMs + ownMs);
      void endInTime(lease, lease.lose);
      start();
      return lease;
    });
  }

  async function release(gone: readonly Pick<HeldLease, "name" | "fence">[]): Promise<void> {
    // If the database is away, they expire.
    await database
      .query(releaseSql, [gone.map(({ name }) => name), gone.map(({ fence }) => fence), instance])
      .catch(() => undefined);
  }

  /** Aborts the signal of a lease that was not renewed in time, even while a renewal is waiting for its response. */
  async function endInTime(lease: HeldLease, lose: () => void): Promise<void> {
    while (!lease.signal.aborted) {
      const leftMs = (untilMs.get(lease) ?? 0) - runtime.monotonicMs();
      if (leftMs <= 0) {
        runtime.log("warn", `the lease ${quote(lease.name)} could not be renewed in time and is given up`);
        lose();
      } else await runtime.wait(leftMs, lease.signal).catch(() => undefined);
    }
    untilMs.delete(lease);
  }

  async function renew(): Promise<void> {
    const mine = [...leases.held.values()];
    if (mine.length === 0) return;
    const sentMs = runtime.monotonicMs();
    const rows = await database.query<{ name: string }>(renewSql, [
      mine.map(({ name }) => name),
      mine.map(({ fence }) => fence),
      instance,
      ttlMs,
    ]);
    const renewed = new Set(rows.map(({ name }) => name));
    for (const lease of mine) {
      if (lease.signal.aborted) continue;
      if (renewed.has(lease.name)) untilMs.set(lease, sentMs + ownMs);
      else {
        runtime.log("warn", `the lease ${quote(lease.name)} has expired, or another instance has taken it`);
        lease.lose();
      }
    }
  }

  /** One statement renews all leases of this process, and one asks for all that it waits for. */
  function start(): void {
    wake.abort();
    loop ??= run();
  }

  async function run(): Promise<void> {
    let renewedMs = runtime.monotonicMs();
    // So that `loop` is set before this can end.
    await Promise.resolve();
    while (!closing.signal.aborted && (leases.held.size > 0 || leases.waitingNames().length > 0)) {
      wake = new AbortController();
      try {
        if (runtime.monotonicMs() - renewedMs >= renewMs || isAway) {
          await renew();
          renewedMs = runtime.monotonicMs();
        }
        const wanted = leases.waitingNames().filter((name) => !leases.held.has(name));
        if (wanted.length > 0) for (const lease of await take(wanted)) leases.grant(lease);
        if (isAway) runtime.log("info", "leases of the shared database are available again");
        isAway = false;
      } catch (cause) {
        if (closing.signal.aborted) break;
        if (!isAway) runtime.log("warn", "leases cannot be renewed or acquired at present; trying again", { cause });
        isAway = true;
      }
      const pauseMs = isAway || leases.waitingNames().length > 0 ? Math.min(pollMs, renewMs) : renewMs;
      await runtime.wait(pauseMs, AbortSignal.any([wake.signal, closing.signal])).catch(() => undefined);
    }
    loop = undefined;
  }

  return {
    acquire(name, signal) {
      const lease = leases.wait(name, signal);
      start();
      return lease;
    },

    async tryAcquire(name) {
      if (closing.signal.aborted) throw shuttingDown();
      return (await take([name]))[0];
    },

    async list() {
      return database.query<LeaseInfo>(
        `select name, holder, fence, expires <= clock_timestamp() as "isExpired", expires = '-infinity' as "isReleased"
         from leases order by name collate "C"`,
      );
    },

    waiting: () => leases.waitingNames(),

    async close() {
      closing.abort();
      leases.close();
      const mine = [...leases.held.values()];
      for (const lease of mine) lease.lose();
      await loop;
      if (mine.length > 0) await release(mine);
    },
  };
}

/**
 * For a transaction that writes what only the holder of a lease may write: rejects with "denied" if another instance has acquired it since.
 * No other instance acquires it before the transaction ends; it can still be renewed.
 */
export async function checkFence(sql: SharedSql, { name, fence }: Pick<HeldLease, "name" | "fence">): Promise<void> {
  const [row] = await sql.query<{ fence: number }>("select fence from leases where name = $1 for key share", [name]);
  if (row?.fence !== fence)
    throw denied(`another instance has taken the lease ${quote(name)}; this one must stop writing`);
}
