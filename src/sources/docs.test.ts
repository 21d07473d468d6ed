import * as fs from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareAddresses } from "../lib/address-order.ts";
import { directoryType } from "../resources.ts";
import type { Entry, Part, Source, SourceChange } from "../source.ts";
import { contractContent } from "../testing/contract-content.ts";
import { collectChanges } from "../testing/listen.ts";
import { asking, collect } from "../testing/pages.ts";
import { refusal } from "../testing/refusal.ts";
import { sourceContract } from "../testing/source-contract.ts";
import { useCollection } from "./docs/test-collection.ts";

const collection = useCollection();
const { at, call, git, link, open, write } = collection;

const pathsOf = (entries: readonly { readonly path: string }[]) => entries.map(({ path }) => path);

function list(source: Source): Promise<Entry[]> {
  return collect((cursor) => source.list(asking(1000, cursor), call()));
}

function docsOf({ meta }: Pick<Entry, "meta">): Record<string, unknown> {
  return meta?.["pressmark/docs"] as Record<string, unknown>;
}

async function byPath(source: Source): Promise<Record<string, Entry>> {
  return Object.fromEntries((await list(source)).map((entry) => [entry.path, entry]));
}

async function read(source: Source, address: string, query?: Readonly<Record<string, string>>): Promise<Part> {
  const parts = await source.read(query ? { path: address, query } : { path: address }, call());
  expect(parts).toHaveLength(1);
  return parts[0] as Part;
}

const textOf = ({ body }: Part) => ("text" in body ? body.text : `${body.bytes.length} bytes`);

const template = "{lang}/{+path}{?heading}";

sourceContract("docs", {
  abilities: ["stat", "children", "templates", "complete", "watch"],
  content: { ...contractContent, "names/日本語.md": "English under a Japanese name" },
  async open(content) {
    for (const [path, text] of Object.entries(content)) write(path, text ?? "");
    const source = await open();
    // An entry has a version once its file has been unchanged for some milliseconds.
    for (const path of Object.keys(content))
      while ((await source.stat({ path: `en/${path}` }, call())).version === undefined)
        await new Promise<void>((resolve) => setImmediate(resolve));
    return source;
  },
  pathOf: (path) => `en/${path}`,
  // The language is detected from the text, and the contract knows one language.
  write: (path, text) => write(path, /\p{Script=Han}/u.test(text) ? "English" : text),
  remove: (path) => fs.rmSync(at(path)),
  rename: (from, to) => fs.renameSync(at(from), at(to)),
  expansions: [
    { at: { path: "en/readme.md" }, text: "# Read me\n\nfirst of all\n" },
    { at: { path: "en/readme.md", query: { heading: "read-me" } }, text: "# Read me\n\nfirst of all\n" },
    { at: { path: "en/docs/b.txt", query: { lines: "2-" } }, text: "with a second line" },
  ],
  completions: [
    { template, variable: "lang", value: "", expected: "en" },
    { template, variable: "path", given: { lang: "en" }, value: "", expected: "docs/" },
    { template, variable: "path", given: { lang: "en" }, value: "do", expected: "docs.txt" },
    { template, variable: "path", given: { lang: "en" }, value: "names/日", expected: "names/日本語.md" },
    { template, variable: "heading", value: "re", given: { lang: "en", path: "readme.md" }, expected: "read-me" },
  ],
});

const aTime = "2018-02-03T04:05:06.000Z";
const touch = (path: string) => fs.utimesSync(at(path), new Date(aTime), new Date(aTime));

const japanese = "# 設定\n\nサーバーの設定方法を説明します。\n";
const english = "# Settings\n\nHow the server is set up.\n";

