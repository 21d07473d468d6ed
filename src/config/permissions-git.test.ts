import { realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import git from "../sources/git.ts";
import { clear, scratchFolder, testRepository } from "../sources/git/test-repository.ts";
import { createIsIgnored } from "./ignored.ts";
import { mountReasons } from "./permissions.ts";

afterEach(clear);

function asked(folder: string, root = folder, more: Readonly<Record<string, unknown>> = {}): Promise<string[]> {
  const mount = { name: "m", definition: git, options: git.options(z).parse({ root, ...more }), limits: {} };
  const path = realpathSync(folder);
  return mountReasons(mount, { path, isIgnored: createIsIgnored(path) });
}

describe("a repository", () => {
  it("that keeps to the config's folder needs no trust", async () => {
    const { folder, commit } = testRepository();
    commit("first", { "a.txt": "a" });
    expect(await asked(folder)).toEqual([]);
  });

  it("needs trust for every place that it leads to outside: worktrees, pointers, borrowed objects, links", async () => {
    const other = testRepository();
    other.commit("first", { "a.txt": "a" });
    const worktree = join(scratchFolder(), "worktree");
    other.git("worktree", "add", "--quiet", "--detach", worktree);
    const pointing = scratchFolder();
    writeFileSync(join(pointing, ".git"), `gitdir: ${join(other.folder, ".git")}\n`);
    const linking = scratchFolder();
    symlinkSync(join(other.folder, ".git"), join(linking, ".git"));
    for (const folder of [worktree, pointing, linking])
      expect(await asked(folder)).toContain(
        `serves the git objects of ${JSON.stringify(join(other.folder, ".git"))}, outside its own folder, for mounts.m`,
      );
    const borrowing = testRepository();
    borrowing.write(".git/objects/info/alternates", `${join(other.folder, ".git/objects")}\n`);
    expect(await asked(borrowing.folder)).toEqual([
      `serves the git objects of ${JSON.stringify(join(other.folder, ".git/objects"))}, outside its own folder, for mounts.m`,
    ]);
  });

  it("needs trust for what its folder does not serve by itself", async () => {
    const { folder } = testRepository();
    expect(await asked(folder, folder, { exclude: ["a"] })).toEqual([]);
    expect(await asked(folder, folder, { hidden: true, ignore: false, allow: [".env"] })).toEqual([
      "serves hidden names, for mounts.m",
      "serves what git ignores, for mounts.m",
      'serves ".env" even if hidden, ignored or a secret by its name, for mounts.m',
    ]);
  });

  it("in a hidden folder needs trust, as its files do", async () => {
    const { folder } = testRepository([], join(scratchFolder(), "project/.hidden"));
    expect(await asked(join(folder, ".."), folder)).toEqual(['serves the hidden folder ".hidden", for mounts.m']);
  });
});
