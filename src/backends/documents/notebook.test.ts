import { describe, expect, it } from "vitest";
import { notebookType } from "../../lib/mime.ts";
import { documentText } from "./document-text.ts";
import { notebookToMarkdown } from "./notebook.ts";
import { notebookHead } from "./notebook-head.ts";

const python = { kernelspec: { name: "python3", language: "python" } };

function text(cells: unknown, metadata: unknown = python): string {
  return notebookToMarkdown(Buffer.from(JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata, cells })));
}

const code = (source: unknown, ...outputs: readonly object[]) => ({ cell_type: "code", source, outputs });
const stream = (said: unknown, name = "stdout") => ({ output_type: "stream", name, text: said });
const display = (data: object) => ({ output_type: "display_data", data });

describe("a notebook", () => {
  it("is its cells in order, with the text of their outputs", async () => {
    const notebook = {
      nbformat: 4,
      metadata: { language_info: { name: "Python" } },
      cells: [
        { cell_type: "markdown", source: ["# 売上の分析\n", "\n", "四半期ごとに集計する。"] },
        code(["import pandas as pd\n", "df.head()"], {
          output_type: "execute_result",
          data: { "text/plain": ["   月  売上\n", "0  1   10"], "text/html": "<table><tr><td>10</td></tr></table>" },
        }),
        code("plot()", display({ "text/plain": "<Figure size 640x480>", "image/png": "iVBORw0KGgo" })),
        code("print(1)", stream("1\n"), stream(["2\n", "3\n"]), stream("warning\n", "stderr")),
        { cell_type: "raw", source: "raw text" },
        code("", stream("")),
      ],
    };
    const bytes = Buffer.from(`\ufeff${JSON.stringify(notebook)}`);
    expect(await documentText(bytes, notebookType)).toEqual({
      mimeType: "text/markdown",
      text: `# 売上の分析

四半期ごとに集計する。

\`\`\`python
import pandas as pd
df.head()
\`\`\`

\`\`\`output
   月  売上
0  1   10
\`\`\`

\`\`\`python
plot()
\`\`\`

\`\`\`output
<Figure size 640x480>
\`\`\`

[image/png left out]

\`\`\`python
print(1)
\`\`\`

\`\`\`output
1
2
3
\`\`\`

\`\`\`output
warning
\`\`\`

\`\`\`
raw text
\`\`\`
`,
    });
  });

  it("of format 3 has worksheets, headings, and forms of outputs under short names", () => {
    const cells = [
      { cell_type: "heading", level: 2, source: ["Old\n", "title"] },
      {
        cell_type: "code",
        language: "python",
        input: ["1+1"],
        outputs: [
          { output_type: "pyout", prompt_number: 1, text: ["2"], png: "iVBORw0KGgo" },
          { output_type: "stream", stream: "stdout", text: "said" },
          { output_type: "pyerr", ename: "E", evalue: "why", traceback: [] },
        ],
      },
    ];
    const bytes = Buffer.from(JSON.stringify({ nbformat: 3, metadata: { name: "" }, worksheets: [{ cells }] }));
    expect(notebookToMarkdown(bytes)).toBe(
      "## Old title\n\n```python\n1+1\n```\n\n```output\n2\n```\n\n[image/png left out]\n\n```output\nsaid\n```\n\n```output\nE: why\n```\n",
    );
  });

  it("shows errors without colours, and the last state of a progress bar", () => {
    const traceback = [
      "\u001b[0;31m----\u001b[0m",
      "\u001b[1;32m<ipython>\u001b[0m in \u001b[0;36mf\u001b[0m()",
      "値エラー",
    ];
    expect(text([code("f()", { output_type: "error", ename: "E", evalue: "v", traceback })])).toContain(
      "```output\n----\n<ipython> in f()\n値エラー\n```",
    );
    expect(text([code("bar()", stream("10%\r50%\r100%\r\ndone\r\n\r1/2\r2/2\r"))])).toContain(
      "```output\n100%\ndone\n2/2\n```",
    );
  });

  it("prefers Markdown, and uses HTML and LaTeX where there is no other text", () => {
    expect(text([code("a", display({ "text/plain": "p", "text/markdown": ["**太字**\n", "次"] }))])).toContain(
      "\n\n**太字**\n次\n",
    );
    expect(text([code("a", display({ "text/html": "<p>見出し <b>B</b></p>" }))])).toContain("見出し B");
    expect(text([code("a", display({ "text/latex": "$x$", "application/x": {} }))])).toMatch(/\n\n\$x\$\n$/);
    expect(text([code("a", display({ "application/vnd.plotly.v1+json": { data: [] } }))])).toContain(
      "[application/vnd.plotly.v1+json left out]",
    );
  });

  it("leaves out the middle of a long output, and pictures inside of Markdown", () => {
    const long = text([code("a", stream(`first\n${"あ".repeat(50_000)}\nlast\n`))]);
    expect(long.length).toBeLessThan(9000);
    expect(long).toMatch(/first\n[^]*\n\[42012 characters left out\]\n[^]*last\n/);
    const picture = `![図](data:image/png;base64,${"A".repeat(5000)}) after`;
    expect(text([{ cell_type: "markdown", source: picture }])).toBe("![図](data:image/png;base64,…) after\n");
  });

  it("cannot end a block of code early", () => {
    expect(text([code("s = '''\n```\n````\n'''")], {})).toBe("`````\ns = '''\n```\n````\n'''\n`````\n");
    expect(text([code("a")], { kernelspec: { language: "py\n```\n# not code" } })).toBe("```\na\n```\n");
  });

  it.each([
    ["", "it is not valid JSON"],
    ["{", "it is not valid JSON"],
    ["\u0000\u0001", "it is not valid JSON"],
    ["[]", "it has no cells"],
    ["7", "it has no cells"],
    ['{"cells":{}}', "it has no cells"],
    ['{"nbformat":4,"worksheets":7}', "it has no cells"],
  ])("that is none has an error: %j", (content, message) => {
    expect(() => notebookToMarkdown(Buffer.from(content))).toThrow(`it is not a notebook: ${message}`);
  });

  it("reads what is understood of one with strange values", () => {
    const strange = [null, 7, [], { cell_type: 7 }, { cell_type: "code", source: [1, "a", {}], outputs: 7 }];
    const outputs = [
      null,
      { output_type: "stream", text: 7 },
      { output_type: "error", traceback: [7] },
      display([]),
      {},
    ];
    expect(text([...strange, code("b", ...(outputs as object[]))])).toBe("```python\na\n```\n\n```python\nb\n```\n");
    expect(text([])).toBe("");
  });

  it("may be nested as deeply as it wants", () => {
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
    const bytes = Buffer.from(`{"cells":[{"cell_type":"markdown","source":"a","x":${deep}}]}`);
    expect(notebookToMarkdown(bytes)).toBe("a\n");
  });
});

