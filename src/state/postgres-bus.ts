/**
 * A bus in PostgreSQL: a row per message, numbered within its topic. NOTIFY only says that a topic has new numbers; subscribers read the rows.
 */
import { cancelled, shuttingDown, toResourceError } from "../errors.ts";
import { createBackoff } from "../lib/backoff.ts";
import { createWaker } from "../lib/waker.ts";
import type { Runtime } from "../runtime.ts";
import type { Bus, BusMessage } from "./bus.ts";
import { checkTopic } from "./bus-limits.ts";
import { createBusTopics } from "./bus-topics.ts";
import type { SharedDatabase } from "./database.ts";
import { createPostgresPublisher } from "./postgres-publisher.ts";

interface PostgresBusOptions {
  readonly database: SharedDatabase;
  readonly runtime: Pick<Runtime, "monotonicMs" | "wait" | "log">;
  /** How often subscribers look for messages without a notification. */
  readonly pollMs?: number;
  /** How long messages are kept. */
  readonly keepMs?: number;
  /** How many messages of a topic are kept. */
  readonly keepCount?: number;
}

/** A topic with subscribers. */
interface Position {
  /** Number of the last message that was delivered or skipped with a gap; undefined until it is known. */
  last: number | undefined;
  /** When that message was stored; null if its row had been removed. After a restore, another message may have its number. */
  lastAt: string | null;
  /** The highest number that a notification has named. */
  notified: number;
  readonly armed: PromiseWithResolvers<void>;
}

interface FetchedRow {
  readonly topic: string;
  readonly last: number | null;
  /** When the last message was stored, and the one that was delivered last; null if there is no row. */
  readonly lastAt: string | null;
  readonly deliveredAt: string | null;
  readonly seq: number | null;
  readonly at: string | null;
  readonly fence: number | null;
  readonly body: string | null;
}

/** Limits of one query; the first two for each topic. At least one row is read, however long: a body may have half a megabyte. */
const rowsPerQuery = 500;
const bytesPerQuery = 2_000_000;
const topicsPerQuery = 32;

