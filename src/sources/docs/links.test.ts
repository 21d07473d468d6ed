import { describe, expect, it } from "vitest";
import type { DocumentFormat } from "./formats.ts";
import { followLink, languageBar, linksOf } from "./links.ts";

const targets = (text: string, format: DocumentFormat = "markdown") =>
  [...linksOf(text, format)].map(({ target, line }) => `${line} ${target}`);

describe("links", () => {
  it("of Markdown are found in all their forms, outside of code", () => {
    const text = [
      '[a](a.md) and [b](<b c.md> "title") and `[no](no.md)`',
      "[![badge](badge.svg)](c.md#x)",
      "[ref]: d.md 'title'",
      "<a href=\"e.md\">e</a> <img src='f.png'>",
      "```",
      "[no](no.md)",
      "```",
      "<!-- [no](no.md) -->[g](g_(x).md)",
    ].join("\n");
    expect(targets(text)).toEqual([
      "1 a.md",
      "1 b c.md",
      "2 badge.svg",
      "2 c.md#x",
      "3 d.md",
      "4 e.md",
      "4 f.png",
      "8 g_(x).md",
    ]);
  });

  it("of AsciiDoc and reStructuredText are found", () => {
    expect(targets("see link:a.adoc[A], xref:b.adoc#x[B]\nimage::c.png[]\n", "asciidoc")).toEqual([
      "1 a.adoc",
      "1 b.adoc#x",
      "2 c.png",
    ]);
    expect(targets("see `A <a.rst>`_\n\n.. image:: c.png\n", "rst")).toEqual(["1 a.rst", "3 c.png"]);
  });

  it("are resolved from the folder of their file, and never leave the root", () => {
    expect(followLink("docs/a.md", "../README.md#top")).toEqual({ path: "README.md", fragment: "top" });
    expect(followLink("docs/a.md", "%E8%A8%AD%E5%AE%9A.md?x=1")).toEqual({ path: "docs/設定.md", fragment: "" });
    expect(followLink("docs/a.md", "#設定")).toEqual({ path: "docs/a.md", fragment: "設定" });
    expect(followLink("docs/a.md", "100%.md")).toEqual({ path: "docs/100%.md", fragment: "" });
    for (const elsewhere of [
      "https://example.com",
      "mailto:a@b",
      "/abs.md",
      "//host/x",
      "../../out.md",
      "{{ base }}/x.md",
    ])
      expect(followLink("docs/a.md", elsewhere), elsewhere).toBeUndefined();
  });

  it("are found quickly in any text", () => {
    for (const text of [
      "[".repeat(200_000),
      "](".repeat(100_000),
      "link:a".repeat(100_000),
      "[a](".repeat(50_000),
      '<a href="'.repeat(20_000),
      "`".repeat(200_000),
    ])
      for (const format of ["markdown", "html", "rst", "asciidoc"] as const) for (const _ of linksOf(text, format));
  });
});

describe("a language bar", () => {
  it.each([
    ["English | [日本語](ja/guide.md)", ["docs/ja/guide.md"]],
    [
      "[English](./guide.en.md) · **[한국어](guide.ko.md)** · [简体中文](zh/guide.md)",
      ["docs/guide.en.md", "docs/guide.ko.md", "docs/zh/guide.md"],
    ],
    ["# Title\n\n> [日本語版はこちら](../ja/docs/guide.md)", ["ja/docs/guide.md"]],
    ['<p align="center"><a href="README_ja.md">日本語</a></p>', ["docs/README_ja.md"]],
    ["[ja](x.md)", ["docs/x.md"]],
    ["[A guide to the English breakfast in three hundred words and with a very long name](x.md)", []],
    ["[Install](install.md)", []],
    [`${"text\n\n".repeat(20)}[日本語](ja/guide.md)`, []],
  ])("is read in %j", (head, files) => {
    expect(languageBar("docs/guide.md", head, "markdown")).toEqual(files);
  });
});
