/** Work on a database, written once for every kind of it: statements are handed out one by one, and their rows handed back. */

export type SqlValue = string | number | Uint8Array | null;
export type SqlRow = Readonly<Record<string, unknown>>;

/** Values are never part of the text: each stands where a "?" is. */
export interface Statement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

export type Work<T> = Generator<Statement, T, readonly SqlRow[]>;

export function* all(text: string, ...values: readonly SqlValue[]): Work<readonly SqlRow[]> {
  return yield { text, values };
}

export function* get(text: string, ...values: readonly SqlValue[]): Work<SqlRow | undefined> {
  return (yield { text, values })[0];
}

export interface Writing<T> {
  /** Of this key no one else writes, or makes up their mind to, meanwhile. */
  readonly key?: Uint8Array;
  /** Whether it concerns that key alone, so that what is written of others may go on meanwhile. */
  readonly isSmall?: boolean;
  /** Whether it is on the disk when this resolves. */
  readonly isLasting?: boolean;
  /** What the other processes should look at now: a key, or "" for anything. */
  tells?(answer: T): string | undefined;
}

export interface Database {
  /** The time that all agree on who share the database, in milliseconds since the epoch. */
  now(): number;
  /** Whole milliseconds that measure leases, the same for all who share the database; setting the clock of a machine does not move it. */
  leaseClockMs(): number;
  /** Resolves once that is known. */
  agree(): Promise<void>;
  /** Another number after each time that the database was found to be another one than before. Absent where that cannot be seen. */
  readonly generation?: number;
  /** All that one piece of work reads is of one moment. */
  read<T>(work: () => Work<T>): Promise<T>;
  /** Whole or not at all, one after another. */
  write<T>(work: () => Work<T>, writing?: Writing<T>): Promise<T>;
  /** Tells what other processes wrote, as `tells` says it, until the signal ends. Absent where one must look again and again. */
  listen?(hear: (what: string) => void, signal: AbortSignal): void;
  close(): Promise<void>;
}