const head = (...cells: readonly object[]) => notebookHead(JSON.stringify({ metadata: python, cells }, undefined, 1));

describe("the head of a notebook", () => {
  it("is the Markdown of its cells, whatever the order of their fields", () => {
    const metadata = { source: "no", tags: ["{", '"'], cell_type: "markdown" };
    const markdown = ["# 題\n", 'a "b" {c}'];
    for (const cell of [
      { cell_type: "markdown", metadata, source: markdown },
      { source: markdown, metadata, cell_type: "markdown" },
    ])
      expect(head({ source: ["print(1)"], cell_type: "code" }, cell, { source: "print(2)", cell_type: "code" })).toBe(
        '# 題\na "b" {c}',
      );
    // A cell without text does not take that of the next one.
    expect(head({ cell_type: "markdown" }, { source: "print(1)", cell_type: "code" })).toBe("");
  });

  it("is read as far as the file is there, up to a limit", () => {
    const json = JSON.stringify({ cells: [{ cell_type: "markdown", source: ["# 題\n", "本\\文"] }] });
    for (let length = 0; length <= json.length; length += 1)
      expect(["", "# 題\n", "# 題\n本\\文"]).toContain(notebookHead(json.slice(0, length)));
    const repeated = `{"cells":[{${'"cell_type":"markdown",'.repeat(300)}"source":["${"a".repeat(8000)}"]`;
    expect(notebookHead(repeated)).toBe("a".repeat(8000));
    const many = Array.from({ length: 9 }, () => ({ cell_type: "markdown", source: "a".repeat(8000) }));
    expect(head(...many)).toHaveLength(16 * 1024);
  });
});
