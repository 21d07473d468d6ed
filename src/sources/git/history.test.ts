/** The history as knowledge: logs by message, content and name, counts of changes, ranges, texts, and what the index contains. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { openPolicy } from "../../access/policy.ts";
import { createRandomSource, word } from "../../lib/test-secrets.ts";
import { createResources } from "../../router/create-resources.ts";
import { createRedaction } from "../../server/redaction.ts";
import { createRuntime } from "../../server/runtime.ts";
import { pathOf, type Source } from "../../source.ts";
import { asking, collect } from "../../testing/pages.ts";
import { refusal } from "../../testing/refusal.ts";
import git from "../git.ts";
import { call, clear, readFacts, readText, type TestRepository, testRepository } from "./test-repository.ts";

afterEach(clear);

const lines = Array.from({ length: 20 }, (_, at) => `line ${at}\n`).join("");
let kept: TestRepository | undefined;
afterAll(() => rmSync(kept?.folder ?? "", { recursive: true, force: true }));

/** One repository for all tests that only read; main has six commits, of which one changes only a hidden file. */
function project(): TestRepository {
  if (kept) return kept;
  const repository = testRepository([], mkdtempSync(join(tmpdir(), "pressmark-test-git-")));
  repository.commit("Import\n\nThe first version.", { "a.md": lines, "b.md": "b\n", ".pressmarkignore": "private\n" });
  repository.commit("在庫の計算を修正\n\nＲＥＴＲＹ の回数を減らす", {
    "a.md": `${lines}retry(3)\n`,
    "日本/在庫.md": "在庫\n",
  });
  repository.commit("MARKER", { "private/plan.md": "retry(3)\nretry(3)\n" });
  repository.git("mv", "a.md", "docs.md");
  repository.commit("Move the guide", { "private/plan.md": "retry(9)\n" });
  repository.git("tag", "--annotate", "v1", "--message", "Version 1\n\nFaster retries.");
  repository.git("checkout", "--quiet", "-b", "feature/x");
  repository.commit("Try less", { "docs.md": `${lines}retry(1)\n`, "new file.md": "n\n" });
  repository.git("checkout", "--quiet", "main");
  repository.commit("Fix retry of uploads", { "b.md": "b\nc\n" });
  return (kept = repository);
}

interface Log {
  readonly commits: readonly { readonly subject: string }[];
  readonly next?: string;
  readonly renamed?: { readonly from: string };
}

async function pages(source: Source, query: Readonly<Record<string, string>>): Promise<Log[]> {
  const found: Log[] = [];
  for (let ask: Readonly<Record<string, string>> | undefined = query; ask;) {
    const page: Log = await readFacts<Log>(source, "log", ask);
    found.push(page);
    ask = page.next === undefined ? undefined : Object.fromEntries(new URLSearchParams(page.next));
  }
  return found;
}

async function subjects(source: Source, query: Readonly<Record<string, string>>): Promise<string[]> {
  return (await pages(source, query)).flatMap(({ commits }) => commits.map(({ subject }) => subject));
}

