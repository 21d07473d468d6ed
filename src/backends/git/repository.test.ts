import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { placesBeyond } from "./reach.ts";
import { findRepository } from "./repository.ts";
import { clear, scratchFolder, testRepository } from "../../sources/git/test-repository.ts";

afterEach(clear);

function beyond(folder: string): string[] {
  const found = findRepository(folder);
  if (!found) throw new Error(`no repository at ${folder}`);
  return placesBeyond(found, folder);
}

describe("a repository reaches", () => {
  it("nothing outside its folder if it is complete", () => {
    const { folder, commit, git } = testRepository();
    commit("first", { "a.txt": "a" });
    git("gc", "--quiet");
    expect(beyond(folder)).toEqual([]);
  });

  it("the git folder of the checkout that a worktree belongs to", () => {
    const { folder, commit, git } = testRepository();
    commit("first", { "a.txt": "a" });
    const worktree = join(scratchFolder(), "worktree");
    git("worktree", "add", "--quiet", "--detach", worktree);
    expect(beyond(worktree)).toContain(join(folder, ".git"));
    expect(findRepository(worktree)).toMatchObject({ root: worktree, commonDir: join(folder, ".git"), isBare: false });
  });

  it("a repository that a file or link named .git points to", () => {
    const { folder } = testRepository();
    const [pointing, linking] = [scratchFolder(), scratchFolder()];
    writeFileSync(join(pointing, ".git"), `gitdir: ${join(folder, ".git")}\n`);
    symlinkSync(join(folder, ".git"), join(linking, ".git"));
    for (const each of [pointing, linking]) expect(beyond(each)).toContain(join(folder, ".git"));
  });

  it("alternates at any distance", () => {
    const far = testRepository();
    const near = testRepository();
    const { folder, write } = testRepository();
    write(".git/objects/info/alternates", `# a comment\n../../inner/objects\n`);
    mkdirSync(join(folder, "inner/objects/info"), { recursive: true });
    writeFileSync(join(folder, "inner/objects/info/alternates"), `${join(near.folder, ".git/objects")}\n`);
    near.write(".git/objects/info/alternates", `${join(far.folder, ".git/objects")}\n`);
    expect(beyond(folder).sort()).toEqual([near, far].map((each) => join(each.folder, ".git/objects")).sort());
  });

  it("the target of a link among its refs, objects and packs", () => {
    const { folder, write } = testRepository();
    const outside = scratchFolder();
    writeFileSync(join(outside, "x.pack"), "");
    symlinkSync(join(outside, "x.pack"), join(folder, ".git/objects/pack/x.pack"));
    renameSync(join(folder, ".git/refs"), join(outside, "refs"));
    symlinkSync(join(outside, "refs"), join(folder, ".git/refs"));
    write("a.txt", "a");
    expect(beyond(folder).sort()).toEqual(["refs", "x.pack"].map((name) => join(outside, name)).sort());
  });
});
