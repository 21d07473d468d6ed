/** Texts of the layout: the columns, the splitter, the bar at the bottom and the hints in empty areas. */

export const layoutInEnglish = {
  column: { name: "Name", size: "Size", tokens: "Tokens", changed: "Changed" },
  splitter: "Width of the list",
  phoneViews: "Pages",
  list: "List",
  showTray: "Show what is chosen",
  hideTray: "Hide what is chosen",
  chosenCount: (count: number) => `${count} chosen`,
  allOfPath: "Show the whole path",
  searchNow: "Search",
  gatherNow: "Gather for a task",
  showAll: "Show all resources",
  nothingOpenHint: "Pick one from the list, search, or describe a task and let Pressmark collect what it needs.",
  nothingChosen: "Nothing chosen yet",
  copyServe: "Copy a command that serves a folder",
  noHitsHint: "Try fewer or other words, or look through all resources.",
};

export const layoutInJapanese: typeof layoutInEnglish = {
  column: { name: "名前", size: "サイズ", tokens: "トークン", changed: "更新" },
  splitter: "一覧の幅",
  phoneViews: "ページ",
  list: "一覧",
  showTray: "選択中のものを表示",
  hideTray: "選択中のものを隠す",
  chosenCount: (count) => `${count}件を選択中`,
  allOfPath: "パス全体を表示",
  searchNow: "検索",
  gatherNow: "作業に合わせて収集",
  showAll: "すべてのリソースを表示",
  nothingOpenHint: "一覧から選ぶか、検索するか、作業を説明して必要なものを集めてください。",
  nothingChosen: "まだ何も選択していません",
  copyServe: "フォルダーを提供するコマンドをコピー",
  noHitsHint: "語を減らすか変えるか、すべてのリソースから探してください。",
};
