import { describe, expect, it } from "vitest";
import { grammars, grammarOf } from "./grammars.ts";
import { colourBlock, highlightedLines, type HighlightRun } from "./highlight.ts";

/** All blocks of a text. */
function runsOf(text: string, type: string, nowMs?: () => number): readonly HighlightRun[] | undefined {
  const runs: HighlightRun[] = [];
  let from = 0;
  do {
    const block = colourBlock(text, from, type, nowMs);
    if (!block) return undefined;
    runs.push(...block.runs);
    from = block.to;
  } while (from < text.length);
  return runs;
}

/** However slow the machine is: what is highlighted depends on time. */
const told = (text: string, type: string) =>
  runsOf(text, type, () => 0)
    ?.filter(({ kind }) => kind !== undefined)
    .map(({ text: piece, kind }) => `${kind}:${piece}`);

describe("code", () => {
  it.each([
    ["text/typescript", 'const a = "x"; // b', ["keyword:const", 'string:"x"', "comment:// b"]],
    ["text/x-python", "def f():\n  return 1", ["keyword:def", "title:f", "keyword:return", "number:1"]],
    ["application/sql", "SELECT 1", ["keyword:SELECT", "number:1"]],
    ["sh", 'echo "$A"', ["type:echo", 'string:"', "variable:$A", 'string:"']],
    ["application/atom+xml", "<a b='c'/>", ["keyword:<a ", "variable:b", "keyword:=", "string:'c'", "keyword:/>"]],
  ])("of %s is highlighted", (type, text, expected) => {
    expect(told(text, type)).toEqual(expected);
  });

  it("in an unknown language is not highlighted", () => {
    expect(["text/x-unheard-of", "constructor", "__proto__", ""].map((said) => runsOf("x", said))).toEqual(
      Array(4).fill(undefined),
    );
  });

  it("is complete, in every language, whatever the text", () => {
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
        expect(highlightedLines(runs).map((line) => line.map((run) => run.text).join(""))).toEqual(
          text.match(/[^\n]*\n|[^\n]+$/g) ?? [],
        );
      }
  });

  it("of many blocks is highlighted as one, also within a long comment", () => {
    const line = 'const name = "value"; // remark\n';
    const comment = `/*\n${"quoted \" and 'again\n".repeat(1500)}*/\n`;
    for (const text of [line.repeat(2000), comment + line, line.repeat(400) + comment + line.repeat(400)]) {
      const comments = told(text, "ts")?.filter((run) => run.startsWith("comment:")) ?? [];
      const strings = told(text, "ts")?.filter((run) => run.startsWith("string:")) ?? [];
      expect([...new Set(strings)]).toEqual(['string:"value"']);
      expect(comments.join("").match(/remark/g)).toHaveLength(strings.length);
    }
  });

  it("that takes long is highlighted as far as time allows, and the rest is complete", () => {
    for (const line of ["a_".repeat(10_000), "a_".repeat(499), "\n".repeat(5000)]) {
      const text = `const a = 1;\n${`${line}\n`.repeat(20)}const b = 2;\n`;
      expect(
        runsOf(text, "ts")
          ?.map((run) => run.text)
          .join(""),
      ).toBe(text);
    }
  });

  it("is recognised by the names in MIME types and fences", () => {
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
      ].map(grammarOf),
    ).toEqual(["rust", "rust", "yaml", "xml", "xml", "bash", "typescript", "cpp"]);
  });
});
