/** Draws the picker as lines that fit the terminal. */
import { formatBytes } from "../../lib/format-bytes.ts";
import { readableUri } from "../../lib/readable-uri.ts";
import { cutToWidth, displayWidth, padToWidth } from "../../lib/display-width.ts";
import { plain } from "../print.ts";
import { formatCount, grouped } from "../reading/amounts.ts";
import type { Paint } from "../reading/paint.ts";
import { type ChoiceMark, markOf } from "./choice.ts";
import { fuzzyFit, foldPath } from "./fuzzy.ts";
import { current, listHeight, type PickState, type PickRow } from "./state.ts";
import { menuLines } from "./use-menu.ts";

export interface TerminalFrame {
  /** One per terminal row. */
  readonly lines: readonly string[];
  /** Position of the text cursor, counted from 1; an input method shows its composition there. */
  readonly cursor: { readonly row: number; readonly column: number };
}

/** Minimum number of columns for a preview. */
const minWithPreview = 70;
/** By where the letters are looked for. */
const prompts = { paths: "> ", contents: "search: " };

const help = [
  "type        show only paths that contain these letters in this order",
  "up, down    move; so do Page Up, Page Down, Home and End",
  "space       choose, or undo; a folder stands for all its files",
  "tab         open or close a folder (also right, left); in a search, choose",
  "Ctrl-F      search in contents, or in paths again",
  "Ctrl-W      choose the whole file of a passage",
  "Ctrl-O      use the choice: mentions, copy, print, save as a set",
  "enter       finish: print the choice, or the resource under the cursor",
  "backspace   delete a letter; Ctrl-U: all; escape: all, or quit",
  "Ctrl-C      quit without output; any key leaves this help",
];

export function hasPreview({ columns }: Pick<PickState, "columns">): boolean {
  return columns >= minWithPreview;
}

export function draw(state: PickState, paint: Paint): TerminalFrame {
  const { columns } = state;
  const height = listHeight(state);
  const left = hasPreview(state) ? Math.floor(columns / 2) : columns;
  const body = state.isHelp
    ? overlay(help, height, columns)
    : state.menu
      ? overlay(menuLines(state.menu, state.sets).map(plain), height, columns)
      : listLines(state, height, left, paint);
  const prompt = state.isSearch ? prompts.contents : prompts.paths;
  const shown = cutStart(plain(state.filter), Math.max(1, columns - prompt.length - 1));
  const hint =
    state.filter === ""
      ? paint.faint(
          cutToWidth(
            state.isSearch ? "words to search for" : "type to filter, Ctrl-F to search, ? for help",
            Math.max(0, columns - 3),
          ),
        )
      : "";
  return {
    lines: [`${prompt}${shown}${hint}`, ...body, paint.faint(cutToWidth(status(state), columns))],
    cursor: { row: 1, column: prompt.length + displayWidth(shown) + 1 },
  };
}

/** Keeps the end of a text that is too wide, because the cursor is there. */
function cutStart(text: string, width: number): string {
  const characters = [...text];
  let from = characters.length;
  for (let left = width; from > 0; from -= 1) {
    left -= displayWidth(characters[from - 1]!);
    if (left < 0) break;
  }
  return characters.slice(from).join("");
}

function overlay(lines: readonly string[], height: number, columns: number): string[] {
  return Array.from({ length: height }, (_, index) => cutToWidth(lines[index] ?? "", columns));
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

/** Three states: a folder with some chosen files, and a file with chosen passages, are chosen in part. */
const marks: Readonly<Record<ChoiceMark, string>> = { none: " ", some: "-", all: "*" };

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
  const mark = state.counting.has(item.uri) ? "…" : marks[markOf(item, state)];
  const isFlat = state.filter !== "" || state.isSearch;
  const fold = !item.canOpen || isFlat ? " " : state.open.has(item.uri) ? "▾" : "▸";
  const amount = item.size === undefined ? "" : formatBytes(item.size);
  const head = `${mark} ${indent}${fold} `;
  const room = Math.max(1, width - displayWidth(head) - amount.length - 2);
  const snippet = item.snippet === undefined ? "" : `  ${plain(item.snippet)}`;
  const whole = plain(isFlat ? item.path : item.name) + (item.canOpen ? "/" : "") + snippet;
  const name = cutToWidth(whole, room);
  const gap = " ".repeat(Math.max(1, width - displayWidth(head) - displayWidth(name) - amount.length - 1));
  if (isCurrent) return inverse(padToWidth(cutToWidth(`${head}${name}${gap}${amount} `, width), width));
  const painted =
    name === whole && letters !== "" && !state.isSearch
      ? withMarks(name, letters, paint)
      : paint.kind(item.mimeType, name);
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
  const opened = item.snippet === undefined ? lines : atMatch(lines, plain(item.snippet));
  return [plain(readableUri(item.uri)), about.join(", "), "", ...opened]
    .slice(0, height)
    .map((line) => cutToWidth(line, width));
}

/** From two lines before the matching one, which is marked. */
function atMatch(lines: readonly string[], match: string): readonly string[] {
  const at = match === "" ? -1 : lines.findIndex((line) => line.includes(match));
  return at < 0 ? lines : [...lines.slice(Math.max(0, at - 2), at), `> ${lines[at]}`, ...lines.slice(at + 1)];
}

function status(state: PickState): string {
  const { chosen, tokens, known, found, filter } = state;
  const values = [...chosen.keys()].map((uri) => tokens.get(uri));
  const sum = values.reduce<number>((total, each) => total + (each ?? 0), 0);
  const uncounted = [...chosen.keys()].filter((uri) => tokens.get(uri) === undefined).length;
  const left = uncounted === 0 ? "" : ` and ${formatCount(uncounted, "resource")} not counted`;
  const choice =
    state.notice ??
    (state.counting.size > 0
      ? "counting files…"
      : chosen.size === 0
        ? "nothing chosen"
        : `${grouped(chosen.size)} chosen, ≈ ${grouped(sum)} tokens${left}; Ctrl-O uses them`);
  if (state.isSearch) return filter === "" ? choice : `${formatCount(found.count, "passage")}, ${choice}`;
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
