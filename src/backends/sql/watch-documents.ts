/** Detects changed rows of document tables, in addition to the changes that the database's own watch reports. */
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import { createWaker } from "../../lib/waker.ts";
import type { Runtime, SourceChange } from "../../source.ts";
import type { ChangeDetector } from "../shared-watch.ts";
import { type DocumentTable, isUnfit, type RowVersions } from "./document-table.ts";

interface DocumentWatchOptions {
  readonly tables: readonly DocumentTable[];
  readonly pollMs: number;
  /** True if the database's own watch reports every change of rows, so that nothing needs to be polled. */
  readonly isAnnounced: boolean;
  readonly wait: Runtime["wait"];
}

/** Above this number of changes, comparing everything is cheaper than reading one by one. */
const maxTold = 500;
/** Notifications come in bursts. */
const quietMs = 50;
/** The pause after a comparison, in multiples of the time that it took. */
const pauses = 10;

interface Known {
  versions: RowVersions;
  /** When all rows are compared again. */
  dueMs: number;
}

type Detector = (watch: ChangeDetector) => Promise<void>;

/** `look` is the database's own watch. A change at the path of a table's rows, or below the table, makes its documents be compared. */
export function watchDocuments(look: Detector, options: DocumentWatchOptions): Detector {
  const { tables, pollMs, isAnnounced, wait } = options;

  return async function detectChanges({ armed, tell, setFailure, signal: outer }) {
    const stop = new AbortController();
    const signal = AbortSignal.any([outer, stop.signal]);
    const stale = new Set<DocumentTable>();
    const known = new Map<DocumentTable, Known>();
    const waker = createWaker(wait);
    const looked = Promise.withResolvers<void>();

    function hear(changes: readonly SourceChange[]): void {
      tell(changes);
      const before = stale.size;
      for (const table of tables)
        if (changes.some((change) => change.kind === "lost" || isAbout(change.path, table.path))) stale.add(table);
      if (stale.size > before) waker.wake();
    }

    /** Compares all rows of a table. */
    async function compare(table: DocumentTable): Promise<void> {
      const startMs = monotonicMs();
      const versions = await unlessUnfit(table.versions(signal));
      const nowMs = monotonicMs();
      const before = known.get(table)?.versions;
      known.set(table, { versions, dueMs: nowMs + Math.max(pollMs, (nowMs - startMs) * pauses) });
      if (before && before !== versions) report(table, before, versions, true);
    }

    /** Compares the rows that were changed last. */
    async function compareLatest(table: DocumentTable, { versions, dueMs }: Known): Promise<void> {
      const latest = await unlessUnfit(table.latest!(signal));
      // Of a table with more rows than documents, only a full comparison knows which they are.
      const isWhole = versions.size < table.options.maxRows;
      const fitting = new Map([...latest].filter(([key]) => isWhole || versions.has(key)));
      if (![...fitting].some(([key, version]) => versions.get(key) !== version)) return;
      known.set(table, { versions: new Map([...versions, ...fitting]), dueMs });
      report(table, versions, fitting, false);
    }

    function report(table: DocumentTable, before: RowVersions, after: RowVersions, isAll: boolean): void {
      const changes: SourceChange[] = [];
      const pathOf = (key: string) => `${table.path}/${key}`;
      for (const [key, version] of after) {
        const old = before.get(key);
        if (old === undefined) changes.push({ kind: "appeared", path: pathOf(key), isUnlisted: true });
        else if (old !== version) changes.push({ kind: "changed", path: pathOf(key) });
      }
      if (isAll)
        for (const key of before.keys())
          if (!after.has(key)) changes.push({ kind: "gone", path: pathOf(key), isUnlisted: true });
      if (changes.length > 0) tell(changes.length > maxTold ? [{ kind: "lost", isUnlisted: true }] : changes);
    }

    async function follow(): Promise<void> {
      // The watch may end before it is armed.
      await Promise.race([looked.promise, looking]);
      for (const table of tables) await compare(table);
      armed();
      while (!signal.aborted) {
        await waker.wait(pollMs, signal, quietMs);
        const startMs = monotonicMs();
        for (const table of tables) {
          if (signal.aborted) return;
          const state = known.get(table)!;
          if (stale.delete(table) || (!isAnnounced && startMs >= state.dueMs)) await compare(table);
          else if (table.latest) await compareLatest(table, state);
        }
        await wait((monotonicMs() - startMs) * pauses, signal).catch(() => undefined);
      }
    }

    const looking = look({ armed: looked.resolve, tell: hear, setFailure, signal });
    const following = follow();
    try {
      await Promise.race([looking, following]);
    } catch (cause) {
      if (!outer.aborted) throw cause;
    } finally {
      stop.abort();
      await Promise.allSettled([looking, following]);
    }
  };
}

/** A table that no longer fits its options has no documents. */
async function unlessUnfit(versions: Promise<RowVersions>): Promise<RowVersions> {
  try {
    return await versions;
  } catch (cause) {
    if (isUnfit(cause)) return new Map();
    throw cause;
  }
}

/** Whether a path is that of the table, or of something at or beside its rows. */
function isAbout(path: string, rows: string): boolean {
  const table = rows.slice(0, rows.lastIndexOf("/"));
  return path === table || path.startsWith(`${table}/`);
}
