/** The texts of the page, in English and Japanese. */
import { shownInEnglish, shownInJapanese } from "./shown-texts.ts";
import { previewsInEnglish, previewsInJapanese } from "./preview-texts.ts";
import { keysInEnglish, keysInJapanese } from "./keys-texts.ts";
import { choosingInEnglish, choosingInJapanese } from "./choosing-texts.ts";
import { layoutInEnglish, layoutInJapanese } from "./layout-texts.ts";
import { linesInEnglish, linesInJapanese } from "./lines-texts.ts";
import { trayInEnglish, trayInJapanese } from "./tray-texts.ts";

const english = {
  ...choosingInEnglish,
  ...keysInEnglish,
  commands: "Commands",
  search: "Search",
  searchHint: "Search names and text",
  tree: "All resources",
  results: "Search results",
  preview: "Preview",
  tray: "Chosen",
  loading: "Loading…",
  more: "Load more",
  retry: "Try again",
  empty: "Nothing here",
  nothingFound: "Nothing found",
  nothingServed: "This server serves nothing yet",
  nothingOpen: "Open a resource to see what a model would read",
  noHits: (text: string) => `Nothing found for “${text}”`,
  noMatch: (text: string) => `No match for “${text}”`,
  similar: "Similar",
  hits: (count: number) => (count === 1 ? "1 result" : `${count} results`),
  similarHits: (count: number) => `${count} similar`,
  indexing: (share: string) => `${share} searched so far: the index is still being built`,
  notSearched: (problems: string) => `not everything was searched: ${problems}`,
  connecting: "Connecting…",
  offline: "The server cannot be reached",
  failed: "This failed",
  failedWith: (problem: string) => `This failed: ${problem}`,
  binary: (type: string, size: string) => `Binary content (${type}, ${size}); it has no text to show`,
  unknownType: "unknown type",
  updated: (when: string) => `Updated at ${when}`,
  changed: (when: string) => `changed ${when}`,
  gone: "This resource no longer exists; its last content is shown below",
  partly: (size: string) => `A large resource (${size}), read in parts`,
  chooseThis: "Choose",
  unchoose: (name: string) => `Remove ${name}`,
  chosenAlready: "Chosen",
  copyUri: "Copy URI",
  showFolder: "Show folder",
  copyUris: "Copy URIs",
  copyMarkdown: "Copy as Markdown",
  copied: "Copied",
  cancelled: "Cancelled",
  notCopied: "The browser did not allow copying",
  noText: "Nothing was copied: none of the chosen resources could be read as text",
  clear: "Clear",
  useThese: "Use these",
  budget: "Budget",
  tokens: (count: string) => `${count} tokens`,
  tokensOf: (count: string, budget: string) => `${count} of ${budget} tokens`,
  counting: "counting…",
  noTokens: "no text",
  up: (name: string) => `Move ${name} up`,
  down: (name: string) => `Move ${name} down`,
  emptyTray: "Tick resources to collect them here",
  image: (alt: string) => `image: ${alt}`,
  layout: layoutInEnglish,
  shown: shownInEnglish,
  previews: previewsInEnglish,
  lines: linesInEnglish,
  inTray: trayInEnglish,
};

export type PickerTexts = typeof english;

const japanese: PickerTexts = {
  ...choosingInJapanese,
  ...keysInJapanese,
  commands: "コマンド",
  search: "検索",
  searchHint: "名前と内容を検索",
  tree: "すべてのリソース",
  results: "検索結果",
  preview: "プレビュー",
  tray: "選択中",
  loading: "読み込み中…",
  more: "続きを読み込む",
  retry: "再試行",
  empty: "何もありません",
  nothingFound: "見つかりませんでした",
  nothingServed: "このサーバーはまだ何も提供していません",
  nothingOpen: "リソースを開くと、モデルが読む内容がここに表示されます",
  noHits: (text) => `「${text}」は見つかりませんでした`,
  noMatch: (text) => `「${text}」に一致するものはありません`,
  similar: "類似した結果",
  hits: (count) => `${count}件`,
  similarHits: (count) => `類似${count}件`,
  indexing: (share) => `索引を作成中です（${share}まで検索しました）`,
  notSearched: (problems) => `一部を検索できませんでした：${problems}`,
  connecting: "接続中…",
  offline: "サーバーに接続できません",
  failed: "失敗しました",
  failedWith: (problem) => `失敗しました：${problem}`,
  binary: (type, size) => `バイナリデータ（${type}、${size}）のため、表示できるテキストがありません`,
  unknownType: "種類不明",
  updated: (when) => `表示中に更新されました（${when}）`,
  changed: (when) => `${when}に更新`,
  gone: "このリソースはもう存在しません。最後に読み込んだ内容を表示しています",
  partly: (size) => `大きなリソース（${size}）のため、少しずつ読み込みます`,
  chooseThis: "選択",
  unchoose: (name) => `「${name}」の選択を解除`,
  chosenAlready: "選択済み",
  copyUri: "URIをコピー",
  showFolder: "フォルダーを表示",
  copyUris: "URIをコピー",
  copyMarkdown: "Markdownでコピー",
  copied: "コピーしました",
  cancelled: "キャンセルしました",
  notCopied: "ブラウザーがコピーを許可しませんでした",
  noText: "コピーしませんでした。選択したリソースはどれもテキストとして読めません",
  clear: "すべて解除",
  useThese: "選択したものを使う",
  budget: "トークン上限",
  tokens: (count) => `${count}トークン`,
  tokensOf: (count, budget) => `${count} / ${budget}トークン`,
  counting: "計算中…",
  noTokens: "テキストなし",
  up: (name) => `「${name}」を上へ`,
  down: (name) => `「${name}」を下へ`,
  emptyTray: "リソースにチェックを付けると、ここに集まります",
  image: (alt) => `画像：${alt}`,
  layout: layoutInJapanese,
  shown: shownInJapanese,
  previews: previewsInJapanese,
  lines: linesInJapanese,
  inTray: trayInJapanese,
};

export interface Language {
  readonly code: "en" | "ja";
  readonly texts: PickerTexts;
}

/** The first of the person's languages that is supported, otherwise English. */
export function languageFor(preferred: readonly string[]): Language {
  const known = preferred.map((tag) => tag.toLowerCase().split("-")[0]).find((tag) => tag === "en" || tag === "ja");
  return known === "ja" ? { code: "ja", texts: japanese } : { code: "en", texts: english };
}

/** "3 minutes ago"; empty for an invalid time. */
export function ago(iso: string, now: number, code: string, style: "long" | "narrow" = "long"): string {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return "";
  const format = relative(code, style);
  const seconds = Math.min(0, Math.round((at - now) / 1000));
  for (const [unit, length] of units)
    if (-seconds >= length || unit === "second") {
      const text = format.format(Math.ceil(seconds / length), unit);
      // Japanese has a space in one of the styles only.
      return code === "ja" ? text.replaceAll(" ", "") : text;
    }
  return "";
}

/** Cached, because every row of a list shows a time. */
function relative(code: string, style: "long" | "narrow"): Intl.RelativeTimeFormat {
  const known = formats.get(code + style) ?? new Intl.RelativeTimeFormat(code, { numeric: "auto", style });
  formats.set(code + style, known);
  return known;
}
const formats = new Map<string, Intl.RelativeTimeFormat>();

const units = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
] as const;
