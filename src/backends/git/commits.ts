/** Reads the data of commits, and which files differ between two. */
import { join } from "node:path";
import { notFound } from "../../errors.ts";
import type { Mirror } from "./mirror.ts";
import type { GitProgram } from "./program.ts";
import { smallText, type GitRepository } from "./repository.ts";
import type { HistoryRules } from "./history-rules.ts";
import { parseRawDiff, type ServedChange, servedChanges } from "./raw-diff.ts";

export interface CommitFacts {
  readonly hash: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: CommitPerson;
  readonly committer: CommitPerson;
  /** Seconds since the epoch. */
  readonly seconds: number;
  readonly text: string;
}

interface CommitPerson {
  readonly name: string;
  readonly email: string;
  /** ISO 8601. */
  readonly date: string;
}

/** Fields end with NUL, which no field can contain. */
const fields = ["%H", "%T", "%P", "%an", "%ae", "%at", "%cn", "%ce", "%ct"];
export const subjectFormat = formatOf("%s");
export const messageFormat = formatOf("%B");
export const fieldCount = fields.length + 1;

/** The last field ends with the record, which also ends with NUL. */
function formatOf(text: string): string {
  return `--format=tformat:${[...fields, text].join("%x00")}`;
}

export function toFacts(values: readonly string[]): CommitFacts {
  const [hash = "", tree = "", parents = "", name = "", email = "", at = "", ...rest] = values;
  const [byName = "", byEmail = "", byAt = "", text = ""] = rest;
  return {
    hash,
    tree,
    parents: parents === "" ? [] : parents.split(" "),
    author: { name, email, date: toDate(at) },
    committer: { name: byName, email: byEmail, date: toDate(byAt) },
    seconds: Number(byAt) || 0,
    text,
  };
}

function toDate(seconds: string): string {
  const ms = Number(seconds) * 1000;
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : new Date(0).toISOString();
}

const maxShallowBytes = 1024 * 1024;

/** The oldest commits of a shallow clone; undefined if the history is complete. */
export function shallowEnds({ commonDir }: GitRepository): ReadonlySet<string> | undefined {
  const text = smallText(join(commonDir, "shallow"), maxShallowBytes);
  return text === undefined || text === "" ? undefined : new Set(text.split("\n").filter((line) => line !== ""));
}

export interface CommitContext {
  readonly program: GitProgram;
  readonly mirror: Mirror;
  readonly signal: AbortSignal;
}

/** With complete messages. Throws "not-found" if one of them does not exist. */
export async function readCommits(
  hashes: readonly string[],
  { program, mirror, signal }: CommitContext,
): Promise<CommitFacts[]> {
  const gitDir = await mirror.ready();
  const args = ["log", "-z", "--no-walk=unsorted", "--no-show-signature", messageFormat, ...hashes, "--"];
  const { bytes } = await program.run(args, { gitDir, signal });
  const values = bytes.toString("utf8").split("\0");
  return hashes.map((hash, index) => {
    const own = values.slice(index * fieldCount, (index + 1) * fieldCount);
    if (own.length < fieldCount) throw notFound(hash);
    return toFacts(own);
  });
}

/** The first paragraph of a message in one line, as git prints it. */
export function subjectOf(message: string): string {
  return splitMessage(message).subject;
}

/** The subject, and what follows the first empty line. */
export function splitMessage(message: string): { readonly subject: string; readonly body: string } {
  const lines = message.trim().split("\n");
  const found = lines.findIndex((line) => line.trim() === "");
  const end = found < 0 ? lines.length : found;
  const subject = lines.slice(0, end).map((line) => line.trim());
  return { subject: subject.join(" "), body: lines.slice(end).join("\n").trim() };
}

/** Shown instead of the message of a commit that also changes files which the caller may not see. */
export const hiddenMessage = "[message not shown]";

/** The files of a checkout, with a copy of its index: git updates the index that it compares with. */
export interface WorkTree {
  readonly root: string;
  readonly index: string;
}

/** The command that compares a tree with another, or with the files of a checkout. */
export function compareCommand(
  how: readonly string[],
  base: string,
  head: string | WorkTree,
  paths: readonly string[],
): { readonly args: readonly string[]; readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } {
  // Names of files in any script, and not in octal digits.
  const readable = ["-c", "core.quotePath=false"];
  if (typeof head === "string") return { args: [...readable, "diff-tree", "-r", ...how, base, head, "--", ...paths] };
  return {
    // Git would run in a submodule to find out whether its files have changed.
    args: [...readable, "diff", ...how, "--ignore-submodules=dirty", base, "--", ...paths],
    cwd: head.root,
    env: { GIT_WORK_TREE: head.root, GIT_INDEX_FILE: head.index },
  };
}