export function createPostgresBus({ database, runtime, pollMs = 5000, ...keep }: PostgresBusOptions): Bus {
  const closing = new AbortController();
  const { signal } = closing;
  const positions = new Map<string, Position>();
  const topics = createBusTopics(runtime, (topic) => {
    positions.get(topic)?.armed.resolve();
    positions.delete(topic);
  });
  const channel = `${database.schema}_bus`;
  const publisher = createPostgresPublisher({ database, runtime, channel, ...keep });
  const waker = createWaker(runtime.wait);
  /** Topics to read next. */
  const dirty = new Set<string>();
  let isListening = false;
  let isReading = false;
  let reading: Promise<void> | undefined;

  function readAll(): void {
    for (const topic of positions.keys()) dirty.add(topic);
    waker.wake();
  }

  function start(): void {
    database.listen(
      channel,
      {
        notified(payload) {
          const at = payload.lastIndexOf(" ");
          const topic = payload.slice(0, at);
          const position = positions.get(topic);
          if (!position) return;
          position.notified = Math.max(position.notified, Number(payload.slice(at + 1)) || 0);
          dirty.add(topic);
          waker.wake();
        },
        connected() {
          isListening = true;
          readAll();
        },
        lost() {
          isListening = false;
        },
      },
      signal,
    );
    reading ??= keepReading();
  }

  async function keepReading(): Promise<void> {
    const backoff = createBackoff({ firstMs: 100, longestMs: 5000, steadyMs: 0, now: () => runtime.monotonicMs() });
    while (!signal.aborted) {
      if (dirty.size === 0) {
        await waker.wait(pollMs, signal);
        // Without a notification: one may have been missed.
        if (dirty.size === 0) for (const topic of positions.keys()) dirty.add(topic);
      }
      const names = [...dirty].slice(0, topicsPerQuery);
      for (const name of names) dirty.delete(name);
      try {
        await read(names.filter((name) => positions.has(name)));
        backoff.begun();
        isReading = true;
      } catch (cause) {
        if (signal.aborted) return;
        for (const name of names) dirty.add(name);
        if (isReading) runtime.log("warn", "messages of the bus cannot be read, trying again", { cause });
        isReading = false;
        await runtime.wait(backoff.ended(), signal).catch(() => undefined);
      }
    }
  }

  /** One statement, so that numbers and rows are of one moment. */
  async function read(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    const asked = names.map((name) => positions.get(name) as Position);
    const rows = await database.query<FetchedRow>(
      `select w.topic, t.last, extract(epoch from e.at)::text as "lastAt", extract(epoch from d.at)::text as "deliveredAt",
         c.seq, extract(epoch from c.at)::text as at, c.fence, c.body
       from unnest($1::text[], $2::bigint[]) as w(topic, after)
       left join topics t on t.topic = w.topic
       left join changes e on e.topic = w.topic and e.seq = t.last
       left join changes d on d.topic = w.topic and d.seq = w.after
       left join lateral (
         select seq, at, fence, body from (
           select seq, at, fence, body, sum(octet_length(body)) over (order by seq) - octet_length(body) as before from (
             select seq, at, fence, body from changes
             where changes.topic = w.topic and changes.seq > w.after
             order by seq limit ${rowsPerQuery}
           ) as page
         ) as measured where before < ${bytesPerQuery}
       ) c on w.after >= 0
       order by w.topic, c.seq`,
      // With -1 only the number of the last message is read.
      [names, asked.map(({ last }) => last ?? -1)],
    );
    const byTopic = Map.groupBy(rows, ({ topic }) => topic);
    for (const [index, name] of names.entries()) {
      const position = asked[index] as Position;
      // The last subscriber may have left meanwhile, and another one come.
      if (positions.get(name) === position) accept(name, position, byTopic.get(name) ?? []);
    }
  }

  function accept(topic: string, position: Position, rows: readonly FetchedRow[]): void {
    const { last, lastAt = null, deliveredAt = null } = rows[0] ?? {};
    const end = last ?? 0;
    if (position.last === undefined) {
      Object.assign(position, { last: end, lastAt });
      position.armed.resolve();
      return;
    }
    // The database was restored from a backup: the numbers went back, or were given to other messages. The latter is not noticed if the row was
    // removed meanwhile, which takes `keepMs`.
    if (end < position.last || (deliveredAt !== null && deliveredAt !== position.lastAt)) {
      Object.assign(position, { last: end, lastAt, notified: end });
      topics.gap(topic);
      return;
    }
    for (const { seq, at, fence, body } of rows) {
      if (seq === null || positions.get(topic) !== position) continue;
      const isNext: boolean = seq === position.last + 1;
      Object.assign(position, { last: seq, lastAt: at });
      if (!isNext) topics.gap(topic);
      const message = toMessage(topic, Number(fence), body);
      if (message) topics.deliver(message);
      else {
        runtime.log("warn", "the bus received a message that is not Pressmark's", { topic });
        topics.gap(topic);
      }
    }
    if (position.last >= end || positions.get(topic) !== position) return;
    if (rows[0]?.seq === null) {
      // All of them were removed before they could be read.
      Object.assign(position, { last: end, lastAt });
      topics.gap(topic);
    } else dirty.add(topic);
  }

  return {
    publish: (message) => publisher.publish(message),

    async subscribe(topic, subscriber, until) {
      checkTopic(topic);
      if (signal.aborted) throw shuttingDown();
      if (until.aborted) throw cancelled(until.reason);
      if (!reading) start();
      let position = positions.get(topic);
      if (!position) {
        position = { last: undefined, lastAt: null, notified: 0, armed: Promise.withResolvers() };
        positions.set(topic, position);
      }
      topics.add(topic, subscriber, until);
      if (position.last === undefined) {
        dirty.add(topic);
        waker.wake();
      }
      const leave = (): void => position.armed.resolve();
      // Others may wait for the same topic: only this call ends with its signal.
      const left = new Promise<void>((resolve) => until.addEventListener("abort", () => resolve(), { once: true }));
      signal.addEventListener("abort", leave, { once: true });
      await Promise.race([position.armed.promise, left]);
      signal.removeEventListener("abort", leave);
      if (signal.aborted) throw shuttingDown();
      if (until.aborted) throw cancelled(until.reason);
    },

    get status() {
      let lag = 0;
      for (const { last, notified } of positions.values()) lag += Math.max(0, notified - (last ?? notified));
      const { gaps, received } = topics;
      const isConnected = !signal.aborted && publisher.isWorking && (!reading || (isListening && isReading));
      return { engine: "postgres" as const, isConnected, lag, gaps, published: publisher.published, received };
    },

    async close() {
      closing.abort();
      topics.clear();
      positions.clear();
      await publisher.close();
      await reading?.catch((cause: unknown) =>
        runtime.log("error", "the bus ended", { cause: toResourceError(cause) }),
      );
    },
  };
}

/** Undefined if the row is not JSON. */
function toMessage(topic: string, fence: number, body: string | null): BusMessage | undefined {
  try {
    return { topic, fence, body: JSON.parse(String(body)) };
  } catch {
    return undefined;
  }
}
