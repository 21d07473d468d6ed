import { describe, expect, it } from "vitest";
import { parseDocumentFrontMatter } from "./front-matter.ts";

const yaml = (text: string) => parseDocumentFrontMatter(`---\n${text}\n---\n# Title\n`, "markdown");

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
  });
});
