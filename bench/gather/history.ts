/** Real commits as questions: what was asked for, on which tree, and which lines of it were changed. */
import { execFileSync } from "node:child_process";

export interface Commit {
  readonly hash: string;
  readonly parent: string;
  /** The message without paths, hashes and numbers. */
  readonly task: string;
  /** Path → lines of the parent that were changed, or that something was put beside. */
  readonly changed: ReadonlyMap<string, ReadonlySet<number>>;
}

export interface HistoryLimits {
  /** At most so many commits, the newest. */
  readonly commits: number;
  /** What changes more than this is no single task. */
  readonly maxFiles: number;
  readonly maxLines: number;
}

export const usualLimits: HistoryLimits = { commits: 60, maxFiles: 12, maxLines: 400 };

export function readHistory(repository: string, { commits, maxFiles, maxLines }: HistoryLimits): readonly Commit[] {
  const log = git(repository, ["log", "--no-merges", "--first-parent", "--format=%H %P"]).toString();
  const found: Commit[] = [];
  for (const line of log.split("\n")) {
    const [hash, parent] = line.split(" ");
    if (!hash || !parent) continue;
    const task = asTask(git(repository, ["show", "-s", "--format=%B", hash]).toString());
    if ((task.match(/[\p{L}]{3,}/gu)?.length ?? 0) < 3) continue;
    const changed = changesOf(repository, parent, hash);
    const lines = [...changed.values()].reduce((sum, one) => sum + one.size, 0);
    if (changed.size === 0 || changed.size > maxFiles || lines > maxLines) continue;
    found.push({ hash, parent, task, changed });
    if (found.length === commits) break;
  }
  return found.toReversed();
}

/** What would give the answer away, or be in no real question, is taken out. */
export function asTask(message: string): string {
  return message
    .replaceAll(/^[A-Z][A-Za-z-]+(?:-[Bb]y|-[Ii]d|-upstream)?: .*$/gm, (line) =>
      /^[\w-]+: \S+@|^(?:Signed|Co-auth|Change|Bug|Origin|Fixes|Closes|Resolves)/.test(line) ? " " : line,
    )
    .replaceAll(/\b\w+:\/\/\S+/g, " ")
    .replaceAll(/\S*\/\S*/g, " ")
    .replaceAll(/[\w-]+\.(?:[a-z]{1,5}|patch)\b/gi, " ")
    .replaceAll(/\b[0-9a-f]{7,40}\b/g, " ")
    .replaceAll(/#?\b\d[\w.]*\b/g, " ")
    .replaceAll(/[^\S\n]+/g, " ")
    .trim();
}

function changesOf(repository: string, parent: string, hash: string): Commit["changed"] {
  const patch = git(repository, [
    "diff",
    "--unified=0",
    "--no-color",
    "--no-renames",
    "--diff-filter=MD",
    "--no-ext-diff",
    parent,
    hash,
  ]);
  const changed = new Map<string, Set<number>>();
  let lines: Set<number> | undefined;
  for (const line of patch.toString().split("\n")) {
    if (line.startsWith("diff --git ")) lines = undefined;
    else if (line.startsWith("--- a/")) changed.set(line.slice(6), (lines = new Set()));
    const hunk = lines && /^@@ -(\d+)(?:,(\d+))? /.exec(line);
    if (!hunk) continue;
    const [first, count] = [Number(hunk[1]), Number(hunk[2] ?? 1)];
    for (let at = first; at < first + Math.max(1, count); at += 1) lines!.add(Math.max(1, at));
  }
  return changed;
}

export interface TreeEntry {
  readonly path: string;
  readonly blob: string;
}

export function readTree(repository: string, commit: string): readonly TreeEntry[] {
  return git(repository, ["ls-tree", "-r", "-z", "--format=%(objecttype) %(objectname) %(objectsize) %(path)", commit])
    .toString()
    .split("\0")
    .flatMap((line) => {
      const [, type, blob, size, path] = /^(\w+) (\w+) +(\S+) (.*)$/s.exec(line) ?? [];
      return type === "blob" && blob && path && Number(size) <= maxBytes ? [{ path, blob }] : [];
    });
}

/** Larger files are no source of anyone's. */
const maxBytes = 1024 * 1024;

/** Blob → text; undefined for bytes. */
export function readBlobs(repository: string, blobs: readonly string[]): ReadonlyMap<string, string | undefined> {
  const answer = execFileSync("git", ["-C", repository, "cat-file", "--batch"], {
    input: blobs.join("\n"),
    maxBuffer: 1 << 30,
  });
  const texts = new Map<string, string | undefined>();
  for (let at = 0; at < answer.length;) {
    const end = answer.indexOf(0x0a, at);
    const [blob = "", , size] = answer.toString("latin1", at, end).split(" ");
    const bytes = answer.subarray(end + 1, end + 1 + Number(size));
    texts.set(blob, bytes.includes(0) ? undefined : bytes.toString("utf8"));
    at = end + 2 + Number(size);
  }
  return texts;
}

function git(repository: string, args: readonly string[]): Buffer {
  return execFileSync("git", ["-C", repository, "-c", "core.quotePath=false", ...args], { maxBuffer: 1 << 30 });
}
