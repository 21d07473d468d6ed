import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { UnboundProgram, programFiles } from "./program-files.ts";

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-program-")));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

function files(text: string): string[] {
  const file = write("main.ts", text);
  return Object.keys(programFiles(file, readFileSync(file), folder)).sort();
}

describe("the files of a program", () => {
  it.each([
    'import { a } from "./a.ts";',
    "import './a.ts'",
    'export * from "./a.ts";',
    'const a = await import("./a.ts");',
    'await import("./a.ts?again");',
    "import(`./a.ts`)",
    'const { a } = require("./a");',
    'new Worker(new URL("./a.ts", import.meta.url));',
    String.raw`import "\x2e/\u0061.ts";`,
    String.raw`import "./\u{0000000061}.t\s";`,
    String.raw`require("\56\57\141.ts");`,
    'import "./%61.ts";',
    'import "./x/..\\\\a.ts";',
    'import "./a\\t.ts";',
    'import "./\\\na.ts";',
    'import "\\\r\n./a.ts";',
    `"x".y("./a.ts")`,
  ])("are found where they are imported with %s", (text) => {
    write("a.ts", "");
    expect(files(text)).toEqual(['"a.ts"', '"main.ts"']);
  });

  it("are all those that those import, also round in a circle, through links and up the tree", () => {
    write(
      "lib/one.mjs",
      'import "./two.json" with { type: "json" }; import "../main.ts"; import "../shared/index.cjs";',
    );
    write("lib/two.json", "{}");
    write("shared/index.cjs", 'require("."); require("..");');
    mkdirSync(join(folder, "links"));
    symlinkSync("../lib/one.mjs", join(folder, "links/one.mjs"));
    expect(files('import "./links/one.mjs";')).toEqual([
      '"lib/one.mjs"',
      '"lib/two.json"',
      '"main.ts"',
      '"shared/index.cjs"',
      'the target of "links/one.mjs"',
    ]);
  });

  it("have another digest when a link on the way to one of them leads to another of them", () => {
    const main = write("main.ts", 'import "./current/a.ts"; "./one/a.ts"; "./two/a.ts"');
    write("one/a.ts", "1");
    write("two/a.ts", "2");
    symlinkSync("one", join(folder, "current"));
    const before = programFiles(main, readFileSync(main), folder);
    rmSync(join(folder, "current"));
    symlinkSync("two", join(folder, "current"));
    expect(programFiles(main, readFileSync(main), folder)).not.toEqual(before);
  });

  it("are neither packages, nor folders, nor what is not there, nor texts", () => {
    mkdirSync(join(folder, "docs"));
    write("data.db", "SQLite format 3\0");
    expect(
      files(
        'import "pkg"; import "node:fs"; const root = "./docs", gone = "./gone.ts", file = "./data.db", more = ".a";',
      ),
    ).toEqual(['"main.ts"']);
  });

  it("have any name that a program can give them", () => {
    for (const name of ["my file.js", "code.txt", "bare", 'a"b.js', "c#d.js", "e\\f.js"]) write(name, "");
    const named = ["./my%20file.js", "./code.txt", "./bare", './a"b.js', "./c#d.js", "./e\\f.js"];
    expect(files(named.map((name) => `require(${JSON.stringify(name)});`).join("\n"))).toEqual(
      [
        '"my file.js"',
        '"code.txt"',
        '"bare"',
        String.raw`"a\"b.js"`,
        '"c#d.js"',
        String.raw`"e\\f.js"`,
        '"main.ts"',
      ].sort(),
    );
  });

  it("are those that the package.json of a folder or of the program names", () => {
    write("folder/package.json", '{"main":"real"}');
    write("folder/real.js", "");
    write("folder/index.js", "");
    write("package.json", '{"imports":{"#own":{"default":"./own.ts"}}}');
    write("own.ts", "");
    const text = 'require("./folder"); import "#own";';
    const before = files(text);
    expect(before).toEqual([
      '"folder/index.js"',
      '"folder/real.js"',
      '"main.ts"',
      '"own.ts"',
      'main and imports of "folder/package.json"',
      'main and imports of "package.json"',
    ]);
    write("package.json", '{"imports":{"#own":{"default":"./own.ts"}},"devDependencies":{"a":"1"}}');
    expect(files(text)).toEqual(before);
  });

  it("that name too many paths are refused, before all are looked for", () => {
    expect(() => files(`"./a\\";`.repeat(30_000))).toThrow(/^names more than 20000 relative paths$/);
  });

  it("have other digests when one of them changes", () => {
    const main = write("main.ts", 'import "./a.ts"');
    const look = () => programFiles(main, readFileSync(main), folder);
    write("a.ts", "1");
    const before = look();
    write("a.ts", "2");
    expect(look()['"main.ts"']).toBe(before['"main.ts"']);
    expect(look()['"a.ts"']).not.toBe(before['"a.ts"']);
  });

  it("that are too many are refused", () => {
    for (let index = 0; index < 1001; index += 1) write(`many/${index}.ts`, "");
    const all = Array.from({ length: 1001 }, (_, index) => `import "./many/${index}.ts";`).join("\n");
    expect(() => files(all)).toThrow(UnboundProgram);
  });
});
