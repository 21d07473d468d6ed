import { describe, expect, it } from "vitest";
import type { DocumentFormat } from "./formats.ts";
import { canonicalTag, createLanguageMarks, decideLanguage, detectLanguage } from "./language.ts";

const code =
  "\n```ts\nexport function createResources(options: ResourceOptions): Resources { return open(options); }\n```\n";

const corpus: readonly (readonly [says: string, text: string, lang: string, format?: DocumentFormat])[] = [
  ["Japanese prose", "# 設定\n\nこのページでは、サーバーの設定方法を説明します。\n", "ja"],
  ["Japanese in katakana alone", "インストール ガイド", "ja"],
  ["Japanese in half-width katakana", "ｲﾝｽﾄｰﾙ ｶﾞｲﾄﾞ", "ja"],
  ["Japanese around much code", `手順は次のとおりです。${code.repeat(10)}以上で完了です。\n`, "ja"],
  [
    "Japanese full of English names",
    "`pressmark serve` を起動し、Model Context Protocol の resources/list と resources/read を確認します。Claude Code から使います。",
    "ja",
  ],
  ["English prose", "# Settings\n\nThis page explains how the server is set up.\n", "other"],
  [
    "English that quotes a little Japanese",
    `${"The word for settings is written as follows. ".repeat(5)}設定`,
    "other",
  ],
  [
    "English around Japanese code",
    "Only the sample below speaks Japanese, as a comment.\n\n```\n// 設定を読み込みます。設定を読み込みます。\n```\n",
    "other",
  ],
  [
    "English with Japanese in a span of code",
    "The label reads `設定を保存しますか`, and nothing else does that.\n",
    "other",
  ],
  [
    "simplified Chinese",
    "# 配置\n\n本页说明如何配置服务器。启动之前，请先检查网络连接和权限。如果出现问题，请查看日志文件，并联系管理员获取帮助，谢谢您的配合与支持。",
    "zh",
  ],
  [
    "traditional Chinese",
    "# 設定\n\n本頁說明如何設定伺服器。啟動之前，請先檢查網路連線與權限。若出現問題，請查看記錄檔並聯絡管理員以取得協助，感謝您的配合。",
    "zh",
  ],
  [
    "Chinese that names something Japanese",
    `${"本页说明如何使用名为的产品，启动之前请先检查网络连接和权限".repeat(3)}のり`,
    "zh",
  ],
  ["Korean", "# 설정\n\n이 페이지에서는 서버를 설정하는 방법을 설명합니다.", "ko"],
  ["Korean with some Han", "대한민국(大韓民國) 헌법(憲法)은 이 나라의 최고 법입니다.", "ko"],
  ["German", "# Einstellungen\n\nDiese Seite erklärt, wie der Server für größere Häuser eingerichtet wird.", "other"],
  ["Russian", "Эта страница объясняет, как настроить сервер.", "other"],
  ["nothing", "", "other"],
  ["code alone", code, "other"],
  [
    "AsciiDoc with a listing",
    "= 設定\n\n----\nlong listing in English, long listing in English\n----\n\n設定の説明です。\n",
    "ja",
    "asciidoc",
  ],
  [
    "reStructuredText with a literal block",
    "設定\n====\n\n例::\n\n    a long literal block in English, with many letters\n\n説明です。\n",
    "ja",
    "rst",
  ],
  [
    "HTML",
    "<html><head><style>body { color: red; margin: 0 }</style></head><body><p>これは設定の説明です。</p></body></html>",
    "ja",
    "html",
  ],
];

describe("detection by letters", () => {
  for (const [says, text, lang, format = "markdown"] of corpus)
    it(`tell ${says}`, () => {
      expect(detectLanguage(text, format).lang).toBe(lang);
    });

  it("is not sure if there are too few", () => {
    expect(detectLanguage("API v2", "markdown")).toEqual({ lang: "other", isSure: false });
    expect(detectLanguage("目次", "markdown")).toEqual({ lang: "zh", isSure: false });
    expect(detectLanguage("もくじ", "markdown")).toEqual({ lang: "ja", isSure: true });
  });

  it("is quick for any text", () => {
    for (const text of [
      "`".repeat(100_000),
      "<".repeat(100_000),
      "](".repeat(50_000),
      "<!--".repeat(25_000),
      "~~~\n".repeat(25_000),
    ])
      for (const format of ["markdown", "html", "rst", "asciidoc"] as const) detectLanguage(text, format);
  });
});

