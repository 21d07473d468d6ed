/** Lays out cells in aligned columns. */
import { displayWidth, padToWidth } from "../../lib/display-width.ts";

interface Cell {
  readonly text: string;
  /** The text to print, if it contains colour codes. */
  readonly shown?: string;
}

const gap = 2;

/** Fills column by column, in as few lines as possible. A name wider than the terminal gets its own line. */
export function inColumns(cells: readonly Cell[], width: number): string {
  if (cells.length === 0) return "";
  const widths = cells.map(({ text }) => displayWidth(text));
  let rows = cells.length;
  let chosen = [Math.max(...widths)];
  // The narrowest cell limits the number of columns.
  const most = Math.min(cells.length, Math.max(1, Math.floor((width + gap) / (Math.min(...widths) + gap))));
  for (let count = most; count > 1; count -= 1) {
    const perColumn = Math.ceil(cells.length / count);
    const tried = columnWidths(widths, perColumn, width);
    if (tried) {
      rows = perColumn;
      chosen = tried;
      break;
    }
  }
  let lines = "";
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0, at = row; at < cells.length; column += 1, at += rows) {
      const { text, shown = text } = cells[at]!;
      const isLast = at + rows >= cells.length;
      lines += isLast ? shown : shown + " ".repeat(chosen[column]! - widths[at]! + gap);
    }
    lines += "\n";
  }
  return lines;
}

/** Undefined if they do not fit. */
function columnWidths(widths: readonly number[], perColumn: number, width: number): number[] | undefined {
  const found: number[] = [];
  let total = -gap;
  for (let from = 0; from < widths.length; from += perColumn) {
    let widest = 0;
    for (let at = from; at < from + perColumn && at < widths.length; at += 1) widest = Math.max(widest, widths[at]!);
    total += widest + gap;
    if (total > width) return undefined;
    found.push(widest);
  }
  return found;
}

/** One line per row, with aligned columns. The last column is not padded. */
export function inRows(rows: readonly (readonly string[])[], paintFirst = (text: string) => text): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, displayWidth(cell));
  const line = (row: readonly string[]) =>
    row.map((cell, index) => {
      const padded = index === row.length - 1 ? cell : padToWidth(cell, widths[index] ?? 0);
      return index === 0 ? paintFirst(padded) : padded;
    });
  return rows.map((row) => `${line(row).join("  ").trimEnd()}\n`).join("");
}
