/** The audit log that all instances of a server share. */
import type { SharedState } from "../state/shared-state.ts";
import type { Store } from "../state/store.ts";
import { type AuditEntry, type AuditLog, type AuditOptions, isAuditEntry } from "./audit-log.ts";
import { createAuditSink } from "./audit-sink.ts";

interface SharedAuditOptions extends AuditOptions {
  readonly shared: Pick<SharedState, "instance" | "store">;
  /** How many bytes of entries to keep. */
  readonly maxBytes?: number;
}

export const auditName = "audit";
/** The same limit as for the files of a single server. */
const defaultBytes = 100 * 1024 * 1024;
/** A row costs about this much besides its entry, so no more entries are kept than bytes allow for entries of this size. */
const minEntryBytes = 200;
/** The log is cut after this instance has written this share of it, so that most writes need no other statement. */
const trimShare = 0.1;
/** The store may be away for a moment. */
const retryMs = 1000;

export function createSharedAuditLog(options: SharedAuditOptions): AuditLog {
  const { shared, maxBytes = defaultBytes, ...rest } = options;
  const { instance, store } = shared;
  const maxEntries = Math.ceil(maxBytes / minEntryBytes);
  // Instances that are started often may each write less than this: so the log is cut at the first entry, too.
  let untrimmed = Infinity;
  let trimming: Promise<void> | undefined;
  let closing = new AbortController();
  const log = createAuditSink({
    ...rest,
    retryMs,
    async append(entries, bytes) {
      await store.append(
        auditName,
        entries.map((entry) => ({ ...entry, instance })),
      );
      untrimmed += Math.max(bytes, entries.length * minEntryBytes);
      if (untrimmed < maxBytes * trimShare) return;
      untrimmed = 0;
      // Not awaited: requests may wait for these entries, and they are stored. If it fails, the log is cut later.
      trimming ??= store
        .trim(auditName, { entries: maxEntries, bytes: maxBytes }, closing.signal)
        .catch(() => undefined)
        .finally(() => (trimming = undefined));
    },
  });
  return {
    write: log.write,
    async close() {
      await log.close();
      closing.abort();
      await trimming;
      closing = new AbortController();
    },
  };
}

/** All entries, oldest first. What is no entry is left out. */
export async function* readSharedAuditLog(store: Pick<Store, "read">): AsyncGenerator<AuditEntry> {
  for await (const entry of store.read(auditName)) if (isAuditEntry(entry)) yield entry;
}
