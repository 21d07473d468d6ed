/** Updates the search index and shows progress. */
import { quote } from "../../errors.ts";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import { plain } from "../print.ts";
import { grouped } from "./amounts.ts";
import { noProgress } from "./progress.ts";
import type { ReadingContext } from "./reading-context.ts";

const cells = 24;
/** Where standard error is no terminal, a long update is reported this often. */
const reportMs = 10_000;

/** Resolves when the index is up to date. Reports failures, and returns the mounts that had one. */
export async function bringUpToDate(
  { index, call, progress, warn }: Pick<ReadingContext, "index" | "call" | "progress" | "warn">,
  more?: { readonly vectors: boolean },
  clockMs: () => number = monotonicMs,
): Promise<ReadonlySet<string>> {
  const reported = new Set<string>();
  if (!index) return reported;
  let reportedMs = clockMs();
  const show = (done: number, total?: number): void => {
    if (progress !== noProgress) return progress.show(bar(done, total));
    if (clockMs() - reportedMs < reportMs) return;
    reportedMs = clockMs();
    warn(`indexing: ${grouped(done)}${total ? ` of ${grouped(total)}` : ""}`);
  };
  await index.caughtUp({ signal: call.signal, progress: show }, more);
  progress.clear();
  for (const { name, lastError } of index.status?.mounts ?? []) {
    if (lastError === undefined) continue;
    reported.add(name);
    warn(`mount ${quote(name)}: ${plain(lastError)}`);
  }
  return reported;
}

/** For a search of the index as it is. Says how old that is. */
export async function useAsIs({ index, warn }: Pick<ReadingContext, "index" | "warn">): Promise<ReadonlySet<string>> {
  const ageMs = await index?.useAsIs();
  if (ageMs !== undefined) warn(`the index was last updated ${formatAge(ageMs / 1000)} ago`);
  return new Set();
}

function formatAge(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
}

/** `indexing ██████░░░░░░ 25 %, 1,200 of 4,800` */
function bar(done: number, total = 0): string {
  if (total === 0) return "indexing…";
  const share = Math.min(1, done / total);
  const filled = Math.round(share * cells);
  return `indexing ${"█".repeat(filled)}${"░".repeat(cells - filled)} ${formatPercent(share)}, ${grouped(done)} of ${grouped(total)}`;
}

/** Rounds down, so that 100 % means complete. */
export function formatPercent(share: number): string {
  return `${Math.floor(share * 100)} %`;
}
