/** Spreads the score of a text over its passages: how probably each is needed, relative to what it costs. */
import type { FileKind } from "./file-kind.ts";
import { gatherWeights } from "./weights.ts";

interface Spreadable {
  /** Score of the passage by its own words. */
  readonly score: number;
  /** Length in words. */
  readonly length: number;
  /** How much of it similar commits left behind, from 0 to 1. */
  readonly changed: number;
}

/**
 * Returns a share for each passage. Most goes to the passages that match the task, some to those beside them, and a part to all in
 * proportion to their length, since any line of a file that is to be changed may change with the others. So a short file is soon
 * complete, and a long one is represented by its best passages. `isOpen` is true if something other than its words speaks for the text.
 */
export function spread(passages: readonly Spreadable[], kind: FileKind, isOpen: boolean): readonly number[] {
  const { anywhere, beside, contrast, cost } = gatherWeights;
  const top = passages.reduce((most, { score }) => Math.max(most, score), 0);
  // If no passage matches, the beginning counts most.
  const own = passages.map(
    ({ score, changed }, at) =>
      (top > 0 ? (score / top) ** contrast : isOpen ? 0.7 ** at : 0) + gatherWeights.changed * changed,
  );
  const near = own.map((one, at) => one + (top > 0 ? beside * ((own[at - 1] ?? 0) + (own[at + 1] ?? 0)) : 0));
  const sum = near.reduce((total, one) => total + one, 0);
  if (sum === 0) return near;
  const size = passages.reduce((total, { length }) => total + length + cost, 0);
  const usual = usualPlaces(kind, passages.length);
  const matching = 1 - anywhere - usual.reduce((total, one) => total + one, 0);
  return passages.map(
    ({ length }, at) => (matching * near[at]!) / sum + (anywhere * (length + cost)) / size + (usual[at] ?? 0),
  );
}

/** Where files of this kind change whatever the task says: imports, the newest entries of a changelog, the end of a test. */
function usualPlaces(kind: FileKind, count: number): readonly number[] {
  const { beginning, newest, lastTest } = gatherWeights;
  return Array.from({ length: count }, (_, at) => {
    if (kind === "changelog") return newest * 0.5 ** (at + 1);
    return (at === 0 ? beginning : 0) + (kind === "test" && at === count - 1 ? lastTest : 0);
  });
}
