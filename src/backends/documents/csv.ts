/** The sheets of a workbook, each as CSV. */
import { sheetsOf } from "./xlsx.ts";
import type { Zip } from "./zip.ts";

/** JSON: the name and the CSV of each sheet, in workbook order. */
export function xlsxToCsv(zip: Zip): string {
  return JSON.stringify(Array.from(sheetsOf(zip), ({ name, rows }) => ({ name, csv: sheetToCsv(rows) })));
}

/** RFC 4180, but with line feeds. */
function sheetToCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(format).join(",")}\n`).join("");
}

function format(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