describe("languages", () => {
  it("make two files one document, each at its own address, each with a link to the other", async () => {
    write("guide.md", english);
    write("ja/guide.md", japanese);
    write("api/users.md", english);
    write("api/users.ja.md", japanese);
    const source = await open();
    const entries = await byPath(source);
    expect(Object.keys(entries)).toEqual(["en/api/users.md", "en/guide.md", "ja/api/users.md", "ja/guide.md"]);
    expect(docsOf(entries["en/guide.md"]!)).toMatchObject({
      lang: "en",
      file: "guide.md",
      twins: { ja: "ja/guide.md" },
    });
    expect(docsOf(entries["ja/guide.md"]!)).toMatchObject({
      lang: "ja",
      file: "ja/guide.md",
      twins: { en: "en/guide.md" },
    });
    expect(entries["ja/api/users.md"]).toMatchObject({ name: "users.md", title: "設定" });
    expect(textOf(await read(source, "ja/api/users.md"))).toBe(japanese);
    expect(textOf(await read(source, "en/api/users.md"))).toBe(english);
  });

  it("may pair files of different names through the bar in their first lines", async () => {
    write("setup.md", `English | [日本語](導入手順.md)\n\n${english}`);
    write("導入手順.md", japanese);
    const entries = await byPath(await open());
    expect(docsOf(entries["en/setup.md"]!)["twins"]).toEqual({ ja: "ja/導入手順.md" });
    expect(docsOf(entries["ja/導入手順.md"]!)["twins"]).toEqual({ en: "en/setup.md" });
  });

  it("that a document lacks give not-found, and so does its path without a language", async () => {
    write("guide.md", english);
    const source = await open();
    await list(source);
    for (const path of ["ja/guide.md", "guide.md", "en/ja/guide.md", "fr", "EN/guide.md"])
      await refusal(source.read({ path }, call()), ["not-found"], path);
  });

  it("are those of the text, not of the folder: an untranslated copy keeps its language", async () => {
    write("guide.md", english);
    write("ja/guide.md", english);
    expect(pathsOf(await list(await open()))).toEqual(["en/guide.md", "en/ja/guide.md"]);
  });

  it("can be given by the document itself, and by the configuration if nothing else shows it", async () => {
    write("a.md", `---\nlang: fr\n---\n${english}`);
    write("b.md", "# 1\n");
    expect(pathsOf(await list(await open({ lang: "ja" })))).toEqual(["fr/a.md", "ja/b.md"]);
    expect(pathsOf(await list(await open({ lang: "ja" })))).toEqual(["fr/a.md", "ja/b.md"]);
  });

  it("are directories with a name of their own", async () => {
    write("guide.md", english);
    write("ja/guide.md", japanese);
    const source = await open();
    const { items } = await source.children({ path: "" }, asking(10), call());
    expect(items).toEqual([
      { path: "en", name: "en", title: "English", mimeType: directoryType, children: 1 },
      { path: "ja", name: "ja", title: "日本語", mimeType: directoryType, children: 1 },
    ]);
    await refusal(source.read({ path: "ja" }, call()), ["directory"], "ja");
  });

  it("are detected in old Japanese encodings as well", async () => {
    const { encodeText } = await import("../lib/text-encoding.ts");
    write("a.md", Buffer.from(encodeText(japanese.repeat(5), "shift_jis") as Uint8Array));
    const source = await open();
    expect(pathsOf(await list(source))).toEqual(["ja/a.md"]);
    expect((await read(source, "ja/a.md")).meta).toMatchObject({ "pressmark/encoding": "shift_jis" });
  });
});

