/** Records who holds the leases, and the fences of stored changes, as the database shows them. */
import pg from "pg";
import { type HistoryEvent, nowMs } from "./history.ts";
import { pause } from "./workload-context.ts";

/** While the database is away, it is tried again. */
export async function watchLeases(
  url: string,
  record: (event: HistoryEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const lastSeq = new Map<string, number>();
  while (!signal.aborted) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000, query_timeout: 2000 });
    client.on("error", () => undefined);
    try {
      await client.connect();
      while (!signal.aborted) {
        const leases = await client.query<{ name: string; holder: string; fence: string }>(
          "select name, holder, fence from pressmark.leases where expires > clock_timestamp()",
        );
        for (const { name, holder, fence } of leases.rows)
          record({ is: "lease", name, holder, fence: Number(fence), atMs: nowMs() });
        const changes = await client.query<{ topic: string; seq: string; fence: string }>(
          "select topic, seq, fence from pressmark.changes where fence > 0 order by topic, seq",
        );
        for (const { topic, seq, fence } of changes.rows) {
          if (Number(seq) <= (lastSeq.get(topic) ?? 0)) continue;
          lastSeq.set(topic, Number(seq));
          record({ is: "fenced", name: topic, fence: Number(fence), order: Number(seq) });
        }
        await pause(250, signal);
      }
    } catch {
      await pause(250, signal);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
