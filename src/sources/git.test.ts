import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { directoryType } from "../resources.ts";
import { type Entry, pathOf, segmentsOf, type Source } from "../source.ts";
import { createClock } from "../testing/clock.ts";
import { contractContent } from "../testing/contract-content.ts";
import { asking, collect } from "../testing/pages.ts";
import { refusal } from "../testing/refusal.ts";
import { sourceContract } from "../testing/source-contract.ts";
import git from "./git.ts";
import {
  call,
  clear,
  readFacts,
  readText,
  scratchFolder,
  type TestRepository,
  testRepository,
} from "./git/test-repository.ts";

afterEach(clear);

const texts = contractContent as Readonly<Record<string, string>>;

function withContent(init: readonly string[] = [], folder?: string): TestRepository {
  const repository = testRepository(init, folder);
  repository.commit("first", texts);
  repository.git("branch", "feature/x");
  repository.git("tag", "v1");
  return repository;
}

let kept: TestRepository | undefined;
afterAll(() => rmSync(kept?.folder ?? "", { recursive: true, force: true }));

/** One repository for all tests that only read. */
function untouched(): TestRepository {
  return (kept ??= withContent([], mkdtempSync(join(tmpdir(), "pressmark-test-git-"))));
}

let changing: TestRepository | undefined;
let branches = 0;
afterAll(() => rmSync(changing?.folder ?? "", { recursive: true, force: true }));
sourceContract("git", {
  abilities: ["stat", "children", "templates", "complete", "listIndexed", "watch"],
  content: { branches: undefined, log: undefined, status: undefined, tags: undefined },
  open: async () => (changing ??= withContent([], mkdtempSync(join(tmpdir(), "pressmark-test-git-")))).open(),
  change() {
    branches += 1;
    changing?.git("branch", `watched-${branches}`);
    return [
      { kind: "changed", path: "branches" },
      { kind: "appeared", path: `tree/watched-${branches}` },
    ];
  },
  clear,
  expansions: [
    { at: { path: "blob/HEAD/docs/a.txt" }, text: "alpha" },
    { at: { path: pathOf(["blob", "feature/x", "names", "日本語.md"]) }, text: "日本語の本文" },
    { at: { path: "tree/v1/readme.md", query: { lines: "1-1" } }, text: "# Read me\n" },
    { at: { path: "log", query: { max: "1", ref: "v1" } } },
    { at: { path: "commit/HEAD" } },
    { at: { path: "churn", query: { path: "docs", as: "text" } } },
    { at: { path: "diff/main...v1" } },
    { at: { path: "diff/main/v1" }, text: "" },
    { at: { path: "blame/main/docs/b.txt", query: { lines: "2-2" } } },
  ],
  completions: [
    { template: "tree/{ref}{/path*}", variable: "ref", value: "feat", expected: "feature/x" },
    { template: "diff/{base}...{head}{?path,as}", variable: "head", value: "feat", expected: "feature/x" },
    { template: "commit/{sha}", variable: "sha", value: "", expected: "v1" },
    {
      template: "blob/{ref}{/path*}{?lines,bytes}",
      variable: "path",
      value: "do",
      given: { ref: "v1" },
      expected: "docs/",
    },
    {
      template: "diff/{base}/{head}{?path}",
      variable: "path",
      value: "docs/b",
      given: { head: "v1" },
      expected: "docs/b.txt",
    },
  ],
});

/** Every file below a folder of a source, by its address. */
async function filesBelow(source: Source, path: string): Promise<Entry[]> {
  const files: Entry[] = [];
  const ahead = [path];
  for (let folder = ahead.pop(); folder !== undefined; folder = ahead.pop()) {
    const at = { path: folder };
    for (const entry of await collect((cursor) => source.children!(at, asking(3, cursor), call)))
      if (entry.mimeType === directoryType) ahead.push(entry.path);
      else files.push(entry);
  }
  return files;
}

