import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJsonText, nodeValue } from "../../lib/json-text.ts";
import { editJson } from "./edit-json.ts";

const entry = { url: "http://127.0.0.1:7357/mcp" };
const path = ["mcpServers", "pressmark"];

function edited(text: string): string {
  return editJson(text, path, entry);
}

describe("a value that is set in a JSON text", () => {
  it("stands alone where there was nothing", () => {
    for (const text of ["", " \n"])
      expect(edited(text)).toBe(`{
  "mcpServers": {
    "pressmark": {
      "url": "http://127.0.0.1:7357/mcp"
    }
  }
}
`);
  });

  it("stands behind the others, with their indentation, and every comment stays", () => {
    expect(
      edited(`// mine
{
\t"theme": "dark", // at night
\t"mcpServers": {
\t\t/* the first */
\t\t"other": { "command": "x" } // do not touch
\t}
}
`),
    ).toBe(`// mine
{
\t"theme": "dark", // at night
\t"mcpServers": {
\t\t/* the first */
\t\t"other": { "command": "x" }, // do not touch
\t\t"pressmark": {
\t\t\t"url": "http://127.0.0.1:7357/mcp"
\t\t}
\t}
}
`);
  });

  it("keeps a last comma, and the line breaks that are there", () => {
    expect(edited('{\r\n  "mcpServers": {\r\n    "a": 1, // one\r\n  },\r\n}\r\n')).toBe(
      '{\r\n  "mcpServers": {\r\n    "a": 1, // one\r\n    "pressmark": {\r\n      "url": "http://127.0.0.1:7357/mcp"\r\n    },\r\n  },\r\n}\r\n',
    );
  });

  it("stands on the same line where all does", () => {
    expect(edited('{"a":1,"mcpServers":{"b":{}}}')).toBe(
      '{"a":1,"mcpServers":{"b":{}, "pressmark": {"url":"http://127.0.0.1:7357/mcp"}}}',
    );
    expect(edited('{"a":1}')).toBe('{"a":1, "mcpServers": {"pressmark":{"url":"http://127.0.0.1:7357/mcp"}}}');
  });

  it("stands in what was empty, behind its comment", () => {
    expect(edited('{\n  "mcpServers": {}\n}')).toBe(
      '{\n  "mcpServers": {\n    "pressmark": {\n      "url": "http://127.0.0.1:7357/mcp"\n    }\n  }\n}',
    );
    expect(edited("{\n  // none yet\n}\n")).toBe(
      '{\n  // none yet\n  "mcpServers": {\n    "pressmark": {\n      "url": "http://127.0.0.1:7357/mcp"\n    }\n  }\n}\n',
    );
  });

  it("takes the place of what was there", () => {
    expect(edited('{ "mcpServers": { "pressmark": { "command": "old" }, "b": 1 } }')).toBe(
      '{ "mcpServers": { "pressmark": {"url":"http://127.0.0.1:7357/mcp"}, "b": 1 } }',
    );
    expect(edited('{\n "mcpServers": {\n  "pressmark": {\n   "a": 1\n  }\n }\n}')).toBe(
      '{\n "mcpServers": {\n  "pressmark": {\n   "url": "http://127.0.0.1:7357/mcp"\n  }\n }\n}',
    );
  });

  it("is refused where something on the way is no object, or the text is none", () => {
    expect(() => edited("[]")).toThrow("the file is not an object; change it by hand");
    expect(() => edited('{ "mcpServers": 1 }')).toThrow('"mcpServers" is not an object; change it by hand');
    expect(() => edited("{ nonsense")).toThrow('expected a key in "');
  });

  it("is all that changes, whatever the text holds and however it is laid out", () => {
    const settings = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 });
    fc.assert(
      fc.property(settings, fc.option(settings), fc.constantFrom(0, 2, "\t"), (outer, servers, indent) => {
        const before = { ...outer, ...(servers && { mcpServers: servers }) };
        if (!servers) delete (before as Record<string, unknown>)["mcpServers"];
        const text = JSON.stringify(before, undefined, indent);
        const after = nodeValue(parseJsonText(edited(text)));
        expect(after).toEqual(JSON.parse(JSON.stringify({ ...before, mcpServers: { ...servers, pressmark: entry } })));
        expect(edited(edited(text))).toBe(edited(text));
      }),
    );
  });
});
