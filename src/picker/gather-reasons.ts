/** Says in the language of the page why gathering included or left out a resource. Loaded with the panes that show it. */
import { noRoom, partlyNoRoom } from "../lib/pack-budget.ts";

type Say = (first: string, second: string) => string;

/** Sentences of the server, what the English page shows instead, and the Japanese. */
const reasons: readonly (readonly [pattern: RegExp, english: Say | undefined, japanese: Say])[] = [
  [/^was requested$/, undefined, () => "指定されています"],
  [
    /^is in (.*), which was requested$/s,
    (place) => `is in ${place}, which was requested`,
    (place) => `指定された ${place} に含まれています`,
  ],
  [/^is named in the task: (.*)$/s, undefined, (path) => `作業の説明に名前があります：${path}`],
  [/^has line (.*), which the task names$/s, undefined, (line) => `作業の説明にある${line}行目を含みます`],
  [/^contains the text (".*")$/s, undefined, (text) => `作業の説明と同じ文を含みます：${inBrackets(text)}`],
  [/^contains (".*)$/s, undefined, (words) => `${inBrackets(words)}を含みます`],
  [/^defines (".*")$/s, undefined, (name) => `${inBrackets(name)}を定義しています`],
  [
    /^begins the definition that contains a passage$/,
    () => "is the start of the function or class around another passage",
    () => "別の該当箇所を含む関数やクラスの先頭です",
  ],
  [/^was found by search$/, undefined, () => "検索で見つかりました"],
  [/^tests (.*)$/s, undefined, (name) => `${name} のテストです`],
  [/^is tested by (.*)$/s, undefined, (name) => `${name} がテストしています`],
  [
    /^is the counterpart of (.*)$/s,
    (name) => `belongs together with ${name}`,
    (name) => `${name} と対になるファイルです`,
  ],
  [/^is a translation of (.*)$/s, undefined, (name) => `${name} の翻訳です`],
  [/^is imported by (.*)$/s, undefined, (name) => `${name} がインポートしています`],
  [
    /^changed in a similar commit: (".*")$/s,
    undefined,
    (subject) => `似たコミットで変更されました：${inBrackets(subject)}`,
  ],
  [/^has changed$/, undefined, () => "変更されています"],
  [/^lists what changed since (.*)$/s, undefined, (base) => `${base} からの変更の一覧です`],
  [/^is new$/, undefined, () => "新しいファイルです"],
  [
    /^is the patch of a file that was ([a-z ]{1,20})(?![a-z ])(.*)$/s,
    (change, count) => `shows the changes of a file that was ${change}${count}`,
    (change, count) => `ファイルの変更内容です（${changes[change] ?? change}${count.replace(": ", "、")}）`,
  ],
  [/^was deleted; only its name is included$/, undefined, () => "削除されたため、名前だけを含めました"],
  [
    /^is new, and its file is not served$/,
    undefined,
    () => "新しいファイルですが、このサーバーからは提供されていません",
  ],
  [/^is after the first (.*) changed files$/s, undefined, (count) => `変更されたファイルの${count}件目より後です`],
  [/^was not found$/, undefined, () => "見つかりませんでした"],
  [/^is not meant for the assistant$/, () => "is not meant for models", () => "モデル向けではありません"],
  [/^is a directory$/, () => "is a folder", () => "フォルダーです"],
  [/^is not text$/, undefined, () => "テキストではありません"],
  [/^is too large to be read$/, undefined, () => "大きすぎるため読み込めません"],
  [/^could not be read$/, undefined, () => "読み込めませんでした"],
  [new RegExp(`^${noRoom}$`), undefined, () => "トークン上限に収まりません"],
  [new RegExp(`^${partlyNoRoom}$`), undefined, () => "トークン上限に一部しか収まりません"],
  // Begins with the name of the file, which may be anything: the last.
  [
    / has a matching name: (".*)$/s,
    (words) => `has a matching name: ${words}`,
    (words) => `名前が${inBrackets(words)}に一致します`,
  ],
];

const changes: Readonly<Record<string, string>> = {
  modified: "変更",
  "type changed": "種類の変更",
  added: "追加",
  deleted: "削除",
  renamed: "名前の変更",
  copied: "コピー",
};

/** A sentence of another server is shown as it is. `pathOf` makes a URI readable. */
export function reasonText(sentence: string, code: "en" | "ja", pathOf: (uri: string) => string): string {
  for (const [pattern, english, japanese] of reasons) {
    const found = pattern.exec(sentence);
    if (!found) continue;
    const [, first = "", second = ""] = found;
    const place = sentence.startsWith("is in ") ? pathOf(first) || first : first;
    return code === "ja" ? japanese(place, second) : (english?.(place, second) ?? sentence);
  }
  return sentence;
}

/** `"a", "b"` as 「a」「b」. */
function inBrackets(quoted: string): string {
  return `「${quoted.replaceAll(/^"|"$/g, "").replaceAll('", "', "」「")}」`;
}
