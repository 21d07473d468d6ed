/** Combines requests for single rows: those made while one query runs are answered by the next one together. */
import { cancelled } from "../../errors.ts";
import { unlessAborted } from "../../lib/unless-aborted.ts";
import { isUnfit } from "./document-table.ts";
import { formatKey } from "./rows.ts";

/** Most rows of one query: their texts are in memory at the same time. */
const mostRows = 16;

interface Request<Row> {
  readonly key: readonly string[];
  readonly signal: AbortSignal;
  readonly answer: PromiseWithResolvers<Row | undefined>;
}

type Fetch<Row> = (keys: readonly (readonly string[])[], signal: AbortSignal) => Promise<readonly Row[]>;

/** `fetch` returns the rows with these keys, in any order. The result is undefined for a key that no row has in exactly this form. */
export function createRowBatches<Row extends { readonly key: readonly string[] }>(fetch: Fetch<Row>) {
  const waiting: Request<Row>[] = [];
  let isRunning = false;

  async function run(): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) {
      // Requests of the same moment come one after the other.
      await new Promise((resolve) => setImmediate(resolve));
      const batch = waiting.splice(0, mostRows).filter(({ signal }) => !signal.aborted);
      if (batch.length > 0) await answer(batch);
    }
    isRunning = false;
  }

  async function answer(batch: readonly Request<Row>[]): Promise<void> {
    const stop = new AbortController();
    const leave = (): void => {
      if (batch.every(({ signal }) => signal.aborted)) stop.abort();
    };
    for (const { signal } of batch) signal.addEventListener("abort", leave, { once: true });
    try {
      const keys = new Map(batch.map(({ key }) => [formatKey(key), key]));
      const rows = await fetch([...keys.values()], stop.signal);
      const found = new Map(rows.map((row) => [formatKey(row.key), row]));
      for (const each of batch) each.answer.resolve(found.get(formatKey(each.key)));
    } catch (cause) {
      // An impossible key must not fail the others.
      if (batch.length > 1 && isUnfit(cause)) for (const each of batch) await answer([each]);
      else for (const each of batch) each.answer.reject(cause);
    } finally {
      for (const { signal } of batch) signal.removeEventListener("abort", leave);
    }
  }

  return async function rowOf(key: readonly string[], signal: AbortSignal): Promise<Row | undefined> {
    if (signal.aborted) throw cancelled(signal.reason);
    const answered = Promise.withResolvers<Row | undefined>();
    // The caller may have left.
    answered.promise.catch(() => undefined);
    waiting.push({ key, signal, answer: answered });
    if (!isRunning) void run();
    return unlessAborted(answered.promise, signal, cancelled);
  };
}
