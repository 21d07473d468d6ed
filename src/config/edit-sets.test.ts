import { describe, expect, it } from "vitest";
import { editSet } from "./edit-sets.ts";

const yaml = `# ours
mounts:
  docs: {source: file,   root: docs}   # as it is

sets:   # chosen by hand
  first:
    title: 'First'   # short
    # the most important
    resources:
      - README.md   # begin here
      - "docs/a.md"

  second: { resources: [ x.md ] }

# the end
server:
    port:   7400
`;
const json = `{
  "mounts": { "docs": {"source":"file", "root": "docs"} },
  "sets": {
    "first": { "title": "First", "resources": ["README.md", "docs/a.md"] },
    "second": {
      "resources": [
        "x.md"
      ]
    }
  },
  "server": {"port":   7400}
}
`;
const first = { title: "First", resources: ["README.md", "docs/a.md"] };

describe("a set in the text of a config", () => {
  it("gets another resource, and every comment stays where it is", async () => {
    const after = { ...first, resources: [...first.resources, "memory://m/日本 語.md"] };
    expect(await editSet(yaml, "yaml", "first", after)).toBe(
      yaml.replace('      - "docs/a.md"\n', '      - "docs/a.md"\n      - memory://m/日本 語.md\n'),
    );
  });

  it("loses a resource and keeps the comments of the others", async () => {
    expect(await editSet(yaml, "yaml", "first", { ...first, resources: ["README.md"] })).toBe(
      yaml.replace('      - "docs/a.md"\n', ""),
    );
  });

  it("gets a title where it had none", async () => {
    const after = { title: "Second", resources: ["x.md", "y.md"] };
    const edited = await editSet(yaml, "yaml", "second", after);
    expect(edited).toContain("second: { resources: [ x.md, y.md ], title: Second }");
    expect(await editSet(yaml, "yaml", "first", { resources: ["README.md", "docs/b.md"] })).not.toContain("title:");
  });

  it("is written behind everything else where there was none", async () => {
    const text = "# mine\nmounts:\n    docs: {source: file, root: docs}";
    expect(await editSet(text, "yaml", "new", { resources: ["a: b.md"] })).toBe(
      `${text}\nsets:\n  new:\n    resources:\n      - "a: b.md"\n`,
    );
    expect(await editSet("", "yaml", "new", { resources: ["a.md"] })).toBe(
      "sets:\n  new:\n    resources:\n      - a.md\n",
    );
    expect(await editSet("# only\r\n", "yaml", "new", { resources: ["a.md"] })).toBe(
      "# only\r\nsets:\r\n  new:\r\n    resources:\r\n      - a.md\r\n",
    );
  });

  it("is taken away, and the rest stays to the letter", async () => {
    const edited = await editSet(yaml, "yaml", "second", undefined);
    expect(edited).not.toContain("second");
    for (const kept of ["{source: file,   root: docs}   # as it is", "# begin here", "# the end", "    port:   7400"])
      expect(edited).toContain(kept);
    const none = await editSet("sets:\n  only:\n    resources: [a]\nserver: {port:   1}\n", "yaml", "only", undefined);
    expect(none).toBe("server: {port:   1}\n");
  });

  it("is added to a config that is one line, or all braces", async () => {
    const edited = await editSet("{mounts: {docs: {source: file, root: docs}}}\n", "yaml", "x", { resources: ["a"] });
    expect(edited).toContain("docs");
    expect(edited).toContain("sets");
  });

  it("is edited in JSON as it is written there", async () => {
    const after = { ...first, resources: [...first.resources, "b.md"] };
    expect(await editSet(json, "json", "first", after)).toBe(
      json.replace('"docs/a.md"]', '"docs/a.md","b.md"]').replace('["README.md", ', '["README.md",'),
    );
    expect(await editSet(json, "json", "second", { resources: ["x.md", "y.md"] })).toBe(
      json.replace('"x.md"\n', '"x.md",\n        "y.md"\n'),
    );
    expect(JSON.parse(await editSet(json, "json", "first", undefined))).toMatchObject({
      sets: { second: { resources: ["x.md"] } },
      server: { port: 7400 },
    });
    expect(await editSet('{"mounts":{}}', "json", "x", { resources: ["a"] })).toBe(
      '{"mounts":{}, "sets": {"x":{"resources":["a"]}}}',
    );
  });

  it("behind an alias is not edited", async () => {
    const text = "server: {}\nsets:\n  a: &a\n    resources: [x]\n  b: *a\n";
    const edited = editSet(text, "yaml", "a", { resources: ["x", "y"] });
    // The other one would have changed too.
    await expect(edited).rejects.toThrow(/by hand/);
  });
});
