/** What the home pages show above the text of docs/README.md. */
type FirstOf = (...pages: readonly string[]) => string;

export const home = (firstOf: FirstOf) => ({
  layout: "home",
  hero: {
    name: "Pressmark",
    text: "Everything a language model should read",
    tagline: "Files, git, databases, the web and more as MCP resources: listed, searched, read and watched.",
    actions: [
      { theme: "brand", text: "Get started", link: firstOf("quick-start", "install", "configuration") },
      { theme: "alt", text: "What it serves", link: "/sources/file" },
    ],
  },
});

export const japaneseHome = (firstOf: FirstOf) => ({
  layout: "home",
  hero: {
    name: "Pressmark",
    text: "言語モデルが読むべきものを、ひとつの場所から",
    tagline: "ファイル、git、データベース、Web などを MCP リソースとして一覧・検索・閲覧し、変更を知らせます。",
    actions: [
      {
        theme: "brand",
        text: "はじめる",
        link: firstOf("ja/start", "ja/install", "ja/configuration", "configuration"),
      },
      { theme: "alt", text: "検索", link: firstOf("ja/search", "search") },
    ],
  },
});
