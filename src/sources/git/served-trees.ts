/** The files and folders of a commit that are served. What is hidden answers as what is not there. */
import { notFound } from "../../errors.ts";
import type { HistoryRules } from "./history-rules.ts";
import type { Commit } from "./refs.ts";
import type { ShownCommits } from "./shown-commits.ts";
import type { Tree, TreeEntry, Trees } from "./trees.ts";

export interface ServedTrees {
  /** What is at a path of a commit. Throws "not-found" where nothing is that is served. */
  at(commit: Commit, path: readonly string[]): Promise<TreeEntry>;
  /** A folder of a commit, with the names in it that are served. Throws "not-found" for anything else. */
  folder(commit: Commit, path: readonly string[]): Promise<Tree>;
  /** Whether a path is served, of which it is not known whether it is a file or a folder; at this commit, where that matters. */
  serves(path: string, commit: string): Promise<boolean>;
}

export function createServedTrees(trees: Trees, rules: HistoryRules, commits: ShownCommits): ServedTrees {
  async function at(commit: Commit, path: readonly string[]): Promise<TreeEntry> {
    // Only who was told of a commit can call it by its hash.
    if (commit.byHash !== undefined && !(await commits.isShown(commit.byHash))) throw notFound(path.join("/"));
    const found = await trees.find(commit.hash, path);
    if (!found || !(await rules.serves(path.join("/"), found))) throw notFound(path.join("/"));
    return found;
  }

  return {
    at,

    async folder(commit, path) {
      const found = await at(commit, path);
      if (found.kind !== "folder") throw notFound(path.join("/"));
      const tree = await trees.read(found.hash);
      return { ...tree, names: await rules.servedNames(path.join("/"), tree) };
    },

    async serves(path, commit) {
      const slash = path.lastIndexOf("/");
      const name = path.slice(slash + 1);
      const judge = await rules.namesIn(path.slice(0, Math.max(0, slash)));
      if (!judge) return false;
      if (judge(name, "file") && judge(name, "folder")) return true;
      const found = await trees.find(commit, path.split("/"));
      return found !== undefined && judge(name, found.kind);
    },
  };
}
