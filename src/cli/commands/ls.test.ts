import { execFileSync } from "node:child_process";
import { symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { displayWidth } from "../../lib/display-width.ts";
import { createStand, type Stand } from "../test-command.ts";

let stand: Stand;
let mixed: Stand;
const ls = (words: readonly string[], options?: Parameters<Stand["run"]>[1]) => stand.run(["ls", ...words], options);

beforeAll(() => {
  stand = createStand();
  stand.write("README.md", "# Read me\n\nこんにちは\n");
  stand.write("docs/a b%.txt", "with a space");
  stand.write("docs/deep/last.txt", "last");
  stand.write("docs/[id].tsx", "export {}");
  stand.write("dot.png", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]));
  symlinkSync(".", join(stand.folder, "docs/loop"));
  utimesSync(join(stand.folder, "dot.png"), 1e9, 1e9);
});

afterAll(() => stand.remove());

const two = (part: number) => String(part).padStart(2, "0");

const urisOf = (...paths: string[]) => paths.map((path) => `${stand.base}${path}\n`).join("");

describe("ls", () => {
  it("gives a pipe the children of the folder, one URI a line", async () => {
    expect(await ls([])).toMatchObject({ code: 0, err: "", out: urisOf("README.md", "docs", "dot.png") });
  });

  it("lists the children of a directory named by path or URI, in any encoding", async () => {
    const children = urisOf("docs/%5Bid%5D.tsx", "docs/a%20b%25.txt", "docs/deep", "docs/loop");
    for (const where of ["docs", "./docs/", join(stand.folder, "docs"), `${stand.base}docs`, `${stand.base}%64ocs`])
      expect(await ls([where])).toMatchObject({ code: 0, out: children });
  });

  it("gives every resource below with --all, and enters no links", async () => {
    const below = ["docs/%5Bid%5D.tsx", "docs/a%20b%25.txt", "docs/deep/last.txt"];
    expect(await ls(["--all"])).toMatchObject({ code: 0, out: urisOf("README.md", ...below, "dot.png") });
    for (const where of ["docs", `${stand.base}%64ocs`])
      expect(await ls([where, "--all"])).toMatchObject({ code: 0, out: urisOf(...below) });
  });

  it("gives a file itself, and several things in the order of the words", async () => {
    expect(await ls(["dot.png", "README.md"])).toMatchObject({ code: 0, out: urisOf("dot.png", "README.md") });
  });

  it("looks in the folders that are named, and gives several as they are", async () => {
    expect((await ls(["--folder", "docs/deep"])).out).toBe(urisOf("docs/deep/last.txt"));
    stand.write("../other/x.txt");
    expect((await ls(["--folder", "docs", "--folder", "../other"])).out).toBe(
      `${stand.base}docs\n${stand.base.replace("/files/", "/other")}\n`,
    );
  });

  it("shows the titles of mounts with --long, and to a pipe only URIs", async () => {
    const mounts =
      "a: { source: file, root: docs, scheme: a, title: 社内文書 }, b: { source: memory, scheme: b, resources: {} }";
    stand.write("../titles/mounts.yaml", `mounts: { ${mounts} }\n`);
    stand.write("../titles/docs/x.md");
    const config = ["--config", "../titles/mounts.yaml"];
    expect((await ls(config)).out).toBe("a://a\nb://b\n");
    expect((await ls(["--long", ...config])).out).toMatch(/ a:\/\/a {2}社内文書\n.* b:\/\/b\n$/);
  });

  it("fails for what is not there", async () => {
    for (const where of ["nowhere", "..", `${stand.base}nowhere`, "other://x"])
      expect(await ls([where])).toMatchObject({ code: 3, out: "", err: expect.stringMatching(/^pressmark: .+\n$/) });
  });

  it("gives JSON, an object a line", async () => {
    const { out } = await ls(["--json", "README.md", "docs"]);
    const listed = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
    expect(listed).toHaveLength(5);
    expect(listed[0]).toMatchObject({
      uri: `${stand.base}README.md`,
      name: "README.md",
      mimeType: "text/markdown",
      size: 27,
    });
  });

  it("prints size, time, type and decoded path with --long", async () => {
    const { out } = await ls(["--long"]);
    const at = new Date(1e12);
    const day = `2001-09-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
    expect(out.split("\n")).toEqual([
      expect.stringMatching(/^ {4}27 B {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}text\/markdown {2}README\.md$/),
      expect.stringMatching(/^ {10}\d{4}-\d\d-\d\d \d\d:\d\d {2}directory {6}docs$/),
      `     8 B  ${day}  image/png      dot.png`,
      "",
    ]);
    expect((await ls(["docs", "--long"])).out).toContain("  docs/a b%.txt\n");
  });
});

describe("patterns", () => {
  it.each([
    ["*.md", ["README.md"]],
    ["*", ["README.md", "docs", "dot.png"]],
    ["./docs/*.txt", ["docs/a%20b%25.txt"]],
    ["docs/*/last.*", ["docs/deep/last.txt"]],
    ["**/*.txt", ["docs/a%20b%25.txt", "docs/deep/last.txt"]],
    ["{docs/deep,.}/*.txt", ["docs/deep/last.txt"]],
    ["docs/[id].tsx", ["docs/%5Bid%5D.tsx"]],
  ])("%s is %j", async (pattern, paths) => {
    expect(await ls([pattern])).toMatchObject({ code: 0, out: urisOf(...paths) });
  });

  it("that match nothing are not found", async () => {
    expect(await ls(["*.nothing"])).toMatchObject({
      code: 3,
      out: "",
      err: 'pressmark: nothing matches "*.nothing"\n',
    });
    expect(await ls(["**/*.nothing"])).toMatchObject({ code: 3, out: "" });
  });

  it("that cannot be meant are refused", async () => {
    expect(await ls([`${"{a,".repeat(30)}b${"}".repeat(30)}`])).toMatchObject({ code: 2, out: "" });
  });
});

describe("filters", () => {
  it.each([
    [
      ["--mime", "text/*"],
      ["README.md", "docs/%5Bid%5D.tsx", "docs/a%20b%25.txt", "docs/deep/last.txt"],
    ],
    [
      ["--mime", "image", "--mime", "text/markdown"],
      ["README.md", "dot.png"],
    ],
    [["--changed-since", "1d", "--mime", "image/*"], []],
    [["--changed-since", "2001-01-01", "--mime", "image/*"], ["dot.png"]],
    [["--priority", "0.1"], []],
    [
      ["--audience", "assistant", "--limit", "2"],
      ["README.md", "docs/%5Bid%5D.tsx"],
    ],
    [["--limit", "1"], ["README.md"]],
  ])("%j leave %j", async (flags, paths) => {
    expect(await ls(["--all", ...flags])).toMatchObject({ code: 0, err: "", out: urisOf(...paths) });
  });
});

describe("on a terminal, ls", () => {
  let wide: Stand;

  beforeAll(() => {
    wide = createStand();
    for (const name of [
      "a",
      "ガラスの靴",
      "ガラス".normalize("NFD"),
      "naïve".normalize("NFD"),
      "👨‍👩‍👧",
      "e",
      "zz/x",
      "日本",
    ])
      wide.write(name.includes("/") ? name : `${name}.txt`);
    wide.write("bad\u001b[31m\n\u202ename");
  });

  afterAll(() => wide.remove());

  it("shows names in columns that stand straight, as wide as the terminal and no wider", async () => {
    for (const columns of [24, 40, 60, 80, 200]) {
      const { out } = await wide.run(["ls"], { terminal: true, columns });
      const lines = out.trimEnd().split("\n");
      for (const line of lines) if (line.includes("  ")) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
      // The second column begins at the same position in every line.
      const begins = lines
        .filter((line) => line.includes("  "))
        .map((line) => displayWidth(/^.*? {2,}/.exec(line)![0]));
      expect(new Set(begins).size).toBeLessThanOrEqual(1);
    }
    const { out } = await wide.run(["ls"], { terminal: true, columns: 200 });
    expect(out.trimEnd().split("\n")).toHaveLength(1);
  });

  it("counts the cells of Japanese names, of marks that stand apart and of emoji", async () => {
    const japanese = createStand();
    try {
      for (const name of ["ガ".normalize("NFD"), "日本", "🎉", "ｶ"]) japanese.write(`${name}.txt`);
      const { out } = await japanese.run(["ls"], { terminal: true, columns: 16 });
      expect(out.normalize("NFC")).toBe("ガ.txt    🎉.txt\n日本.txt  ｶ.txt\n");
    } finally {
      japanese.remove();
    }
  });

  it("marks directories, and shows what would steer the terminal escaped", async () => {
    const { out } = await wide.run(["ls"], { terminal: true, columns: 20 });
    expect(out).toContain("zz/");
    expect(out).toContain(String.raw`bad\x1b[31m\n\u202ename`);
    expect(out).not.toContain("\u001b");
  });

  it("shows paths for what is from several places", async () => {
    const { out } = await wide.run(["ls", "--all", "--mime", "text/plain"], { terminal: true, columns: 10 });
    expect(out.split("\n")).toContain("日本.txt");
    expect((await stand.run(["ls", "**/last.txt"], { terminal: true })).out).toBe("docs/deep/last.txt\n");
  });

  it("names each directory when there are several", async () => {
    const { out } = await stand.run(["ls", "docs/deep", "."], { terminal: true });
    expect(out).toBe("docs/deep:\nlast.txt\n\n.:\nREADME.md  docs/  dot.png\n");
  });

  it("is coloured unless that is not wanted", async () => {
    const coloured = "README.md  \u001b[1;34mdocs/\u001b[0m  \u001b[35mdot.png\u001b[0m\n";
    const plain = "README.md  docs/  dot.png\n";
    const shown = async (env: Record<string, string>, ...flags: string[]) =>
      (await ls(flags, { terminal: true, env: { NO_COLOR: "", ...env } })).out;
    expect(await shown({})).toBe(coloured);
    expect(await shown({ NO_COLOR: "1" })).toBe(plain);
    expect(await shown({ TERM: "dumb" })).toBe(plain);
    expect(await shown({ NO_COLOR: "1" }, "--color", "always")).toBe(coloured);
    expect(await shown({ NO_COLOR: "1", FORCE_COLOR: "1" })).toBe(coloured);
    expect(await shown({ FORCE_COLOR: "0" })).toBe(plain);
    expect(await shown({ FORCE_COLOR: "1" }, "--color=never")).toBe(plain);
    expect((await ls([], { env: { NO_COLOR: "", FORCE_COLOR: "1" } })).out).toContain("\u001b[1;34mfile:///");
    expect((await ls([], { env: { NO_COLOR: "" } })).out).not.toContain("\u001b");
  });
});

const run = (...words: readonly string[]) => mixed.run([...words, "--config", "pressmark.config.yaml"]);

describe("mounts of every kind", () => {
  beforeAll(() => {
    mixed = createStand();
    mixed.write("docs/ja/導入.md", "# 導入\n");
    mixed.write("skills/ink/SKILL.md", "---\nname: ink\ndescription: x\n---\n");
    const database = new DatabaseSync(join(mixed.folder, "app.db"));
    database.exec("create table t (a)");
    database.close();
    execFileSync("git", ["init", "-q"], { cwd: mixed.folder });
    mixed.write(
      "pressmark.config.yaml",
      `mounts:
  files: { source: file, root: docs }
  資料: { source: docs, root: docs }
  history: { source: git, root: . }
  skills: { source: skills, root: skills }
  app: { source: sqlite, path: app.db }
  notes: { source: memory, resources: { a.txt: x, d/b.txt: y } }
  any: { source: data }
  settings: { source: config, root: . }
  results: { source: analysis, path: results.db }
  pages: { source: web, scheme: pages, hosts: [127.0.0.1], allowAddresses: [127.0.0.1], pages: ["http://127.0.0.1:9/x"] }
`,
    );
  });
  afterAll(() => mixed.remove());

  it("are listed by the URIs that the server prints, with and without a slash at the end", async () => {
    const { out, code } = await run("ls");
    expect(code).toBe(0);
    const roots = out.trimEnd().split("\n");
    expect(roots).toHaveLength(10);
    const bases = roots.map((uri) => (/[:/]$/.test(uri) ? uri : `${uri}/`));
    const listed = await run("ls", ...roots, ...bases, "docs://資料/ja/", "memory://notes/d/");
    expect(listed).toMatchObject({ code: 0, err: "" });
    const lines = listed.out.trimEnd().split("\n");
    expect(lines.splice(-2)).toEqual(["docs://%E8%B3%87%E6%96%99/ja/%E5%B0%8E%E5%85%A5.md", "memory://notes/d/b.txt"]);
    const half = lines.slice(0, lines.length / 2);
    expect(lines).toEqual([...half, ...half]);
    const isListed = (root: string) => half.some((uri) => uri.startsWith(root));
    expect(roots.filter((root) => !isListed(root))).toEqual(["data:"]);
    expect(await run("tree")).toMatchObject({ code: 0, err: expect.stringMatching(/^pressmark: collapsed: .*\n$/) });
  });

  it("that cannot be reached are named, and the others are listed", async () => {
    mixed.write(
      "far.yaml",
      'mounts: { gone: { source: mcp, url: "http://127.0.0.1:9/mcp" }, docs: { source: docs, root: docs } }',
    );
    expect(await mixed.run(["ls", "--config", "far.yaml"])).toMatchObject({
      code: 0,
      out: "mcp://gone\ndocs://docs\n",
      err: expect.stringContaining('pressmark: mount "gone": the server cannot be reached'),
    });
  });
});
