import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { editYaml, readYaml } from "./edit-yaml.ts";

const entry = { command: "pressmark", args: ["stdio", "/p"] };

function edit(text: string): string {
  return editYaml(text, "mcpServers", "pressmark", entry);
}

describe("editing a list in YAML", () => {
  it("appends the list if there is none", () => {
    const added = "mcpServers:\n  - name: pressmark\n    command: pressmark\n    args:\n      - stdio\n      - /p\n";
    expect(edit("")).toBe(added);
    expect(edit("# mine\n")).toBe(`# mine\n${added}`);
    expect(edit("name: a # b\nmodels:\n- {name: m}")).toBe(`name: a # b\nmodels:\n- {name: m}\n${added}`);
  });

  it("adds an item behind the others, with their indentation, and keeps comments", () => {
    const text =
      "mcpServers:\n- name:  other   # mine\n  command: 'x'\n  # end of other\n\n# models\nmodels: [ {name: m} ]\n";
    expect(edit(text)).toBe(
      "mcpServers:\n- name:  other   # mine\n  command: 'x'\n  # end of other\n- name: pressmark\n  command: pressmark\n  args:\n    - stdio\n    - /p\n\n# models\nmodels: [ {name: m} ]\n",
    );
  });

  it("replaces the item of that name alone", () => {
    const text = "mcpServers:\n  - name: a\n  - command: old\n    name: pressmark\n\n  - name: b # last\nx: 1\n";
    expect(edit(text)).toBe(
      "mcpServers:\n  - name: a\n  - name: pressmark\n    command: pressmark\n    args:\n      - stdio\n      - /p\n\n  - name: b # last\nx: 1\n",
    );
    expect(readYaml(text, "mcpServers", "pressmark")).toEqual({ command: "old" });
    expect(edit(edit(text))).toBe(edit(text));
  });

  it("keeps the line breaks of the file", () => {
    for (const text of ["a: 1\r\n", "a: 1\r\nmcpServers:\r\n  - name: b\r\n", "mcpServers:\r\n  - name: pressmark\r\n"])
      expect(edit(text)).not.toMatch(/[^\r]\n/);
    expect(edit("a: 1\nb: 1\r\n")).toMatch(/^a: 1\nb: 1\r\nmcpServers:\r\n/);
  });

  it.each([
    ["a: [", "invalid YAML"],
    ["a: 1\n---\nb: 1\n", "invalid YAML"],
    ["- a\n", "the file is not a map"],
    ["mcpServers: 1\n", "is not a list"],
    ["mcpServers: {a: 1}\n", "is not a list"],
    ["mcpServers: [{name: a}]\n", "cannot be edited automatically"],
    ["{a: 1}\n", "cannot be edited automatically"],
    ["mcpServers: []\n", "cannot be edited automatically"],
    [
      `a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [${Array(10).fill("*a")}]\nc: [${Array(20).fill("*b")}]\n`,
      "too many aliases",
    ],
  ])("refuses %j, without repeating it", (text, message) => {
    expect(() => edit(text)).toThrow(message);
  });

  it("changes no other value of any file", () => {
    const value = fc.jsonValue({ maxDepth: 3 });
    const items = fc.array(fc.record({ name: fc.constantFrom("a", "pressmark", "b"), x: value }), { maxLength: 4 });
    fc.assert(
      fc.property(fc.dictionary(fc.string(), value, { minKeys: 1 }), items, (others, list) => {
        const { mcpServers: _, ...rest } = others;
        const whole = list.length > 0 ? { ...rest, mcpServers: list } : rest;
        const after = parse(edit(stringify(whole))) as Record<string, unknown>;
        const at = list.findIndex(({ name }) => name === "pressmark");
        const item = { name: "pressmark", ...entry };
        expect(after).toEqual(
          parse(stringify({ ...whole, mcpServers: at < 0 ? [...list, item] : list.with(at, item as never) })),
        );
      }),
    );
  });
});
