/** The shared database for work that may take long: the rest of its pool stays free for leases, tokens and messages. */
import { cancelled } from "../errors.ts";
import { createSlots } from "../lib/create-slots.ts";
import type { SharedDatabase } from "./database.ts";

const never = new AbortController().signal;

/**
 * The same database, through at most `most` connections of its pool at once. Who waits for one keeps the order. Cancelled work counts until its
 * connection is free: who cancels often would otherwise take all of them.
 */
export function limitConnections(database: SharedDatabase, most: number): SharedDatabase {
  const slots = createSlots(most);
  const enter = (signal = never): Promise<() => void> =>
    slots(signal).catch((cause: unknown) => {
      throw cancelled(cause);
    });

  return {
    schema: database.schema,
    get pool() {
      return database.pool;
    },
    async query(text, values) {
      const leave = await enter();
      return database.query<never>(text, values).finally(leave);
    },
    async transaction(work, signal, freed) {
      const leave = await enter(signal);
      return database.transaction(work, signal, both(leave, freed));
    },
    async snapshot(work, signal, freed) {
      const leave = await enter(signal);
      return database.snapshot(work, signal, both(leave, freed));
    },
    listen: (channel, handlers, signal) => database.listen(channel, handlers, signal),
    close: () => database.close(),
  };
}

function both(leave: () => void, freed?: () => void): () => void {
  return () => {
    leave();
    freed?.();
  };
}
