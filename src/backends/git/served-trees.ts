/** The served files and folders of a commit. Hidden ones behave as if they did not exist. */
import type { Maybe } from "../disk/steps.ts";
import { notFound } from "../../errors.ts";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import type { HistoryRules } from "./history-rules.ts";
import type { Commit } from "./refs.ts";
import type { ShownCommits } from "./shown-commits.ts";
import type { GitTree, TreeEntry, GitTrees } from "./trees.ts";

export interface ServedTrees {
  /** The entry at a path of a commit. Throws "not-found" if nothing is served there. */
  at(commit: Commit, path: readonly string[]): Maybe<TreeEntry>;
  /** A folder of a commit, with its served names. Throws "not-found" for anything else. */
  folder(commit: Commit, path: readonly string[]): Promise<GitTree>;
  /** Whether a path, which may be a file or a folder, is served; the commit decides if that matters. */
  serves(path: string, commit: string): Promise<boolean>;
}

const trustMs = 5;

export function createServedTrees(trees: GitTrees, rules: HistoryRules, commits: ShownCommits): ServedTrees {
  /** The last commit that was requested by its hash, and until when it is assumed to be shown: files are often read by the thousand. */
  let trusted: { readonly hash: string; readonly untilMs: number } | undefined;

  function isTrusted(hash: string): boolean {
    return trusted?.hash === hash && monotonicMs() < trusted.untilMs;
  }

  function at(commit: Commit, path: readonly string[]): Maybe<TreeEntry> {
    if (commit.byHash !== undefined && !isTrusted(commit.byHash)) return atWaiting(commit, path);
    const found = trees.find(commit.hash, path);
    return found instanceof Promise ? atWaiting(commit, path, found) : served(path, found);
  }

  /** A commit that is not shown cannot be requested by its hash. */
  async function atWaiting(
    { hash, byHash }: Commit,
    path: readonly string[],
    finding?: Promise<TreeEntry | undefined>,
  ): Promise<TreeEntry> {
    if (finding) return served(path, await finding);
    if (byHash !== undefined) {
      if (!(await commits.isShown(byHash))) throw notFound(path.join("/"));
      trusted = { hash: byHash, untilMs: monotonicMs() + trustMs };
    }
    const found = trees.find(hash, path);
    return served(path, found instanceof Promise ? await found : found);
  }

  function served(path: readonly string[], entry: TreeEntry | undefined): Maybe<TreeEntry> {
    const joined = path.join("/");
    if (!entry) throw notFound(joined);
    const isServed = rules.serves(joined, entry);
    if (isServed === true) return entry;
    if (isServed === false) throw notFound(joined);
    return isServed.then((is) => {
      if (!is) throw notFound(joined);
      return entry;
    });
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
