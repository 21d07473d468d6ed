/** What was measured, as a person reads it. */
import type { Case, Row } from "./case.ts";

export interface Measured {
  readonly case: Case;
  readonly rows: readonly Row[];
}

export function table({ case: { title, columns }, rows }: Measured): string {
  const cells = [
    ["", ...columns.map(({ label }) => label)],
    ...rows.map(({ contestant, figures }) => [
      contestant,
      ...columns.map(({ key, digits }) => {
        const figure = figures[key];
        return figure === undefined || Number.isNaN(figure) ? "–" : figure.toFixed(digits);
      }),
    ]),
  ];
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  const lines = cells.map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join("  "),
  );
  return `${title}\n${lines.map((line) => `  ${line}`).join("\n")}\n`;
}

export function verdicts(measured: readonly Measured[]): string {
  const lines: string[] = [];
  for (const { case: asked, rows } of measured) {
    for (const { says, row = "pressmark", column, atMost, comparable = () => true } of asked.targets) {
      const ours = rows.find(({ contestant }) => contestant === row);
      const figure = ours?.figures[column];
      const verdict =
        !ours || figure === undefined ? "not measured" : judge(figure <= atMost, comparable(ours.figures));
      lines.push(`  ${verdict.padEnd(14)}  ${says}: ${figure?.toFixed(2) ?? "–"}, at most ${atMost}`);
    }
  }
  return lines.length === 0 ? "" : `targets\n${lines.join("\n")}\n`;
}

function judge(isMet: boolean, isComparable: boolean): string {
  if (!isComparable) return "not comparable";
  return isMet ? "pass" : "miss";
}
