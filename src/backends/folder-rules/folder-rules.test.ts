import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { asking, collect } from "../../testing/pages.ts";
import { refusal } from "../../testing/refusal.ts";
import { createLocalDisk } from "../disk/disk.ts";
import { type AbsentFolders, chooseRules, createFolderRules } from "./folder-rules.ts";
import { parseRules } from "./ignore-rules.ts";
import { ranks } from "./name-rules.ts";
import { foldName, isSecret, secretsIn } from "./secret-names.ts";
import { runNow, settled } from "../disk/steps.ts";
import { useFolder } from "../disk/test-folder.ts";
import type { FileSource } from "../disk/test-folder.ts";

const folder = useFolder();

/** Whether a path is served, after creating its folders. */
function isServed(path: string): boolean {
  const rules = folder.rules(createLocalDisk());
  if (!rules.isPath(path)) return false;
  if (path.includes("/")) folder.write(path, "");
  return runNow(rules.serves(path, false));
}

function isSecretName(name: string, inFolder: string): boolean {
  return isSecret(foldName(name), secretsIn(inFolder));
}

describe("a path", () => {
  it.each([
    "",
    "a.txt",
    "a/b/c.md",
    "id_rsa.pub",
    "日本語/メモ.txt",
    "a b/ü%20.txt",
    "key",
    "environment",
    "pem/notes.md",
  ])("serves %j", (path) => expect(isServed(path)).toBe(true));

  it.each([
    [".hidden"],
    ["a/.git/config"],
    ["node_modules/x/index.js"],
    ["a/Node_Modules/x.js"],
    [".env"],
    [".ENV.local"],
    ["．env"],
    ["a/id_rsa"],
    ["ID_ED25519"],
    ["server.PEM"],
    ["server.ｋｅｙ"],
    ["a.p12"],
    ["_netrc"],
  ])("does not serve %j", (path) => expect(isServed(path)).toBe(false));

  it.each([["/a"], ["a/"], ["a//b"], ["."], [".."], ["a/../b"], ["a\0b"], ["a/./b"]])("rejects %j as a path", (path) =>
    expect(isServed(path)).toBe(false),
  );
});

describe("isSecretName", () => {
  it.each([
    [".env.production", ""],
    [".netrc", ""],
    [".npmrc", ""],
    [".PYPIRC", ""],
    [".git-credentials", ""],
    ["credentials", ".aws"],
    ["credentials", ".AWS"],
  ])("treats %j in %j as a secret", (name, inFolder) => expect(isSecretName(name, inFolder)).toBe(true));

  it("serves the same name in another folder", () => {
    expect(isSecretName("credentials", "docs")).toBe(false);
  });
});

/** The paths on which all methods agree: listed, browsed, read, completed. */
async function servedBy(source: FileSource): Promise<string[]> {
  const { call } = folder;
  const listed = (await collect((cursor) => source.list(asking(1000, cursor), call()))).map(({ path }) => path).sort();
  const template = source.templates[0] as (typeof source.templates)[number];
  const browsed: string[] = [];
  const completed: string[] = [];
  async function browse(path: string): Promise<void> {
    for (const entry of await collect((cursor) => source.children({ path }, asking(1000, cursor), call()))) {
      expect((await source.stat({ path: entry.path }, call())).path).toBe(entry.path);
      if (entry.mimeType === "inode/directory") await browse(entry.path);
      else browsed.push(entry.path);
    }
    const value = path === "" ? "" : `${path}/`;
    for (const { value: said } of await source.complete({ template, variable: "path", value, given: {} }, call()))
      if (!said.endsWith("/")) completed.push(said);
  }
  await browse("");
  for (const path of listed) expect(await source.read({ path }, call())).toHaveLength(1);
  expect(browsed.sort()).toEqual(listed);
  expect(completed.sort()).toEqual(listed);
  return listed;
}

