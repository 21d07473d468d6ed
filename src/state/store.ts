/** What a server remembers: small records by kind and key. Embedded in files, or shared by many instances in PostgreSQL. */

/** JSON. */
export type RecordValue = Readonly<Record<string, unknown>>;

export interface StoredRecord {
  readonly key: string;
  readonly value: RecordValue;
  /** Differs after every change of the record. */
  readonly version: string;
}

export interface PutOptions {
  /** The record must have this version; `undefined`: must not exist. Absent: any. */
  readonly ifVersion?: string | undefined;
  /** After this time the record does not exist. Default: it does not expire. */
  readonly expiresInMs?: number;
}

/** How much of a log is kept. */
export interface KeptEntries {
  readonly entries: number;
  /** Of all entries together, as JSON in UTF-8. */
  readonly bytes: number;
}

/**
 * Kinds and logs are names of this program (`sets`, `tokens`, `sessions`, …), keys any text that `checkKey` accepts. A change that was acknowledged is seen by every later
 * call in every instance, and survives a crash. Every failure is a ResourceError; "unavailable" if the store cannot be reached: then it is not
 * known whether a change took effect, and it may be repeated.
 */
export interface Store {
  get(kind: string, key: string): Promise<StoredRecord | undefined>;
  /** In the order of keys. */
  list(kind: string): Promise<readonly StoredRecord[]>;
  /** Returns the stored record; `undefined`, and changes nothing, if `ifVersion` does not hold. */
  put(kind: string, key: string, value: RecordValue, options?: PutOptions): Promise<StoredRecord | undefined>;
  /** Returns whether it existed. */
  remove(kind: string, key: string): Promise<boolean>;
  /** Adds entries to the end of a log. All or nothing. */
  append(log: string, entries: readonly RecordValue[]): Promise<void>;
  /** The entries of a log, oldest first, a page at a time. */
  read(log: string): AsyncIterable<RecordValue>;
  /**
   * Removes the oldest entries until at most these are left. What is added meanwhile stays. Once the signal is aborted, it may leave some more, for
   * the next time.
   */
  trim(log: string, keep: KeptEntries, signal?: AbortSignal): Promise<void>;
  /**
   * Resolves once armed. Then `changed` is called after every change of the kind by any instance, and whenever changes may have been
   * missed, until the signal is aborted. Several changes may be one call.
   */
  follow(kind: string, changed: () => void, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