describe("the entry of a document", () => {
  it("has its title, its description, its priority, its audience, and the rule that applied", async () => {
    write("AGENTS.md", english);
    touch("AGENTS.md");
    write("plain.md", "no heading here, only words\n");
    write("legacy/x.md", `---\ntitle: An old page\ndescription: 以前の手順\npriority: 0.4\n---\n${english}`);
    write("spec.pdf", "%PDF-1.4\n");
    const source = await open({ git: false });
    const entries = await byPath(source);
    expect(entries["en/AGENTS.md"]).toMatchObject({
      title: "Settings",
      mimeType: "text/markdown",
      size: english.length,
      annotations: {
        priority: 1,
        audience: ["assistant"],
        lastModified: aTime,
      },
    });
    expect(docsOf(entries["en/AGENTS.md"]!)).toEqual({ lang: "en", file: "AGENTS.md", rule: "constitution" });
    expect(entries["en/plain.md"]).toMatchObject({ title: "plain", annotations: { priority: 0.5 } });
    expect(entries["en/legacy/x.md"]).toMatchObject({
      title: "An old page",
      description: "以前の手順",
      annotations: { priority: 0.4, audience: ["user"] },
      meta: { "pressmark/docs": { rule: "archive", overridden: ["priority"] } },
    });
    expect(await source.stat({ path: "en/legacy/x.md" }, call())).toMatchObject({ description: "以前の手順" });
    expect(await source.read({ path: "en/legacy/x.md" }, call())).toMatchObject([
      { meta: { "pressmark/docs": { description: "以前の手順" } } },
    ]);
    expect(entries["en/spec.pdf"]).toMatchObject({
      title: "spec",
      mimeType: "application/pdf",
      annotations: { priority: 0.3, audience: ["user"] },
      meta: { "pressmark/as": ["text"] },
    });
  });

  it("has a lower priority only if the document also exists in the preferred language", async () => {
    write("README.md", english);
    write("README.ja.md", japanese);
    write("alone/README.md", english);
    write("legacy/x.md", english);
    write("legacy/x.ja.md", japanese);
    write("said.md", `---\npriority: 0.9\n---\n${english}`);
    write("said.ja.md", japanese);
    const entries = await byPath(await open({ prefer: "ja" }));
    const priorities = Object.fromEntries(
      Object.values(entries).map((each) => [each.path, each.annotations?.priority]),
    );
    expect(priorities).toEqual({
      "en/README.md": 0.6,
      "ja/README.md": 0.8,
      "en/alone/README.md": 0.8,
      "en/legacy/x.md": 0,
      "ja/legacy/x.md": 0.1,
      "en/said.md": 0.9,
      "ja/said.md": 0.5,
    });
    expect(docsOf(entries["en/README.md"]!)).toMatchObject({ rule: "readme", lowered: 0.2 });
    expect((await byPath(await open()))["en/README.md"]?.annotations?.priority).toBe(0.8);
  });

  it("follows rules of the configuration", async () => {
    write("notes/x.md", english);
    const source = await open({ rules: [{ match: "notes/**", priority: 0.95, audience: ["assistant"] }] });
    expect((await byPath(source))["en/notes/x.md"]).toMatchObject({
      annotations: { priority: 0.95, audience: ["assistant"] },
      meta: { "pressmark/docs": { rule: "notes/**" } },
    });
    await refusal(open({ rules: [{ match: `${"{a,".repeat(30)}b${"}".repeat(30)}` }] }), ["invalid"], "a rule");
  });

  it("has the time of the last commit, once that is known", async () => {
    git(["init", "-q"]);
    write("a.md", english);
    git(["add", "-A"]);
    git(["commit", "-q", "-m", "one"], "2019-05-06T07:08:09Z");
    write("new.md", english);
    touch("a.md");
    touch("new.md");
    const source = await open();
    const timeOf = async (path: string) => (await byPath(source))[path]?.annotations?.lastModified;
    while ((await timeOf("en/a.md")) === aTime) await new Promise<void>((resolve) => setImmediate(resolve));
    expect(await timeOf("en/a.md")).toBe("2019-05-06T07:08:09.000Z");
    expect(await timeOf("en/new.md")).toBe(aTime);
    const without = await byPath(await open({ git: false }));
    expect(without["en/a.md"]?.annotations?.lastModified).toBe(aTime);
  });

  it("is not affected by hostile front matter", async () => {
    write("bomb.md", `---\na: &a [${"x,".repeat(50)}]\ntitle: ${"[".repeat(9000)}\n---\n${english}`);
    write("huge.md", `---\ntitle: x\n${"k: v\n".repeat(20_000)}---\n${english}`);
    const entries = await byPath(await open());
    expect(pathsOf(Object.values(entries))).toEqual(["en/bomb.md", "en/huge.md"]);
    expect(entries["en/bomb.md"]?.title).toBe("Settings");
  });
});

