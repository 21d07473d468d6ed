/** The sheets of a workbook, each as CSV. */
import { sheetsOf } from "./xlsx.ts";
import type { Zip } from "./zip.ts";

/** JSON: the name and the CSV of each sheet, as the workbook shows them. */
export function xlsxToCsv(zip: Zip): string {
  return JSON.stringify(Array.from(sheetsOf(zip), ({ name, rows }) => ({ name, csv: sheetToCsv(rows) })));
}

/** RFC 4180, but for the end of a line, which is that of a text. */
export function sheetToCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(format).join(",")}\n`).join("");
}

function format(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