describe("a log", () => {
  it.each([
    ["fix RETRY", ["Fix retry of uploads"]],
    ["retry", ["Fix retry of uploads", "在庫の計算を修正"]],
    ["計算を修正", ["在庫の計算を修正"]],
    ["first version", ["Import"]],
    [".*", []],
    ["MARKER", []],
  ])("with grep=%s contains the commits with these words in their message", async (grep, expected) => {
    const source = await project().open();
    for (const max of ["1", "50"]) expect(await subjects(source, { grep, max })).toEqual(expected);
  });

  it.each(["retry(3)", "retry(", "在庫", "line 7", "nothing of this kind"])(
    "with pickaxe=%s contains what git finds in served files",
    async (pickaxe) => {
      const repository = project();
      const source = await repository.open();
      const args = ["log", "--format=%s", "-M100%", `-S${pickaxe}`, "feature/x", "--", ".", ":(exclude)private"];
      const expected = repository
        .git(...args)
        .split("\n")
        .filter(Boolean);
      for (const max of ["1", "50"])
        expect(await subjects(source, { ref: "feature/x", pickaxe, max })).toEqual(expected);
    },
  );

  it("combines filters, and limits the search for a text to a path", async () => {
    const source = await project().open();
    const all = { ref: "feature/x", pickaxe: "retry(" };
    expect(await subjects(source, { ...all, path: "a.md" })).toEqual(["Move the guide", "在庫の計算を修正"]);
    expect(await subjects(source, { ...all, pickaxe: "retry(1)", path: "docs.md", grep: "less" })).toEqual([
      "Try less",
    ]);
    expect(await subjects(source, { ...all, author: "nobody" })).toEqual([]);
    expect(await subjects(source, { ...all, path: "private" })).toEqual([]);
  });

  it("is not found by a part of a secret that is masked", async () => {
    const repository = testRepository();
    const secret = `ghp_${createRandomSource(7).draw(word, 36)}`;
    repository.commit("first", { "a.md": "a" });
    repository.commit(`use ${secret}`, { "a.md": `token ${secret}\n` });
    const { runtime } = createRedaction(createRuntime({ write: () => true }));
    for (const [open, expected] of [
      [repository.open(), 1],
      [git.open({ root: repository.folder }, runtime), 0],
    ] as const) {
      const source = await open;
      for (const query of [{ grep: secret.slice(0, 12) }, { pickaxe: secret.slice(0, 12) }])
        expect(await subjects(source, query as unknown as Record<string, string>)).toHaveLength(expected);
      expect(await subjects(source, { pickaxe: "token" })).toHaveLength(1);
      expect(await subjects(source, { grep: "use" })).toHaveLength(1);
      await source.close!();
    }
  });

  it("follows a file to its earlier name, and not to a hidden one", async () => {
    const repository = project();
    const source = await repository.open();
    const query = { path: "docs.md", follow: "true", ref: "feature/x", max: "1" };
    expect(await subjects(source, query)).toEqual(["Try less", "Move the guide", "在庫の計算を修正", "Import"]);
    expect((await pages(source, query))[1]).toMatchObject({ renamed: { from: "a.md" } });
    const moved = testRepository();
    moved.commit("first", { "private/MARKER.md": lines, ".pressmarkignore": "private\n" });
    moved.git("mv", "private/MARKER.md", "shown.md");
    moved.commit("second");
    const page = await readText(await moved.open(), "log", { path: "shown.md", follow: "true" });
    expect(JSON.parse(page)).toMatchObject({ commits: [{ subject: "second" }] });
    expect(page).not.toMatch(/MARKER|renamed|next/);
  });

  it("follows a file to its newest earlier name, as git does", async () => {
    const repository = testRepository();
    repository.commit("add a", { "a.md": "other\n" });
    repository.git("rm", "--quiet", "a.md");
    repository.commit("remove a");
    repository.commit("add b", { "b.md": lines });
    repository.git("mv", "b.md", "a.md");
    repository.commit("rename b to a");
    const expected = repository.git("log", "--follow", "--format=%s", "--", "a.md").split("\n");
    const source = await repository.open();
    for (const max of ["1", "50"])
      expect(await subjects(source, { path: "a.md", follow: "true", max })).toEqual(expected);
    expect(await subjects(source, { author: "ＡＤＡ", path: "b.md" })).toEqual(["rename b to a", "add b"]);
  });

  it("and a range do not show the hash of a hidden commit", async () => {
    const source = await project().open();
    const hidden = project().git("log", "--format=%H", "--grep=MARKER");
    expect(hidden).toMatch(/^[0-9a-f]{40}$/);
    const range = await readFacts<{ base: string }>(source, "diff/v1~1..main");
    expect(range.base).not.toBe(hidden);
  });

  it("is a table with as=text", async () => {
    const text = await readText(await project().open(), "log", { as: "text", max: "1" });
    expect(text).toMatch(
      /^\| Commit {7}\| Date .*\n\| -+ .*\n\| [0-9a-f]{12} \| 2025-06-15 \| Ada {4}\| Fix retry of uploads \|\n/,
    );
    expect(text).toContain("Next page: log?as=text&max=1&after=");
  });

  it.each([{ follow: "true" }, { follow: "1", path: "a.md" }, { as: "html" }, { grep: "x".repeat(2000) }])(
    "refuses %j",
    async (query) => {
      const read = (await project().open()).read(
        { path: "log", query: query as unknown as Record<string, string> },
        call,
      );
      await refusal(read, ["invalid"], JSON.stringify(query));
    },
  );
});

