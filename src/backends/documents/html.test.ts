import { describe, expect, it } from "vitest";
import { encodeText } from "../../lib/text-encoding.ts";
import { decodeHtml, htmlToMarkdown } from "./html.ts";

describe("a web page as Markdown", () => {
  it.each([
    ["<h1>題</h1><p>一段落目</p><p>二段落目</p>", "# 題\n\n一段落目\n\n二段落目\n"],
    ["<title>題 &amp; 名</title><h1>題 & 名</h1>本文", "# 題 & 名\n\n本文\n"],
    ["<title>題名</title><p>本文", "# 題名\n\n本文\n"],
    ["<p>改行は\n  要らない\nword\nword</p>", "改行は要らない word word\n"],
    ["a<br>b", "a\nb\n"],
    ["<ul><li>一<li><p>二</p><ol start=3><li>三</ol></ul>後", "- 一\n- 二\n  3. 三\n\n後\n"],
    [
      "<table><tr><th>a<th>b<tr><td>1 | 2<td><p>x</p><p>y</p></table>",
      "| a | b |\n| --- | --- |\n| 1 \\| 2 | x<br>y |\n",
    ],
    ["<pre>if (a &lt; b) {\n  c();\n}</pre>", "```\nif (a < b) {\n  c();\n}\n```\n"],
    ['<pre class="language-js">a()</pre><pre>b</pre>', "```js\na()\n```\n\n```\nb\n```\n"],
    ['<div class="highlight highlight-source-shell"><pre>ls</pre></div>', "```shell\nls\n```\n"],
    ['<div class="highlight-default notranslate"><pre>x</pre></div>', "```\nx\n```\n"],
    ['<div class="language"><p>text</p></div><pre class="brush: sql; a">y</pre>', "text\n\n```sql\ny\n```\n"],
    ["<title>長い題 | 例</title><p>前</p><h1>題</h1><h1>次</h1>", "前\n\n# 題\n\n## 次\n"],
    ["<h2>節<a href='#s' title='この見出し'>¶</a></h2><p>¶ and <a href='#x'># 1</a>", "## 節\n\n¶ and # 1\n"],
    ["use <code>npm i</code> now", "use `npm i` now\n"],
    ["<blockquote><p>一</p><p>二</p></blockquote>", "> 一\n\n> 二\n"],
    ['<a href="/a?b=1&amp;c=2">読む</a>。', "[読む](/a?b=1&c=2)。\n"],
    ["<a href=#x>内</a><a href='javascript:alert(1)'>外</a><a>無</a>", "内外無\n"],
    ["<a href=https://a.example/>https://a.example/</a>", "https://a.example/\n"],
    ['<img src="a b.png" alt="図"><img src=x>', "![図](a%20b.png)\n"],
    ["<ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>", "漢字\n"],
    ["a<hr>b", "a\n\n---\n\nb\n"],
    ["&eacute;&nbsp;&#x65e5;&#26412;&unknown;&copy", "é\u00a0日本&unknown;&copy\n"],
    ["1 < 2 && 3 > 2", "1 < 2 && 3 > 2\n"],
    ["", ""],
  ])("%s", (html, markdown) => {
    expect(htmlToMarkdown(html)).toBe(markdown);
  });

  it("omits what only a browser needs", () => {
    const html =
      "<!doctype html><head><style>p { color: red }</style><script>if (a</b/) '</p>'</script></head><!-- <p>no</p> -->" +
      "<noscript><p>no</p></noscript><svg><title>no</title><text>no</text></svg><template><p>no</p></template><p>yes</p>";
    expect(htmlToMarkdown(html)).toBe("yes\n");
  });

  it("accepts broken tags", () => {
    for (const html of [
      "<p",
      "<a href='",
      "</",
      "<!--",
      "<p>a</div></p></p>b",
      "</table>a",
      "<td>a",
      "<li>a",
      "</ul>a",
    ])
      expect(() => htmlToMarkdown(html)).not.toThrow();
    expect(htmlToMarkdown("<p>a</div></p></p>b")).toBe("a\n\nb\n");
    expect(htmlToMarkdown('<p title="a > b">c</p>')).toBe("c\n");
  });
});

const page = (charset: string) => `<meta charset="${charset}"><p>設定を読み込みます。</p>`;

describe("the encoding of a web page", () => {
  it.each([
    ["shift_jis", "shift_jis"],
    ["euc-jp", "x-euc-jp"],
    ["iso-2022-jp", "iso-2022-jp"],
    ["utf-8", "shift_jis"],
    ["shift_jis", "no-such-thing"],
  ] as const)("is %s if the page declares %s", (encoding, given) => {
    const bytes = encodeText(page(given), encoding);
    expect(decodeHtml(bytes ?? new Uint8Array())).toBe(page(given));
  });

  it("is the declared one if the bytes match no known encoding", () => {
    const bytes = Uint8Array.from([...Buffer.from('<meta charset="koi8-r"><p>'), 0xf0, 0xd2, 0xc9, 0xd7, 0xc5, 0xd4]);
    expect(decodeHtml(bytes)).toBe('<meta charset="koi8-r"><p>Привет');
  });
});