describe("trees and blobs", () => {
  it.each([[[]], [["--object-format=sha256"]]])("contain every file of a commit, for any name (%j)", async (init) => {
    const source = await withContent(init).open();
    const files = await filesBelow(source, "tree/feature\0x");
    const paths = files.map(({ path }) => segmentsOf(path).slice(2).join("/"));
    expect(paths.sort()).toEqual(Object.keys(texts).sort());
    for (const { path, reveals, size } of files) {
      const text = texts[segmentsOf(path).slice(2).join("/")]!;
      expect(await readText(source, path)).toBe(text);
      expect(await readText(source, reveals!.path)).toBe(text);
      expect(size).toBe(Buffer.byteLength(text));
      expect(await source.stat!({ path }, call)).toMatchObject({ path, reveals, size });
    }
  });

  it("return the same bytes as git show, for any names and any bytes", async () => {
    const name = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 8 })
      // Hidden names, also those with another kind of dot ("．"), are not served.
      .filter((text) => text.isWellFormed() && !/[/\0]/.test(text))
      .filter((text) => !/^\.|\.(?:key|pem|p8)$/i.test(text.normalize("NFKC")));
    const files = fc.uniqueArray(
      fc.tuple(fc.array(name, { minLength: 1, maxLength: 3 }), fc.uint8Array({ maxLength: 300 })),
      {
        maxLength: 12,
        selector: ([segments]) => segments[0]!.normalize("NFC").toLowerCase(),
      },
    );
    await fc.assert(
      fc.asyncProperty(files, async (all) => {
        const repository = testRepository();
        for (const [segments, bytes] of all) repository.write(segments.join("/"), Buffer.from(bytes));
        repository.commit("any");
        const source = await repository.open();
        const found = await filesBelow(source, "tree/HEAD");
        expect(found).toHaveLength(all.length);
        for (const entry of found) {
          const path = segmentsOf(entry.path).slice(2).join("/");
          const [part] = await source.read({ path: entry.path, query: { bytes: "0-" } }, call).catch(() => [undefined]);
          const [whole] = await source.read({ path: entry.path }, call);
          const shown = repository.gitBytes(["show", `HEAD:${path}`]);
          if ("bytes" in whole!.body) expect(Buffer.from(whole!.body.bytes)).toEqual(shown);
          else if (whole!.meta?.["pressmark/encoding"] === undefined)
            expect(Buffer.from(whole!.body.text)).toEqual(shown);
          expect(part === undefined).toBe(shown.length === 0);
        }
        await clear();
      }),
      { numRuns: 6 },
    );
  });

  it("distinguish names that differ only in the encoding of their accents", async () => {
    const repository = testRepository();
    const [composed, apart] = ["が.txt".normalize("NFC"), "が.txt".normalize("NFD")];
    const blob = (text: string) => repository.gitBytes(["hash-object", "-w", "--stdin"], text).toString().trim();
    const tree = `100644 blob ${blob("one")}\t${composed}\0${100644} blob ${blob("two")}\t${apart}\0`;
    const hash = repository.gitBytes(["mktree", "-z"], tree).toString().trim();
    repository.git("update-ref", "refs/heads/main", repository.git("commit-tree", hash, "-m", "names"));
    const source = await repository.open();
    expect(await readText(source, `blob/main/${composed}`)).toBe("one");
    expect(await readText(source, `blob/main/${apart}`)).toBe("two");
    expect(await filesBelow(source, "tree/main")).toHaveLength(2);
  });

  it("return the target of a link, and never follow it", async () => {
    const repository = testRepository();
    symlinkSync("/etc/passwd", join(repository.folder, "out"));
    repository.commit("a link");
    const source = await repository.open();
    const [part] = await source.read({ path: "blob/HEAD/out" }, call);
    expect(part).toMatchObject({
      body: { text: "/etc/passwd" },
      mimeType: "inode/symlink",
      meta: { "pressmark/link": "/etc/passwd" },
    });
    await refusal(source.read({ path: "blob/HEAD/out/below" }, call), ["not-found"], "below a link");
  });

  it("describe a submodule and its commit", async () => {
    const repository = testRepository();
    const commit = repository.commit("first", { "a.txt": "a" });
    repository.git("update-index", "--add", "--cacheinfo", `160000,${commit},vendor/lib`);
    repository.git("commit", "--quiet", "-m", "with a submodule");
    const source = await repository.open();
    expect(await readFacts(source, "blob/HEAD/vendor/lib")).toEqual({ submodule: "vendor/lib", commit });
    expect(await source.stat!({ path: "tree/HEAD/vendor/lib" }, call)).toMatchObject({
      mimeType: "application/json",
      meta: { "pressmark/submodule": commit },
    });
    expect(await readFacts(source, "status")).toMatchObject({ staged: [], untracked: [] });
  });

  it("describe the object of an LFS pointer", async () => {
    const repository = testRepository();
    const oid = `sha256:${"ab".repeat(32)}`;
    repository.commit("big", { "big.psd": `version https://git-lfs.github.com/spec/v1\noid ${oid}\nsize 12345\n` });
    const [part] = await (await repository.open()).read({ path: "blob/HEAD/big.psd" }, call);
    expect(part!.meta).toMatchObject({ "pressmark/lfs": { oid, size: 12345 } });
  });

  it("decode text as the file source does", async () => {
    const repository = testRepository();
    repository.commit("sjis", {
      "メモ.txt": Buffer.from("82b182f182c982bf82cd8141 90a28a4581420a".replace(" ", ""), "hex"),
    });
    const [part] = await (await repository.open()).read({ path: "blob/HEAD/メモ.txt" }, call);
    expect(part).toMatchObject({
      body: { text: "こんにちは、世界。\n" },
      meta: { "pressmark/encoding": "shift_jis" },
    });
  });

  it("of a file that is too large fail with ranges that can be read", async () => {
    const repository = testRepository();
    repository.commit("large", { "large.txt": "a line of text\n".repeat(1000) });
    const source = await repository.open({ maxBytes: 1000 });
    const error = await refusal(source.read({ path: "blob/HEAD/large.txt" }, call), ["too-large"], "large");
    expect(error.details).toMatchObject({ size: 15_000, next: "lines=1-1000" });
    expect(await readText(source, "blob/HEAD/large.txt", { lines: "1000-" })).toBe("a line of text\n");
    expect(await readText(source, "blob/HEAD/large.txt", { bytes: "2-5" })).toBe("line");
  });

  it("are fresh for a minute under a full hash, but not under a name", async () => {
    const repository = untouched();
    const source = await repository.open();
    const hash = repository.git("rev-parse", "HEAD");
    for (const path of [
      `blob/${hash}/docs/a.txt`,
      `commit/${hash}`,
      `diff/${hash}/${hash}`,
      `blame/${hash}/docs/a.txt`,
    ]) {
      const [part] = await source.read({ path }, call);
      expect(part!.freshness, path).toEqual({ ttlMs: 60_000 });
      const [named] = await source.read({ path: path.replaceAll(hash, "main") }, call);
      expect(named!.freshness, path).toBeUndefined();
    }
  });

  it("follow a branch that moves immediately", async () => {
    const repository = withContent();
    const source = await repository.open();
    const before = await source.stat!({ path: "blob/main/docs/a.txt" }, call);
    repository.commit("second", { "docs/a.txt": "changed" });
    expect(await readText(source, "blob/main/docs/a.txt")).toBe("changed");
    expect(await readText(source, "blob/HEAD/docs/a.txt")).toBe("changed");
    expect(await readText(source, "blob/HEAD~1/docs/a.txt")).toBe("alpha");
    const after = await source.stat!({ path: "blob/main/docs/a.txt" }, call);
    expect(after.version).not.toBe(before.version);
    repository.git("checkout", "--quiet", "feature/x");
    expect(await readText(source, "blob/HEAD/docs/a.txt")).toBe("alpha");
  });
});

