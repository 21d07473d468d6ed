/** Compares the ignore rules with git itself. */
import { execFileSync, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Entry, Source } from "../../source.ts";
import { asking, collect } from "../../testing/pages.ts";
import { useFolder } from "../disk/test-folder.ts";

const folder = useFolder();
const { at, call, open, write } = folder;

// In CI, a missing program is a failure and not a skip.
const hasGit = "CI" in process.env || spawnSync("git", ["--version"]).status === 0;

async function listed(source: Source): Promise<string[]> {
  const entries: Entry[] = await collect((cursor) => source.list(asking(1000, cursor), call()));
  return entries.map(({ path }) => path).sort();
}

function git(where: string, ...words: readonly string[]): string {
  return execFileSync("git", ["-c", "protocol.file.allow=always", ...words], {
    cwd: where,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"] ?? "", HOME: folder.home, GIT_CONFIG_NOSYSTEM: "1" },
  });
}

/** The files that git shows of a checkout: everything that is neither ignored nor git's own. */
function shownByGit(where: string): string[] {
  return git(where, "ls-files", "-co", "--exclude-standard", "-z").split("\0").filter(Boolean).sort();
}

function commit(where: string): void {
  git(where, "add", "-A", "-f");
  git(where, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "x");
}

/** One folder with its ignore file: the lines, the files, and the paths to check with git. */
const tricky: readonly (readonly [what: string, lines: string, files: string])[] = [
  ["a plain name matches at every depth", "a", "a b/a c/d/a ab"],
  ["a leading slash anchors it to the folder", "/a", "a b/a"],
  ["a slash in the middle does so, too", "b/a", "b/a c/b/a b/c/a"],
  ["a trailing slash matches folders only", "a/", "a b/a/c d/a/e/f"],
  ["two leading stars match at every depth", "**/a", "a b/a b/c/a ab"],
  ["two stars before a path", "**/a/b", "a/b c/a/b c/d/a/b a/c/b"],
  ["two trailing stars match everything below, not the folder", "a/**", "a/b a/c/d b/a/c a/.gitignore2"],
  ["two stars in between match any number of folders", "a/**/b", "a/b a/c/b a/c/d/b c/a/b a/bc"],
  ["several of them in one path", "a/**/b/**/c", "a/b/c a/x/b/y/c a/b/x/y/c a/x/c a/b/b/c"],
  ["two stars within a name are one", "a**b\nc/d**e", "ab axb c/de c/dxe c/d/e axyb"],
  ["two stars alone match everything", "**\n!a\n!.gitignore", "a b c/a"],
  ["a star does not match a slash", "a/*\n!a/b", "a/b a/c a/d/e"],
  ["a star at the start, at the end and in between", "*a\nb*\nc*d", "xa bx cxd cd xc dx"],
  ["many stars", "*a*b*c*\n*xy*y", "abc aybzc cba acb aabbcc zxy zxyy xyzy"],
  ["a question mark matches one byte", "a?\nb??", "ab a abc bé bxy bx c/ab"],
  ["an exclamation mark negates", "*.log\n!keep.log", "a.log keep.log b/keep.log b/c.log"],
  ["the last match applies", "!a\na\n*.x\n!b.x\nb.x", "a b.x c/b.x"],
  ["nothing is negated below an ignored folder", "a/\n!a/b\n!b", "a/b b c/a/b"],
  ["a path is opened step by step", "/*\n!/a\n/a/*\n!/a/b\n!.gitignore", "x a/x a/b/c a/d/e"],
  ["a backslash escapes special characters", "\\#a\n\\!b\n\\*c\nd\\?\ne\\\\f", "#a !b *c xc d? dx e\\f"],
  ["a comment, and text that only looks like one", "#a\n a\nb#c", "#a a  a b#c"],
  ["trailing spaces are ignored unless escaped", "a  \nb\\ \nc d ", "a b b\\  c d"],
  ["a trailing tab is part of the pattern", "a\t", "a b"],
  ["ranges and sets", "[a-c]x\n[!d]y\n[^e]z\n[]]u\n[x-]v\n[a\\]]w", "ax bx dx dy ey ez fz ]u -v xv ]w bw"],
  [
    "named classes",
    "[[:digit:]]a\n[[:upper:]]b\n[[:foo:]]c\n[[:alpha:]-z]d\n[[:]e",
    "1a Aa Bb bb :c fc -d zd 1d [e :e",
  ],
  ["an unclosed pattern matches nothing", "[a\nb\\\n[!", "a [a b b\\ [!"],
  ["a slash within a set", "a[x/]b\nc[/]d", "axb c/d cd"],
  ["an escaped slash", "a\\/b\n\\/c", "a/b c x/c"],
  ["doubled slashes", "a//b\n//c", "a/b c"],
  ["case is significant", "ABC\n*.TXT", "abc ABC a.txt a.TXT"],
  ["names beyond ASCII", "é*\n日本\n*.メモ", "éa e日 日本/x x.メモ x.memo"],
  ["sets of bytes beyond ASCII", "[é]a\n[!a]b", "éa xa éb ab bb"],
  ["empty lines and lone special characters", "\n/\n!\n!/\n\r\n", "a b"],
  ["an escaped star before two", "\\**/a\na/\\**", "*/a *x/a b/a a/*b a/c"],
  ["a folder matched only by a folder rule, negated as a file", "a/\n!a", "a b/a/c"],
  ["path rules and name rules mixed", "a/b\n!b\nb/c\n!a/b", "a/b b/c b/d/c a/c/b"],
  ["three stars equal two", "a/***/b\n***/c", "a/b a/x/b c x/c"],
  ["braces and plus are literal", "{a,b}\na+", "a b {a,b} a+ aa"],
];

