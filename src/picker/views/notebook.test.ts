import { describe, expect, it } from "vitest";
import { type NotebookOutput, parseNotebookView } from "./notebook.ts";

const outputsOf = (...outputs: readonly unknown[]): readonly NotebookOutput[] =>
  parseNotebookView(JSON.stringify({ cells: [{ cell_type: "code", source: "x", outputs }] }))?.cells[0]?.outputs ?? [];
const stream = (text: string) => ({ output_type: "stream", name: "stdout", text });
const data = (forms: object) => ({ output_type: "display_data", data: forms });

describe("a notebook", () => {
  it("has cells of Markdown, code and other text, in the language of its kernel", () => {
    const cells = [
      { cell_type: "markdown", source: ["# a\n", "b"] },
      { cell_type: "code", source: "1 + 1", execution_count: 3, outputs: [] },
      { cell_type: "raw", source: "r" },
      { cell_type: {}, source: 7 },
      null,
    ];
    const notebook = parseNotebookView(JSON.stringify({ metadata: { language_info: { name: "Python" } }, cells }));
    expect(notebook).toEqual({
      language: "python",
      cells: [
        { kind: "markdown", text: "# a\nb", outputs: [] },
        { kind: "code", text: "1 + 1", count: 3, outputs: [] },
        { kind: "raw", text: "r", outputs: [] },
        { kind: "raw", text: "", outputs: [] },
      ],
    });
  });

  it.each(["", "{", "[]", "{}", '{"cells": {}}'])("is not %j", (text) => {
    expect(parseNotebookView(text)).toBeUndefined();
  });

  it("joins a stream, without colours and without what was overwritten", () => {
    expect(outputsOf(stream("10%\r"), stream("100%\n"), stream("\u001b[31mred\u001b[0m\r\n"))).toEqual([
      { kind: "text", text: "100%\nred\n" },
    ]);
  });

  it("shows the richest form of an output", () => {
    expect(outputsOf(data({ "text/plain": "p", "text/html": ["<b>", "h</b>"] }))).toEqual([
      { kind: "html", text: "<b>h</b>" },
    ]);
    expect(outputsOf(data({ "text/plain": "<Figure>", "image/png": "AQI=\n" }))).toEqual([
      { kind: "picture", type: "image/png", body: Uint8Array.of(1, 2), alt: "<Figure>" },
    ]);
    expect(outputsOf(data({ "text/plain": "p", "image/png": "not base64!" }))).toEqual([{ kind: "text", text: "p" }]);
    expect(outputsOf(data({ "application/json": { a: 1 } }))).toEqual([{ kind: "text", text: '{\n  "a": 1\n}' }]);
    expect(outputsOf(data({ "application/vnd.x": 1 }))).toEqual([{ kind: "other", types: ["application/vnd.x"] }]);
    expect(outputsOf({ output_type: "error", ename: "E", evalue: "v", traceback: [] }, { output_type: "x" })).toEqual([
      { kind: "error", text: "E: v" },
    ]);
  });
});
