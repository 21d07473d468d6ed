import { describe, expect, it } from "vitest";
import { createPlaceFinder } from "../../lib/text-position.ts";
import { editToml, readToml } from "./edit-toml.ts";
import { parseTomlText, TomlTextError } from "./toml-text.ts";

const path = ["mcp_servers", "pressmark"];
const http = { path, set: { url: "http://127.0.0.1:7357/mcp" }, drop: ["command", "args"] };

function values(text: string): unknown {
  return parseTomlText(text).map(({ path: table, entries }) => [
    table.join("."),
    Object.fromEntries(entries.map(({ path: key, value }) => [key.join("."), value])),
  ]);
}

function complaint(text: string): string {
  try {
    parseTomlText(text);
  } catch (cause) {
    if (!(cause instanceof TomlTextError)) throw cause;
    const { line, column } = createPlaceFinder(text)(cause.offset);
    return `${line}:${column} ${cause.message}`;
  }
  return "no complaint";
}

describe("TOML as it is written", () => {
  it("is read with everything that it may hold", () => {
    expect(
      values(`# settings
model = "o\\u00e9\\n" # which
"quoted key".b.'c' = 'literal \\ text'
numbers = [1, -2.5, 1_000, 0xff, 1e3,] # and more
flags = { on = true, off = false, deep.er = [ { x = 1 } ] }
day = 1979-05-27T07:32:00Z
time = 07:32:00
text = """
first \\
   second ""quoted"" """
raw = '''
no \\escape'''

[projects."/home/me/x"]
trust_level = "trusted"

  [[list]]
  n = 1
[[list]]
n = 2
`),
    ).toEqual([
      [
        "",
        {
          model: "oé\n",
          "quoted key.b.c": "literal \\ text",
          numbers: [1, -2.5, 1000, 255, 1000],
          flags: { on: true, off: false, deep: { er: [{ x: 1 }] } },
          day: "1979-05-27T07:32:00Z",
          time: "07:32:00",
          text: 'first second ""quoted"" ',
          raw: "no \\escape",
        },
      ],
      ["projects./home/me/x", { trust_level: "trusted" }],
      ["list", { n: 1 }],
      ["list", { n: 2 }],
    ]);
    expect(values("")).toEqual([["", {}]]);
    expect(values('a = """x"""""')).toEqual([["", { a: 'x""' }]]);
  });

  it.each([
    ["a = ", "1:5 expected a value"],
    ["a = nonsense", "1:5 expected a value"],
    ["a 1", '1:3 expected "="'],
    ["a = 1 b = 2", "1:7 the line must end here"],
    ["a = 1\na = 2", "2:1 this key is a duplicate"],
    ['a = "open\nb = 1', '1:5 a string is not closed with "'],
    ['a = "\\q"', "1:6 a string contains an escape that TOML does not know"],
    ["a = [1, 2", '1:10 expected "," or "]"'],
    ["a = { b = 1", '1:12 expected "," or "}"'],
    ["[a\nb = 1", '1:3 the header of a table must end with "]"'],
    ["[a]\n[a]", "2:1 this table is a duplicate"],
    ["= 1", "1:1 expected a key"],
  ])("is refused with the place and a sentence: %j", (text, sentence) => {
    expect(complaint(text)).toBe(sentence);
  });
});

describe("a table that is set in a TOML text", () => {
  it("stands at the end, and all else stays", () => {
    expect(editToml("", http)).toBe('[mcp_servers.pressmark]\nurl = "http://127.0.0.1:7357/mcp"\n');
    expect(editToml('# mine\nmodel = "x" # good', http)).toBe(
      '# mine\nmodel = "x" # good\n\n[mcp_servers.pressmark]\nurl = "http://127.0.0.1:7357/mcp"\n',
    );
    expect(editToml("[mcp_servers.other]\r\ncommand = 'x'\r\n", http)).toBe(
      "[mcp_servers.other]\r\ncommand = 'x'\r\n\r\n[mcp_servers.pressmark]\r\nurl = \"http://127.0.0.1:7357/mcp\"\r\n",
    );
  });

  it("takes the place of what contradicts it, and leaves what does not", () => {
    const before = `[mcp_servers.pressmark] # here
# how it is started
command = "pressmark"
args = [
  "stdio", # words
]
startup_timeout_sec = 20

[mcp_servers.pressmark.env]
A = "1"
[tui]
theme = "dark"
`;
    expect(editToml(before, http)).toBe(`[mcp_servers.pressmark] # here
url = "http://127.0.0.1:7357/mcp"
# how it is started
startup_timeout_sec = 20

[mcp_servers.pressmark.env]
A = "1"
[tui]
theme = "dark"
`);
  });

  it.each([
    'mcp_servers = { pressmark = { command = "x" } }',
    '[mcp_servers]\npressmark = { command = "x" }',
    '[mcp_servers]\npressmark.command = "x"',
    'mcp_servers.pressmark.command = "x"',
    "[[mcp_servers]]\nname = 'pressmark'",
  ])("is refused where it is spelled in another way: %j", (text) => {
    expect(() => editToml(text, http)).toThrow(
      "mcp_servers.pressmark is written in a form that cannot be edited automatically; change it by hand",
    );
  });

  it("is read in every syntax", () => {
    for (const text of [
      '[mcp_servers.pressmark]\ncommand = "x"\nargs = ["y"]',
      'mcp_servers = { pressmark = { command = "x", args = ["y"] } }',
      '[mcp_servers]\npressmark = { command = "x", args = ["y"] }',
      'mcp_servers.pressmark.command = "x"\nmcp_servers.pressmark.args = ["y"]',
    ])
      expect(readToml(text, path)).toEqual({ command: "x", args: ["y"] });
    expect(readToml("[mcp_servers.other]\ncommand = 'x'", path)).toBeUndefined();
    expect(readToml("[mcp_servers.pressmark]", path)).toEqual({});
  });
});
