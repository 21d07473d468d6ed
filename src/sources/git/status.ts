/** The state of a checkout: where HEAD is, and what differs from it. Submodules are not examined. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ResourceError } from "../../errors.ts";
import { createTimeSlices } from "../../lib/time-slices.ts";
import { shallowEnds } from "../../backends/git/commits.ts";
import type { Mirror } from "../../backends/git/mirror.ts";
import type { GitProgram } from "../../backends/git/program.ts";
import type { Refs } from "../../backends/git/refs.ts";
import type { GitRepository } from "../../backends/git/repository.ts";
import type { HistoryRules } from "../../backends/git/history-rules.ts";
import type { ShownCommits } from "../../backends/git/shown-commits.ts";
import type { TreeEntryKind } from "../../backends/git/trees.ts";

interface StatusContext {
  readonly program: GitProgram;
  readonly mirror: Mirror;
  readonly refs: Refs;
  readonly repository: GitRepository;
  readonly rules: HistoryRules;
  readonly commits: ShownCommits;
  readonly isPartial: boolean;
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
/** If more commits than this differ from the upstream, they are not counted. */
const maxCompared = 10_000;
const maxStatusBytes = 32 * 1024 * 1024;

/** Operations in progress, by the file that git creates for them. */
const operations: Readonly<Record<string, string>> = {
  "rebase-merge": "rebase",
  "rebase-apply": "rebase",
  MERGE_HEAD: "merge",
  CHERRY_PICK_HEAD: "cherry-pick",
  REVERT_HEAD: "revert",
  BISECT_LOG: "bisect",
};

export async function readCheckoutStatus(context: StatusContext): Promise<object> {
  const { program, mirror, repository, commits, isPartial, signal } = context;
  const gitDir = await mirror.refresh();
  const head = mirror.head();
  const operation = Object.keys(operations).find((name) => existsSync(join(repository.gitDir, name)));
  if (repository.isBare) {
    return { ...whereFrom(head, await headHash(context)), bare: true, ...shallow(repository) };
  }
  const args = ["status", "--porcelain=v2", "-z", "--branch", "--ignore-submodules=dirty"];
  // Whether git names a folder instead of its files depends on all files in it, including hidden ones.
  if (isPartial) args.push("--untracked-files=all");
  const { bytes, isCut } = await program.run(args, {
    gitDir,
    signal,
    maxBytes: maxStatusBytes,
    cwd: repository.root,
    env: { GIT_WORK_TREE: repository.root, GIT_INDEX_FILE: join(repository.gitDir, "index") },
    less: '"log" or "branches", which do not read the files',
  });
  const status = await parseStatus(bytes.toString("utf8"), context.rules);
  const lists = {
    staged: status.staged,
    unstaged: status.unstaged,
    conflicts: status.conflicts,
    untracked: status.untracked,
  };
  const isClean = Object.values(lists).every((list) => list.length === 0) && status.leftOut === 0;
  const isTruncated = isCut || Object.values(lists).some((list) => list.length > maxEntries);
  return {
    ...whereFrom(head, status.hash === null ? null : ((await commits.nearest(status.hash)) ?? null)),
    upstream: isPartial ? await upstreamShown(status, context) : status.upstream,
    ...(operation !== undefined && { operation: operations[operation] }),
    ...shallow(repository),
    clean: isClean,
    ...Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, list.slice(0, maxEntries)])),
    ...(status.leftOut > 0 && { leftOut: status.leftOut }),
    ...(isTruncated && { truncated: true }),
  };
}

/** Counts only commits that the caller may see. */
async function upstreamShown(
  { hash, upstream }: Pick<ReturnType<typeof splitStatus>, "hash" | "upstream">,
  { program, mirror, refs, commits, signal }: StatusContext,
): Promise<Upstream | undefined> {
  if (!upstream || upstream.ahead === undefined || hash === null) return upstream;
  const { name } = upstream;
  const other = await refs.resolve(name).catch(() => undefined);
  if (other?.tip === undefined) return { name };
  const args = ["rev-list", "--left-right", `--max-count=${maxCompared + 1}`, `${hash}...${other.tip}`, "--"];
  const { bytes } = await program.run(args, { gitDir: await mirror.ready(), signal });
  const lines = bytes.toString("latin1").split("\n").filter(Boolean);
  if (lines.length > maxCompared) return { name };
  const isShown = await Promise.all(lines.map((line) => commits.isShown(line.slice(1))));
  const count = (side: string) => lines.filter((line, index) => line.startsWith(side) && isShown[index]).length;
  return { name, ahead: count("<"), behind: count(">") };
}

