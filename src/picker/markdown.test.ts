import { describe, expect, it } from "vitest";
import { type MarkdownBlock, blocksOf } from "./markdown.ts";
import type { Inline } from "./markdown-inline.ts";

/** A short notation of the tree. */
function notationOf(blocks: readonly MarkdownBlock[]): string {
  return blocks
    .map((block) => {
      switch (block.kind) {
        case "heading":
          return `h${block.level}(${said(block.inlines)})`;
        case "paragraph":
          return `p(${said(block.inlines)})`;
        case "code":
          return `code:${block.language ?? ""}(${block.text})`;
        case "quote":
          return `q(${notationOf(block.blocks)})`;
        case "list":
          return `${block.start === undefined ? "ul" : `ol${block.start}`}(${block.items.map((item) => notationOf(item)).join(" | ")})`;
        case "table":
          return `table(${[block.head, ...block.rows].map((row) => row.map(said).join(",")).join(";")})`;
        case "rule":
          return "hr";
      }
    })
    .join(" ");
}

function said(inlines: readonly Inline[]): string {
  return inlines
    .map((inline) => {
      switch (inline.kind) {
        case "text":
          return inline.text;
        case "code":
          return `‹${inline.text}›`;
        case "break":
          return "⏎";
        case "image":
          return `img{${inline.alt}→${inline.to}}`;
        case "link":
          return `a{${said(inline.inlines)}→${inline.to}}`;
        default:
          return `${inline.kind[0]}{${said(inline.inlines)}}`;
      }
    })
    .join("");
}

describe("Markdown", () => {
  it.each([
    ["# One\n## Two ##\n\nThree\n===", "h1(One) h2(Two) h1(Three)"],
    ["a\nb\n\nc  \nd", "p(a\nb) p(c  ⏎d)"],
    ["```ts\nlet a;\n```\n\n    indented", "code:ts(let a;) code:(indented)"],
    ["> a\n> > b", "q(p(a) q(p(b)))"],
    ["- a\n- b\n  - c\n\n1. x\n2. y", "ul(p(a) | p(b) ul(p(c))) ol1(p(x) | p(y))"],
    ["| a | b |\n|---|:-:|\n| 1 | x \\| y |", "table(a,b;1,x | y)"],
    ["a\n\n---\n\n***", "p(a) hr hr"],
    ["---\ntitle: x\n---\n# A", "code:yaml(title: x) h1(A)"],
    ["**b** *i* ~~d~~ `c*` snake_case_name", "p(s{b} e{i} d{d} ‹c*› snake_case_name)"],
    ['[a *b*](x.md "t") ![p](q.png) [![i](j)](k)', "p(a{a e{b}→x.md} img{p→q.png} a{img{i→j}→k})"],
    [
      "see https://a.example/b. <http://c.example>",
      "p(see a{https://a.example/b→https://a.example/b}. a{http://c.example→http://c.example})",
    ],
    ["<b onclick=x>no</b> \\*plain\\*", "p(<b onclick=x>no</b> *plain*)"],
    ["", ""],
  ])("%j", (text, expected) => {
    expect(notationOf(blocksOf(text))).toBe(expected);
  });

  it("takes linear time for hostile texts", () => {
    const length = 200_000;
    const bad = [
      "[",
      "![",
      "*a ",
      "**a",
      "`",
      "_a ",
      "> ",
      "- ",
      "[](",
      "<http",
      "|-",
      "# ",
      "~~a",
      "[a](b",
      "\\",
      "- a\n  ",
    ];
    for (const piece of bad) expect(blocksOf(piece.repeat(length / piece.length)), piece).toBeDefined();
    for (const line of [
      `# ${" ".repeat(length)}x`,
      `\`\`\`${" ".repeat(length)}\``,
      `|a|\n|-${" ".repeat(length)}:|`,
      `#${"#".repeat(length)}x`,
    ])
      expect(blocksOf(line), line.slice(0, 9)).toBeDefined();
  });
});