describe("names of secrets", () => {
  it("do not appear in trees, blobs, blame, logs, diffs, commits, status and completions", async () => {
    const repository = testRepository();
    repository.commit("first", { "a.txt": "a", "bin.txt": "b" });
    repository.commit("leak", {
      ".env": "TOKEN=hunter2\n",
      "keys/server.key": "hunter2\n",
      "keys/ＩＤ_RSA": "hunter2\n",
      "日本/.env": "hunter2\n",
      "a.txt": "changed",
    });
    repository.write("id_ed25519", "hunter2\n");
    const source = await repository.open();
    const everything: string[] = [];
    for (const path of ["status", "log", "commit/HEAD", "diff/HEAD~1/HEAD", "branches"])
      everything.push(await readText(source, path));
    for (const entry of await filesBelow(source, "tree/HEAD"))
      everything.push(entry.path, await readText(source, entry.path));
    const template = source.templates!.find(({ name }) => name === "File at a commit")!;
    for (const value of ["", ".", "keys/"])
      for (const each of await source.complete!({ template, variable: "path", value, given: { ref: "HEAD" } }, call))
        everything.push(each.value);
    expect(everything.join("\n")).not.toMatch(/hunter2|\.env|server\.key|RSA|ed25519/);
    expect(everything[3]).toContain("# 4 files not shown\n");
    expect(everything[3]).toContain("+changed");
    for (const path of ["blob/HEAD/.env", "tree/HEAD/keys/server.key", "blame/HEAD/.env", "blob/HEAD/日本/.env"])
      await refusal(source.read({ path }, call), ["not-found"], path);
    for (const path of ["log", "diff/HEAD~1/HEAD"])
      expect(await readText(source, path, { path: ".env" })).toBe(await readText(source, path, { path: "nowhere" }));
  });

  it("do not appear in a patch when they are renamed, deleted, empty, binary or only made executable", async () => {
    const repository = testRepository();
    const text = "hunter2\n".repeat(50);
    repository.commit("first", {
      ".env": text,
      "b.key": Buffer.from([0, 1, 2]),
      "c.pem": "",
      "d.pem": "hunter2",
      "x.txt": "x",
    });
    renameSync(join(repository.folder, ".env"), join(repository.folder, "plain.txt"));
    repository.write("b.key", Buffer.from([0, 9, 9]));
    rmSync(join(repository.folder, "c.pem"));
    chmodSync(join(repository.folder, "d.pem"), 0o755);
    repository.write('with "quotes" and é.key', "hunter2");
    repository.commit("second", { "x.txt": "y" });
    const source = await repository.open();
    const [part] = await source.read({ path: "diff/HEAD~1/HEAD" }, call);
    expect(part!.meta).toEqual({ "pressmark/files": 2, "pressmark/leftOut": 5 });
    const patch = "text" in part!.body ? part!.body.text : "";
    expect(patch).toMatch(/^# 5 files not shown\ndiff --git a\/plain\.txt b\/plain\.txt\nnew file mode 100644\n/);
    expect(patch).not.toMatch(/\.env|rename|key|pem/);
    expect(await readFacts(source, "commit/HEAD")).toMatchObject({
      files: [
        { path: "plain.txt", change: "added" },
        { path: "x.txt", change: "modified" },
      ],
      leftOut: 5,
    });
  });
});

describe("facts", () => {
  it("of the status: branch, staged, changed and untracked files, and operations in progress", async () => {
    const repository = withContent();
    const head = repository.git("rev-parse", "HEAD");
    const source = await repository.open();
    const nothing = { staged: [], unstaged: [], conflicts: [], untracked: [] };
    expect(await readFacts(source, "status")).toEqual({ head, branch: "main", clean: true, ...nothing });
    repository.write("docs/a.txt", "staged");
    repository.git("add", "docs/a.txt");
    repository.write("docs/b.txt", "changed");
    repository.git("mv", "readme.md", "read me.md");
    repository.write("新しい/x.txt", "new");
    repository.write("ignored.txt", "x");
    repository.write(".git/info/exclude", "ignored.txt\n");
    expect(await readFacts(source, "status")).toEqual({
      head,
      branch: "main",
      clean: false,
      staged: [
        { path: "docs/a.txt", change: "modified" },
        { path: "read me.md", change: "renamed", from: "readme.md" },
      ],
      unstaged: [{ path: "docs/b.txt", change: "modified" }],
      conflicts: [],
      untracked: ["新しい/"],
    });
  });

  it("of the status during a merge, with conflicts", async () => {
    const repository = withContent();
    repository.commit("ours", { "docs/a.txt": "ours" });
    repository.git("checkout", "--quiet", "feature/x");
    repository.commit("theirs", { "docs/a.txt": "theirs" });
    expect(() => repository.git("merge", "main")).toThrow();
    expect(await readFacts(await repository.open(), "status")).toMatchObject({
      branch: "feature/x",
      operation: "merge",
      conflicts: [{ path: "docs/a.txt", change: "both modified" }],
    });
  });

  it("of a branch: its upstream, and how far it is ahead", async () => {
    const origin = withContent();
    const folder = join(scratchFolder(), "clone");
    origin.git("clone", "--quiet", origin.folder, folder);
    const repository = testRepository([], folder);
    repository.commit("ahead", { "x.txt": "x" });
    const source = await repository.open();
    expect(await readFacts(source, "status")).toMatchObject({
      upstream: { name: "origin/main", ahead: 1, behind: 0 },
    });
    expect(await readFacts(source, "branches")).toMatchObject({
      head: "main",
      branches: [{ name: "main", upstream: "origin/main", current: true, subject: "ahead" }],
      remotes: [{ name: "origin/feature/x" }, { name: "origin/main" }],
    });
    repository.git("branch", "--track", "mine", "origin/feature/x");
    expect(await readText(source, "branches")).toContain('"upstream":"origin/feature/x"');
  });

  it("of tags, lightweight and annotated", async () => {
    const repository = withContent();
    repository.git("tag", "--annotate", "v2", "--message", "the second");
    const hash = repository.git("rev-parse", "HEAD");
    expect(await readFacts(await repository.open(), "tags")).toMatchObject({
      tags: [
        { name: "v1", hash, subject: "first" },
        { name: "v2", hash, subject: "the second", annotated: true },
      ],
    });
  });

  it("of a commit: author, date, message, and files", async () => {
    const repository = withContent();
    repository.git("mv", "docs/b.txt", "docs/c.txt");
    const hash = repository.commit("a subject\n\nand why\n", { "docs/a.txt": "changed", "n.txt": "new" });
    const source = await repository.open();
    const ada = { name: "Ada", email: "ada@example.org" };
    for (const sha of [hash, hash.slice(0, 8), "HEAD", "main", "@", "refs/heads/main"])
      expect(await readFacts(source, pathOf(["commit", sha])), sha).toMatchObject({
        hash,
        parents: [repository.git("rev-parse", "HEAD~1")],
        author: ada,
        committer: ada,
        message: "a subject\n\nand why",
        files: [
          { path: "docs/a.txt", change: "modified" },
          { path: "docs/c.txt", change: "renamed", from: "docs/b.txt" },
          { path: "n.txt", change: "added" },
        ],
      });
    expect(await readFacts(source, "commit/v1")).toMatchObject({ parents: [], files: { length: 18 } });
  });

  it("of the lines of a file: author and date", async () => {
    const repository = testRepository();
    const first = repository.commit("one", { "a.txt": "one\ntwo\nthree\n" });
    const second = repository.commit("two", { "a.txt": "one\nTWO\nthree\n" });
    const source = await repository.open();
    expect(await readFacts(source, "blame/main/a.txt")).toMatchObject({
      commit: second,
      commits: { [first]: { author: "Ada", subject: "one" }, [second]: { subject: "two" } },
      ranges: [
        { lines: [1, 1], commit: first, text: "one" },
        { lines: [2, 2], commit: second, text: "TWO" },
        { lines: [3, 3], commit: first, text: "three" },
      ],
    });
    expect(await readFacts(source, "blame/main/a.txt", { lines: "2-2" })).toMatchObject({
      ranges: [{ lines: [2, 2] }],
    });
    await refusal(source.read({ path: "blame/main/a.txt", query: { lines: "9-" } }, call), ["invalid"], "beyond");
  });

  it("of a patch that is too large fail with parts that can be read", async () => {
    const repository = testRepository();
    repository.commit("none");
    repository.commit("much", { "a/x.txt": "x\n".repeat(2000), "b/y.txt": "y\n" });
    const source = await repository.open({ maxBytes: 2000 });
    const error = await refusal(source.read({ path: "diff/HEAD~1/HEAD" }, call), ["too-large"], "diff");
    expect(error.details).toMatchObject({ files: 2, ranges: ["path=a", "path=b"] });
    expect(await readText(source, "diff/HEAD~1/HEAD", { path: "b" })).toContain("+y\n");
  });

  it("of a first commit as a patch against the empty tree", async () => {
    const repository = testRepository();
    const hash = repository.commit("first", { "a.txt": "a\n" });
    const empty = repository.gitBytes(["hash-object", "-t", "tree", "--stdin"], "").toString().trim();
    expect(await readText(await repository.open(), `diff/${empty}/${hash}`)).toContain("+a\n");
  });
});

describe("repositories of every kind", () => {
  it("without a commit have a status, an empty log and no trees", async () => {
    const source = await testRepository().open();
    expect(await readFacts(source, "status")).toMatchObject({ head: null, branch: "main", unborn: true, clean: true });
    expect(await readFacts(source, "log")).toEqual({ from: null, commits: [] });
    expect(await readFacts(source, "churn")).toMatchObject({ commits: 0, files: [] });
    expect(await source.listIndexed!({ limit: 10 }, call)).toMatchObject({ items: [{ path: "tags" }] });
    expect(await readFacts(source, "branches")).toEqual({ head: "main", branches: [], remotes: [] });
    expect(await source.children!({ path: "tree" }, { limit: 10 }, call)).toEqual({ items: [] });
    await refusal(source.read({ path: "commit/HEAD" }, call), ["not-found"], "HEAD");
  });

  it("with a detached HEAD report that", async () => {
    const repository = withContent();
    const head = repository.git("rev-parse", "HEAD");
    repository.git("checkout", "--quiet", "--detach");
    const source = await repository.open();
    expect(await readFacts(source, "status")).toMatchObject({ head, branch: null, detached: true });
    expect(await readFacts(source, "branches")).toMatchObject({ head: null });
    expect(await readText(source, "blob/HEAD/docs/a.txt")).toBe("alpha");
  });

  it("that are bare are served without a work tree", async () => {
    const repository = withContent();
    const folder = join(scratchFolder(), "bare.git");
    repository.git("clone", "--quiet", "--bare", repository.folder, folder);
    const source = await repository.open({ root: folder });
    expect(await readFacts(source, "status")).toEqual({
      head: repository.git("rev-parse", "HEAD"),
      branch: "main",
      bare: true,
    });
    expect(await readText(source, "blob/main/docs/a.txt")).toBe("alpha");
    expect(await readFacts(source, "blame/main/docs/a.txt")).toMatchObject({ ranges: [{ lines: [1, 1] }] });
  });

  it("that are linked worktrees have their own HEAD and index", async () => {
    const repository = withContent();
    const folder = join(scratchFolder(), "worktree");
    repository.git("worktree", "add", "--quiet", folder, "feature/x");
    repository.commit("main goes on", { "docs/a.txt": "on main" });
    writeFileSync(join(folder, "docs/b.txt"), "changed here");
    const source = await repository.open({ root: folder });
    expect(await readFacts(source, "status")).toMatchObject({
      branch: "feature/x",
      unstaged: [{ path: "docs/b.txt", change: "modified" }],
    });
    expect(await readText(source, "blob/HEAD/docs/a.txt")).toBe("alpha");
    expect(await readText(source, "blob/main/docs/a.txt")).toBe("on main");
  });

  it("that are submodules are served through their git folder", async () => {
    const inner = withContent();
    const outer = testRepository();
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.folder, "lib");
    const source = await outer.open({ root: join(outer.folder, "lib") });
    expect(await readFacts(source, "status")).toMatchObject({ branch: "main", clean: true });
    expect(await readText(source, "blob/HEAD/docs/a.txt")).toBe("alpha");
  });

  it("that are shallow report where their history ends", async () => {
    const origin = withContent();
    const second = origin.commit("second", { "x.txt": "x" });
    const folder = join(scratchFolder(), "shallow");
    origin.git("clone", "--quiet", "--depth=1", `file://${origin.folder}`, folder);
    const source = await origin.open({ root: folder });
    expect(await readFacts(source, "log")).toMatchObject({
      shallow: true,
      commits: [{ hash: second, boundary: true }],
    });
    expect(await readFacts(source, "commit/HEAD")).toMatchObject({ hash: second, boundary: true });
    expect(await readFacts(source, "status")).toMatchObject({ shallow: true });
  });

  it("that are partial clones fetch nothing, and report what they lack", async () => {
    const origin = withContent();
    origin.git("config", "uploadpack.allowFilter", "true");
    const folder = join(scratchFolder(), "partial");
    origin.git("clone", "--quiet", "--filter=blob:none", "--no-checkout", `file://${origin.folder}`, folder);
    const source = await origin.open({ root: folder });
    expect(await filesBelow(source, "tree/main")).toHaveLength(18);
    const error = await refusal(source.read({ path: "blob/main/docs/a.txt" }, call), ["not-found"], "a blob");
    expect(error.message).toContain("partial clone");
  });

  it("with packed refs and objects, and with a split index, give the same", async () => {
    const repository = withContent();
    repository.git("gc", "--quiet");
    repository.git("pack-refs", "--all");
    repository.git("update-index", "--split-index");
    const source = await repository.open();
    expect(await readFacts(source, "status")).toMatchObject({ clean: true });
    expect(await readText(source, pathOf(["blob", "feature/x", "docs", "a.txt"]))).toBe("alpha");
  });

  it("that do not exist are rejected, with advice", async () => {
    const folder = scratchFolder();
    mkdirSync(join(folder, "sub/.git"), { recursive: true });
    for (const root of [folder, join(folder, "sub"), join(folder, "nowhere")]) {
      const opened = git.open({ root }, createClock().runtime);
      expect((await refusal(opened, ["invalid"], root)).message).toContain('a folder that contains ".git"');
    }
  });
});

