import { cpSync, renameSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { pathOf, type Source, type SourceChange } from "../../source.ts";
import { collectChanges } from "../../testing/listen.ts";
import { call, clear, readText, scratchFolder, type TestRepository, testRepository } from "./test-repository.ts";

afterEach(clear);

async function watched(repository: TestRepository, root?: string, asked: readonly string[] = []) {
  const source = await repository.open(root === undefined ? {} : { root });
  for (const path of asked) await source.stat!({ path }, call);
  return { source, ...(await hear(source)) };
}

async function hear(source: Source) {
  const { heard, until } = collectChanges<SourceChange>(await source.watch!(call));
  return {
    heard,
    until: (kind: SourceChange["kind"], ...segments: readonly string[]) =>
      until(
        (said) => said.kind === kind && (said.kind === "lost" || said.path === pathOf(segments)),
        `${kind} ${segments}`,
      ),
  };
}

function withTwo(): TestRepository {
  const repository = testRepository();
  repository.commit("first", { "a.txt": "a", "src/b.txt": "b", "src/c.txt": "c" });
  repository.git("branch", "feature/x");
  return repository;
}

describe("a watch", () => {
  it("reports a commit: the log, the status, the branches, and the changed files", async () => {
    const repository = withTwo();
    const asked = [
      "blob/main/a.txt",
      "blob/HEAD/src/b.txt",
      "commit/HEAD",
      "blob/HEAD~1/a.txt",
      "diff/feature\0x/main",
    ];
    repository.commit("second", { "x.txt": "x" });
    const { heard, until } = await watched(repository, undefined, asked);
    repository.git("rm", "--quiet", "src/b.txt");
    repository.commit("third", { "a.txt": "changed", "new/d.txt": "d" });
    for (const path of ["status", "log", "branches"]) await until("changed", path);
    await until("changed", "blob", "main", "a.txt");
    await until("changed", "blame", "main", "a.txt");
    await until("gone", "blob", "HEAD", "src", "b.txt");
    await until("appeared", "tree", "HEAD", "new");
    await until("appeared", "tree", "main", "new", "d.txt");
    await until("changed", "commit", "HEAD");
    await until("appeared", "blob", "HEAD~1", "x.txt");
    await until("changed", "diff", "feature/x", "main");
    const paths = heard.map((said) => ("path" in said ? said.path : said.kind));
    expect(paths).not.toContain("blob/main/src/c.txt");
    expect(paths).not.toContain("tags");
    expect(paths).not.toContain("lost");
  });

  it("reports what follows from one commit once, also if rules change with it; the list stays the same", async () => {
    const repository = withTwo();
    const asked = ["blob/main/a.txt", "blame/HEAD/a.txt"];
    const { heard, until } = await watched(repository, undefined, asked);
    repository.commit("second", { "a.txt": "changed", "new/d.txt": "d" });
    await until("changed", "blame", "HEAD", "a.txt");
    await until("appeared", "blame", "main", "new", "d.txt");
    repository.commit("third", { ".gitignore": "*.log\n", "a.txt": "again" });
    await until("lost");
    repository.git("tag", "last");
    await until("appeared", "tree", "last");
    const afterLost = heard.slice(heard.findIndex(({ kind }) => kind === "lost"));
    expect(afterLost.filter((said) => "path" in said && said.path.startsWith("blame/"))).toEqual([]);
    const blamed = heard.filter((said) => "path" in said && said.path === "blame/HEAD/a.txt");
    expect(blamed).toEqual([{ kind: "changed", path: "blame/HEAD/a.txt" }]);
    for (const said of heard) if (said.kind !== "changed") expect(said).toHaveProperty("isUnlisted", true);
  });

  it("reports a staged file: the status only", async () => {
    const repository = withTwo();
    const { heard, until } = await watched(repository, undefined, ["blob/main/a.txt"]);
    repository.write("a.txt", "staged");
    repository.git("add", "a.txt");
    await until("changed", "status");
    expect(new Set(heard.map((said) => ("path" in said ? said.path : said.kind)))).toEqual(new Set(["status"]));
  });

  it("reports branches and tags that appear and disappear, nested or packed", async () => {
    const repository = withTwo();
    const { until } = await watched(repository);
    repository.git("branch", "team/deep/er/topic");
    await until("appeared", "tree", "team/deep/er/topic");
    repository.git("pack-refs", "--all", "--prune");
    repository.git("tag", "v1");
    await until("appeared", "tree", "v1");
    await until("changed", "tags");
    repository.git("branch", "--delete", "--force", "team/deep/er/topic");
    await until("gone", "tree", "team/deep/er/topic");
  });

  it("reports that HEAD moves to another branch", async () => {
    const repository = withTwo();
    repository.commit("second", { "a.txt": "on main" });
    const { source, until } = await watched(repository, undefined, ["blob/HEAD/a.txt"]);
    repository.git("checkout", "--quiet", "feature/x");
    await until("changed", "status");
    await until("changed", "branches");
    await until("changed", "blob", "HEAD", "a.txt");
    expect(await readText(source, "blob/HEAD/a.txt")).toBe("a");
  });

  it("of a linked worktree reports its own HEAD and shared branches", async () => {
    const repository = withTwo();
    const folder = join(scratchFolder(), "worktree");
    repository.git("worktree", "add", "--quiet", folder, "feature/x");
    const { until } = await watched(repository, folder, ["blob/main/a.txt"]);
    repository.git("-C", folder, "checkout", "--quiet", "--detach");
    await until("changed", "status");
    repository.commit("second", { "a.txt": "on main" });
    await until("changed", "blob", "main", "a.txt");
  });

  it("of a repository without commits reports the first", async () => {
    const repository = testRepository();
    const { until } = await watched(repository);
    repository.commit("first", { "a.txt": "a" });
    await until("appeared", "tree", "main");
    await until("changed", "log");
  });

  it("is shared by several watchers, and continues when one of them leaves", async () => {
    const repository = withTwo();
    const source = await repository.open();
    const leaving = new AbortController();
    const first = collectChanges(await source.watch!({ ...call, signal: leaving.signal }));
    const second = await hear(source);
    repository.git("tag", "v1");
    await first.until((said) => said.kind === "changed" && said.path === "tags", "tags");
    leaving.abort();
    await first.ended;
    repository.git("branch", "another");
    await second.until("appeared", "tree", "another");
  });

  it("can start again after the last watcher has left", async () => {
    const repository = withTwo();
    const source = await repository.open();
    const leaving = new AbortController();
    const { ended } = collectChanges(await source.watch!({ ...call, signal: leaving.signal }));
    leaving.abort();
    await ended;
    repository.git("tag", "unheard");
    const { heard, until } = await hear(source);
    repository.git("tag", "v1");
    await until("appeared", "tree", "v1");
    expect(heard).not.toContainEqual(expect.objectContaining({ path: "tree/unheard" }));
  });

  it("of a repository that is replaced reports lost, and continues", async () => {
    const repository = withTwo();
    const source = await repository.open({ pollMs: 20 });
    const { heard, until } = await hear(source);
    const away = join(scratchFolder(), "away");
    renameSync(repository.folder, away);
    await until("lost");
    cpSync(away, repository.folder, { recursive: true });
    await expect.poll(() => heard.filter(({ kind }) => kind === "lost").length).toBe(2);
    repository.git("tag", "v1");
    await until("appeared", "tree", "v1");
  });

  it("polls if the system does not announce changes", async () => {
    const repository = withTwo();
    const source = await repository.open({ watch: "poll", pollMs: 20 });
    const { until } = await hear(source);
    repository.git("tag", "v1");
    await until("appeared", "tree", "v1");
  });
});
