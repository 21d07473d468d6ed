import { describe, expect, it } from "vitest";
import { grammars, languageOf } from "./grammars.ts";
import { linesOf, runsOf } from "./highlight.ts";

const told = (text: string, type: string) =>
  runsOf(text, type)
    ?.filter(({ kind }) => kind !== undefined)
    .map(({ text: piece, kind }) => `${kind}:${piece}`);

describe("code", () => {
  it.each([
    ["text/typescript", 'const a = "x"; // b', ["keyword:const", 'string:"x"', "comment:// b"]],
    ["text/x-python", "def f():\n  return 1", ["keyword:def", "title:f", "keyword:return", "number:1"]],
    ["application/sql", "SELECT 1", ["keyword:SELECT", "number:1"]],
    ["sh", 'echo "$A"', ["type:echo", 'string:"', "variable:$A", 'string:"']],
    ["application/atom+xml", "<a b='c'/>", ["keyword:<a ", "variable:b", "keyword:=", "string:'c'", "keyword:/>"]],
  ])("of %s is told apart", (type, text, expected) => {
    expect(told(text, type)).toEqual(expected);
  });

  it("in a language that is not known is not told apart", () => {
    expect(["text/x-unheard-of", "constructor", "__proto__", ""].map((said) => runsOf("x", said))).toEqual(
      Array(4).fill(undefined),
    );
  });

  it("is all there, in every language, whatever the text is", () => {
    const texts = [
      "",
      "<script>alert(1)</script>",
      "\u0000\uD800\uFEFF\r\n\t",
      "'\"`/*<!--{{%}}",
      "日本語\n".repeat(50),
    ];
    for (const language of Object.keys(grammars))
      for (const text of texts) {
        const runs = runsOf(text, language) ?? [];
        expect(runs.map((run) => run.text).join(""), language).toBe(text);
        expect(linesOf(runs).map((line) => line.map((run) => run.text).join(""))).toEqual(
          text.match(/[^\n]*\n|[^\n]+$/g) ?? [],
        );
      }
  });

  it("is known by the names that MIME types and fences have for it", () => {
    expect(
      [
        "text/x-rust",
        "rs",
        "application/yaml",
        "text/html",
        "image/svg+xml",
        "application/x-sh",
        "TS",
        "text/x-c++",
      ].map(languageOf),
    ).toEqual(["rust", "rust", "yaml", "xml", "xml", "bash", "typescript", "cpp"]);
  });
});
