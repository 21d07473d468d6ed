import { describe, expect, it } from "vitest";
import { parseDocumentFrontMatter } from "./front-matter.ts";

const yaml = (text: string) => parseDocumentFrontMatter(`---\n${text}\n---\n# Title\n`, "markdown");
const toml = (text: string) => parseDocumentFrontMatter(`+++\n${text}\n+++\n# Title\n`, "markdown");

describe("front matter", () => {
  it("gives title, language, priority and audience", async () => {
    expect(await yaml("title: 設定\nlang: ja\npriority: 0.9\naudience: [assistant, user]\nother: 1")).toEqual({
      title: "設定",
      lang: "ja",
      priority: 0.9,
      audience: ["user", "assistant"],
    });
    expect(await yaml('title: "a: b"\nlanguage: zh_cn\naudience: user\npriority: 0')).toEqual({
      title: "a: b",
      lang: "zh-CN",
      audience: ["user"],
      priority: 0,
    });
    expect(await parseDocumentFrontMatter("---\r\nlang: ja\r\n---\r\n", "markdown")).toEqual({ lang: "ja" });
  });

  it("gives a description on one line, however it is written", async () => {
    const text = "サーバーの設定方法を説明します。";
    for (const written of [
      text,
      `"${text}"`,
      `'${text}' # comment`,
      `>-\n  サーバーの設定方法を\n  説明します。`.replace("を\n  ", "を"),
      `|\n  ${text}\n`,
    ])
      expect(await yaml(`title: x\ndescription: ${written}\nother: y`)).toEqual({ title: "x", description: text });
    expect(await yaml('"description": "two\n  lines: here"\r\nlang: en')).toEqual({
      description: "two lines: here",
      lang: "en",
    });
    expect(await yaml("description: 2024")).toEqual({ description: "2024" });
  });

  it("gives a long description cut, without losing the other fields", async () => {
    for (const quote of ["", '"', "'"]) {
      const { description, title } = await yaml(`description: ${quote}${"説明🙂".repeat(2000)}${quote}\ntitle: x`);
      expect(title).toBe("x");
      expect(description).toMatch(/^(?:説明🙂)+(?:説明?)?…$/u);
      expect(description?.length).toBeLessThanOrEqual(501);
    }
  });

  it("gives no description that is not text, hides text, or turns it around", async () => {
    expect(await yaml("description: {a: 1}")).toEqual({});
    expect(await yaml("description: [a, b]")).toEqual({});
    expect(await yaml("description: *a")).toEqual({});
    expect(await yaml(`title: x\ndescription: ${"[".repeat(15_000)}`)).toEqual({ title: "x" });
    expect(await yaml('description: "a\\u202eb\\u0007c\u{e0041}d"')).toEqual({ description: "ab cd" });
  });

  it("may be TOML", async () => {
    expect(
      await toml(
        `date = 2024-01-01\ntitle = "設定 \\"A\\"" # comment\ndescription = 'C:\\path'\npriority = 0.9\naudience = ["user"]`,
      ),
    ).toEqual({ title: '設定 "A"', description: "C:\\path", priority: 0.9, audience: ["user"] });
    expect(await toml(`lang = "ja"\n[params]\ntitle = "not the page's"`)).toEqual({ lang: "ja" });
    expect(await toml('title = "never closed\npriority = high')).toEqual({});
  });

  it("that is invalid is ignored", async () => {
    expect(await yaml("title: {a: 1}\nlang: ../etc\npriority: 7\naudience: everyone")).toEqual({});
    expect(await yaml("priority: high\nlang: 5\ntitle: '  '\naudience: []")).toEqual({});
    expect(await yaml("title: [")).toEqual({});
    expect(await yaml("- title: x")).toEqual({});
    expect(await parseDocumentFrontMatter("---\ntitle: never closed\n", "markdown")).toEqual({});
    expect(await parseDocumentFrontMatter("text\n---\ntitle: x\n---\n", "markdown")).toEqual({});
  });

  it("that is hostile is ignored quickly", async () => {
    const lines = ["a: &a [x,x,x,x,x,x,x,x,x]"];
    for (let index = 0; index < 20; index += 1) {
      const [one, two] = ["abcdefghijklmnopqrstuvwxyz"[index], "abcdefghijklmnopqrstuvwxyz"[index + 1]];
      lines.push(`${two}: &${two} [${Array(9).fill(`*${one}`).join(",")}]`);
    }
    expect(await yaml(`${lines.join("\n")}\ntitle: *u\naudience: *a`)).toEqual({});
    expect(await yaml(`title: ${"[".repeat(15_000)}`)).toEqual({});
    expect(await yaml(`title: ${"{a: ".repeat(4000)}`)).toEqual({});
    expect(await yaml(`title: x\n${"- k\n".repeat(50_000)}`), "too long").toEqual({});
    expect(await yaml(`title: x\n${"k: v\n".repeat(50_000)}`), "other fields").toEqual({ title: "x" });
    expect(await yaml(`title: ${"x".repeat(1000)}`)).toEqual({ title: `${"x".repeat(200)}…` });
    expect(await yaml("title: |\n  two\n  lines\u001b[31m\n")).toEqual({ title: "two lines [31m" });
    expect(await yaml("__proto__: {title: x}\nconstructor: {lang: ja}\ntitle: own")).toEqual({ title: "own" });
  });

  it("is read from the fields of other formats", async () => {
    expect(
      await parseDocumentFrontMatter("= Title\n:lang: ja\n:priority: 0.4\n:audience: user, assistant\n", "asciidoc"),
    ).toEqual({
      lang: "ja",
      priority: 0.4,
      audience: ["user", "assistant"],
    });
    expect(await parseDocumentFrontMatter(":lang: ko\n\nTitle\n=====\n", "rst")).toEqual({ lang: "ko" });
    expect(
      await parseDocumentFrontMatter('<!doctype html><html class="x" lang="ja-JP"><title>A &amp;\n B</title>', "html"),
    ).toEqual({
      title: "A & B",
      lang: "ja-JP",
    });
    expect(await parseDocumentFrontMatter(":lang: ja\n", "text")).toEqual({});
    expect(
      await parseDocumentFrontMatter("= 設定\n:description: サーバーの設定。 \\\n 二行目。\n:toc:\n", "asciidoc"),
    ).toEqual({ description: "サーバーの設定。 二行目。" });
    for (const rest of [":description: How to set up", ".. meta::\n   :description: How to set up\n   :keywords: x"])
      expect(await parseDocumentFrontMatter(`${rest}\n\nTitle\n=====\n`, "rst")).toEqual({
        description: "How to set up",
      });
    for (const html of [
      '<meta charset="utf-8"><meta name="description" content="A &amp; B: it\'s here">',
      '<META content="A &amp; B: it\'s here" NAME=description>',
    ])
      expect(await parseDocumentFrontMatter(`<html><head>${html}</head>`, "html")).toEqual({
        description: "A & B: it's here",
      });
  });
});
