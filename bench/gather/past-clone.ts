/** A bare clone of a repository as it was at some commit: later commits are not among its objects. */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";

interface PastClone {
  readonly folder: string;
  /** Moves the only branch to a commit that includes the one before; returns the hashes that are new. */
  goTo(commit: string): readonly string[];
}

const branch = "refs/heads/main";

export function createPastClone(repository: string, folder: string): PastClone {
  let before: string | undefined;
  mkdirSync(folder, { recursive: true });
  git(folder, "init", "--quiet", "--bare", "--initial-branch=main");
  return {
    folder,
    goTo(commit) {
      git(repository, "push", "--quiet", folder, `${commit}:${branch}`);
      const range = before === undefined ? [commit] : [commit, `^${before}`];
      before = commit;
      return git(repository, "rev-list", ...range)
        .split("\n")
        .filter(Boolean);
    },
  };
}

function git(at: string, ...args: readonly string[]): string {
  return execFileSync("git", ["-C", at, ...args], { encoding: "utf8", maxBuffer: 1 << 30 });
}
