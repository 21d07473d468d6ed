/** Texts for templates. */
const english = {
  title: "Templates",
  none: "This server has no templates",
  back: "All templates",
  change: (name: string) => `Change ${name}`,
  empty: "—",
  optional: (name: string) => `${name} (optional)`,
  next: "Next",
  skip: "Skip",
  suggestions: (name: string) => `Suggestions for ${name}`,
  noSuggestions: "No suggestions: type a value",
  more: "More suggestions exist: keep typing",
  sofar: "So far:",
  ready: "URI:",
  open: "Open",
};

type TemplateTexts = typeof english;

const japanese: TemplateTexts = {
  title: "テンプレート",
  none: "このサーバーにはテンプレートがありません",
  back: "テンプレート一覧",
  change: (name) => `「${name}」を変更`,
  empty: "—",
  optional: (name) => `${name}（任意）`,
  next: "次へ",
  skip: "省略",
  suggestions: (name) => `「${name}」の候補`,
  noSuggestions: "候補がありません。直接入力してください",
  more: "候補がほかにもあります。続けて入力してください",
  sofar: "入力中：",
  ready: "URI：",
  open: "開く",
};

export function templateTexts(code: "en" | "ja"): TemplateTexts {
  return code === "ja" ? japanese : english;
}
