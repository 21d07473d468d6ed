import { describe, expect, it } from "vitest";
import type { DocumentFormat } from "./formats.ts";
import { headingsOf, sectionOf, slugOf } from "./headings.ts";

const slugs = (text: string, format: DocumentFormat = "markdown") => headingsOf(text, format).map(({ slug }) => slug);
const outline = (text: string, format: DocumentFormat = "markdown") =>
  headingsOf(text, format).map(({ level, title, line }) => `${line}: ${"#".repeat(level)} ${title}`);

describe("slugs", () => {
  it.each([
    ["Getting Started", "getting-started"],
    ["What's new in 2.0?", "whats-new-in-20"],
    ["foo_bar & baz", "foo_bar--baz"],
    ["  Trim me  ", "trim-me"],
    ["日本語の見出し", "日本語の見出し"],
    ["1. インストール（Linux）", "1-インストールlinux"],
    ["設定・環境変数、その他。", "設定環境変数その他"],
    ["ＡＰＩ リファレンス", "ａｐｉ-リファレンス"],
    ["サーバー", "サーバー"],
    ["한국어 제목!", "한국어-제목"],
    ["Über Größe", "über-größe"],
    ["🚀 Launch", "-launch"],
    ["e\u0301te\u0301", "e\u0301te\u0301"],
    ["C++ / C#", "c--c"],
  ])("%s becomes %s", (title, slug) => expect(slugOf(title)).toBe(slug));

  it("that repeat get -1, -2, and never collide with another heading", () => {
    expect(slugs("# A\n# A\n# A-1\n# A\n# 設定\n# 設定\n")).toEqual(["a", "a-1", "a-1-1", "a-2", "設定", "設定-1"]);
  });

  it("are made of the visible text", () => {
    expect(
      slugs(
        [
          "# The `read` method",
          "## [A link](https://example.com/x) and ![a picture](x.png) more",
          "## **Bold** _and_ *thin* ~~gone~~",
          "## snake_case_name",
          "## A <kbd>key</kbd> &amp; more",
          "## Custom {#my-id}",
          "## Closed ##",
          "## \\*star",
          "## [Nested](a_(b).md) and [![badge](b.svg)](c.md) x",
        ].join("\n"),
      ),
    ).toEqual([
      "the-read-method",
      "a-link-and--more",
      "bold-and-thin-gone",
      "snake_case_name",
      "a-key--more",
      "my-id",
      "closed",
      "star",
      "nested-and--x",
    ]);
  });
});

describe("headings", () => {
  it("of Markdown are found with hashes and with underlines, outside of code and comments", () => {
    const text = [
      "---",
      "title: x",
      "# no heading",
      "---",
      "Top",
      "===",
      "",
      "```sh",
      "# no heading",
      "```",
      "- ~~~",
      "  # no heading",
      "  ~~~",
      "<!--",
      "# no heading",
      "-->",
      "   ## Second",
      "    # no heading but code",
      "",
      "two lines",
      "of one title",
      "---",
      "",
      "---",
      "#no-heading",
      "####### no heading",
      "###",
      "> quoted",
      "---",
    ].join("\r\n");
    expect(outline(text)).toEqual(["5: # Top", "17: ## Second", "20: ## two lines of one title", "27: ### "]);
  });

  it("of AsciiDoc are found outside of listings, with their own ids", () => {
    const text = "= 文書\n:lang: ja\n\n[[intro]]\n== はじめに\n\n----\n== no\n----\n\n[#second]\n=== Two\n// == no\n";
    expect(outline(text, "asciidoc")).toEqual(["1: # 文書", "5: ## はじめに", "12: ### Two"]);
    expect(slugs(text, "asciidoc")).toEqual(["文書", "intro", "second"]);
  });

  it("of reStructuredText have levels in the order of their characters", () => {
    const text =
      "=====\nTitle\n=====\n\nはじめに\n========\n\nText::\n\n    not a title\n    ----\n\nDeeper\n------\n\nAgain\n=====\n";
    expect(outline(text, "rst")).toEqual(["2: # Title", "5: ## はじめに", "13: ### Deeper", "16: ## Again"]);
  });

  it("are found quickly in any text", () => {
    for (const text of [
      "#".repeat(200_000),
      "# ".repeat(100_000),
      "# *".repeat(70_000),
      "# [".repeat(70_000),
      `# ${"![a](".repeat(400)}\n`.repeat(500),
      "a\n".repeat(100_000),
      "# A\n".repeat(50_000),
    ])
      for (const format of ["markdown", "asciidoc", "rst"] as const) headingsOf(text, format);
  });
});

describe("a section", () => {
  const text = "# A\nintro\n## B\nb\n### C\nc\n## 設定\n中身\n\n# D\nend";
  const headings = headingsOf(text, "markdown");

  it("ends at the next heading of the same or a higher level", () => {
    expect(sectionOf(text, headings, "b")).toMatchObject({ text: "## B\nb\n### C\nc\n", lines: [3, 6] });
    expect(sectionOf(text, headings, "設定")).toMatchObject({ text: "## 設定\n中身\n\n", lines: [7, 9] });
    expect(sectionOf(text, headings, "a")?.text).toBe(text.slice(0, text.indexOf("# D")));
    expect(sectionOf(text, headings, "d")).toMatchObject({ text: "# D\nend", lines: [10, 11] });
    expect(sectionOf(text, headings, "nowhere")).toBeUndefined();
  });
});
