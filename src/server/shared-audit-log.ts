/** The audit log that all instances of a server share. */
import type { SharedState } from "../state/shared-state.ts";
import type { RecordValue, Store } from "../state/store.ts";
import { type AuditEntry, type AuditLog, type AuditOptions, createAuditSink, isAuditEntry } from "./audit-log.ts";

interface SharedAuditOptions extends AuditOptions {
  readonly shared: Pick<SharedState, "instance" | "store">;
  /** Number of entries to keep. */
  readonly maxEntries?: number;
}

export const auditName = "audit";
/** Of a typical entry. */
const entryBytes = 200;
/** About what the files of a single server hold. */
const defaultEntries = 500_000;
/** The log is cut after this many entries of this instance, so that most writes need no other statement. */
const trimEvery = 10_000;
/** The store may be away for a moment. */
const retryMs = 1000;

export function createSharedAuditLog(options: SharedAuditOptions): AuditLog {
  const { shared, maxEntries = defaultEntries, ...rest } = options;
  const { instance, store } = shared;
  // Instances that are started often may each write less than this: so the log is cut at the first entry, too.
  let untrimmed = trimEvery;
  return createAuditSink({
    ...rest,
    retryMs,
    async append(entries) {
      await store.append(
        auditName,
        entries.map((entry) => toRecord({ ...entry, instance })),
      );
      untrimmed += entries.length;
      if (untrimmed < Math.min(trimEvery, maxEntries)) return;
      untrimmed = 0;
      // It is tried again later; the entries are stored.
      await store.trim(auditName, { entries: maxEntries, bytes: maxEntries * entryBytes }).catch(() => undefined);
    },
  });
}

/** All entries, oldest first. What is no entry is left out. */
export async function* readSharedAuditLog(store: Pick<Store, "read">): AsyncGenerator<AuditEntry> {
  for await (const entry of store.read(auditName)) if (isAuditEntry(entry)) yield entry;
}

/** Without absent members, which JSON has not. */
function toRecord(entry: AuditEntry): RecordValue {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
}