interface ChangedFiles {
  readonly files: readonly ServedChange[];
  /** Number of files that are not served. */
  readonly leftOut: number;
  /** Whether there are more files than were examined. */
  readonly isCut: boolean;
}

export interface ChangedFilesOptions extends CommitContext {
  readonly rules: HistoryRules;
  /** Only files at or below these paths. Default: all. */
  readonly paths?: readonly string[];
  /** Whether to detect renames, or to include folders. */
  readonly renames?: boolean;
  readonly folders?: boolean;
}

/** Enough for some ten thousand files; the rest is left out. */
const maxRawBytes = 8 * 1024 * 1024;
/** Limit of paths on one command line. */
export const maxNamed = 500;

/** Files that differ between two trees, by name. */
export async function changedFiles(
  base: string,
  head: string | WorkTree,
  options: ChangedFilesOptions,
): Promise<ChangedFiles> {
  const visible = options.renames ? await visibleChanges(base, head, options) : undefined;
  if (!visible) return compareTrees(base, head, options.paths, options);
  if (visible.files.length === 0 || visible.files.length > maxNamed) return visible;
  const paths = visible.files.map((file) => file.path);
  return { ...visible, files: (await compareTrees(base, head, paths, options)).files };
}

/**
 * The files that differ and that the caller may see, without renames, if access rules hide others. Git must then compare these alone: it would
 * pair hidden files with visible ones. Undefined if nothing is hidden from the caller.
 */
export async function visibleChanges(
  base: string,
  head: string | WorkTree,
  options: ChangedFilesOptions,
): Promise<ChangedFiles | undefined> {
  const { rules, paths } = options;
  if (rules.isOpen("")) return undefined;
  const found = await compareTrees(base, head, paths, { ...options, renames: false });
  return found.hasForbidden ? found : undefined;
}

async function compareTrees(
  base: string,
  head: string | WorkTree,
  paths: readonly string[] = [],
  options: ChangedFilesOptions,
) {
  const { program, mirror, signal, rules, renames = false, folders = false } = options;
  const gitDir = await mirror.ready();
  const how = ["-z", "--raw", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none"];
  const also = [...(renames ? ["-M"] : ["--no-renames"]), ...(folders ? ["-t"] : [])];
  const { args, ...where } = compareCommand([...how, ...also], base, head, paths);
  const { bytes, isCut } = await program.run(args, {
    ...where,
    gitDir,
    signal,
    maxBytes: maxRawBytes,
    less: 'less, with "path"',
  });
  const { served, leftOut, hasForbidden } = await servedChanges(parseRawDiff(bytes).changes, rules);
  return { files: served.filter((change) => change !== undefined), leftOut, hasForbidden, isCut };
}

interface LineCounts {
  readonly additions: number;
  readonly deletions: number;
}

/** The counts of lines of changed files, by path. Without those of binary files, and empty for more files than fit on a command line. */
export async function countLines(
  base: string,
  head: string | WorkTree,
  files: readonly ServedChange[],
  { program, mirror, signal }: CommitContext,
): Promise<ReadonlyMap<string, LineCounts>> {
  const counts = new Map<string, LineCounts>();
  const paths = files.flatMap(({ path, from }) => (from === undefined ? [path] : [from, path]));
  if (paths.length === 0 || paths.length > maxNamed) return counts;
  const gitDir = await mirror.ready();
  const how = ["-z", "--numstat", "-M", "--no-ext-diff", "--no-textconv"];
  const { args, ...where } = compareCommand(how, base, head, paths);
  const { bytes } = await program.run(args, { ...where, gitDir, signal });
  const parts = bytes.toString("utf8").split("\0");
  for (let at = 0; at < parts.length; at += 1) {
    const [, additions, deletions, own = ""] = /^(\d+|-)\t(\d+|-)\t([^]*)$/.exec(parts[at]!) ?? [];
    // A renamed file has its two names in fields of their own.
    const path = own === "" ? parts[(at += 2)] : own;
    if (path !== undefined && additions !== undefined && additions !== "-")
      counts.set(path, { additions: Number(additions), deletions: Number(deletions) });
  }
  return counts;
}