function whereFrom(head: ReturnType<Mirror["head"]>, hash: string | null): object {
  if (!("ref" in head)) return { head: hash, branch: null, detached: true };
  return { head: hash, branch: head.ref.replace(/^refs\/heads\//, ""), ...(hash === null && { unborn: true }) };
}

function shallow(repository: GitRepository): object {
  return shallowEnds(repository) ? { shallow: true } : {};
}

async function headHash({ refs, commits }: StatusContext): Promise<string | null> {
  try {
    return (await commits.nearest((await refs.resolve("HEAD")).hash)) ?? null;
  } catch (cause) {
    if (cause instanceof ResourceError && cause.kind === "not-found") return null;
    throw cause;
  }
}

interface StatusRecord {
  /** The kind of record: `1`, `2`, `u` or `?`. */
  readonly sign: string;
  /** The status in the index, and in the work tree. */
  readonly letters: string;
  readonly path: string;
  readonly from: string | undefined;
  readonly kind: TreeEntryKind;
}

async function parseStatus(text: string, rules: HistoryRules) {
  const staged: Changed[] = [];
  const unstaged: Changed[] = [];
  const conflicts: Changed[] = [];
  const untracked: string[] = [];
  let leftOut = 0;
  const { hash, upstream, records } = splitStatus(text);
  const isServed = (path: string, kind: TreeEntryKind) => rules.serves(path.replace(/\/$/, ""), { kind, hash: "" });
  const leaveOut = (path: string, kind: TreeEntryKind) => {
    if (!rules.isForbidden(path.replace(/\/$/, ""), kind)) leftOut += 1;
  };
  const slice = createTimeSlices();
  for (const { sign, letters, path, from, kind } of records) {
    await slice();
    const wasServed = from !== undefined && (await isServed(from, kind));
    if (!(await isServed(path, kind))) {
      leaveOut(path, kind);
      // It was moved to a path that is not served.
      if (wasServed) staged.push({ path: from, change: "deleted" });
      continue;
    }
    if (from !== undefined && !wasServed) leaveOut(from, kind);
    const [inIndex = ".", inTree = "."] = letters;
    if (sign === "?") untracked.push(path);
    else if (sign === "u") conflicts.push({ path, change: conflictOf(letters) });
    else {
      if (from !== undefined)
        staged.push(wasServed ? { path, change: changeOf(inIndex), from } : { path, change: "added" });
      else if (inIndex !== ".") staged.push({ path, change: changeOf(inIndex) });
      if (inTree !== ".") unstaged.push({ path, change: changeOf(inTree) });
    }
  }
  return { staged, unstaged, conflicts, untracked, hash, upstream, leftOut };
}

/** The records of `--porcelain=v2 -z`. Names that are not UTF-8 are left out. */
function splitStatus(text: string) {
  const records: StatusRecord[] = [];
  let hash: string | null = null;
  let upstream: Upstream | undefined;
  const pieces = text.split("\0");
  for (let at = 0; at < pieces.length; at += 1) {
    const piece = pieces[at] ?? "";
    const sign = piece.charAt(0);
    if (sign === "#") {
      const [, what, ...tail] = piece.split(" ");
      if (what === "branch.oid") hash = tail[0] === "(initial)" ? null : (tail[0] ?? null);
      if (what === "branch.upstream") upstream = { name: tail.join(" ") };
      if (what === "branch.ab" && upstream)
        upstream = { ...upstream, ahead: Number(tail[0]), behind: Math.abs(Number(tail[1])) };
      continue;
    }
    // The number of words before the path, which may contain spaces.
    const words = { "1": 8, "2": 9, u: 10, "?": 1 }[sign];
    if (words === undefined) continue;
    const path = afterWords(piece, words);
    const from = sign === "2" ? pieces[(at += 1)] : undefined;
    if (path.includes("\ufffd")) continue;
    const isFolder = sign === "?" ? path.endsWith("/") : piece.charAt(5) === "S";
    records.push({ sign, letters: piece.slice(2, 4), path, from, kind: isFolder ? "folder" : "file" });
  }
  return { records, hash, upstream };
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
