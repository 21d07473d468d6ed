/** Texts of the activity page, in English and Japanese. */
import type { Lines } from "../lib/line-range-uri.ts";
import { rangeText } from "./lines-texts.ts";

const english = {
  title: "What did the model read?",
  close: "Close",
  loading: "Loading…",
  failed: "The list could not be loaded",
  retry: "Try again",
  stale: "The connection was lost; the last known list is shown",
  none: "No model has read anything yet",
  noneHint:
    "What hosts gather, search and read through this server appears here at once, with the reasons. It is kept in memory only, without contents. To turn it off, set server.activity: false in the config.",
  own: "Also show what this page requested",
  kinds: { gather: "Gathered for", search: "Searched", read: "Read", prompt: "Prompt" },
  tokens: (count: string) => `≈ ${count} tokens`,
  by: (client: string, when: string) => `${client}, ${when}`,
  lines: (lines: Lines) => (lines[0] === lines[1] ? `line ${lines[0]}` : `lines ${rangeText(lines)}`),
  passages: (count: number) => (count === 1 ? "1 passage" : `${count} passages`),
  hits: (count: number) => (count === 1 ? "1 result" : `${count} results`),
  resources: (count: number) => (count === 1 ? "1 resource" : `${count} resources`),
  more: (count: number) => `and ${count} more`,
  leftOut: (count: number) => `${count} left out`,
};

export type ActivityTexts = typeof english;

const japanese: ActivityTexts = {
  title: "モデルが読んだもの",
  close: "閉じる",
  loading: "読み込み中…",
  failed: "一覧を取得できませんでした",
  retry: "再試行",
  stale: "接続が切れました。以下は最後に取得した一覧です",
  none: "モデルはまだ何も読んでいません",
  noneHint:
    "ホストがこのサーバーで収集、検索、読み取りを行うと、その理由とともにここにすぐ表示されます。記録はメモリ上だけで、内容は含みません。記録しないようにするには、設定に server.activity: false と書きます。",
  own: "このページによる操作も表示する",
  kinds: { gather: "収集", search: "検索", read: "読み取り", prompt: "プロンプト" },
  tokens: (count) => `≈ ${count}トークン`,
  by: (client, when) => `${client}、${when}`,
  lines: (lines) => `${rangeText(lines)}行目`,
  passages: (count) => `${count}か所`,
  hits: (count) => `${count}件の結果`,
  resources: (count) => `${count}件のリソース`,
  more: (count) => `ほか${count}件`,
  leftOut: (count) => `${count}件を除外`,
};

export function activityTexts(code: "en" | "ja"): ActivityTexts {
  return code === "ja" ? japanese : english;
}
