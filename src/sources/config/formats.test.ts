/** Names, values and lines of every format; and files that are made to break the parsers. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ConfigFormat, configFormatOf, configFormats, parse } from "./formats.ts";
import { FormatError, formatName } from "./leaf.ts";
import { parseFile } from "./parse-file.ts";

async function read(text: string, format: ConfigFormat): Promise<readonly (readonly [string, unknown, number])[]> {
  return (await parse(text, format)).map(({ path, value, line }) => [formatName(path), value, line] as const);
}

async function complaint(text: string, format: ConfigFormat): Promise<FormatError> {
  try {
    await parse(text, format);
  } catch (cause) {
    if (cause instanceof FormatError) return cause;
    throw cause;
  }
  throw new Error("the file was parsed");
}

describe("parsing", () => {
  it("of JSON, with comments", async () => {
    expect(
      await read('{\n  // a port\n  "server": { "port": 80,\n "hosts": ["a",\n null] },\n  "a.b": true\n}', "json"),
    ).toEqual([
      ["server.port", 80, 3],
      ["server.hosts[0]", "a", 4],
      ["server.hosts[1]", null, 5],
      ['["a.b"]', true, 6],
    ]);
  });

  it("of YAML, with aliases, merge keys, tags and texts over several lines", async () => {
    const text = [
      "base: &base",
      "  host: localhost",
      "  port: 1",
      "production:",
      "  <<: *base",
      "  port: 2",
      "list: [*base]",
      "key: |",
      "  one",
      "  two",
      "when: 2026-01-31",
      "secret: !vault abc",
      "nothing:",
    ].join("\n");
    expect(await read(text, "yaml")).toEqual([
      ["base.host", "localhost", 2],
      ["base.port", 1, 3],
      ["production.port", 2, 6],
      ["production.host", "localhost", 2],
      ["list[0].host", "localhost", 2],
      ["list[0].port", 1, 3],
      ["key", "one\ntwo\n", 8],
      ["when", "2026-01-31", 11],
      ["secret", "abc", 12],
      ["nothing", null, 13],
    ]);
    expect(await read("", "yaml")).toEqual([]);
  });

  it("of TOML, each value at its own line", async () => {
    const text = [
      'title = "x" # [no.table]',
      "[server]",
      "port = 8080",
      "hosts = [ # many",
      '  "a", "]",',
      "]",
      "inline = { a = 1, b = '}' }",
      '"odd.key" = true',
      'long = """',
      "[not.a.table]",
      'name = "no"',
      '"""',
      "[server.tls]",
      "on = false",
      "[[user]]",
      'name = "first"',
      "[user.address]",
      'city = "Kyoto"',
      "[[user]]",
      'name = "second"',
      "when = 2026-01-31",
      "big = 9007199254740993",
    ].join("\n");
    expect(await read(text, "toml")).toEqual([
      ["title", "x", 1],
      ["server.port", 8080, 3],
      ["server.hosts[0]", "a", 4],
      ["server.hosts[1]", "]", 4],
      ["server.inline.a", 1, 7],
      ["server.inline.b", "}", 7],
      ['server["odd.key"]', true, 8],
      ["server.long", '[not.a.table]\nname = "no"\n', 9],
      ["server.tls.on", false, 14],
      ["user[0].name", "first", 16],
      ["user[0].address.city", "Kyoto", 18],
      ["user[1].name", "second", 20],
      ["user[1].when", "2026-01-31", 21],
      ["user[1].big", "9007199254740993", 22],
    ]);
  });

  it("of dotenv, with quotes of all kinds and keys without any", async () => {
    const text = [
      "# a comment",
      "export A=1 # one",
      "B='two # not a comment'",
      'C="three\\n\\"lines\\"',
      'over two"',
      "EMPTY=",
      "HASH=a#b",
      "REF=${A}/x",
      "KEY=-----BEGIN THING-----",
      "abc=",
      "-----END THING-----",
      "A=last",
    ].join("\r\n");
    expect(await read(text, "dotenv")).toEqual([
      ["A", "last", 12],
      ["B", "two # not a comment", 3],
      ["C", 'three\n"lines"\nover two', 4],
      ["EMPTY", "", 6],
      ["HASH", "a#b", 7],
      ["REF", "${A}/x", 8],
      ["KEY", "-----BEGIN THING-----\nabc=\n-----END THING-----", 9],
    ]);
  });

  it("of INI, with sections, switches and values that go on", async () => {
    const text = [
      "top = 1",
      "; comment",
      "[database]",
      'host: "db" ',
      "skip-networking",
      "key = one",
      "  two=",
      "port = 5432 ; the usual",
      '[remote "origin"]',
      "\turl = git@host:x",
    ].join("\n");
    expect(await read(text, "ini")).toEqual([
      ["top", "1", 1],
      ["database.host", "db", 4],
      ["database.skip-networking", true, 5],
      ["database.key", "one\ntwo=", 6],
      ["database.port", "5432", 8],
      ["remote.origin.url", "git@host:x", 10],
    ]);
  });

  it("of properties, as Java reads them", async () => {
    const text = [
      "! comment",
      "spring.datasource.url = jdbc:x",
      "a\\=b:c",
      "word value",
      "long = one \\",
      "  two",
      "jp=\\u65e5",
    ].join("\n");
    expect(await read(text, "properties")).toEqual([
      ["spring.datasource.url", "jdbc:x", 2],
      ["a=b", "c", 3],
      ["word", "value", 4],
      ["long", "one two", 5],
      ["jp", "日", 7],
    ]);
  });

  it("is selected by the file name", () => {
    const names = [
      ".env",
      ".env.local",
      "prod.env",
      "a.JSON",
      "x.yml",
      "pyproject.toml",
      "my.cnf",
      "a.properties",
      "a.txt",
      "env",
    ];
    expect(names.map(configFormatOf)).toEqual([
      "dotenv",
      "dotenv",
      "dotenv",
      "json",
      "yaml",
      "toml",
      "ini",
      "properties",
      undefined,
      undefined,
    ]);
  });
});

it("the lines of a PEM key in a value are not parsed as names", async () => {
  const key = ["-----BEGIN THING-----", "abc=", "d/e: f", "-----END THING-----"].join("\n");
  for (const format of ["dotenv", "ini", "properties"] as const) {
    expect(await read(`A=${key}\nB=1\n`, format), format).toEqual([
      ["A", key, 1],
      ["B", "1", 5],
    ]);
    expect((await complaint("A=-----BEGIN THING-----\nabc=\n", format)).line).toBe(1);
  }
});

describe("an invalid file", () => {
  const planted = "s3cr3tValue";
  it.each<[ConfigFormat, string, number]>([
    ["json", `{\n  "a": "${planted}",\n  "b": ${planted}\n}`, 3],
    ["yaml", `a: ${planted}\nb: "${planted}\n`, 3],
    ["yaml", `a: ${planted}\na: ${planted}\n`, 2],
    ["toml", `a = 1\nb = ${planted}\n`, 2],
    ["toml", `a = "${planted}"\na = "${planted}"\n`, 2],
    ["dotenv", `A=1\n${planted}\n`, 2],
    ["dotenv", `A=1\nB="${planted}\n`, 2],
    ["ini", `[a]\nb = 1\n? ${planted} !\n`, 3],
    ["properties", `a=1\n=${planted}\n`, 2],
    ["properties", `a=\\u${planted}\n`, 1],
  ])("in %s is reported by its line, without any of its content", async (format, text, line) => {
    const error = await complaint(text, format);
    expect(error.line).toBe(line);
    expect(error.message).not.toContain(planted);
  });

  it("of much YAML is parsed in a thread without blocking the server", async () => {
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const lines = Array.from({ length: 8000 }, (_, index) => `setting_${index}: ${index}`);
    expect(await parseFile(lines.join("\n"), "yaml")).toHaveLength(8000);
    isDone = true;
    expect(turns).toBeGreaterThan(100);
  });

  it("is reported by its line from the thread, too", async () => {
    const long = `${"# comment\n".repeat(1000)}a: [`;
    await expect(parseFile(long, "yaml")).rejects.toMatchObject({ name: "FormatError", line: 1001 });
  });

  it("with too much YAML is rejected", async () => {
    expect((await complaint("[".repeat(200_000), "yaml")).message).toContain("too many tokens");
    expect((await complaint("---\n".repeat(3), "yaml")).message).toContain("one document");
  });

  it("whose aliases expand endlessly is rejected immediately", async () => {
    const bomb = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"];
    for (let depth = 1; depth < 10; depth += 1) bomb.push(`a${depth}: &a${depth} [${`*a${depth - 1},`.repeat(10)}]`);
    expect((await complaint(bomb.join("\n"), "yaml")).message).toMatch(/more than|too much/);
    const hollow = ["a0: &a0 []"];
    for (let depth = 1; depth < 10; depth += 1) hollow.push(`a${depth}: &a${depth} [${`*a${depth - 1},`.repeat(10)}]`);
    expect((await complaint(hollow.join("\n"), "yaml")).message).toContain("expand");
    const merged = ["a0: &a0 {x: 1}"];
    for (let depth = 1; depth < 10; depth += 1)
      merged.push(`a${depth}: &a${depth} {<<: [${`*a${depth - 1},`.repeat(10)}]}`);
    expect((await complaint(merged.join("\n"), "yaml")).message).toContain("expand");
    const many = `a: &a 1\nb: [${"*a,".repeat(50_000)}]`;
    expect((await complaint(many, "yaml")).message).toContain("more than");
    expect((await complaint("a: &a\n  b: *a\n", "yaml")).message).toContain("itself");
    expect((await complaint("a: &a\n  <<: *a\n", "yaml")).message).toContain("itself");
  });

  it("with a long name above many values is rejected", async () => {
    const name = "n".repeat(600);
    expect((await complaint(`{ ${name}: { ${name}: [${"1,".repeat(1000)}] } }`, "yaml")).message).toContain("too long");
  });

  it("that is nested too deeply is rejected with a message", async () => {
    for (const [format, text] of [
      ["json", `${"[".repeat(5000)}${"]".repeat(5000)}`],
      ["json", `${'{"a":'.repeat(100)}1${"}".repeat(100)}`],
      ["yaml", `${"[".repeat(100)}1${"]".repeat(100)}`],
      ["toml", `a = ${"[".repeat(100)}1${"]".repeat(100)}`],
    ] as const)
      expect((await complaint(text, format)).message, format).not.toBe("");
  });

  it("of any size that is made to be slow is rejected or parsed", async () => {
    for (const format of ["dotenv", "ini", "properties"] as const)
      for (const piece of ['A="\n', "a\\\n", "  x\n", "A=1\n", "\\\\", "a = '\n", "A=-----BEGIN X-----\n"])
        await parse(piece.repeat(Math.floor(250_000 / piece.length)), format).catch((cause: unknown) => {
          if (!(cause instanceof FormatError)) throw cause;
        });
  });
});

it("names with a meaning in JavaScript are ordinary names", async () => {
  const texts: Readonly<Record<ConfigFormat, string>> = {
    json: '{"__proto__": {"polluted": 1}, "constructor": {"prototype": 2}}',
    yaml: "__proto__:\n  polluted: 1\nconstructor:\n  prototype: 2\n",
    toml: "[__proto__]\npolluted = 1\n[constructor]\nprototype = 2\n",
    ini: "[__proto__]\npolluted = 1\n[constructor]\nprototype = 2\n",
    properties: "__proto__.polluted = 1\nconstructor.prototype = 2\n",
    dotenv: "__proto__=1\nconstructor=2\n",
  };
  for (const format of configFormats) {
    const names = (await read(texts[format], format)).map(([name]) => name);
    expect(names, format).toEqual(
      format === "dotenv" ? ["__proto__", "constructor"] : ["__proto__.polluted", "constructor.prototype"],
    );
  }
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

it("any text is parsed, or rejected with a line that exists", async () => {
  const piece = fc.constantFrom(
    "a",
    "=",
    ":",
    "\n",
    '"',
    "'",
    "[",
    "]",
    "{",
    "}",
    "\\",
    "- ",
    "&a ",
    "*a",
    "#",
    " ",
    "<<",
    ",",
    "1",
    "\u0000",
    "日",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 40 }), fc.constantFrom(...configFormats), async (pieces, format) => {
      const text = pieces.join("");
      const lines = text.split(/\r\n|\n|\r/).length;
      try {
        for (const { line } of await parse(text, format)) expect(line).toBeLessThanOrEqual(lines);
      } catch (cause) {
        if (!(cause instanceof FormatError)) throw cause;
        expect(cause.line).toBeGreaterThanOrEqual(1);
        expect(cause.line).toBeLessThanOrEqual(lines);
      }
    }),
    { numRuns: 500 },
  );
});