describe("options", () => {
  const paths = [
    ".env",
    ".env.example",
    ".git/HEAD",
    ".circleci/workflows/ci.yml",
    ".circleci/CODEOWNERS",
    ".hidden",
    "config/server.key",
    "config/other.key",
    "dist/api/v1.json",
    "dist/api/v2.json",
    "dist/index.js",
    "docs/a.md",
    "docs/b.log",
    "node_modules/x/index.js",
    "node_modules/y/index.js",
    "src/a.ts",
    "src/id_rsa",
  ];

  async function served(options: Readonly<Record<string, unknown>>): Promise<string[]> {
    for (const path of paths) folder.write(path, "x");
    folder.write(".gitignore", "dist/\n*.log\n");
    const source = await folder.open(options);
    const found = await servedBy(source);
    // A path that is not listed is not available through any other method.
    for (const path of paths)
      if (!found.includes(path)) await refusal(source.read({ path }, folder.call()), ["not-found"], path);
    return found.filter((path) => path !== ".gitignore");
  }

  it("default: hides hidden, ignored and secret files, and those of other people", async () => {
    expect(await served({})).toEqual(["docs/a.md", "src/a.ts"]);
  });

  it("serves dot-names that people write for each other, without the hidden files in them", async () => {
    for (const path of [
      ".editorconfig",
      "deep/.editorconfig",
      ".github/workflows/ci.yml",
      ".github/.env",
      ".github/.x",
    ])
      folder.write(path, "x");
    for (const path of [".gitignore", ".pressmarkignore", ".gitattributes", ".GitHub-x", ".vscode/settings.json"])
      folder.write(path, "x");
    const found = await servedBy(await folder.open());
    expect(found).toEqual([".editorconfig", ".github/workflows/ci.yml", "deep/.editorconfig"]);
    expect(await servedBy(await folder.open({ exclude: [".github", ".editorconfig"] }))).toEqual([]);
  });

  it("hidden: serves all but git's own files and secrets", async () => {
    expect(await served({ hidden: true })).toEqual([
      ".circleci/CODEOWNERS",
      ".circleci/workflows/ci.yml",
      ".hidden",
      "docs/a.md",
      "src/a.ts",
    ]);
  });

  it("ignore: false serves ignored files, but not secrets and hidden names", async () => {
    expect(await served({ ignore: false })).toEqual([
      "dist/api/v1.json",
      "dist/api/v2.json",
      "dist/index.js",
      "docs/a.md",
      "docs/b.log",
      "node_modules/x/index.js",
      "node_modules/y/index.js",
      "src/a.ts",
    ]);
  });

  it.each<[what: string, allow: string[], more: string[]]>([
    ["a secret by its path", ["config/server.key"], ["config/server.key"]],
    ["a secret by its name", ["server.key"], ["config/server.key"]],
    ["no secret by a wildcard", ["*", "*.key", "config/*", "config", "**/*.key", "src/id_*"], []],
    ["a secret by its name, despite later wildcards", ["server.key", "*.key"], ["config/server.key"]],
    ["one hidden name of many", [".env.example"], [".env.example"]],
    ["a hidden folder with its contents", [".circleci"], [".circleci/CODEOWNERS", ".circleci/workflows/ci.yml"]],
    ["some of a hidden folder", [".circleci/workflows/*.yml"], [".circleci/workflows/ci.yml"]],
    ["one file of an ignored folder", ["dist/api/v2.json"], ["dist/api/v2.json"]],
    ["a file at any depth in an ignored folder", ["dist/**/v1.json"], ["dist/api/v1.json"]],
    ["an ignored folder except one file", ["dist", "!dist/api/v1.json"], ["dist/api/v2.json", "dist/index.js"]],
    ["one package of node_modules", ["node_modules/x"], ["node_modules/x/index.js"]],
    ["an ignored name", ["*.log"], ["docs/b.log"]],
    ["nothing of git's own", [".git", ".git/HEAD", "**/HEAD", ".git/**"], []],
    ["nothing that is negated", ["server.key", "!config/*.key"], []],
  ])("allow: %s", async (_, allow, more) => {
    // A bare star allows everything that is not a secret, unless a parent folder is hidden.
    const expected = ["docs/a.md", "src/a.ts", ...more];
    const found = await served({ allow });
    if (allow.includes("*")) expect(found.filter((path) => /key|id_rsa|\.env|\.git\//.test(path))).toEqual([]);
    else expect(found).toEqual(expected.sort());
  });

  it("does not serve excluded names, unless they are allowed", async () => {
    expect(await served({ exclude: ["*.md"] })).toEqual(["src/a.ts"]);
    expect(await served({ exclude: ["/docs", "src/"], allow: ["docs/a.md"] })).toEqual(["docs/a.md"]);
    expect(await served({ exclude: ["!dist", "!*.log"] })).toEqual([
      "dist/api/v1.json",
      "dist/api/v2.json",
      "dist/index.js",
      "docs/a.md",
      "docs/b.log",
      "src/a.ts",
    ]);
  });

  it(".ignore overrides .gitignore, and .pressmarkignore overrides both, at any depth", async () => {
    folder.write("deep/.gitignore", "a\n!b\n!c\n");
    folder.write(".ignore", "!a\nb\nd\n");
    folder.write(".pressmarkignore", "c\n!d\n");
    folder.write("deep/.ignore", "d\n");
    for (const name of ["a", "b", "c", "d", "e"]) folder.write(`deep/${name}`, "");
    expect(await servedBy(await folder.open())).toEqual(["deep/a", "deep/d", "deep/e"]);
  });

  it("judges a link by its own path and by its target", async () => {
    folder.write("real/a.txt", "");
    folder.write("secret-plans/b.txt", "");
    folder.write(".gitignore", "secret-plans\nignored-link\nfolders-only/\n");
    folder.link("real/a.txt", "ignored-link");
    folder.link("secret-plans/b.txt", "shown-link");
    folder.link("real", "folders-only");
    const source = await folder.open();
    for (const path of ["ignored-link", "shown-link", "secret-plans/b.txt"])
      await refusal(source.read({ path }, folder.call()), ["not-found"], path);
    // A rule for folders does not match a link, as in git.
    expect(await source.read({ path: "folders-only/a.txt" }, folder.call())).toHaveLength(1);
    expect(
      (await collect((cursor) => source.list(asking(100, cursor), folder.call()))).map(({ path }) => path),
    ).toEqual(["real/a.txt"]);
  });
});

async function untilListed(source: FileSource, expected: readonly string[]): Promise<void> {
  for (;;) {
    const { items } = await source.list(asking(10), folder.call());
    if (items.map(({ path }) => path).join("\n") === expected.join("\n")) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

describe("an ignore file", () => {
  it("applies shortly after it is written, and until it is removed", async () => {
    folder.write("a/b/x.txt", "");
    folder.write("a/b/y.txt", "");
    const source = await folder.open();
    const both = ["a/b/x.txt", "a/b/y.txt"];
    for (let turn = 0; turn < 20; turn += 1) {
      await untilListed(source, both);
      folder.write("a/.gitignore", `x.txt\n#${turn}`);
      await untilListed(source, ["a/b/y.txt"]);
      // Within the time in which the time stamp may stay the same.
      fs.writeFileSync(folder.at("a/.gitignore"), `y.txt\n#${turn}`);
      await untilListed(source, ["a/b/x.txt"]);
      fs.rmSync(folder.at("a/.gitignore"));
    }
    folder.write(".pressmarkignore", "a\n");
    await untilListed(source, []);
    await refusal(source.read({ path: "a/b/x.txt" }, folder.call()), ["not-found"], "below an ignored folder");
  });

  it("of the user, and of the enclosing repository, applies soon after it is written", async () => {
    folder.write("repository/.git/HEAD", "ref: refs/heads/main");
    folder.write("repository/served/a.txt", "");
    folder.write("repository/served/b.txt", "");
    const source = await folder.open({ root: folder.at("repository/served") });
    await untilListed(source, ["a.txt", "b.txt"]);
    folder.write("repository/.gitignore", "a.txt");
    await untilListed(source, ["b.txt"]);
    fs.mkdirSync(join(folder.home, ".config/git"), { recursive: true });
    fs.writeFileSync(join(folder.home, ".config/git/ignore"), "b.txt");
    await untilListed(source, []);
  });

  it("that is a link, a pipe, a folder or unreadable is ignored, and does not block", async () => {
    fs.writeFileSync(join(folder.above, "rules"), "*\n");
    folder.write("a/x.txt", "");
    folder.write("b/x.txt", "");
    folder.write("c/.gitignore/x", "");
    folder.write("c/x.txt", "");
    folder.link("../../rules", "a/.gitignore");
    execFileSync("mkfifo", [folder.at("b/.gitignore")]);
    folder.write("d/x.txt", "");
    folder.write("d/.git", "gitdir: /dev/zero\n");
    folder.write("e/x.txt", "");
    folder.link("/dev/zero", "e/.git");
    const listed = ["a/x.txt", "b/x.txt", "c/x.txt", "d/x.txt", "e/x.txt"];
    expect(await servedBy(await folder.open())).toEqual(listed);
  });

  it("cannot make a request slow", async () => {
    const cruel = [
      "*a".repeat(100),
      `${"*a".repeat(60)}b`,
      `**/${"*/**/".repeat(60)}b`,
      "[a-z]*?".repeat(80),
      `${"?*".repeat(90)}b`,
      `[${"a-z".repeat(1000)}]*b`,
      "(a+)+$",
    ];
    const lines = Array.from({ length: 20_000 }, (_, index) => `${cruel[index % cruel.length]}${index}`);
    folder.write(".gitignore", `*.log\n${lines.join("\n")}`);
    for (let index = 0; index < 20; index += 1) folder.write(`${"a".repeat(230)}${index}z`, "");
    folder.write("a.log", "");
    folder.write("a/a/a/a/a/a/a/a/b.txt", "");
    const source = await folder.open();
    // With backtracking, this would not end.
    expect(await servedBy(source)).toHaveLength(21);
    expect(folder.logged.some((message) => message.includes("ignore file"))).toBe(true);
  }, 60_000);
});

describe("a folder that is not on the disk", () => {
  const noRules: AbsentFolders = { areAll: () => false, ownRules: () => settled([]) };
  const serves = (path: string, absent = noRules): boolean =>
    runNow(folder.rules(createLocalDisk(), {}, absent).serves(path, false));

  it("is not served unless the source supports absent folders: then the rules above it apply", () => {
    folder.write(".gitignore", "old/private\n*.log\n");
    expect(runNow(folder.rules(createLocalDisk()).serves("old/a.txt", false))).toBe(false);
    expect(serves("old/a.txt")).toBe(true);
    for (const path of ["old/private/a.txt", "old/deep/a.log", "old/.x/a.txt", "old/node_modules/a.js", "old/.env"])
      expect(serves(path), path).toBe(false);
  });

  it("has the ignore files that the source provides", () => {
    folder.write("there/a.txt", "");
    const own = [{ rank: ranks.gitignore, rules: parseRules("b.txt\n") }];
    const absent: AbsentFolders = {
      ...noRules,
      ownRules: (path) => settled(path === "old" || path === "there" ? own : []),
    };
    expect(serves("old/deep/a.txt", absent)).toBe(true);
    expect(serves("old/deep/b.txt", absent)).toBe(false);
    expect(serves("there/b.txt", absent)).toBe(true);
  });

  it("reads no ignore file through a link at its path", () => {
    fs.mkdirSync(join(folder.above, "elsewhere/deep"), { recursive: true });
    fs.writeFileSync(join(folder.above, "elsewhere/deep/.gitignore"), "a.txt\n");
    folder.link("../elsewhere", "old");
    expect(serves("old/deep/a.txt")).toBe(true);
  });

  it("is every folder if nothing is on the disk: neither the root's own ignore files apply, nor those above it", () => {
    folder.write("repository/.git/HEAD", "ref: refs/heads/main");
    folder.write("repository/.gitignore", "a.txt\n");
    folder.write("repository/bare/.gitignore", "b.txt\n");
    const root = folder.at("repository/bare");
    const rules = createFolderRules({
      ...chooseRules({}),
      root,
      disk: createLocalDisk(),
      person: { home: folder.home },
      absent: { ...noRules, areAll: () => true },
    });
    for (const path of ["a.txt", "b.txt", "c/a.txt"]) expect(runNow(rules.serves(path, false)), path).toBe(true);
    expect(runNow(rules.serves(".x", false))).toBe(false);
  });
});
