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
/** Folders of which it is known whether they contain a visible file. */
const maxHolding = 10_000;

export function createServedTrees(trees: GitTrees, rules: HistoryRules, commits: ShownCommits): ServedTrees {
  /** The last commit that was requested by its hash, and until when it is assumed to be shown: files are often read by the thousand. */
  let trusted: { readonly hash: string; readonly untilMs: number } | undefined;

  const holding = new Map<string, boolean>();

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

  /** For a caller who may not see every file, a folder exists only if it contains one that they may see. */
  async function holdsVisible(path: string, hash: string): Promise<boolean> {
    if (rules.isOpen(path)) return true;
    const key = `${hash} ${path}`;
    const known = holding.get(key);
    if (known !== undefined) return known;
    const tree = await trees.read(hash);
    const names = await rules.servedNames(path, tree);
    let holds = names.some((name) => tree.entries.get(name)?.kind !== "folder");
    for (const name of holds ? [] : names)
      holds ||= await holdsVisible(below(path, name), tree.entries.get(name)!.hash);
    if (holding.size >= maxHolding) holding.clear();
    holding.set(key, holds);
    return holds;
  }

  async function visibleNames(path: string, tree: GitTree): Promise<string[]> {
    const names = await rules.servedNames(path, tree);
    if (rules.isOpen(path)) return names;
    const isShown = await Promise.all(
      names.map((name) => {
        const { kind, hash } = tree.entries.get(name)!;
        return kind !== "folder" || holdsVisible(below(path, name), hash);
      }),
    );
    return names.filter((_, index) => isShown[index]);
  }

  function served(path: readonly string[], entry: TreeEntry | undefined): Maybe<TreeEntry> {
    const joined = path.join("/");
    if (!entry) throw notFound(joined);
    const isServed = rules.serves(joined, entry);
    if (isServed !== false && entry.kind === "folder" && path.length > 0 && !rules.isOpen(joined))
      return holdsVisible(joined, entry.hash).then((holds) => {
        if (!holds) throw notFound(joined);
        return entry;
      });
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
      return { ...tree, names: await visibleNames(path.join("/"), tree) };
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

function below(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}
