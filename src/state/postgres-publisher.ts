/** Publishes messages in PostgreSQL: all that wait go into one transaction. */
import { ResourceError, shuttingDown, toResourceError } from "../errors.ts";
import type { Runtime } from "../runtime.ts";
import type { BusMessage } from "./bus.ts";
import { bodyText, fenceDenied, publishTimeoutMs, publishUnknown } from "./bus-limits.ts";
import type { SharedDatabase, SharedSql } from "./database.ts";

export interface PublisherOptions {
  readonly database: SharedDatabase;
  readonly runtime: Pick<Runtime, "wait">;
  readonly channel: string;
  readonly keepMs?: number;
  readonly keepCount?: number;
}

export interface PostgresPublisher {
  publish(message: BusMessage): Promise<void>;
  readonly published: number;
  /** Whether the last attempt to publish succeeded, or the database has been written to since. */
  readonly isWorking: boolean;
  close(): Promise<void>;
}

interface WaitingMessage {
  readonly topic: string;
  readonly fence: number;
  readonly text: string;
  readonly done: PromiseWithResolvers<void>;
}

const maxBatch = 500;
const maxBatchBytes = 4 * 1024 * 1024;
/** Messages that are no longer kept are removed this often, also while nobody publishes: they may contain what people answered. */
const pruneEveryMs = 30_000;

export function createPostgresPublisher(options: PublisherOptions): PostgresPublisher {
  const { database, runtime, channel, keepMs = 600_000, keepCount = 100_000 } = options;
  const closing = new AbortController();
  const waiting: WaitingMessage[] = [];
  let sending: Promise<void> | undefined;
  let published = 0;
  let isWorking = true;

  function nextBatch(): WaitingMessage[] {
    let bytes = 0;
    const tooMany = waiting.findIndex(({ text }) => (bytes += text.length) > maxBatchBytes);
    return waiting.splice(0, Math.min(maxBatch, tooMany === -1 ? maxBatch : Math.max(1, tooMany)));
  }

  async function send(): Promise<void> {
    while (waiting.length > 0 && !closing.signal.aborted) {
      const batch = nextBatch();
      try {
        const refused = await store(batch);
        isWorking = true;
        for (const message of batch) {
          if (refused.has(message)) message.done.reject(fenceDenied(message.topic));
          else {
            published += 1;
            message.done.resolve();
          }
        }
      } catch (cause) {
        isWorking = false;
        for (const { topic, done } of batch) done.reject(toUnknown(topic, cause));
      }
    }
  }

  /** Returns the messages that were refused because of their fence. */
  async function store(batch: readonly WaitingMessage[]): Promise<ReadonlySet<WaitingMessage>> {
    const groups = groupsOf(batch);
    const refused = new Set<WaitingMessage>();
    const storeGroups = async (sql: SharedSql): Promise<void> => {
      for (const group of groups) if (!(await storeGroup(sql, group))) for (const each of group) refused.add(each);
    };
    // A statement alone needs one round trip.
    if (groups.length === 1) await storeGroups(database);
    else await database.transaction(storeGroups, closing.signal);
    return refused;
  }

  /** The lock on the row of the topic makes the order of the numbers the order of the commits. */
  async function storeGroup(sql: SharedSql, group: readonly WaitingMessage[]): Promise<boolean> {
    const { topic, fence } = group[0] as WaitingMessage;
    const rows = await sql.query(
      `with head as (
         insert into topics as t (topic, last, fence) values ($1, $2, $3)
         on conflict (topic) do update set last = t.last + $2, fence = $3 where t.fence <= $3
         returning last
       ), added as (
         insert into changes (topic, seq, fence, body, at)
         select $1, head.last - $2 + m.place, $3, m.body, clock_timestamp()
         from head, unnest($4::text[]) with ordinality as m(body, place)
       )
       select pg_notify($5, $1 || ' ' || last) from head`,
      [topic, group.length, fence, group.map(({ text }) => text), channel],
    );
    return rows.length > 0;
  }

  async function prune(): Promise<void> {
    try {
      await database.query(
        `with mine as (select pg_try_advisory_xact_lock(hashtext($3)) as locked),
           old as (delete from changes where at < now() - $2::float8 * interval '1 millisecond' and (select locked from mine))
         delete from changes using topics
         where changes.topic = topics.topic and changes.seq <= topics.last - $1::bigint and (select locked from mine)`,
        [keepCount, keepMs, channel],
      );
      // After a failure there may be nothing to publish for hours.
      isWorking = true;
    } catch {
      // The next attempt removes the same.
    }
  }

  async function keepPruning(): Promise<void> {
    while (!closing.signal.aborted) {
      await runtime.wait(Math.min(pruneEveryMs, keepMs), closing.signal).catch(() => undefined);
      if (!closing.signal.aborted) await prune();
    }
  }
  const pruning = keepPruning();

  return {
    async publish(message) {
      const { topic, fence } = message;
      const text = bodyText(message);
      if (closing.signal.aborted) throw shuttingDown();
      const own: WaitingMessage = { topic, fence, text, done: Promise.withResolvers() };
      waiting.push(own);
      sending ??= send().finally(() => (sending = undefined));
      const stop = new AbortController();
      const late = runtime.wait(publishTimeoutMs, AbortSignal.any([closing.signal, stop.signal])).then(
        () => {
          const place = waiting.indexOf(own);
          if (place !== -1) waiting.splice(place, 1);
          throw publishUnknown(topic, "the shared database");
        },
        () => {
          if (closing.signal.aborted) throw shuttingDown();
        },
      );
      late.catch(() => undefined);
      await Promise.race([own.done.promise, late]).finally(() => stop.abort());
    },
    get published() {
      return published;
    },
    get isWorking() {
      return isWorking;
    },
    async close() {
      closing.abort();
      for (const { done } of waiting.splice(0)) done.reject(shuttingDown());
      await Promise.all([sending, pruning]);
    },
  };
}

/** Messages of one topic and fence, in their order within the topic. Sorted, so that two instances lock topics in the same order. */
function groupsOf(batch: readonly WaitingMessage[]): WaitingMessage[][] {
  const groups: WaitingMessage[][] = [];
  const byTopic = Map.groupBy(batch, ({ topic }) => topic);
  for (const topic of [...byTopic.keys()].sort()) {
    for (const message of byTopic.get(topic) ?? []) {
      const last = groups.at(-1);
      if (last?.[0]?.topic === topic && last[0].fence === message.fence) last.push(message);
      else groups.push([message]);
    }
  }
  return groups;
}

function toUnknown(topic: string, cause: unknown): ResourceError {
  const error = toResourceError(cause);
  return error.kind === "unavailable" || error.kind === "cancelled"
    ? error
    : publishUnknown(topic, "the database", error);
}