describe("refs", () => {
  it("that do not name a commit are not found, and reach no command line", async () => {
    const repository = untouched();
    const source = await repository.open();
    const refs = [
      "--output=pwned",
      "-x",
      "--",
      "",
      "main:docs",
      ":/first",
      "HEAD^{/first}",
      "HEAD@{0}",
      "@{-1}",
      "main..v1",
      "main v1",
      "main\nv1",
      "../../HEAD",
      "refs/../HEAD",
      "packed-refs",
      "config",
      "main.lock",
      "x".repeat(5000),
      "~".repeat(60_000),
      "^".repeat(900),
      "0".repeat(40),
      "*",
      "[a]",
      "main\\",
      ".",
      "a/./b",
      "HEAD~999999",
      "\u0001",
      "ｍａｉｎ",
    ];
    for (const ref of refs)
      for (const place of [
        ["commit", ref],
        ["tree", ref],
        ["blob", ref, "docs", "a.txt"],
        ["blame", ref, "docs", "a.txt"],
        ["diff", ref, "main"],
        ["diff", "main", ref],
      ])
        await refusal(source.read({ path: pathOf(place) }, call), ["not-found"], place.join(" "));
    expect(readdirSync(repository.folder)).not.toContain("pwned");
  });

  it("with ambiguous names are listed in full, and can be read", async () => {
    const repository = withContent();
    const head = repository.git("rev-parse", "HEAD");
    for (const name of ["-x", head, "HEAD", "abcd", "v1"]) repository.git("update-ref", `refs/heads/${name}`, head);
    const source = await repository.open();
    const { items } = await source.children!({ path: "tree" }, { limit: 100 }, call);
    expect(items.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        "refs/heads/-x",
        "refs/heads/HEAD",
        "refs/heads/abcd",
        "refs/heads/v1",
        "refs/tags/v1",
        "main",
      ]),
    );
    for (const { path } of items)
      expect((await source.children!({ path }, { limit: 100 }, call)).items.length, path).toBeGreaterThan(0);
  });

  it("are completed to branches, tags and commit hashes", async () => {
    const repository = untouched();
    const hash = repository.git("rev-parse", "HEAD");
    const source = await repository.open();
    const template = source.templates!.find(({ name }) => name === "Commit")!;
    const complete = async (value: string) =>
      (await source.complete!({ template, variable: "sha", value, given: {} }, call)).map((each) => each.value);
    expect(await complete("")).toEqual(["HEAD", "feature/x", "main", "v1", hash.slice(0, 12)]);
    expect(await complete("MA")).toEqual(["main"]);
    expect(await complete("/x")).toEqual(["feature/x"]);
    expect(await complete(hash.slice(0, 5))).toContain(hash.slice(0, 12));
    expect(await complete("--all")).toEqual([]);
  });
});

describe("the process", () => {
  it("is not needed to open or list, and is gone when the source is closed", async () => {
    const source = await untouched().open();
    const folder = scratchFolder();
    const temporary = process.env["TMPDIR"];
    process.env["TMPDIR"] = folder;
    try {
      await source.list({ limit: 10 }, call);
      expect(readdirSync(folder)).toEqual([]);
      await source.read({ path: "blob/HEAD/docs/a.txt" }, call);
      expect(readdirSync(folder)).toHaveLength(1);
      await source.close!();
      await refusal(source.read({ path: "blob/HEAD/docs/a.txt" }, call), ["cancelled"], "after the end");
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      if (temporary === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = temporary;
    }
  });

  it("options are checked", () => {
    const schema = git.options(z);
    expect(schema.parse({ root: "." })).toMatchObject({
      root: ".",
      hidden: false,
      maxBytes: 5_242_880,
      watch: "auto",
      pollMs: 5000,
    });
    expect(schema.safeParse({ root: ".", program: "/tmp/evil" }).success).toBe(false);
  });
});