describe("churn", () => {
  it("counts commits, lines and authors of served files, as git does", async () => {
    const repository = project();
    const source = await repository.open();
    const ada = { name: "Ada", email: "ada@example.org" };
    expect(await readFacts(source, "churn", { path: "b.md" })).toEqual({
      commits: 2,
      additions: 2,
      deletions: 0,
      first: "2025-06-15T15:06:41.000Z",
      last: "2025-06-15T15:06:46.000Z",
      authors: [{ ...ada, commits: 2 }],
      files: [expect.objectContaining({ path: "b.md", commits: 2, additions: 2, deletions: 0, authors: 1 })],
    });
    const all = await readFacts<{ files: { path: string }[] }>(source, "churn");
    expect(all).toMatchObject({ commits: 4, authors: [{ ...ada, commits: 4 }] });
    const names = repository.git("-c", "core.quotePath=false", "log", "--name-only", "--no-renames", "--format=");
    const served = new Set(names.split("\n").filter((name) => name !== "" && !/^(?:private|\.)/.test(name)));
    expect(all.files.map(({ path }) => path).sort()).toEqual([...served].sort());
    expect(await readText(source, "churn", { as: "text", max: "1" })).toMatch(
      /^4 commits from .*\n\n\| File .*\| Ada <ada/s,
    );
    const nothing = await readText(source, "churn", { path: "never/was" });
    for (const path of ["private", "private/plan.md"]) expect(await readText(source, "churn", { path })).toBe(nothing);
  });
});

