/** Texts for gathering. */
const english = {
  unsupported: "This server cannot gather: it has no tool gather_context",
  task: "What do you want to do?",
  hint: "Describe it as you would to a colleague, with names of files and functions",
  withChosen: (count: number) => `Start with the chosen resources (${count})`,
  go: (budget: string) => `Gather up to ${budget} tokens`,
  branch: "What this branch changed",
  branchHint: "For a review: what changed since origin/HEAD, main or master, committed or not, and what that touches",
  changedSince: ({
    files,
    isMore,
    base,
  }: {
    readonly files: number;
    readonly isMore: boolean;
    readonly base: string;
  }) => `${isMore ? "more than " : ""}${files === 1 ? "1 file" : `${files} files`} changed since ${base}`,
  working: "Gathering…",
  nothing: "Nothing was found for this task, or nothing fits into the budget",
  sum: (count: number, tokens: string, budget: string) =>
    `${count === 1 ? "1 passage" : `${count} passages`}, ${tokens} of ${budget} tokens`,
  allRelevant: "nothing else is relevant enough",
  chooseAll: "Choose all",
  copy: "Copy the gathered text",
  included: "Included",
  leftOut: "Left out",
  why: "Why",
  also: (uris: string) => `same text: ${uris}`,
  masked: (count: number) => (count === 1 ? "1 secret masked" : `${count} secrets masked`),
  removed: (count: number) => (count === 1 ? "1 invisible character removed" : `${count} invisible characters removed`),
  moreLeftOut: (count: number) => `and ${count} more`,
};

type GatherTexts = typeof english;

const japanese: GatherTexts = {
  unsupported: "このサーバーは収集に対応していません（ツール gather_context がありません）",
  task: "どのような作業ですか？",
  hint: "同僚に説明するように、ファイル名や関数名も含めて書いてください",
  withChosen: (count) => `選択中のリソース（${count}件）を最初に含める`,
  go: (budget) => `${budget}トークンまで収集`,
  branch: "このブランチの変更",
  branchHint: "レビュー用：origin/HEAD・main・master からの変更（未コミットを含む）と、その影響を受けるもの",
  changedSince: ({ files, isMore, base }) =>
    `${base} から${files}件${isMore ? "を超える" : "の"}ファイルが変更されています`,
  working: "収集中…",
  nothing: "この作業に関連するものが見つからないか、トークン上限に収まりません",
  sum: (count, tokens, budget) => `${count}か所、${tokens} / ${budget}トークン`,
  allRelevant: "ほかに関連性の高いものはありません",
  chooseAll: "すべて選択",
  copy: "収集した内容をコピー",
  included: "含めたもの",
  leftOut: "含めなかったもの",
  why: "理由",
  also: (uris) => `同じ内容：${uris}`,
  masked: (count) => `秘密情報${count}件を伏せました`,
  removed: (count) => `不可視文字${count}個を除去しました`,
  moreLeftOut: (count) => `ほか${count}件`,
};

export function gatherTexts(code: "en" | "ja"): GatherTexts {
  return code === "ja" ? japanese : english;
}
