/** The PostgreSQL database that the instances of a server share. */
import type { PoolUsage } from "../backends/postgres/pool.ts";

/** A value that a statement takes or returns. Numbers beyond 2^53 are not used. */
export type SqlParameter = string | number | boolean | null | Uint8Array | readonly (string | number)[];

export interface SharedSql {
  /** Runs one statement. Table names are found in the schema of the database. */
  query<Row = Record<string, unknown>>(text: string, values?: readonly SqlParameter[]): Promise<readonly Row[]>;
}

/** Every error is a ResourceError: "unavailable" if the database is gone, slow or refuses. A message never contains the password. */
export interface SharedDatabase extends SharedSql {
  /** Small letters, digits and underscores. All instances of one server use the same schema, and no other server does. */
  readonly schema: string;
  /** Its connections, without those that listen. */
  readonly pool: PoolUsage;
  /**
   * Commits when `work` resolves, rolls back when it rejects. Read committed. When the signal is aborted, rejects at once, and `work` can send
   * no more statements; `freed` is called, in any case, when the connection is free.
   */
  transaction<T>(work: (sql: SharedSql) => Promise<T>, signal?: AbortSignal, freed?: () => void): Promise<T>;
  /** As `transaction`, but reads one consistent state and cannot write. */
  snapshot<T>(work: (sql: SharedSql) => Promise<T>, signal?: AbortSignal, freed?: () => void): Promise<T>;
  /**
   * Receives notifications of a channel on a connection of its own, until the signal is aborted. The connection is opened again when it
   * breaks; `connected` is called each time that it is ready, after which nothing is missed until `lost` is called.
   */
  listen(
    channel: string,
    handlers: { notified(payload: string): void; connected(): void; lost(cause: unknown): void },
    signal: AbortSignal,
  ): void;
  /** Nothing is open after it resolves. */
  close(): Promise<void>;
}