describe("what is served", () => {
  it("are documents: text, Markdown, AsciiDoc, reStructuredText, HTML and PDF, and no code", async () => {
    for (const name of [
      "a.md",
      "b.mdx",
      "c.adoc",
      "d.rst",
      "e.txt",
      "f.html",
      "README",
      "g.ts",
      "h.json",
      "i.log",
      "j.png",
    ])
      write(name, "<p>Words in English</p>");
    write("k.pdf", "%PDF-1.4\n");
    expect(pathsOf(await list(await open()))).toEqual([
      "en/README",
      "en/a.md",
      "en/b.mdx",
      "en/c.adoc",
      "en/d.rst",
      "en/e.txt",
      "en/f.html",
      "en/k.pdf",
    ]);
  });

  it("is nothing that the file source hides", async () => {
    write("a.md", english);
    write(".hidden.md", english);
    write(".git/x.md", english);
    write("node_modules/x/README.md", english);
    write(".gitignore", "secret.md\n");
    write("secret.md", english);
    fs.writeFileSync(`${collection.above}/outside.md`, english);
    link("../outside.md", "link.md");
    link("secret.md", "link2.md");
    const source = await open();
    expect(pathsOf(await list(source))).toEqual(["en/a.md"]);
    for (const path of ["en/.hidden.md", "en/secret.md", "en/link.md", "en/link2.md", "en/../outside.md"])
      await refusal(source.read({ path }, call()), ["not-found"], path);
    expect(pathsOf(await list(await open({ hidden: true })))).toEqual(["en/.hidden.md", "en/a.md"]);
  });

  it("shows the targets of links, as addresses", async () => {
    write("ja/real.md", japanese);
    link("ja/real.md", "link.md");
    const source = await open();
    expect((await byPath(source))["ja/link.md"]).toMatchObject({ reveals: { path: "ja/real.md" } });
    expect((await read(source, "ja/link.md")).reveals).toEqual({ path: "ja/real.md" });
  });

  it("includes a document created after the last check", async () => {
    const source = await open();
    expect(await list(source)).toEqual([]);
    write("a.md", english);
    expect(textOf(await read(source, "en/a.md"))).toBe(english);
    write("a.md", japanese);
    await refusal(source.read({ path: "en/a.md" }, call()), ["not-found"], "en/a.md");
    expect(textOf(await read(source, "ja/a.md"))).toBe(japanese);
    fs.rmSync(at("a.md"));
    await refusal(source.stat({ path: "ja/a.md" }, call()), ["not-found"], "ja/a.md");
  });

  it("can be read, for any folder", async () => {
    const name = fc.constantFrom("ja", "en", "x", "a b", "設定", "x.ja", "zh-CN", "é");
    const text = fc.constantFrom(
      "",
      english,
      japanese,
      "---\nlang: ko\n---\n",
      "中文文档说明".repeat(20),
      "English | [日本語](x.md)\n",
    );
    const file = fc.tuple(
      fc.array(name, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(".md", ".ja.md", "_en.txt"),
      text,
    );
    await fc.assert(
      fc.asyncProperty(fc.array(file, { maxLength: 8 }), async (files) => {
        fs.rmSync(collection.root, { recursive: true });
        fs.mkdirSync(collection.root);
        for (const [names, ending, content] of files) write(`${names.join("/")}${ending}`, content);
        const source = await open({ git: false });
        const entries = await list(source);
        expect(entries).toHaveLength(new Set(files.map(([names, ending]) => `${names.join("/")}${ending}`)).size);
        expect(pathsOf(entries)).toEqual(pathsOf(entries).toSorted(compareAddresses));
        for (const entry of entries) {
          expect(textOf(await read(source, entry.path))).toBe(
            fs.readFileSync(at(String(docsOf(entry)["file"])), "utf8"),
          );
          expect(await source.stat({ path: entry.path }, call())).toMatchObject({
            path: entry.path,
            title: entry.title,
          });
        }
        await source.close();
      }),
      { numRuns: 15 },
    );
  });
});

describe("headings", () => {
  const text =
    "---\ntitle: 手引き\n---\n# はじめに\n\n本文です。\n\n## 設定（任意）\n\n詳細です。\n\n## 設定（任意）\n\n二つ目です。\n\n# おわり\n";

  it("are listed when a document is read, and each gives its section", async () => {
    write("guide.md", text);
    const source = await open();
    const whole = await read(source, "ja/guide.md");
    expect(textOf(whole)).toBe(text);
    expect(whole.meta).toMatchObject({
      "pressmark/docs": { lang: "ja" },
      "pressmark/outline": [
        { slug: "はじめに", title: "はじめに", level: 1, line: 4 },
        { slug: "設定任意", title: "設定（任意）", level: 2, line: 8 },
        { slug: "設定任意-1", title: "設定（任意）", level: 2, line: 12 },
        { slug: "おわり", title: "おわり", level: 1, line: 16 },
      ],
    });
    const section = await read(source, "ja/guide.md", { heading: "設定任意-1" });
    expect(textOf(section)).toBe("## 設定（任意）\n\n二つ目です。\n\n");
    expect(section).toMatchObject({ mimeType: "text/markdown", meta: { "pressmark/range": { lines: [12, 15] } } });
    expect(await source.stat({ path: "ja/guide.md", query: { heading: "おわり" } }, call())).toMatchObject({
      path: "ja/guide.md",
      query: { heading: "おわり" },
      title: "おわり",
    });
    for (const query of [{ heading: "nowhere" }, { heading: "" }, { other: "x" }] as Record<string, string>[])
      await refusal(source.read({ path: "ja/guide.md", query }, call()), ["not-found"], JSON.stringify(query));
    await refusal(
      source.read({ path: "ja/guide.md", query: { heading: "x", lines: "1-2" } }, call()),
      ["invalid"],
      "both",
    );
    await refusal(source.read({ path: "ja", query: { heading: "x" } }, call()), ["not-found"], "a directory");
  });

  it("of a web page are those of its text", async () => {
    write("page.html", "<html><body><h1>First</h1><p>one</p><h2>Second part</h2><p>two</p></body></html>");
    const source = await open();
    expect(textOf(await read(source, "en/page.html", { heading: "second-part" })).trim()).toBe("## Second part\n\ntwo");
    expect((await read(source, "en/page.html", { as: "text" })).meta).toHaveProperty("pressmark/outline");
  });

  it("are completed after language and path", async () => {
    write("guide.md", text);
    write("en/guide.md", english);
    write("en/only.md", english);
    const source = await open();
    const complete = async (variable: string, value: string, given: Readonly<Record<string, string>>) =>
      (await source.complete({ template: source.templates[0]!, variable, value, given }, call())).map(
        (each) => each.value,
      );
    expect(await complete("heading", "設", { lang: "ja", path: "guide.md" })).toEqual(["設定任意", "設定任意-1"]);
    expect(await complete("heading", "", { lang: "ja", path: "nowhere.md" })).toEqual([]);
    expect(await complete("heading", "", { path: "guide.md" })).toEqual([]);
    expect(await complete("lang", "", {})).toEqual(["en", "ja"]);
    expect(await complete("lang", "", { path: "only.md" })).toEqual(["en"]);
    expect(await complete("path", "", { lang: "ja" })).toEqual(["guide.md"]);
    expect(await complete("path", "ON", {})).toEqual(["only.md"]);
    expect(await complete("as", "t", {})).toEqual(["text"]);
  });
});

describe("what is too large", () => {
  it("names ranges that can be read, with addresses of this source", async () => {
    write("big.md", `${english}\n${"words ".repeat(1000)}`);
    const source = await open({ maxBytes: 1000 });
    const error = await refusal(source.read({ path: "en/big.md" }, call()), ["too-large"], "big.md");
    expect(error.message).toContain('"en/big.md"');
    expect(error.details).toMatchObject({ template: "{lang}/{+path}{?lines,bytes,as}", next: "lines=1-1000" });
    expect(textOf(await read(source, "en/big.md", { lines: "1-1" }))).toBe("# Settings\n");
    write("大.md", japanese.repeat(30));
    expect(pathsOf(await list(source)), "its language is detected from its beginning").toEqual([
      "en/big.md",
      "ja/大.md",
    ]);
  });
});

describe("changes", () => {
  it("of a file are reported at its address, and a file whose language changes moves", async () => {
    write("guide.md", english);
    write("ja/guide.md", japanese);
    const source = await open();
    const heard = collectChanges(await source.watch(call()));
    const until = (kind: SourceChange["kind"], path: string) =>
      heard.until((change) => change.kind === kind && "path" in change && change.path === path, `${kind} ${path}`);
    write("guide.md", `${english}More.\n`);
    await until("changed", "en/guide.md");
    write("guide.md", "이 페이지에서는 서버를 설정하는 방법을 설명합니다.");
    await until("gone", "en/guide.md");
    await until("gone", "en");
    await until("appeared", "ko");
    await until("appeared", "ko/guide.md");
    fs.renameSync(at("ja"), at("old"));
    await until("gone", "ja/guide.md");
    await until("appeared", "ja/old/guide.md");
    expect(heard.heard.some(({ kind }) => kind === "lost")).toBe(false);
  });

  it("of other files are not reported", async () => {
    write("a.md", english);
    const source = await open();
    const heard = collectChanges(await source.watch(call()));
    write("code.ts", "export {};");
    write("b.md", english);
    await heard.until((change) => change.kind === "appeared" && change.path === "en/b.md", "b.md");
    expect(heard.heard).toEqual([{ kind: "appeared", path: "en/b.md" }]);
  });
});

describe("problems", () => {
  it("are broken links, with file and line", async () => {
    write(
      "a.md",
      "# A\n\n[ok](b.md#設定) [gone](gone.md)\n[ok](img.png) [bad](b.md#nowhere) [self](#a) [out](../x.md)\n`[no](no.md)`\n",
    );
    write(
      "b.md",
      '# 設定\n\n設定です。<a id="custom"></a>[there](a.md#A) [id](#custom) [folder](deep) [page](deep/c)\n',
    );
    write("deep/c.md", "[up](../a.md) [lost](../%E7%84%A1.md)\n");
    write("img.png", "x");
    const source = await open();
    expect(await source.problems(call())).toEqual([
      { path: "a.md", line: 3, says: 'links to "gone.md", which does not exist or is not served' },
      { path: "a.md", line: 4, says: 'links to "b.md#nowhere", but no heading there has that name' },
      { path: "deep/c.md", line: 1, says: 'links to "../%E7%84%A1.md", which does not exist or is not served' },
    ]);
  });

  it("are missing translations, if there are any translations", async () => {
    write("guide.md", english);
    write("ja/guide.md", japanese);
    write("ja/alone.md", japanese);
    write("ja/untranslated.md", english);
    write("only-english.md", english);
    expect(await (await open()).problems(call())).toEqual([
      { path: "ja/untranslated.md", line: 1, says: 'is marked as "ja" but written in "en"' },
      { path: "ja/alone.md", line: 1, says: 'is marked as "ja" but has no counterpart in another language' },
    ]);
    fs.rmSync(at("guide.md"));
    fs.rmSync(at("ja/untranslated.md"));
    expect(await (await open()).problems(call())).toEqual([]);
  });
});

it("no longer finds a directory after another instance has reported that its last document is gone", async () => {
  write("guide/one.md", english);
  write("two.md", english);
  const source = await open();
  await source.stat({ path: "en/guide" }, call());
  fs.rmSync(at("guide/one.md"));
  await source.noteChanges([{ kind: "gone", path: "en/guide/one.md" }], call());
  await refusal(source.stat({ path: "en/guide" }, call()), ["not-found"], "the directory of a removed document");
});
