import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { textFormatOf, isGarbled, textLanguageOf, type TextFormat } from "./format.ts";
import { passagesOf } from "./passages.ts";
import { trouble } from "./test-texts.ts";

const long = "This sentence is here so that the passage has some weight of its own, and a little more. ";
const shown = (text: string, format: TextFormat) =>
  passagesOf(text, format).map(({ from, to, lines, heading }) => [
    lines.join("-"),
    heading,
    text.slice(from, to).split("\n", 1)[0]!.trim(),
  ]);

describe("documents are cut at their headings", () => {
  it("of Markdown", () => {
    const text = `---\ntitle: x\n---\n\n# Top\n\n${long}\n\n## First\n\n${long}\n\n\`\`\`sh\n# no heading\n\`\`\`\n\nSecond\n------\n\n${long}\n`;
    expect(shown(text, "markdown")).toEqual([
      ["1-7", "Top", "---"],
      ["9-15", "Top > First", "## First"],
      ["17-20", "Top > Second", "Second"],
    ]);
  });
  it("of AsciiDoc", () => {
    const text = `= Top\n\n${long}\n\n== First\n\n----\n== no heading\n----\n${long}\n`;
    expect(shown(text, "asciidoc")).toEqual([
      ["1-3", "Top", "= Top"],
      ["5-10", "Top > First", "== First"],
    ]);
  });
  it("of reStructuredText", () => {
    const text = `===\nTop\n===\n\n${long}\n\nFirst\n-----\n\n${long}\n\nSecond\n------\n\n${long}\n`;
    expect(shown(text, "rst").map(([lines, heading]) => [lines, heading])).toEqual([
      ["1-5", "Top"],
      ["7-10", "Top > First"],
      ["12-15", "Top > Second"],
    ]);
  });
});

describe("code is cut at its definitions", () => {
  it("with the comments above them", () => {
    const body = `  return ${"value + ".repeat(12)}1;\n`;
    const text = `import x from "x";\n${"import y from 'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy';\n".repeat(2)}\n/**\n * Adds.\n */\nexport function add(value: number) {\n${body}}\n\nclass Box {\n  // Opens it.\n  open(value: number) {\n${body}  }\n}\n`;
    expect(shown(text, "braces")).toEqual([
      ["1-3", "", 'import x from "x";'],
      ["5-10", "add", "/**"],
      ["12-17", "Box > open", "class Box {"],
    ]);
  });
  it("of Python", () => {
    const text = `@cached\ndef first():\n    """${long}"""\n    return 1\n\nclass Second:\n    def third(self):\n        """${long}"""\n`;
    expect(shown(text, "indents")).toEqual([
      ["1-4", "first", "@cached"],
      ["6-8", "Second > third", "class Second:"],
    ]);
  });
});

describe("a function that fits is in one passage", () => {
  const statement = `    this.total += ${"value + ".repeat(10)}1;\n`;
  const method = (name: string, statements: number) =>
    `  // ${name} 処理\n  ${name}(value: number): void {\n${`${statement}\n`.repeat(statements)}  }\n`;

  it("with blank lines, comment and functions within it, and knows its class", () => {
    const text = `class Box {\n${method("open", 12)}\n${method("close", 12)}}\n\n${"const x = 1;\n".repeat(10)}`;
    const [first, second] = passagesOf(text, "script");
    expect(text.slice(first!.from, first!.to)).toBe(`class Box {\n${method("open", 12)}`.trimEnd());
    expect(second).toMatchObject({
      heading: "Box > close",
      defines: ["close"],
      within: [{ line: 1, from: 0, to: 11 }],
    });
    expect(text.slice(second!.from, second!.to)).toMatch(/^\/\/ close 処理[^]*\n {2}\}\n\}$/);
  });

  it("a longer one is cut between its paragraphs, each piece with its name", () => {
    const text = `class Box {\n${method("open", 40)}}\n`;
    const passages = passagesOf(text, "script");
    expect(passages.length).toBeGreaterThan(2);
    for (const { heading } of passages) expect(heading).toBe("Box > open");
    expect(passages[1]!.within.map(({ line }) => line)).toEqual([1, 3]);
    for (const { from, to } of passages.slice(1))
      expect(text.slice(from, to)).toMatch(/^this\.total[^]*;\s*(?:\}\s*)*$/);
  });

  it("small ones share a passage, which knows all of them", () => {
    const text = "class A {\n  b() {}\n  c() {}\n}\nfunction d() {}\nconst e = 1;\n";
    expect(passagesOf(text, "script")).toMatchObject([
      { heading: "A > b, c, d, e", defines: ["A", "b", "c", "d", "e"] },
    ]);
  });

  it("also with a brace on the next line, a type on the line before, and labels", () => {
    const body = "  call(one, two, three, four, five, six, seven, eight, nine, ten);\n\n".repeat(16);
    const text = `/* Opens. */\nstatic int\nopen_it(int a)\n{\n${body}out:\n#ifdef X\n  stop();\n#endif\n}\n\nint\nclose_it(int a)\n{\n${body}}\n`;
    const passages = passagesOf(text, "c");
    expect(passages.map(({ heading, lines }) => [heading, ...lines])).toEqual([
      ["open_it", 1, 41],
      ["close_it", 43, 78],
    ]);
  });
});

