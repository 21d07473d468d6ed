/** A passage as it may be shown: its lines, what matched marked in them, none of them wider than there is room. */
import { cutToWidth, displayWidth } from "../../lib/display-width.ts";
import type { Hit } from "../../resources.ts";
import { plain } from "../print.ts";

export interface SnippetOptions {
  /** In cells. */
  readonly width: number;
  /** How many lines at most, from the first with a match on. */
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

/** The text in pieces that match or do not, each as a terminal may be shown it. */
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

/** Cut behind, and also before the first match where that would not be seen otherwise. */
function fit(pieces: readonly Piece[], width: number): Piece[] {
  if (pieces.reduce((sum, { text }) => sum + displayWidth(text), 0) <= width) return [...pieces];
  const at = pieces.findIndex(({ isMatch }) => isMatch);
  const [before, ...rest] = pieces;
  // Only the first piece can stand before the first match.
  const isLate = at === 1 && before !== undefined && displayWidth(before.text) > width / 2;
  const fitting = isLate ? [{ ...before, text: `…${tail(before.text, Math.floor(width / 3))}` }, ...rest] : pieces;
  const kept: Piece[] = [];
  let room = width;
  for (const piece of fitting) {
    const text = cutToWidth(piece.text, room);
    kept.push({ ...piece, text });
    room -= displayWidth(text);
    if (text !== piece.text || room <= 0) break;
  }
  return kept;
}

/** As much of the end of a text as fits. */
function tail(text: string, width: number): string {
  const characters = [...text];
  let from = characters.length;
  for (let room = width; from > 0; from -= 1) {
    room -= displayWidth(characters[from - 1]!);
    if (room < 0) break;
  }
  return characters.slice(from).join("");
}
