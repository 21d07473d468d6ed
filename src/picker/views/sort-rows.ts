/** Sorts the rows of a table by one column: numbers by value, then text in natural order, then empty cells. */
import { isNumber } from "./series.ts";

export interface ColumnSort {
  readonly column: number;
  readonly isDescending: boolean;
}

/** Order of Japanese dictionaries; other languages are sorted as without it. "a2" comes before "a10". */
const collator = new Intl.Collator("ja", { numeric: true });
const comparisonsPerStep = 2000;

/**
 * Indexes of the rows in their new order. Equal rows keep their order, and empty cells are last in both directions.
 * Yields often, so that the caller can let the page work in between.
 */
export function* sortRows(
  rows: readonly (readonly string[])[],
  { column, isDescending }: ColumnSort,
): Generator<undefined, Uint32Array> {
  const sign = isDescending ? -1 : 1;
  const cells: string[] = [];
  const numbers = new Float64Array(rows.length);
  let order = new Uint32Array(rows.length);
  for (const [index, row] of rows.entries()) {
    const cell = (row[column] ?? "").trim();
    cells.push(cell);
    numbers[index] = numberIn(cell);
    order[index] = index;
    if (index % comparisonsPerStep === 0) yield;
  }

  const compare = (one: number, other: number): number => {
    const [left = "", right = ""] = [cells[one], cells[other]];
    if (left === right) return 0;
    if (left === "" || right === "") return left === "" ? 1 : -1;
    const [a = Number.NaN, b = Number.NaN] = [numbers[one], numbers[other]];
    const isText = Number.isNaN(a);
    if (isText !== Number.isNaN(b)) return isText ? sign : -sign;
    // Longer integers are not exact as numbers.
    if (isText || (a === b && Math.abs(a) > Number.MAX_SAFE_INTEGER)) return sign * collator.compare(left, right);
    return a === b ? 0 : sign * (a < b ? -1 : 1);
  };

  let merged = new Uint32Array(order.length);
  let count = 0;
  for (let width = 1; width < order.length; width *= 2) {
    for (let start = 0; start < order.length; start += 2 * width) {
      const middle = Math.min(start + width, order.length);
      const end = Math.min(start + 2 * width, order.length);
      let [left, right] = [start, middle];
      for (let at = start; at < end; at += 1) {
        const isLeft = right >= end || (left < middle && compare(order[left] ?? 0, order[right] ?? 0) <= 0);
        merged[at] = order[isLeft ? left++ : right++] ?? 0;
        count += 1;
        if (count % comparisonsPerStep === 0) yield;
      }
    }
    [order, merged] = [merged, order];
  }
  return order;
}

/** Not a number for anything but a finite number or an infinity. */
function numberIn(cell: string): number {
  if (!isNumber(cell)) return Number.NaN;
  return Number(
    cell
      .replaceAll(",", "")
      .replace(/%$/, "")
      .replace(/inf(?:inity)?$/i, "Infinity"),
  );
}
