/** The index of a house, brought up to date while the person sees how far it has come. */
import { quote } from "../../errors.ts";
import { plain } from "../print.ts";
import { grouped } from "./amounts.ts";
import type { ReadingContext } from "./reading-context.ts";

const cells = 24;

/** Resolves when all has been looked at; what could not be is said. Gives the mounts of which something was said. */
export async function bringUpToDate(
  { index, call, progress, warn }: ReadingContext,
  more?: { readonly vectors: boolean },
): Promise<ReadonlySet<string>> {
  const said = new Set<string>();
  const kept = await index?.open();
  if (!kept) return said;
  await kept.caughtUp({ signal: call.signal, progress: (done, total) => progress.show(bar(done, total)) }, more);
  progress.clear();
  for (const { name, lastError } of kept.status?.mounts ?? []) {
    if (lastError === undefined) continue;
    said.add(name);
    warn(`mount ${quote(name)}: ${plain(lastError)}`);
  }
  return said;
}

/** `indexing ██████░░░░░░ 25 %, 1,200 of 4,800` */
function bar(done: number, total = 0): string {
  if (total === 0) return "indexing…";
  const share = Math.min(1, done / total);
  const filled = Math.round(share * cells);
  return `indexing ${"█".repeat(filled)}${"░".repeat(cells - filled)} ${formatPercent(share)}, ${grouped(done)} of ${grouped(total)}`;
}

/** Never 100 % of what is not all. */
export function formatPercent(share: number): string {
  return `${Math.floor(share * 100)} %`;
}
