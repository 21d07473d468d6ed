/** The sheets of a workbook, each as CSV. */
import { sheetsOf } from "./xlsx.ts";
import type { Zip } from "./zip.ts";

/** JSON: the name and the CSV of each sheet, as the workbook shows them. */
export function xlsxToCsv(zip: Zip): string {
  return JSON.stringify(Array.from(sheetsOf(zip), ({ name, rows }) => ({ name, csv: toCsv(rows) })));
}

/** RFC 4180, but for the end of a line, which is that of a text. */
export function toCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(spell).join(",")}\n`).join("");
}

function spell(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
