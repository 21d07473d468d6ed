import { describe, expect, it } from "vitest";
import { type MarkdownBlock, type MarkdownItem, blocksOf, blocksOfHtml } from "./markdown.ts";
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
          return `${block.start === undefined ? "ul" : `ol${block.start}`}(${block.items.map(itemOf).join(" | ")})`;
        case "table":
          return `table${block.aligns.map((align) => align?.[0] ?? "").join("")}(${[block.head, ...block.rows].map((row) => row.map(said).join(",")).join(";")})`;
        case "rule":
          return "hr";
        case "inlines":
          return said(block.inlines);
        case "element":
          return `<${block.tag}${attributesIn(block.attributes)}>(${notationOf(block.blocks)})`;
      }
    })
    .join(" ");
}

function itemOf({ blocks, isDone }: MarkdownItem): string {
  return `${isDone === undefined ? "" : isDone ? "[x]" : "[ ]"}${notationOf(blocks)}`;
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
        case "element":
          return `<${inline.tag}${attributesIn(inline.attributes)}>{${said(inline.inlines)}}`;
        default:
          return `${inline.kind[0]}{${said(inline.inlines)}}`;
      }
    })
    .join("");
}

function attributesIn(attributes: object): string {
  return Object.entries(attributes)
    .map(([name, value]) => ` ${name}=${value}`)
    .join("");
}

describe("Markdown", () => {
  it.each([
    ["# One\n## Two ##\n\nThree\n===", "h1(One) h2(Two) h1(Three)"],
    ["a\nb\n\nc  \nd", "p(a\nb) p(c  ⏎d)"],
    ["```ts\nlet a;\n```\n\n    indented", "code:ts(let a;) code:(indented)"],
    ["> a\n> > b", "q(p(a) q(p(b)))"],
    ["- a\n- b\n  - c\n\n1. x\n2. y", "ul(p(a) | p(b) ul(p(c))) ol1(p(x) | p(y))"],
    ["| a | b |\n|---|:-:|\n| 1 | x \\| y |", "tablec(a,b;1,x | y)"],
    ["|a|b|c|\n|:-|-:|-|\n|1|2|3|", "tablelr(a,b,c;1,2,3)"],
    ["a\n\n---\n\n***", "p(a) hr hr"],
    ["---\ntitle: x\n---\n# A", "code:yaml(title: x) h1(A)"],
    ["**b** *i* ~~d~~ `c*` snake_case_name", "p(s{b} e{i} d{d} ‹c*› snake_case_name)"],
    ['[a *b*](x.md "t") ![p](q.png) [![i](j)](k)', "p(a{a e{b}→x.md} img{p→q.png} a{img{i→j}→k})"],
    [
      "see https://a.example/b. <http://c.example>",
      "p(see a{https://a.example/b→https://a.example/b}. a{http://c.example→http://c.example})",
    ],
    ["<b onclick=x>no</b> \\*plain\\*", "p(<b>{no} *plain*)"],
    ["- [ ] a\n- [x] b\n  - [X] c\n- [y] d\n- [x]e", "ul([ ]p(a) | [x]p(b) ul([x]p(c)) | p([y] d) | p([x]e))"],
    [
      "<details open>\n<summary>More</summary>\n\n**b**\n\n- a\n\n</details>\n\nend",
      "<details isOpen=true>(\n <summary>(More) p(s{b}) ul(p(a))) p(end)",
    ],
    ['<p align="center">\n<img src="a.png" alt="A &amp; B">\n</p>', "<p align=center>(\nimg{A & B→a.png}\n)"],
    [`<img src='a'alt="b"c>`, "img{b→a}"],
    ["<center>x</center>\n\n<div align=evil style=x id=y>z</div>", "<div align=center>(x) <div>(z)"],
    ["a<br>b<br/>c <kbd>Ctrl</kbd> H<sub>2</sub>O", "p(a⏎b⏎c <kbd>{Ctrl} H<sub>{2}O)"],
    ["x <!-- hidden --> y\n\n<!-- a\n\n**b** -->\nz", "p(x  y) p(z)"],
    ["<!-- never closed\n\ntext", "p(<!-- never closed) p(text)"],
    ["<script>a()\n\nb()</script>\n\nc <style>x{}</style>d", "p(c d)"],
    ["run `x` with <your-name> and Array<T>", "p(run ‹x› with <your-name> and Array<T>)"],
    ["&copy; &#x41; &nope; \\&lt;", "p(© A &nope; &lt;)"],
    [
      '<a href="https://a.example">https://a.example <b>[x](y)</b></a> https://b.example',
      "p(<a href=https://a.example>{https://a.example <b>{[x](y)}} a{https://b.example→https://b.example})",
    ],
    ["<table><tr><td>a<td colspan=2>b<tr><th>c</table>", "<table>(<tr>(<td>(a) <td colSpan=2>(b)) <tr>(<th>(c)))"],
    ["<li>a\n\n<td>b</td></div>\n\n<summary>c", "a b c"],
    ["<ul><li>a<ul><li>b</ul><li>c</ul>", "<ul>(<li>(a <ul>(<li>(b))) <li>(c))"],
    ["<pre>\na\n\n  b</pre>", "<pre>(a\n\n  b)"],
    ["<p>a<p>b<b>c</p>d", "<p>(a) <p>(b <b>(c)) d"],
    ["<iframe src=x>a</iframe> <svg onload=x><path d=y></svg>", "p(a )"],
    ["", ""],
  ])("%j", (text, expected) => {
    expect(notationOf(blocksOf(text))).toBe(expected);
  });

  it("knows the line where each block begins", () => {
    const text =
      "---\na: 1\n---\n\n# One\npara\ngraph\n- a\n  - b\n\n    c\n- d\n\n> q\n>\n> r\n\n```\nx\n```\n\nTwo\nlines\n===\n\n|a|\n|-|\n|b|\n\n    code\n***\nend";
    const found: string[] = [];
    const visit = (blocks: readonly MarkdownBlock[]): void => {
      for (const block of blocks) {
        found.push(`${block.kind} ${block.line}`);
        if (block.kind === "quote") visit(block.blocks);
        if (block.kind === "list")
          for (const item of block.items) {
            found.push(`item ${item.line}`);
            visit(item.blocks);
          }
      }
    };
    visit(blocksOf(text));
    expect(found).toEqual(
      "code 1,heading 5,paragraph 6,list 8,item 8,paragraph 8,list 9,item 9,paragraph 9,paragraph 11,item 12,paragraph 12,quote 14,paragraph 14,paragraph 16,code 18,heading 22,table 26,code 30,rule 31,paragraph 32".split(
        ",",
      ),
    );
  });

  it("reads a text that is HTML throughout, in which Markdown has no meaning", () => {
    const html = "<div>\n<style scoped>\ntd{}\n</style>\n<table><tr><td>**1**</td></tr></table></div>";
    expect(notationOf(blocksOfHtml(html)).replaceAll("\n", "")).toBe("<div>( <table>(<tr>(<td>(**1**))))");
  });

  it("nests no deeper than can be drawn", () => {
    const depthOf = (blocks: readonly MarkdownBlock[]): number =>
      Math.max(0, ...blocks.map((block) => (block.kind === "element" ? 1 + depthOf(block.blocks) : 0)));
    expect(depthOf(blocksOf(`${"<div>".repeat(5000)}x`))).toBe(24);
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
      "<a ",
      '<a b="',
      "<a b='<a c=\"",
      "<!--",
      "<!--\n",
      "<b>",
      "</b>",
      "<li>",
      "<ul><li>",
      "<pre>\n",
      "<script>",
      "&a",
      "- [ ] ",
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
