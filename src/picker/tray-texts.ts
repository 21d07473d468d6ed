/** Texts for the rows of the tray. */

export const trayInEnglish = {
  lines: (first: string, last: string) =>
    first === last ? `line ${first}` : last === "" ? `lines ${first} to the end` : `lines ${first}–${last}`,
  choose: (name: string) => `Choose ${name}`,
  whole: "Whole file",
  wholeHint: "The whole file, or only these lines (W)",
  only: "Only these lines",
  updated: "changed since you chose it",
  gone: "no longer exists",
  undo: "Undo",
  seen: "Seen",
  seenName: (name: string) => `Seen: ${name}`,
  files: (count: string, isMore: boolean) =>
    isMore ? `more than ${count} files, only these are used` : count === "1" ? "1 file" : `${count} files`,
  unsized: (count: string) => `${count} of unknown length`,
  notListed: (count: number) => (count === 1 ? "1 folder could not be listed" : `${count} folders could not be listed`),
  noFiles: "There are no files in the chosen folders",
  except: (names: string) => `without ${names}`,
  tooManyForSet: (count: string, most: number) =>
    `A set may hold ${most} resources; ${count} are chosen. Remove some, or choose whole files instead of their lines.`,
  firstChosen: (most: number, count: string) => `Start with the first ${most} of the ${count} chosen resources`,
};

export const trayInJapanese: typeof trayInEnglish = {
  lines: (first, last) =>
    first === last ? `${first}行目` : last === "" ? `${first}行目から最後まで` : `${first}～${last}行目`,
  choose: (name) => `${name}を選択`,
  whole: "ファイル全体",
  wholeHint: "ファイル全体と行の切り替え（W）",
  only: "この行だけ",
  updated: "選択後に変更されました",
  gone: "なくなりました",
  undo: "元に戻す",
  seen: "確認済みにする",
  seenName: (name) => `「${name}」を確認済みにする`,
  files: (count, isMore) =>
    isMore ? `${count}件を超えるファイル（使うのは先頭の${count}件だけ）` : `${count}ファイル`,
  unsized: (count) => `うち${count}件は長さ不明`,
  notListed: (count) => `一覧できないフォルダー${count}件`,
  noFiles: "選択したフォルダーにファイルがありません",
  except: (names) => `${names}を除く`,
  tooManyForSet: (count, most) =>
    `セットに入るのは${most}件までです（選択中は${count}件）。減らすか、行の代わりにファイル全体を選択してください。`,
  firstChosen: (most, count) => `選択中の${count}件のうち、先頭の${most}件から始める`,
};
