/** Detects changes in a database file: the system reports a write, the file shows whether it matters. */
import { basename, dirname } from "node:path";
import { watchFolder } from "../../backends/watch-folder.ts";
import { createWaker } from "../../lib/waker.ts";
import type { SourceChange, Runtime } from "../../source.ts";
import type { AllowList } from "../../backends/sql/allow-list.ts";
import type { ChangeDetector } from "../../backends/shared-watch.ts";
import type { Engine } from "./engine.ts";
import { sqlitePath } from "./addresses.ts";
import type { NamedTable } from "./queries.ts";

interface SqliteWatchOptions {
  readonly path: string;
  readonly engine: Engine;
  readonly allow: AllowList;
  readonly pollMs: number;
  readonly wait: Runtime["wait"];
}

interface Seen {
  readonly version: string;
  readonly tables: ReadonlyMap<string, NamedTable>;
}

/** Writes come in bursts: one check covers many. */
const quietMs = 50;
/** Above this number of tables, row changes are not reported one by one. */
const maxTold = 1000;

export function createSqliteWatch({ path, engine, allow, pollMs, wait }: SqliteWatchOptions) {
  async function look(signal: AbortSignal): Promise<Seen> {
    const { result, identity } = await engine.query({ kind: "pulse" }, signal);
    const tables = new Map(result.tables.map((table) => [table.name, table]));
    return { version: `${identity}:${result.version}`, tables };
  }

  return async function detectChanges({ armed, tell, setFailure, signal }: ChangeDetector): Promise<void> {
    const waker = createWaker(wait);
    const name = basename(path);
    // Before the first check, so that no change is missed. The file may be replaced, and writes first go to the WAL file beside it.
    const watcher = watchFolder(dirname(path), (changed) => {
      if (changed === null || [name, `${name}-wal`, `${name}-journal`].includes(changed)) waker.wake();
    });
    signal.addEventListener("abort", () => watcher?.close(), { once: true });
    try {
      let last: Seen | undefined = await look(signal);
      armed();
      while (!signal.aborted) {
        await waker.wait(pollMs, signal, quietMs);
        if (signal.aborted) return;
        let failure: unknown;
        const now: Seen | undefined = await look(signal).catch((cause: unknown) => void (failure = cause));
        setFailure(failure);
        // While it cannot be read, its changes are unknown.
        if (now && last) {
          if (now.version !== last.version) tell(changesBetween(last, now, allow));
        } else if (now) tell([{ kind: "lost" }]);
        last = now;
      }
    } catch (cause) {
      if (!signal.aborted) throw cause;
    } finally {
      watcher?.close();
    }
  };
}

function changesBetween(before: Seen, after: Seen, allow: AllowList): SourceChange[] {
  const changes: SourceChange[] = [];
  const add = (kind: "appeared" | "gone" | "changed", path: string) => void changes.push({ kind, path });
  let isAnother = false;
  for (const name of new Set([...before.tables.keys(), ...after.tables.keys()])) {
    const [old, now] = [before.tables.get(name), after.tables.get(name)];
    const kind = old === undefined ? "appeared" : now === undefined ? "gone" : "changed";
    const isSame = old?.digest === now?.digest;
    isAnother ||= !isSame;
    if (kind !== "changed") add(kind, sqlitePath({ kind: "table", table: name }));
    if (!isSame) add(kind, sqlitePath({ kind: "definition", table: name }));
    // The file does not say which rows were written.
    if (allow.rows({ schema: "main", table: name })) add(kind, sqlitePath({ kind: "rows", table: name }));
  }
  if (isAnother) add("changed", sqlitePath({ kind: "overview" }));
  return changes.length > maxTold ? [{ kind: "lost" }] : changes;
}
