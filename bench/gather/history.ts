/** Real commits as questions: what was asked for, on which tree, and which lines of it were changed. */
import { execFileSync } from "node:child_process";
import type { MeasuredRepository } from "./repositories.ts";

export interface Commit {
  readonly hash: string;
  readonly parent: string;
  /** The message without paths, hashes and numbers. */
  readonly task: string;
  /** Path → lines of the parent that were changed, or that something was put beside. */
  readonly changed: ReadonlyMap<string, ReadonlySet<number>>;
}

/** What changes more than this is no single task. */
const maxFiles = 12;
const maxLines = 400;
/** The questions are spread evenly over so many times as many of the newest commits that could be asked for. */
const spread = 10;

/** Oldest first, so that a history that ends before each of them only grows. */
export function readHistory({ folder, until, below }: MeasuredRepository, count: number): readonly Commit[] {
  const found = [...askable(folder, until, below, count * spread)];
  const step = found.length / Math.min(count, found.length);
  return Array.from({ length: Math.min(count, found.length) }, (_, at) => found[Math.floor(at * step)]!).toReversed();
}

/** Newest first. */
function* askable(repository: string, until: string, below: string | undefined, count: number): Generator<Commit> {
  const log = git(repository, [
    "log",
    "--first-parent",
    "--no-merges",
    "--unified=0",
    "--no-color",
    "--no-renames",
    "--diff-filter=MD",
    "--no-ext-diff",
    // Neither a message nor a patch of text contains this character.
    "--format=%x00%H %P%n%B%x00",
    until,
    "--",
    ...(below === undefined ? [] : [below]),
  ]);
  const [, ...pieces] = log.toString().split("\0");
  let left = count;
  for (let at = 0; at + 1 < pieces.length && left > 0; at += 2) {
    const [ids = "", ...message] = pieces[at]!.split("\n");
    const [hash, parent] = ids.split(" ");
    if (!hash || !parent) continue;
    const task = asTask(message.join("\n"));
    if ((task.match(/[\p{L}]{3,}/gu)?.length ?? 0) < 3) continue;
    const changed = changesOf(pieces[at + 1]!);
    const lines = [...changed.values()].reduce((sum, one) => sum + one.size, 0);
    if (changed.size === 0 || changed.size > maxFiles || lines > maxLines) continue;
    left -= 1;
    yield { hash, parent, task, changed };
  }
}

/** What would give the answer away, or be in no real question, is taken out. */
function asTask(message: string): string {
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

function changesOf(patch: string): Commit["changed"] {
  const changed = new Map<string, Set<number>>();
  let lines: Set<number> | undefined;
  for (const line of patch.split("\n")) {
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