describe("language marks in a path", () => {
  const marks = createLanguageMarks();

  it.each([
    ["ja/guide.md", "ja", "guide.md"],
    ["docs/ja/deep/guide.md", "ja", "docs/deep/guide.md"],
    ["guide.ja.md", "ja", "guide.md"],
    ["README.ja", "ja", "README"],
    ["README_ja.md", "ja", "README.md"],
    ["README-JP.md", "ja", "README.md"],
    ["README-zh-CN.md", "zh-CN", "README.md"],
    ["README.zh_TW.md", "zh-TW", "README.md"],
    ["ja/guide.ja.md", "ja", "guide.md"],
    ["guide.ja.ja.md", "ja", "guide.md"],
    ["en/guide.ja.md", "ja", "en/guide.md"],
    ["pt-BR/x.md", "pt-BR", "x.md"],
    ["files/en-us/web/x.md", "en-US", "files/web/x.md"],
    ["ja_JP/x.md", "ja-JP", "x.md"],
    ["docs-ja/x.md", "ja", "docs/x.md"],
    ["docs_en/x.md", "en", "docs/x.md"],
    ["content.zh-CN/x.md", "zh-CN", "content/x.md"],
    ["docs-zh-hant/x.md", "zh-Hant", "docs/x.md"],
    ["zh_Hans/x.md", "zh-Hans", "x.md"],
    ["translations/ja/a/README.md", "ja", "a/README.md"],
    ["i18n/ja/x.md", "ja", "x.md"],
    ["i18n/ja/docusaurus-plugin-content-docs/current/a/x.md", "ja", "docs/a/x.md"],
    ["website/i18n/pt-BR/docusaurus-plugin-content-docs/current/x.md", "pt-BR", "website/docs/x.md"],
    ["i18n/ja/docusaurus-plugin-content-docs/version-1.0/x.md", "ja", "versioned_docs/version-1.0/x.md"],
    ["i18n/ja/docusaurus-plugin-content-docs-api/current/x.md", "ja", "api/x.md"],
    ["i18n/ja/docusaurus-plugin-content-docs-api/version-2/x.md", "ja", "api_versioned_docs/version-2/x.md"],
    ["i18n/ja/docusaurus-plugin-content-docs-ja/current/x.md", "ja", "docusaurus-plugin-content-docs/current/x.md"],
    ["i18n/ja/docusaurus-plugin-content-blog/2024-01-01-x.md", "ja", "blog/2024-01-01-x.md"],
    ["i18n/ja/docusaurus-plugin-content-blog-news/x.md", "ja", "news/x.md"],
    ["i18n/ja/docusaurus-plugin-content-pages/about.mdx", "ja", "src/pages/about.mdx"],
  ])("%s has the mark %s, and is %s without it", (path, lang, bare) => {
    expect(marks.read(path)).toBe(lang);
    expect(marks.strip(path, lang)).toBe(bare);
    expect(marks.strip(bare, lang), "a second time").toBe(bare);
  });

  it.each([
    "guide.md",
    "what-is-it.md",
    "sign-in.md",
    "src/go/x.md",
    "ja.md",
    "v2/x.md",
    "a/b-tr.md",
    "日本語.md",
    "demo-ar/x.md",
    "opt-in/x.md",
    "my-en-docs/x.md",
    "en-docs/x.md",
    "ja_old/x.md",
    "how-to-de-bug.md",
  ])("%s has no mark", (path) => expect(marks.read(path)).toBeUndefined());

  it("are recognized only for the configured languages", () => {
    const few = createLanguageMarks(["ja", "en"]);
    expect(few.read("it/vpn.md")).toBeUndefined();
    expect(few.read("en-US/vpn.md")).toBe("en-US");
    expect(marks.read("it/vpn.md")).toBe("it");
  });

  it("are canonical tags, or invalid", () => {
    expect(["JA", "zh_cn", "en-us", "jp"].map(canonicalTag)).toEqual(["ja", "zh-CN", "en-US", "ja"]);
    expect(["", "x", "../..", "ja/x", "a".repeat(100), "en--us"].map(canonicalTag)).toEqual(Array(6).fill(undefined));
  });
});

const sure = (lang: "ja" | "zh" | "ko" | "other") => ({ lang, isSure: true });

describe("the language of a document", () => {
  const ask = { path: "x.md", mark: undefined, fallback: "en" };

  it("is that of its metadata first", () => {
    expect(decideLanguage({ ...ask, said: "fr", mark: "ja", detected: sure("ko") })).toBe("fr");
  });

  it("is detected by its letters, even against a mark: an untranslated copy", () => {
    expect(decideLanguage({ ...ask, mark: "ja", detected: sure("other") })).toBe("en");
    expect(decideLanguage({ ...ask, mark: "en", detected: sure("ja") })).toBe("ja");
    expect(decideLanguage({ ...ask, fallback: "ja", detected: sure("other") })).toBe("en");
  });

  it("is that of its mark if letters do not show it", () => {
    expect(decideLanguage({ ...ask, mark: "de", detected: sure("other") })).toBe("de");
    expect(decideLanguage({ ...ask, mark: "zh-TW", detected: sure("zh") })).toBe("zh-TW");
    expect(decideLanguage({ ...ask, mark: "ja", detected: { lang: "zh", isSure: false } })).toBe("ja");
    expect(decideLanguage({ ...ask, mark: "ja", detected: { lang: "other", isSure: false } })).toBe("ja");
  });

  it("is that of the collection, or of the name, if nothing else shows it", () => {
    expect(decideLanguage({ ...ask, fallback: "de", detected: sure("other") })).toBe("de");
    expect(decideLanguage({ ...ask, path: "仕様書（案）について.pdf" })).toBe("ja");
    expect(decideLanguage({ ...ask, path: "spec.pdf", fallback: "ja" })).toBe("ja");
    expect(decideLanguage({ ...ask, path: "目次.md", fallback: "ja", detected: { lang: "zh", isSure: false } })).toBe(
      "ja",
    );
  });
});
