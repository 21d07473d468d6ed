/** Formats a passage for display: lines with highlighted matches, cut to the width. */
import { cutToWidth, displayWidth } from "../../lib/display-width.ts";
import type { Hit } from "../../resources.ts";
import { plain } from "../print.ts";

interface SnippetOptions {
  /** In cells. */
  readonly width: number;
  /** Maximum number of lines, starting with the first match. */
  readonly most: number;
  match(text: string): string;
}

interface Piece {
  readonly text: string;
  readonly isMatch: boolean;
}

export function snippetLines({ snippet = "", marks = [] }: Hit, { width, most, match }: SnippetOptions): string[] {
  const lines = piecesByLine(snippet, marks).filter((pieces) => pieces.some(({ text }) => text.trim() !== ""));
  const first = Math.max(
    0,
    lines.findIndex((pieces) => pieces.some(({ isMatch }) => isMatch)),
  );
  return lines.slice(first, first + most).map((pieces) =>
    fit(pieces, width)
      .map(({ text, isMatch }) => (isMatch ? match(text) : text))
      .join(""),
  );
}

/** Splits the text into matching and other pieces, escaped for a terminal. */
function piecesByLine(snippet: string, marks: NonNullable<Hit["marks"]>): Piece[][] {
  const lines: Piece[][] = [[]];
  const add = (text: string, isMatch: boolean): void => {
    for (const [at, part] of text.split(/\r\n|[\n\r]/).entries()) {
      if (at > 0) lines.push([]);
      if (part !== "") lines.at(-1)!.push({ text: plain(part.replaceAll("\t", "  ")), isMatch });
    }
  };
  let end = 0;
  for (const [from, to] of marks) {
    add(snippet.slice(end, from), false);
    add(snippet.slice(from, to), true);
    end = to;
  }
  add(snippet.slice(end), false);
  return lines.map(trimmed);
}

function trimmed(pieces: readonly Piece[]): Piece[] {
  const [first, ...rest] = pieces;
  return first ? [{ ...first, text: first.text.trimStart() }, ...rest] : [];
}

/** Cuts the end, and the beginning if the first match would not be visible. */
function fit(pieces: readonly Piece[], width: number): Piece[] {
  if (pieces.reduce((sum, { text }) => sum + displayWidth(text), 0) <= width) return [...pieces];
  const at = pieces.findIndex(({ isMatch }) => isMatch);
  const [before, ...rest] = pieces;
  // Only the first piece can be before the first match.
  const isLate = at === 1 && before !== undefined && displayWidth(before.text) > width / 2;
  const fitting = isLate ? [{ ...before, text: `…${tail(before.text, Math.floor(width / 3))}` }, ...rest] : pieces;
  const visible: Piece[] = [];
  let room = width;
  for (const piece of fitting) {
    const text = cutToWidth(piece.text, room);
    visible.push({ ...piece, text });
    room -= displayWidth(text);
    if (text !== piece.text || room <= 0) break;
  }
  return visible;
}

/** As much of the end of a text as fits into the width. */
function tail(text: string, width: number): string {
  const characters = [...text];
  let from = characters.length;
  for (let room = width; from > 0; from -= 1) {
    room -= displayWidth(characters[from - 1]!);
    if (room < 0) break;
  }
  return characters.slice(from).join("");
}
