/** Draws the picker as lines that fit the terminal. */
import { formatBytes } from "../../lib/format-bytes.ts";
import { cutToWidth, displayWidth, padToWidth } from "../../lib/display-width.ts";
import { plain } from "../print.ts";
import { formatCount, grouped } from "../reading/amounts.ts";
import type { Paint } from "../reading/paint.ts";
import { fuzzyFit, foldPath } from "./fuzzy.ts";
import { current, listHeight, type PickState, type PickRow } from "./state.ts";

export interface TerminalFrame {
  /** One per terminal row. */
  readonly lines: readonly string[];
  /** Position of the text cursor, counted from 1; an input method shows its composition there. */
  readonly cursor: { readonly row: number; readonly column: number };
}

/** Minimum number of columns for a preview. */
const minWithPreview = 70;
const prompt = "> ";

const help = [
  "type        show only paths that contain these letters in this order",
  "up, down    move; Page Up, Page Down, Home and End move further",
  "space       choose, or undo the choice",
  "tab         open or close a folder; so do right and left",
  "enter       finish: print the chosen resources, or the one under the cursor",
  "backspace   delete a letter; Ctrl-U deletes all",
  "escape      delete the letters, or quit",
  "Ctrl-C      quit without output",
  "",
  "any key goes back",
];

export function hasPreview({ columns }: Pick<PickState, "columns">): boolean {
  return columns >= minWithPreview;
}

export function draw(state: PickState, paint: Paint): TerminalFrame {
  const { columns } = state;
  const height = listHeight(state);
  const left = hasPreview(state) ? Math.floor(columns / 2) : columns;
  const body = state.isHelp ? helpLines(height, columns) : listLines(state, height, left, paint);
  const shown = cutStart(plain(state.filter), Math.max(1, columns - prompt.length - 1));
  const hint =
    state.filter === "" ? paint.faint(cutToWidth("type to filter, ? for help", Math.max(0, columns - 3))) : "";
  return {
    lines: [`${prompt}${shown}${hint}`, ...body, paint.faint(cutToWidth(status(state), columns))],
    cursor: { row: 1, column: prompt.length + displayWidth(shown) + 1 },
  };
}

/** Keeps the end of a text that is too wide, because the cursor is there. */
function cutStart(text: string, width: number): string {
  let cut = text;
  while (displayWidth(cut) > width) cut = [...cut].slice(1).join("");
  return cut;
}

function helpLines(height: number, columns: number): string[] {
  return Array.from({ length: height }, (_, index) => cutToWidth(help[index] ?? "", columns));
}

function listLines(state: PickState, height: number, left: number, paint: Paint): string[] {
  const preview = hasPreview(state) ? previewLines(state, height, state.columns - left - 2) : undefined;
  const letters = foldPath(state.filter);
  return Array.from({ length: height }, (_, index) => {
    const at = state.top + index;
    const row = state.shown[at];
    const line = row ? rowLine(row, state, { width: left, isCurrent: at === state.at, letters, paint }) : "";
    if (!preview) return line;
    const width = row ? left : 0;
    return `${line}${" ".repeat(left - width)}${paint.faint("│")} ${preview[index] ?? ""}`;
  });
}

interface RowLook {
  readonly width: number;
  readonly isCurrent: boolean;
  readonly letters: string;
  readonly paint: Paint;
}

/** One row, padded to the width. */
function rowLine(row: PickRow, state: PickState, { width, isCurrent, letters, paint }: RowLook): string {
  const indent = "  ".repeat(Math.min(row.depth, 20));
  if (row.kind !== "item") {
    const text = padToWidth(cutToWidth(`  ${indent}${row.kind === "more" ? "…" : plain(row.message)}`, width), width);
    return isCurrent ? inverse(text) : paint.faint(text);
  }
  const { item } = row;
  const mark = state.chosen.has(item.uri) ? "*" : " ";
  const fold = !item.isDirectory || state.filter !== "" ? " " : state.open.has(item.uri) ? "▾" : "▸";
  const amount = item.size === undefined ? "" : formatBytes(item.size);
  const head = `${mark} ${indent}${fold} `;
  const room = Math.max(1, width - displayWidth(head) - amount.length - 2);
  const whole = plain(state.filter === "" ? item.name : item.path) + (item.isDirectory ? "/" : "");
  const name = cutToWidth(whole, room);
  const gap = " ".repeat(Math.max(1, width - displayWidth(head) - displayWidth(name) - amount.length - 1));
  if (isCurrent) return inverse(padToWidth(cutToWidth(`${head}${name}${gap}${amount} `, width), width));
  const painted = name === whole && letters !== "" ? withMarks(name, letters, paint) : paint.kind(item.mimeType, name);
  const line = `${head}${name}${gap}${amount} `;
  // Too narrow for the whole line: drawn without colour.
  if (displayWidth(line) !== width) return padToWidth(cutToWidth(line, width), width);
  return `${head}${painted}${gap}${paint.faint(amount)} `;
}

/** Highlights the matched letters, if folding kept their positions. */
function withMarks(text: string, letters: string, paint: Paint): string {
  const folded = foldPath(text);
  const at = folded.length === text.length ? new Set(fuzzyFit(letters, folded)?.at) : new Set<number>();
  let line = "";
  for (let from = 0; from < text.length;) {
    const isMarked = at.has(from);
    let to = from + 1;
    while (to < text.length && at.has(to) === isMarked) to += 1;
    line += isMarked ? paint.match(text.slice(from, to)) : text.slice(from, to);
    from = to;
  }
  return line;
}

/** The only mark of the current row when there is no colour. */
function inverse(text: string): string {
  return `\u001b[7m${text}\u001b[0m`;
}

function previewLines(state: PickState, height: number, width: number): string[] {
  const item = current(state);
  if (!item) return [];
  const about = [item.mimeType ?? "", item.size === undefined ? "" : formatBytes(item.size)].filter(
    (each) => each !== "",
  );
  const lines = state.preview?.uri === item.uri ? state.preview.lines : [item.isDirectory ? "" : "…"];
  return [plain(item.uri), about.join(", "), "", ...lines].slice(0, height).map((line) => cutToWidth(line, width));
}

function status(state: PickState): string {
  const { chosen, tokens, known, found, filter } = state;
  const values = [...chosen.keys()].map((uri) => tokens.get(uri));
  const sum = values.reduce<number>((total, each) => total + (each ?? 0), 0);
  const uncounted = [...chosen.keys()].filter((uri) => tokens.get(uri) === undefined).length;
  const left = uncounted === 0 ? "" : ` and ${formatCount(uncounted, "resource")} not counted`;
  const choice =
    chosen.size === 0 ? "nothing chosen" : `${grouped(chosen.size)} chosen, about ${grouped(sum)} tokens${left}`;
  const of = `${grouped(known.count)}${known.isAll ? "" : "…"}`;
  return filter === "" ? choice : `${grouped(found.count)} of ${of} found, ${choice}`;
}

/** Lines of a preview, with terminal control characters escaped. */
export function toPreview(text: string, most: number): string[] {
  return text
    .slice(0, most * 1000)
    .split(/\r\n|[\n\r]/, most)
    .map((line) => plain(line.slice(0, 1000).replaceAll("\t", "    ")));
}
