/** The shared database for work that may take long: the rest of its pool stays free for leases, tokens and messages. */
import { cancelled } from "../errors.ts";
import { createSlots } from "../lib/create-slots.ts";
import type { SharedDatabase } from "./database.ts";

const never = new AbortController().signal;

/** The same database, through at most `most` connections of its pool at once. Who waits for one keeps the order. */
export function limitConnections(database: SharedDatabase, most: number): SharedDatabase {
  const enter = createSlots(most);

  async function within<T>(work: () => Promise<T>, signal = never): Promise<T> {
    const leave = await enter(signal).catch((cause: unknown) => {
      throw cancelled(cause);
    });
    try {
      return await work();
    } finally {
      leave();
    }
  }

  return {
    schema: database.schema,
    get pool() {
      return database.pool;
    },
    query: (text, values) => within(() => database.query(text, values)),
    transaction: (work, signal) => within(() => database.transaction(work, signal), signal),
    snapshot: (work, signal) => within(() => database.snapshot(work, signal), signal),
    listen: (channel, handlers, signal) => database.listen(channel, handlers, signal),
    close: () => database.close(),
  };
}
