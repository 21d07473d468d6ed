/** A table in Markdown, padded as the formatter would write it. */
export function markdownTable(head: readonly string[], given: readonly (readonly string[])[]): string {
  // Escapes "|" also in code, where it would end the cell. A line break, as file names may have, would end the row.
  const rows = given.map((row) =>
    row.map((cell) => cell.replaceAll("|", "\\|").replaceAll(/[\n-\r\u0085\u2028\u2029]/g, encodeURIComponent)),
  );
  const widths = head.map((title, column) =>
    Math.max(...[title, ...rows.map((row) => row[column]!)].map(({ length }) => length)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}
