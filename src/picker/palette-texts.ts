/** Texts of the command palette, in English and Japanese. Loaded with it. */

const english = {
  title: "Commands",
  hint: "Type a command or the name of a resource",
  list: "Commands and resources",
  recent: "Recently opened",
  commands: "Commands",
  resources: "Resources",
  forText: "With this text",
  show: { tree: "Show all resources", templates: "Show templates", gather: "Show gathering" },
  search: "Search",
  filters: "Show or hide filters",
  clearFilters: "Clear filters",
  gather: (text: string) => `Gather for “${text}”`,
  searchFor: (text: string) => `Search for “${text}”`,
  choose: (name: string) => `Choose ${name}`,
  unchoose: (name: string) => `Remove ${name} from the chosen resources`,
  reveal: (name: string) => `Show the folder of ${name}`,
  copyUri: (name: string) => `Copy the URI of ${name}`,
  copy: {
    markdown: "Copy what is chosen as Markdown",
    xml: "Copy what is chosen as XML",
    uris: "Copy the URIs of what is chosen",
  },
  clearTray: "Remove everything from the chosen resources",
  searching: "Searching…",
  none: "No command and no resource has this name",
  count: (count: number) => (count === 1 ? "1 entry" : `${count} entries`),
  failed: (problem: string) => `Resources could not be searched: ${problem}`,
  keys: "↑↓ move · Enter runs or opens · Esc closes",
};

export type PaletteTexts = typeof english;

const japanese: PaletteTexts = {
  title: "コマンド",
  hint: "コマンドまたはリソースの名前を入力",
  list: "コマンドとリソース",
  recent: "最近開いたもの",
  commands: "コマンド",
  resources: "リソース",
  forText: "入力したテキストで",
  show: { tree: "すべてのリソースを表示", templates: "テンプレートを表示", gather: "収集を表示" },
  search: "検索",
  filters: "絞り込みの表示を切り替え",
  clearFilters: "絞り込みを解除",
  gather: (text) => `「${text}」のために収集`,
  searchFor: (text) => `「${text}」を検索`,
  choose: (name) => `「${name}」を選択`,
  unchoose: (name) => `「${name}」の選択を解除`,
  reveal: (name) => `「${name}」のフォルダーを表示`,
  copyUri: (name) => `「${name}」のURIをコピー`,
  copy: {
    markdown: "選択中のものをMarkdownでコピー",
    xml: "選択中のものをXMLでコピー",
    uris: "選択中のもののURIをコピー",
  },
  clearTray: "選択をすべて解除",
  searching: "検索中…",
  none: "この名前のコマンドやリソースはありません",
  count: (count) => `${count}件`,
  failed: (problem) => `リソースを検索できませんでした：${problem}`,
  keys: "↑↓ 移動 · Enter 実行・開く · Esc 閉じる",
};

export function paletteTexts(code: "en" | "ja"): PaletteTexts {
  return code === "ja" ? japanese : english;
}
