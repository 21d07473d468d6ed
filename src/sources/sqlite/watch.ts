/** What changes in a database file: the system says that something was written, the file says whether it counts. */
import { type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";
import type { SourceChange, Runtime } from "../../source.ts";
import type { AllowList } from "../database/allow-list.ts";
import type { DatabaseWatch } from "../database/shared-watch.ts";
import type { Engine } from "./engine.ts";
import { sqlitePath } from "./addresses.ts";
import type { NamedTable } from "./queries.ts";

export interface SqliteWatchOptions {
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

/** Writers come in bursts: one look for many of them. */
const quietMs = 50;
/** Of more tables than this, it is not said one by one that rows may have changed. */
const maxTold = 1000;

export function createSqliteWatch({ path, engine, allow, pollMs, wait }: SqliteWatchOptions) {
  async function look(signal: AbortSignal): Promise<Seen> {
    const { answer, identity } = await engine.ask({ kind: "pulse" }, signal);
    const tables = new Map(answer.tables.map((table) => [table.name, table]));
    return { version: `${identity}:${answer.version}`, tables };
  }

  return async function lookOut({ armed, tell, signal }: DatabaseWatch): Promise<void> {
    let isWritten = false;
    let waiting: AbortController | undefined;
    const written = (): void => {
      isWritten = true;
      waiting?.abort();
    };
    // Before the first look, so that nothing falls between.
    const watcher = watchBeside(path, written);
    signal.addEventListener("abort", () => watcher?.close(), { once: true });
    try {
      let last: Seen | undefined = await look(signal);
      armed();
      while (!signal.aborted) {
        if (!isWritten) {
          waiting = new AbortController();
          await wait(pollMs, AbortSignal.any([signal, waiting.signal])).catch(() => undefined);
        }
        if (signal.aborted) return;
        if (isWritten) await wait(quietMs, signal);
        isWritten = false;
        const now: Seen | undefined = await look(signal).catch(() => undefined);
        // While it cannot be read, no one can say what became of it.
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

/** The file may be replaced by another, and what is written first goes to a file beside it: so the folder is watched. */
function watchBeside(path: string, written: () => void): FSWatcher | undefined {
  const name = basename(path);
  try {
    const watcher = watch(dirname(path), { persistent: false }, (_, changed) => {
      if (changed === null || changed === name || changed === `${name}-wal` || changed === `${name}-journal`) written();
    });
    // What cannot be watched is looked at now and then.
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
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
    // Which rows were written, the file does not say.
    if (allow.rows({ schema: "main", table: name })) add(kind, sqlitePath({ kind: "rows", table: name }));
  }
  if (isAnother) add("changed", sqlitePath({ kind: "overview" }));
  return changes.length > maxTold ? [{ kind: "lost" }] : changes;
}
