/** Database work, written once for every engine: a generator yields statements one by one and receives their rows. */

export type SqlValue = string | number | Uint8Array | null;
export type SqlRow = Readonly<Record<string, unknown>>;

/** Values are never part of the text: each replaces a "?". */
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
  /** Nothing else writes, or decides to write, this key in the meantime. */
  readonly key?: Uint8Array;
  /** Whether it concerns that key alone, so that writes for other keys can run concurrently. */
  readonly isSmall?: boolean;
  /** Whether it is on disk when this resolves. */
  readonly isLasting?: boolean;
  /** What other processes should check now: a key, or "" for anything. */
  tells?(answer: T): string | undefined;
}

export interface Database {
  /** The time that all users of the database share, in milliseconds since the epoch. */
  now(): number;
  /** Whole milliseconds for leases, the same for all users of the database and independent of clock adjustments. */
  leaseClockMs(): number;
  /** Resolves when that time is known. */
  agree(): Promise<void>;
  /** Increases each time the database was replaced by another one. Absent if this cannot be detected. */
  readonly generation?: number;
  /** Everything that one piece of work reads comes from one snapshot. */
  read<T>(work: () => Work<T>): Promise<T>;
  /** Atomic, one after another. */
  write<T>(work: () => Work<T>, writing?: Writing<T>): Promise<T>;
  /** Reports writes of other processes, as returned by `tells`, until the signal ends. Absent if the database must be polled. */
  listen?(hear: (what: string) => void, signal: AbortSignal): void;
  close(): Promise<void>;
}
