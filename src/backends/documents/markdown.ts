/** Collects Markdown blocks. */
import { DocumentError } from "./document-error.ts";

interface MarkdownBlocks {
  /** Ignores an empty block. A block that `joins` follows on the next line instead of after an empty one. */
  add(block: string, joins?: boolean): void;
  toString(): string;
}

/** A limit, because a small document can expand to this much. */
const maxLength = 32 * 1024 * 1024;
const maxCells = 5_000_000;

/** Counts the cells before they are joined: one string may be used in a million of them. */
export function createCellCount(): (cells: number, length: number) => void {
  let cells = 0;
  let length = 0;
  return (more, longer) => {
    cells += more;
    length += longer;
    if (cells > maxCells) throw new DocumentError("too-large", `it has more than ${maxCells} cells`);
    if (length > maxLength) throw tooLong();
  };
}

function tooLong(): DocumentError {
  return new DocumentError("too-large", `it has more than ${maxLength} characters of text`);
}

export function createMarkdownBlocks(): MarkdownBlocks {
  const pieces: string[] = [];
  let length = 0;
  let wasJoined = false;
  return {
    add(block, joins = false) {
      const text = block.trimEnd();
      if (text.trim() === "") return;
      length += text.length + 2;
      if (length > maxLength) throw tooLong();
      if (pieces.length > 0) pieces.push(joins && wasJoined ? "\n" : "\n\n");
      pieces.push(text);
      wasJoined = joins;
    },
    toString: () => (pieces.length === 0 ? "" : `${pieces.join("")}\n`),
  };
}

export function markdownHeading(level: number, text: string): string {
  const title = oneLine(text);
  return title === "" ? "" : `${"#".repeat(Math.min(6, Math.max(1, level)))} ${title}`;
}

/** The first row is the head. Rows may have different lengths. */
export function table(rows: readonly (readonly string[])[]): string {
  const trimmed = rows.map(withoutTail);
  const width = trimmed.reduce((widest, row) => Math.max(widest, row.length), 0);
  if (width === 0) return "";
  const [head = [], ...rest] = trimmed;
  const wide = [...head, ...Array.from({ length: width - head.length }, () => "")];
  return [line(wide), line(wide.map(() => "---")), ...rest.map(line)].join("\n");
}

function withoutTail(row: readonly string[]): readonly string[] {
  let end = row.length;
  while (end > 0 && (row[end - 1] ?? "").trim() === "") end -= 1;
  return row.slice(0, end);
}

function line(cells: readonly string[]): string {
  return `| ${cells.map((cell) => oneLine(cell, "<br>").replaceAll("|", "\\|")).join(" | ")} |`;
}

export function oneLine(text: string, instead = " "): string {
  return text.trim().replaceAll(/\s+/g, (space) => (space.includes("\n") ? instead : space));
}
