/** A commit as facts, and which files lie between two. */
import { join } from "node:path";
import { notFound } from "../../errors.ts";
import type { Mirror } from "./mirror.ts";
import type { Program } from "./program.ts";
import { smallText, type Repository } from "./repository.ts";
import { isServedPath } from "./trees.ts";

export interface CommitFacts {
  readonly hash: string;
  readonly parents: readonly string[];
  readonly author: Person;
  readonly committer: Person;
  /** Seconds since the epoch. */
  readonly seconds: number;
  readonly text: string;
}

export interface Person {
  readonly name: string;
  readonly email: string;
  /** ISO 8601. */
  readonly date: string;
}

export type Change = "added" | "deleted" | "modified" | "type changed" | "renamed";

export interface ChangedFile {
  readonly path: string;
  readonly change: Change;
  /** Where it was before. */
  readonly from?: string;
  readonly isFolder: boolean;
}

/** Fields end with NUL, which no field can hold. */
const fields = ["%H", "%P", "%an", "%ae", "%at", "%cn", "%ce", "%ct"];
export const subjectFormat = formatOf("%s");
export const messageFormat = formatOf("%B");
export const fieldCount = fields.length + 1;

/** The last field ends with the record, which ends with NUL too. */
function formatOf(text: string): string {
  return `--format=tformat:${[...fields, text].join("%x00")}`;
}

export function toFacts(values: readonly string[]): CommitFacts {
  const [hash = "", parents = "", name = "", email = "", at = "", byName = "", byEmail = "", byAt = "", text = ""] =
    values;
  return {
    hash,
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

/** The commits at which a shallow clone ends; undefined where the history is whole. */
export function shallowEnds({ commonDir }: Repository): ReadonlySet<string> | undefined {
  const text = smallText(join(commonDir, "shallow"), maxShallowBytes);
  return text === undefined || text === "" ? undefined : new Set(text.split("\n").filter((line) => line !== ""));
}

export async function readCommit(
  hash: string,
  { program, mirror, signal }: { readonly program: Program; readonly mirror: Mirror; readonly signal: AbortSignal },
): Promise<CommitFacts> {
  const gitDir = await mirror.ready();
  const { bytes } = await program.run(["log", "-z", "-1", "--no-show-signature", messageFormat, hash, "--"], {
    gitDir,
    signal,
  });
  const values = bytes.toString("utf8").split("\0");
  if (values.length < fieldCount) throw notFound(hash);
  return toFacts(values);
}

export interface ChangedFiles {
  readonly files: readonly ChangedFile[];
  /** How many are left out because their names speak of a secret. */
  readonly leftOut: number;
  /** Whether there are more than were looked at. */
  readonly isCut: boolean;
}

const maxRawBytes = 16 * 1024 * 1024;

/** Between two trees, by name. Without a path, all of them. */
export async function changedFiles(
  base: string,
  head: string,
  options: {
    readonly program: Program;
    readonly mirror: Mirror;
    readonly signal: AbortSignal;
    readonly path?: string | undefined;
    /** Whether to look for renames, or to name folders too. */
    readonly renames?: boolean;
    readonly folders?: boolean;
  },
): Promise<ChangedFiles> {
  const { program, mirror, signal, path, renames = false, folders = false } = options;
  const gitDir = await mirror.ready();
  const how = ["-r", "-z", "--raw", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none"];
  const also = [...(renames ? ["-M"] : ["--no-renames"]), ...(folders ? ["-t"] : [])];
  const within = path === undefined ? [] : [path];
  const { bytes, isCut } = await program.run(["diff-tree", ...how, ...also, base, head, "--", ...within], {
    gitDir,
    signal,
    maxBytes: maxRawBytes,
    less: 'less, with "path"',
  });
  const files: ChangedFile[] = [];
  let leftOut = 0;
  const records = bytes.toString("utf8").split("\0");
  for (let at = 0; at + 1 < records.length;) {
    const [before = "", after = "", , , status = ""] = (records[at] ?? "").slice(1).split(" ");
    const isRename = status.startsWith("R");
    const from = records[at + 1] ?? "";
    const to = isRename ? (records[at + 2] ?? "") : from;
    at += isRename ? 3 : 2;
    // A name that is no UTF-8 cannot be spelled.
    if (to.includes("\ufffd")) continue;
    if (!isServedPath(to) || !isServedPath(from)) {
      leftOut += 1;
      continue;
    }
    const isFolder = before === "040000" || after === "040000";
    files.push({ path: to, change: changeOf(status), isFolder, ...(isRename && { from }) });
  }
  return { files, leftOut, isCut };
}

function changeOf(status: string): Change {
  switch (status.charAt(0)) {
    case "A":
      return "added";
    case "D":
      return "deleted";
    case "T":
      return "type changed";
    case "R":
      return "renamed";
    default:
      return "modified";
  }
}