describe.skipIf(!hasGit)("matches git (skipped without git)", () => {
  it.each(tricky)("%s", async (_, lines, files) => {
    git(folder.root, "init", "-q");
    write(".gitignore", lines);
    for (const name of files.split(/(?<!\\) (?! )/)) write(name.replaceAll("\\ ", " "), "");
    const source = await open({ hidden: true });
    expect(await listed(source)).toEqual(shownByGit(folder.root));
  });

  it("rules with other line ends, a byte order mark, and no final line end", async () => {
    git(folder.root, "init", "-q");
    write(".gitignore", "\ufeffa\r\nb\r\nc \r\nd");
    for (const name of ["a", "b", "c", "d", "e"]) write(name, "");
    expect(await listed(await open({ hidden: true }))).toEqual(shownByGit(folder.root));
    expect(shownByGit(folder.root)).toEqual([".gitignore", "e"]);
  });

  it("for any tree and rules", async () => {
    const names = ["a", "b", "ab", "aa", "a.b", "b.a", ".a", "A", "é", "a b", "#a", "[a]"];
    const name = fc.constantFrom(...names);
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
    const piece = fc.oneof(
      { weight: 6, arbitrary: name },
      fc.constantFrom(
        "*",
        "?",
        "**",
        "*.a",
        "a*",
        "*b*",
        "[ab]",
        "[!a]",
        "[a-",
        "\\a",
        "a?",
        "\\#a",
        "\\[a]",
        "é*",
        "?b",
      ),
    );
    const pattern = fc
      .tuple(
        fc.constantFrom("", "", "!", "!", "/", "!/", "**/", "#"),
        fc.array(piece, { minLength: 1, maxLength: 3 }),
        fc.constantFrom("", "", "/", "/**", "/*", " ", "\\ "),
      )
      .map(([before, parts, behind]) => `${before}${parts.join("/")}${behind}`);
    const rules = fc.array(pattern, { minLength: 1, maxLength: 6 }).map((lines) => lines.join("\n"));
    await fc.assert(
      fc.asyncProperty(
        fc.array(path, { minLength: 3, maxLength: 20 }),
        rules,
        fc.dictionary(
          fc.array(name, { minLength: 1, maxLength: 2 }).map((parts) => parts.join("/")),
          rules,
          {
            maxKeys: 3,
          },
        ),
        fc.option(rules, { nil: undefined }),
        fc.option(rules, { nil: undefined }),
        async (paths, top, nested, exclude, global) => {
          fs.rmSync(folder.root, { recursive: true });
          fs.rmSync(folder.home, { recursive: true, force: true });
          fs.mkdirSync(folder.root);
          git(folder.root, "init", "-q", "--template=");
          for (const each of paths) tryToWrite(each, "");
          tryToWrite(".gitignore", top);
          for (const [where, lines] of Object.entries(nested)) tryToWrite(`${where}/.gitignore`, lines);
          if (exclude !== undefined) write(".git/info/exclude", exclude);
          if (global !== undefined) writeHome(".config/git/ignore", global);
          const source = await open({ hidden: true });
          expect(await listed(source)).toEqual(shownByGit(folder.root));
          await source.close();
        },
      ),
      { numRuns: 60 },
    );
  }, 120_000);

  it("a worktree, and a submodule, whose .git is a file: each has its own excludes", async () => {
    const main = join(folder.above, "main");
    fs.mkdirSync(main);
    git(main, "init", "-q");
    fs.writeFileSync(join(main, "a"), "");
    commit(main);
    const other = join(folder.above, "other");
    fs.mkdirSync(other);
    git(other, "init", "-q");
    fs.writeFileSync(join(other, "s"), "");
    commit(other);
    git(main, "submodule", "--quiet", "add", other, "sub");
    commit(main);
    fs.writeFileSync(join(main, ".git/info/exclude"), "from-main\n");
    fs.writeFileSync(join(main, ".git/modules/sub/info/exclude"), "from-sub\n");
    fs.writeFileSync(join(main, ".gitignore"), "ignored-by-main\n");
    for (const name of ["sub/from-main", "sub/from-sub", "sub/ignored-by-main", "from-main", "from-sub"])
      fs.writeFileSync(join(main, name), "");
    const worktree = join(folder.above, "worktree");
    git(main, "worktree", "add", "--quiet", "--detach", worktree);
    for (const name of ["from-main", "from-sub"]) fs.writeFileSync(join(worktree, name), "");

    const within = await listed(await open({ root: join(main, "sub"), hidden: true }));
    expect(within).toEqual(shownByGit(join(main, "sub")));
    expect(within).toEqual(["from-main", "ignored-by-main", "s"]);
    const tree = await listed(await open({ root: worktree, hidden: true }));
    expect(tree).toEqual(shownByGit(worktree).filter((path) => path !== "sub"));
    expect(tree).not.toContain("from-main");
    // From above, the submodule is part of the folder, and its own rules apply in it.
    expect(await listed(await open({ root: main }))).toEqual([
      "a",
      "from-sub",
      "sub/from-main",
      "sub/ignored-by-main",
      "sub/s",
    ]);
  });

  it("a folder inside a repository: the rules of the folders above it apply", async () => {
    git(folder.root, "init", "-q");
    write(".gitignore", "*.log\n/deep/*/x\nlocal\n");
    write("deep/.gitignore", "!keep.log\n/inner/y\n");
    write(".git/info/exclude", "deep/inner/z\n");
    for (const name of ["a.log", "keep.log", "x", "y", "z", "q/x", "q/y", "q/z", "local", "fine"])
      write(`deep/inner/${name}`, "");
    const inner = at("deep/inner");
    const shown = await listed(await open({ root: inner, hidden: true }));
    expect(shown).toEqual(shownByGit(inner));
    expect(shown).toEqual(["fine", "keep.log", "q/x", "q/y", "q/z"]);
  });

  it.each([
    ["[core]\n\texcludesFile = ~/mine\n", ".gitconfig"],
    ['[core]\nexcludesfile = "~/mine" ; a comment\n', ".config/git/config"],
    ["[user]\nname = x\n[Core] EXCLUDESFILE=~/mi\\\nne # so\n", ".gitconfig"],
    ['[core "other"]\nexcludesfile = /nowhere\n[core]\n  excludesfile = ~/mine\n', ".gitconfig"],
  ])("finds the user's own file through %j in %s", async (config, where) => {
    git(folder.root, "init", "-q");
    writeHome(where, config);
    writeHome("mine", "*.mine\n");
    writeHome(".config/git/ignore", "*.unless-said\n");
    for (const name of ["a.mine", "a.unless-said"]) write(name, "");
    const shown = await listed(await open());
    expect(shown).toEqual(shownByGit(folder.root));
    expect(shown).toEqual(["a.unless-said"]);
  });
});

function writeHome(path: string, text: string): void {
  fs.mkdirSync(join(folder.home, path, ".."), { recursive: true });
  fs.writeFileSync(join(folder.home, path), text);
}

/** If a file and a folder have the same path, the first one stays. */
function tryToWrite(path: string, text: string): void {
  try {
    write(path, text);
  } catch (cause) {
    if (!["EEXIST", "ENOTDIR", "EISDIR"].includes((cause as NodeJS.ErrnoException).code ?? "")) throw cause;
  }
}
