import { describe, expect, it } from "vitest";
import { findMain, pageToMarkdown, readHead } from "./main-content.ts";

const url = "https://docs.example/guide/start.html";
const menu = `<ul>${["Home", "Products", "ニュース", "Contact"].map((name) => `<li><a href="/${name}">${name}</a>`).join("")}</ul>`;
const code = (language: string, text: string) => `<pre><code class="language-${language}">${text}</code></pre>`;
const paragraphs = Array.from(
  { length: 8 },
  (_, at) =>
    `<p>手順 ${at + 1} では、設定を読み込み、結果を確認します。 Step ${at + 1} loads the settings, checks each of them, and reports the result.</p>`,
).join("\n");
/** No element is marked as main content. */
const unmarked = `<!doctype html><html><head><title>始め方 | 例のサイト</title></head><body>
<div class="sidebar menu">${menu}</div>
<div class="content"><h1>始め方<a href="#start" class="headerlink">¶</a></h1>${paragraphs}${code("sh", "npm install example")}
<table><tr><th>名前<th>値<tr><td>a<td>1</table><p>詳細は<a href="more.html">次のページ</a>へ。</p></div>
<div class="footer">${menu}<p>Copyright Example</p></div></body></html>`;

/** Without the library, which may not be needed. */
const convert = (html: string) => pageToMarkdown(html, url, () => Promise.reject(new Error("not here")));

describe("the content of a page", () => {
  it("is its main element, without navigation, marks of anchors and buttons", async () => {
    const html = `<html><head><title>頁 | 例</title></head><body><nav>${menu}</nav><div role="main"><nav>${menu}</nav><h1>頁<a href="#h">¶</a></h1>
      <p><img alt="図"><img alt="絵" src="../a.png"> See <a href="../api/?a=1&amp;b=2">API</a>, §3 and <a href="#note">the note</a>.</p>
      <div class="highlight-python3 notranslate"><div class="highlight"><button>Copy</button><pre>print("é")</pre></div></div>
      <div><h1>二</h1></div></div><footer>${menu}</footer></body></html>`;
    expect(await pageToMarkdown(html, url, async () => undefined)).toBe(
      '# 頁\n\n![図]()![絵](https://docs.example/a.png) See [API](https://docs.example/api/?a=1&b=2), §3 and the note.\n\n```python\nprint("é")\n```\n\n## 二\n',
    );
  });

  it("is found by the library if no element is marked, with code, tables and absolute links", async () => {
    const markdown = await pageToMarkdown(unmarked, url);
    expect(markdown).toMatch(/^# 始め方/);
    for (const part of [
      "手順 8 では",
      "```sh\nnpm install example\n```",
      "| 名前 | 値 |",
      "(https://docs.example/guide/more.html)",
    ])
      expect(markdown).toContain(part);
    for (const part of ["ニュース", "Contact", "Copyright", "¶"]) expect(markdown).not.toContain(part);
    expect(markdown.match(/^# /gm)).toHaveLength(1);
  });

  it("is the whole page if the library is not installed, fails, or takes a small part for all of it", async () => {
    const whole = await pageToMarkdown(unmarked, url, async () => undefined);
    expect(whole).toContain("ニュース");
    for (const found of ["", "<p>Copyright Example</p>", paragraphs])
      expect(await pageToMarkdown(unmarked, url, async () => () => found)).toBe(whole);
  });

  it("is the whole page if its main element is empty or a tiny part, but not because of menus", async () => {
    for (const main of ["<main></main>", "<main><p>導入</p></main>", '<div role="main"> </div>'])
      expect(await convert(`<body>${main}<div id="root">${paragraphs}</div></body>`)).toContain("手順 8 では");
    const short = `<body><div class="sidebar">${menu.repeat(30)}</div><main><h1>頁</h1><p>準備中</p></main></body>`;
    expect(await convert(short)).toBe("# 頁\n\n準備中\n");
  });

  it("is not lost if the navigation is not closed", async () => {
    const html = `<title>頁</title><nav>${menu}<p>本文</p>`;
    expect(await pageToMarkdown(html, url, async () => undefined)).toMatch(/^# 頁\n[^]*本文/);
  });

  it("survives broken and hostile pages", async () => {
    for (const html of ["", "<", "<main", "<main>a", "</main>", "<body>", "<div>".repeat(20_000), '<div role="main"'])
      expect(await pageToMarkdown(html, url, async () => undefined), html.slice(0, 20)).toEqual(expect.any(String));
  });
});

it("the main element is found if there is exactly one", () => {
  expect(findMain("a<main>b<main>c</main>d</main>e")).toBe("b<main>c</main>d");
  expect(findMain("<div role=main>a<div>b</div>c</div>d")).toBe("a<div>b</div>c");
  expect(findMain("<main>a</main><main>b</main>")).toBeUndefined();
  expect(findMain("<p>main</p><!-- <main>a</main> -->")).toBeUndefined();
});

it("the head gives the title and the base of links", () => {
  const html = `<head><base href="/v2/"><title> 題\n&amp; 名 </title></head><body><title>no</title><base href="/no/">`;
  expect(readHead(html, url)).toEqual({ title: "題 & 名", base: "https://docs.example/v2/" });
  expect(readHead("<svg><title>no</title></svg>", url)).toEqual({ title: "", base: url });
});