describe("other text is cut between paragraphs", () => {
  it("that are long enough together", () => {
    const paragraph = `${long.repeat(4)}\n\n`;
    expect(shown(paragraph.repeat(6), "plain").map(([lines]) => lines)).toEqual(["1-5", "7-11"]);
  });
  it("or within them, after a sentence", () => {
    const text = `${"これは長い段落の中にある一つの文です。".repeat(100)}終わり`;
    const passages = passagesOf(text, "plain");
    expect(passages.length).toBeGreaterThan(2);
    for (const { from, to } of passages.slice(0, -1)) expect(text.slice(from, to)).toMatch(/。$/u);
  });
  it("and a remaining line stays with what is above it", () => {
    expect(shown(`${`${long}\n`.repeat(17)}last\n`, "plain")).toHaveLength(1);
  });
});

describe("keys are the headings of YAML, TOML and JSON", () => {
  it("the outermost ones, in the passage where they begin", () => {
    const text = `services:\n  web:\n    image: ${long}\nvolumes: {}\n${"\n  inner: 1".repeat(400)}\n\n設定: 3\n設定: 4\n`;
    const passages = passagesOf(text, "keys");
    expect(passages.map(({ heading }) => heading)).toEqual(["services, volumes", "", "設定"]);
    const withoutHeading = passages.map((passage) => ({ ...passage, heading: "", defines: [] }));
    expect(withoutHeading).toEqual(passagesOf(text, "plain"));
  });
  it("not more than fit in a heading", () => {
    const text = Array.from({ length: 20_000 }, (_, at) => `key${at}: 1\n${"k".repeat(at % 500)}: 2\n`).join("");
    for (const { heading } of passagesOf(text, "keys")) expect(heading.length).toBeLessThan(600);
  });
});

it("a text without content has one empty passage", () => {
  for (const text of ["", " \r\n\t\n"])
    expect(passagesOf(text, "plain")).toEqual([
      { from: 0, to: 0, lines: [1, 1], heading: "", defines: [], within: [] },
    ]);
});

it("passages are in order and hold all non-space text, with their lines, whatever the text", () => {
  const formats = fc.constantFrom<TextFormat>(
    "markdown",
    "asciidoc",
    "rst",
    "braces",
    "indents",
    "statements",
    "keys",
    "plain",
  );
  const piece = fc.oneof(
    trouble,
    fc.constantFrom(
      "\n\n",
      "\r\n",
      "# A\n",
      "A\n===\n",
      "```\n",
      "// said\n",
      "function f() {\n",
      "def g():\n",
      long.repeat(20),
      "字".repeat(700),
      "👩‍💻".repeat(400),
    ),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), formats, (pieces, format) => {
      const text = pieces.join("");
      let before = 0;
      for (const { from, to, lines } of passagesOf(text, format)) {
        expect(text.slice(before, from)).toMatch(/^[\s\ufeff]*$/u);
        expect(lines).toEqual([countLines(text, from), countLines(text, Math.max(from, to - 1))]);
        expect(to - from).toBeLessThan(2000);
        for (const edge of [from, to]) {
          expect(text.slice(edge - 1, edge + 1)).not.toBe("\r\n");
          expect(text.slice(Math.max(0, edge - 1), edge + 1)).not.toMatch(/^[\ud800-\udbff][\udc00-\udfff]$/);
        }
        before = to;
      }
      expect(text.slice(before)).toMatch(/^[\s\ufeff]*$/u);
    }),
    { numRuns: 200 },
  );
});

function countLines(text: string, until: number): number {
  return text.slice(0, until).split("\n").length;
}

it("a text of ten megabytes in one line is cut into many", () => {
  expect(passagesOf("x".repeat(10_000_000), "markdown").length).toBeGreaterThan(5000);
  expect(passagesOf("{a(b);}".repeat(1_400_000), "braces").length).toBeGreaterThan(5000);
});

describe("format and language", () => {
  it.each([
    ["a/README.md", undefined, "markdown"],
    ["a/x.TS", undefined, "script"],
    ["x.py", undefined, "python"],
    ["Dockerfile", undefined, "statements"],
    ["notes", "text/markdown; charset=utf-8", "markdown"],
    ["notes.txt", "text/plain", "plain"],
  ] as const)("%s %s", (path, type, expected) => expect(textFormatOf(path, type)).toBe(expected));

  it.each([
    ["これは日本語の文章です。設定を変更してください。", "plain", "ja"],
    ["这是一个中文句子，请更改设置。", "plain", "zh"],
    ["이것은 한국어 문장입니다.", "plain", "ko"],
    ["This is a sentence that is written in English, and the words of it are common.", "plain", "en"],
    ["Das ist ein Satz, und die Wörter sind deutsch.", "plain", ""],
    ["const x = 1;", "braces", "code"],
    ["12345", "plain", ""],
    ["", "plain", ""],
  ] as const)("%s is written in its language", (text, format, expected) =>
    expect(textLanguageOf(text, format)).toBe(expected),
  );

  it("binary data is not text", () => {
    const bytes = Buffer.from(Array.from({ length: 4000 }, (_, at) => (at * 7919) % 256)).toString("latin1");
    expect(isGarbled(bytes)).toBe(true);
    expect(isGarbled("\ufffd".repeat(20) + "abc")).toBe(true);
    expect(isGarbled("a text with one \u0000 in it, and \u001b[31mcolour\u001b[0m")).toBe(false);
  });
});
