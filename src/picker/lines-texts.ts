/** Texts about lines: those that were found, and those that are chosen. */
import type { Lines } from "../lib/line-range-uri.ts";

export const linesInEnglish = {
  goTo: (lines: Lines) => (lines[0] === lines[1] ? `Go to line ${lines[0]}` : `Go to lines ${rangeText(lines)}`),
  choose: (lines: Lines) => (lines[0] === lines[1] ? `Choose line ${lines[0]}` : `Choose lines ${rangeText(lines)}`),
  remove: (lines: Lines) => (lines[0] === lines[1] ? `Remove line ${lines[0]}` : `Remove lines ${rangeText(lines)}`),
  picked: (lines: Lines) =>
    `${lines[0] === lines[1] ? `Line ${lines[0]}` : `Lines ${rangeText(lines)}`} selected; Enter chooses, Escape cancels`,
  before: "Load earlier lines",
  whole: "Whole file",
  wholeHint: "Choose the whole file (W; in the search box Alt-W)",
  chooseWhole: "Choose the whole file",
};

export const linesInJapanese: typeof linesInEnglish = {
  goTo: (lines) => `${rangeText(lines)}行目へ移動`,
  choose: (lines) => `${rangeText(lines)}行目を選択`,
  remove: (lines) => `${rangeText(lines)}行目を外す`,
  picked: (lines) => `${rangeText(lines)}行目を指定中。Enterで選択、Escapeで取り消し`,
  before: "前の行を読み込む",
  whole: "全体",
  wholeHint: "ファイル全体を選択（W、検索欄ではAlt-W）",
  chooseWhole: "ファイル全体を選択",
};

/** As in `12–20`, `12` or `12–` to the end. */
export function rangeText([first, last]: Lines): string {
  return first === last ? `${first}` : `${first}–${last === Infinity ? "" : last}`;
}
