/** What is going on in a checkout: where HEAD is, and what differs from it. Submodules are not looked into. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ResourceError } from "../../errors.ts";
import { createTurns } from "../../lib/turns.ts";
import { shallowEnds } from "./commits.ts";
import type { Mirror } from "./mirror.ts";
import type { Program } from "./program.ts";
import type { Refs } from "./refs.ts";
import type { Repository } from "./repository.ts";
import { isServedPath } from "./trees.ts";

export interface StatusWorld {
  readonly program: Program;
  readonly mirror: Mirror;
  readonly refs: Refs;
  readonly repository: Repository;
  readonly signal: AbortSignal;
}

interface Changed {
  readonly path: string;
  readonly change: string;
  readonly from?: string;
}

interface Upstream {
  readonly name: string;
  readonly ahead?: number;
  readonly behind?: number;
}

const maxEntries = 2000;
const maxStatusBytes = 32 * 1024 * 1024;

/** What is under way, by the file that git keeps for it. */
const operations: Readonly<Record<string, string>> = {
  "rebase-merge": "rebase",
  "rebase-apply": "rebase",
  MERGE_HEAD: "merge",
  CHERRY_PICK_HEAD: "cherry-pick",
  REVERT_HEAD: "revert",
  BISECT_LOG: "bisect",
};

export async function readStatus({ program, mirror, refs, repository, signal }: StatusWorld): Promise<object> {
  const gitDir = await mirror.refresh();
  const head = mirror.head();
  const operation = Object.keys(operations).find((name) => existsSync(join(repository.gitDir, name)));
  if (repository.isBare) {
    return { ...whereFrom(head, await headHash(refs)), bare: true, ...shallow(repository) };
  }
  const args = ["status", "--porcelain=v2", "-z", "--branch", "--ignore-submodules=dirty"];
  const { bytes, isCut } = await program.run(args, {
    gitDir,
    signal,
    maxBytes: maxStatusBytes,
    cwd: repository.root,
    env: { GIT_WORK_TREE: repository.root, GIT_INDEX_FILE: join(repository.gitDir, "index") },
    less: '"log" or "branches", which need not look at the files',
  });
  const status = await parseStatus(bytes.toString("utf8"));
  const lists = {
    staged: status.staged,
    unstaged: status.unstaged,
    conflicts: status.conflicts,
    untracked: status.untracked,
  };
  const isClean = Object.values(lists).every((list) => list.length === 0) && status.leftOut === 0;
  const isTruncated = isCut || Object.values(lists).some((list) => list.length > maxEntries);
  return {
    ...whereFrom(head, status.hash),
    ...(status.upstream && { upstream: status.upstream }),
    ...(operation !== undefined && { operation: operations[operation] }),
    ...shallow(repository),
    clean: isClean,
    ...Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, list.slice(0, maxEntries)])),
    ...(status.leftOut > 0 && { leftOut: status.leftOut }),
    ...(isTruncated && { truncated: true }),
  };
}

function whereFrom(head: ReturnType<Mirror["head"]>, hash: string | null): object {
  if (!("ref" in head)) return { head: hash, branch: null, detached: true };
  return { head: hash, branch: head.ref.replace(/^refs\/heads\//, ""), ...(hash === null && { unborn: true }) };
}

function shallow(repository: Repository): object {
  return shallowEnds(repository) ? { shallow: true } : {};
}

async function headHash(refs: Refs): Promise<string | null> {
  try {
    return (await refs.resolve("HEAD")).hash;
  } catch (cause) {
    if (cause instanceof ResourceError && cause.kind === "not-found") return null;
    throw cause;
  }
}

async function parseStatus(text: string) {
  const staged: Changed[] = [];
  const unstaged: Changed[] = [];
  const conflicts: Changed[] = [];
  const untracked: string[] = [];
  let hash: string | null = null;
  let upstream: Upstream | undefined;
  let leftOut = 0;
  const records = text.split("\0");
  const turn = createTurns();
  for (let at = 0; at < records.length; at += 1) {
    await turn();
    const record = records[at] ?? "";
    const sign = record.charAt(0);
    if (sign === "#") {
      const [, what, ...said] = record.split(" ");
      if (what === "branch.oid") hash = said[0] === "(initial)" ? null : (said[0] ?? null);
      if (what === "branch.upstream") upstream = { name: said.join(" ") };
      if (what === "branch.ab" && upstream)
        upstream = { ...upstream, ahead: Number(said[0]), behind: Math.abs(Number(said[1])) };
      continue;
    }
    // Each kind has so many words before the path, which may hold spaces.
    const words = { "1": 8, "2": 9, u: 10, "?": 1 }[sign];
    if (words === undefined) continue;
    const path = afterWords(record, words);
    const from = sign === "2" ? records[(at += 1)] : undefined;
    if (path.includes("\ufffd")) continue;
    if (!isServedPath(path.replace(/\/$/, ""))) {
      leftOut += 1;
      continue;
    }
    const isTold = from !== undefined && isServedPath(from);
    const [inIndex = ".", inTree = "."] = record.slice(2, 4);
    if (sign === "?") untracked.push(path);
    else if (sign === "u") conflicts.push({ path, change: conflictOf(record.slice(2, 4)) });
    else {
      if (inIndex !== ".") staged.push({ path, change: changeOf(inIndex), ...(isTold && { from }) });
      if (inTree !== ".") unstaged.push({ path, change: changeOf(inTree) });
    }
  }
  return { staged, unstaged, conflicts, untracked, hash, upstream, leftOut };
}

function afterWords(record: string, words: number): string {
  let at = 0;
  for (let word = 0; word < words; word += 1) at = record.indexOf(" ", at) + 1;
  return record.slice(at);
}

function changeOf(letter: string): string {
  return (
    { M: "modified", T: "type changed", A: "added", D: "deleted", R: "renamed", C: "copied" }[letter] ?? "modified"
  );
}

function conflictOf(letters: string): string {
  return (
    {
      DD: "both deleted",
      AU: "added by us",
      UD: "deleted by them",
      UA: "added by them",
      DU: "deleted by us",
      AA: "both added",
    }[letters] ?? "both modified"
  );
}
