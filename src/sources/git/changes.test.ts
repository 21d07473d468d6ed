import { existsSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { call, clear, readFacts, readText, scratchFolder, testRepository } from "./test-repository.ts";

interface Changes {
  readonly base: string;
  readonly from: string | null;
  readonly files: readonly { readonly path: string; readonly change: string }[];
  readonly leftOut?: number;
}

afterAll(clear);

/** A branch with commits, and with changes that are not committed. */
function branchRepository() {
  const repository = testRepository();
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index}\n`).join("");
  const from = repository.commit("begin", {
    "a.txt": "one\n",
    "old.txt": lines,
    "gone.txt": "gone\n",
    "設計/決済.md": "# 決済\n",
  });
  repository.git("checkout", "--quiet", "-b", "feature");
  repository.commit("work", { "a.txt": "one\ntwo\n", "b.txt": "new\n" });
  repository.git("checkout", "--quiet", "main");
  repository.commit("elsewhere", { "other.txt": "of main\n" });
  repository.git("checkout", "--quiet", "feature");
  repository.git("mv", "old.txt", "renamed.txt");
  repository.git("rm", "--quiet", "gone.txt");
  repository.write("設計/決済.md", "# 決済\n\n三回まで再試行する。\n");
  repository.write("設計/新規.md", "# 新規\n");
  repository.write(".env", "KEY=1\n");
  return { repository, from };
}

describe("changes of the checkout", () => {
  it("are those since it left the base, committed or not, with new, renamed and deleted files", async () => {
    const { repository, from } = branchRepository();
    const source = await repository.open();
    expect(await readFacts(source, "changes")).toEqual({
      base: "main",
      from,
      files: [
        { path: "a.txt", change: "modified", additions: 1, deletions: 0 },
        { path: "b.txt", change: "added", additions: 1, deletions: 0 },
        { path: "gone.txt", change: "deleted", additions: 0, deletions: 1 },
        { path: "renamed.txt", change: "renamed", from: "old.txt", additions: 0, deletions: 0 },
        { path: "設計/新規.md", change: "added", untracked: true },
        { path: "設計/決済.md", change: "modified", additions: 2, deletions: 0 },
      ],
      leftOut: 1,
    });
    const { files } = await readFacts<Changes>(source, "changes", { base: "HEAD" });
    expect(files.map(({ path }) => path)).toEqual(["gone.txt", "renamed.txt", "設計/新規.md", "設計/決済.md"]);
    expect(await readText(source, "changes", { as: "text" })).toMatch(/^\| old\.txt → renamed\.txt \| renamed +\|/m);
  });

  it("have patches of files and folders, which show renames", async () => {
    const source = await branchRepository().repository.open();
    const patch = await readText(source, "changes", { path: "設計" });
    expect(patch).toContain("diff --git a/設計/決済.md b/設計/決済.md\n");
    expect(patch).toContain("\n+三回まで再試行する。\n");
    expect(await readText(source, "changes", { path: "renamed.txt" })).toContain(
      "rename from old.txt\nrename to renamed.txt",
    );
    for (const path of ["設計/新規.md", ".env", "nothing.txt"])
      expect(await readText(source, "changes", { path })).toBe("");
    expect((await readText(source, "changes", { as: "patch" })).match(/^diff --git/gm)).toHaveLength(5);
    const [part] = await source.read({ path: "changes", query: { path: "a.txt" } }, call);
    expect(part).toMatchObject({ mimeType: "text/x-diff" });
    await expect(source.stat!({ path: "changes", query: { path: "a.txt" } }, call)).resolves.toMatchObject({
      mimeType: "text/x-diff",
    });
  });

  it("leave the repository as it is, and do not report a file that was only touched", async () => {
    const { repository } = branchRepository();
    const index = join(repository.folder, ".git/index");
    utimesSync(join(repository.folder, "b.txt"), 1, 1);
    const before = readFileSync(index);
    const { mtimeMs } = statSync(index);
    const source = await repository.open();
    const { files } = await readFacts<Changes>(source, "changes", { base: "HEAD" });
    await readText(source, "changes", { base: "HEAD", path: "設計" });
    expect(files.map(({ path }) => path)).not.toContain("b.txt");
    expect(readFileSync(index)).toEqual(before);
    expect(statSync(index).mtimeMs).toBe(mtimeMs);
    expect(existsSync(`${index}.lock`)).toBe(false);
  });

  it("run no filter, and do not show the target of a link that was changed", async () => {
    const { repository } = branchRepository();
    symlinkSync("a.txt", join(repository.folder, "link"));
    repository.commit("link", { ".gitattributes": "*.txt filter=evil diff=evil\n" });
    const marker = join(repository.folder, "ran");
    repository.git("config", "filter.evil.clean", `touch ${marker}`);
    repository.git("config", "diff.evil.textconv", `touch ${marker}`);
    repository.git("config", "diff.external", `touch ${marker}`);
    rmSync(join(repository.folder, "link"));
    symlinkSync(".env", join(repository.folder, "link"));
    repository.write("a.txt", "changed\n");
    const source = await repository.open();
    const { files } = await readFacts<Changes>(source, "changes", { base: "HEAD" });
    expect(files.map(({ path }) => path)).toEqual(["a.txt"]);
    expect(await readText(source, "changes", { base: "HEAD", path: "link" })).toBe("");
    expect(existsSync(marker)).toBe(false);
  });

  it("of a conflict can be listed and read", async () => {
    const { repository } = branchRepository();
    repository.commit("all", {});
    repository.git("checkout", "--quiet", "-b", "third", "main");
    repository.commit("third", { "a.txt": "three\n" });
    expect(() => repository.git("merge", "--quiet", "feature")).toThrow();
    const source = await repository.open();
    const { files } = await readFacts<Changes>(source, "changes", { base: "HEAD" });
    expect(files.map(({ path }) => path)).toContain("a.txt");
    expect(await readText(source, "changes", { base: "HEAD", path: "a.txt" })).toContain("<<<<<<<");
  });

  it("are compared with origin/HEAD first, and before the first commit with nothing", async () => {
    const { repository } = branchRepository();
    repository.git("update-ref", "refs/remotes/origin/trunk", "HEAD");
    repository.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk");
    expect(await readFacts(await repository.open(), "changes")).toMatchObject({ base: "origin/HEAD" });
    const empty = testRepository();
    empty.write("first.txt", "one\n");
    expect(await readFacts(await empty.open(), "changes")).toEqual({
      base: "HEAD",
      from: null,
      files: [{ path: "first.txt", change: "added", untracked: true }],
    });
  });

  it("are compared with the files of a base that has no commit in common", async () => {
    const { repository } = branchRepository();
    repository.git("checkout", "--quiet", "--force", "--orphan", "apart");
    repository.commit("apart", { "a.txt": "apart\n" });
    const source = await repository.open();
    const { files, ...found } = await readFacts<Changes>(source, "changes", { base: "main" });
    expect(found).toMatchObject({ base: "main", from: repository.git("rev-parse", "main"), isUnrelated: true });
    expect(files).toContainEqual({ path: "a.txt", change: "modified", additions: 1, deletions: 1 });
    expect(files).toContainEqual({ path: "other.txt", change: "deleted", additions: 0, deletions: 1 });
    expect(await readText(source, "changes", { base: "main", as: "text" })).toContain(
      "No commit in common with main: compared with its files.",
    );
    expect(await readText(source, "changes", { base: "main", path: "a.txt" })).toContain("\n-one\n+apart\n");
  });

  it("have one row for a file name with a line break", async () => {
    const repository = testRepository();
    repository.write("a\n| b.txt", "one\n");
    expect(await readText(await repository.open(), "changes", { as: "text" })).toMatch(/^\| a%0A\\\| b\.txt \| added/m);
  });

  it("are those of a linked worktree, if that is mounted", async () => {
    const { repository } = branchRepository();
    const worktree = join(scratchFolder(), "linked");
    repository.git("worktree", "add", "--quiet", "-b", "linked", worktree, "main");
    writeFileSync(join(worktree, "a.txt"), "linked\n");
    const source = await repository.open({ root: worktree });
    expect(await readFacts(source, "changes")).toMatchObject({ base: "main", files: [{ path: "a.txt" }] });
  });

  it("accept HEAD before the first commit", async () => {
    const empty = testRepository();
    empty.write("first.txt", "one\n");
    const source = await empty.open();
    expect(await readFacts(source, "changes", { base: "HEAD" })).toMatchObject({ base: "HEAD", from: null });
    const address = { path: "changes", query: { base: "HEAD", as: "text" } };
    await expect(source.stat!(address, call)).resolves.toMatchObject({ mimeType: "text/markdown" });
    await expect(source.read({ path: "changes", query: { base: "main" } }, call)).rejects.toMatchObject({
      kind: "not-found",
    });
  });

  it("do not exist for an unknown base, or without a checkout", async () => {
    const source = await branchRepository().repository.open();
    const queries: readonly Record<string, string>[] = [
      { base: "nope" },
      { base: "" },
      { path: "../x" },
      { other: "x" },
      { path: "a.txt", as: "text" },
    ];
    for (const query of queries)
      await expect(source.read({ path: "changes", query }, call)).rejects.toMatchObject({
        kind: "not-found",
      });
    const bare = testRepository(["--bare"]);
    await expect((await bare.open()).read({ path: "changes" }, call)).rejects.toMatchObject({ kind: "not-found" });
  });
});