describe("a commit", () => {
  it("is Markdown with as=text, with counts of lines", async () => {
    const text = await readText(await project().open(), "commit/feature%2Fx".replace("%2F", "\0"), { as: "text" });
    expect(text).toMatch(/^# Try less\n\n- Commit: [0-9a-f]{40}\n- Author: Ada <ada@example\.org>, 2025-06-15T/);
    expect(text).toMatch(/\| docs\.md {5}\| modified \| \+1 {4}\| -1 {6}\|\n\| new file\.md \| added {4}\| \+1/);
    const moved = await readText(await project().open(), "commit/v1", { as: "text" });
    expect(moved).toMatch(/\| a\.md → docs\.md \| renamed \| \+0 .*\n\n1 file not shown\.$/);
  });

  it("is found by the index with its message, author and served names, and with a version that follows the rules", async () => {
    const repository = testRepository();
    repository.commit("first", { "a.md": "a" });
    const hash = repository.commit("第二\n\nbody", { "a.md": "b", "plan.md": "x" });
    const source = await repository.open({ indexedCommits: 1 });
    const indexed = async () =>
      (await collect((cursor) => source.listIndexed!(asking(1, cursor), call))).filter(({ path }) =>
        path.includes("/"),
      );
    const [entry, ...more] = await indexed();
    expect([entry, more]).toMatchObject([
      { path: `commit/${hash}`, title: "第二", annotations: { lastModified: "2025-06-15T15:06:42.000Z" } },
      [],
    ]);
    expect(await source.stat!({ path: `commit/${hash}` }, call)).toEqual(entry);
    const summary = () => readText(source, `commit/${hash}`, { as: "summary" });
    expect(await summary()).toBe("第二\n\nbody\n\nAda <ada@example.org>, 2025-06-15\n\na.md\nplan.md");
    expect(await source.problems!(call)).toMatchObject([{ path: "log", says: expect.stringContaining("2 commits") }]);
    repository.write(".pressmarkignore", "plan.md\n");
    await expect.poll(summary).not.toContain("plan.md");
    expect((await indexed())[0]!.version).not.toBe(entry!.version);
    repository.write(".pressmarkignore", "*.md\n");
    await expect.poll(indexed).toEqual([]);
  });
});

describe("tags", () => {
  it("have the message and the tagger of an annotated tag", async () => {
    expect(await readFacts(await project().open(), "tags")).toMatchObject({
      tags: [{ name: "v1", annotated: true, message: "Version 1\n\nFaster retries.", tagger: { name: "Ada" } }],
    });
  });
});

describe("a range", () => {
  it("with three dots lists the files since both parted, with two dots the differences", async () => {
    const repository = project();
    const source = await repository.open();
    const [base, head] = ["v1^{commit}", "feature/x"].map((ref) => repository.git("rev-parse", ref));
    const changed = [
      { path: "docs.md", change: "modified", additions: 1, deletions: 1 },
      { path: "new file.md", change: "added", additions: 1, deletions: 0 },
    ];
    const branch = pathOf(["diff", "main...feature/x"]);
    expect(await readFacts(source, branch)).toEqual({ base, head, files: changed });
    expect(await readFacts(source, pathOf(["diff", "main..feature/x"]))).toMatchObject({
      files: [{ path: "b.md", change: "modified", additions: 0, deletions: 1 }, ...changed],
    });
    expect(await readText(source, branch, { path: "docs.md" })).toBe(
      `${repository.git("diff", "main...feature/x", "--", "docs.md")}\n`,
    );
    expect(await readText(source, branch, { as: "text" })).toContain("| new file.md | added    | +1    | -0      |");
    for (const range of ["main...", "...main", "main..nothing", "main....v1", "a..b..c"])
      if (/^\.\.\.main|main\.\.\.$/.test(range))
        expect(await readFacts(source, `diff/${range}`)).toMatchObject({ files: [] });
      else await refusal(source.read({ path: `diff/${range}` }, call), ["not-found"], range);
  });
});

describe("an address with a plain slash in the name of a branch", () => {
  it.each([
    ["blob/feature/x/docs.md", "blob/feature%2Fx/docs.md"],
    ["tree/feature/x", "tree/feature%2Fx"],
    ["blame/feature/x/docs.md?lines=1-2", "blame/feature%2Fx/docs.md?lines=1-2"],
    ["commit/feature/x", "commit/feature%2Fx"],
    ["diff/main/feature/x", "diff/main/feature%2Fx"],
    ["diff/main...feature/x", "diff/main...feature%2Fx"],
    ["tree/feature/x~1/docs.md", "tree/feature%2Fx~1/docs.md"],
    ["blob/feature/y/docs.md", undefined],
    ["blob/main/x/docs.md", undefined],
  ])("%s suggests %s", async (asked, meant) => {
    const base = "git://h/";
    const source = await project().open();
    const open = (policy = openPolicy) =>
      createResources({
        mounts: [{ name: "h", base, source }],
        policy,
        runtime: createRuntime({ write: () => true }),
        cursorKey: new Uint8Array(32),
      });
    const plain = `no resource at "${base}${asked}"`;
    const message = meant === undefined ? plain : `${plain}; did you mean "${base}${meant}"?`;
    await expect(open().read(base + asked, call)).rejects.toMatchObject({ kind: "not-found", message });
    await expect(open().stat(base + asked, call)).rejects.toMatchObject({ kind: "not-found", message });
    const isVisible = { maySee: (_: unknown, __: unknown, { path }: { path: string }) => !path.includes("\0") };
    await expect(open(isVisible).read(base + asked, call)).rejects.toMatchObject({ message: plain });
  });
});
