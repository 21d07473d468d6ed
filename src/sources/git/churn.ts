/** Counts how often files were changed, by whom, and how much. */
import { isUtf8 } from "node:buffer";
import { type LogContext, startOf } from "./log.ts";
import { parseMax, parseScope } from "./log-filter.ts";
import { markdownTable } from "../../lib/markdown-table.ts";
import { kindOfMode, type TreeEntry } from "../../backends/git/trees.ts";

/** The newest commits that are counted: git compares every file that each of them changes. */
const maxCommits = 5000;
const maxOutputBytes = 64 * 1024 * 1024;
const usualFiles = 50;
const maxFiles = 1000;
const maxAuthors = 100;

interface CountedChange {
  readonly path: string;
  readonly entry: TreeEntry;
  readonly additions: number;
  readonly deletions: number;
}

interface CountedCommit {
  readonly author: { readonly name: string; readonly email: string };
  readonly date: string;
  readonly changes: readonly CountedChange[];
}

interface FileChurn {
  readonly path: string;
  commits: number;
  additions: number;
  deletions: number;
  readonly authors: Set<string>;
  first: string;
  readonly last: string;
}

interface Churn {
  readonly commits: number;
  readonly additions: number;
  readonly deletions: number;
  /** Dates of the oldest and the newest commit that were counted. */
  readonly first?: string;
  readonly last?: string;
  /** Whether older commits were left out. */
  readonly truncated?: true;
  readonly authors: readonly { readonly name: string; readonly email: string; readonly commits: number }[];
  readonly files: readonly (Omit<FileChurn, "authors"> & { readonly authors: number })[];
}

/** Merges are not counted. A renamed file counts as a deleted and an added one. */
export async function readChurn(query: Readonly<Record<string, string>>, context: LogContext): Promise<Churn> {
  const { rules, program, mirror, signal } = context;
  const { path, sinceSeconds, untilSeconds } = parseScope(query);
  const max = parseMax(query["max"], usualFiles, maxFiles);
  const start = await startOf(query["ref"], context);
  if (start === undefined || (path !== undefined && !(await context.servesPath(path, start))))
    return { commits: 0, additions: 0, deletions: 0, authors: [], files: [] };
  const args = [
    "log",
    "-z",
    "--raw",
    "--numstat",
    "--no-abbrev",
    "--no-renames",
    "--no-merges",
    "--no-ext-diff",
    "--no-textconv",
    "--no-show-signature",
    "--no-notes",
    // Fields that are never empty: an empty one begins a commit.
    "--format=tformat:%x00%ct%x00n%an%x00m%ae",
    `--max-count=${maxCommits + 1}`,
    ...(sinceSeconds === undefined ? [] : [`--max-age=${sinceSeconds}`]),
    ...(untilSeconds === undefined ? [] : [`--min-age=${untilSeconds}`]),
    start,
    "--",
    ...(path === undefined ? [] : [path]),
  ];
  const { bytes, isCut } = await program.run(args, {
    gitDir: await mirror.ready(),
    signal,
    maxBytes: maxOutputBytes,
    less: 'less, with "since" or "path"',
  });
  const found = parseCounted(bytes);
  const isMore = isCut || found.length > maxCommits;
  const counted = isMore ? found.slice(0, Math.min(maxCommits, found.length - 1)) : found;

  const pairs = counted.flatMap(({ changes }) => changes.map((each) => [each.path, each.entry] as const));
  const served = await rules.servesEach(pairs);
  const files = new Map<string, FileChurn>();
  const authors = new Map<string, { readonly name: string; readonly email: string; commits: number }>();
  const total = { commits: 0, additions: 0, deletions: 0 };
  const dates: string[] = [];
  let next = 0;
  for (const { author, date, changes } of counted) {
    const shown = changes.filter(() => served[next++]);
    if (shown.length === 0) continue;
    const key = `${author.name} <${author.email}>`;
    const person = authors.get(key) ?? { ...author, commits: 0 };
    authors.set(key, person);
    person.commits += 1;
    total.commits += 1;
    dates.push(date);
    for (const change of shown) {
      const file = files.get(change.path) ?? {
        path: change.path,
        commits: 0,
        additions: 0,
        deletions: 0,
        authors: new Set(),
        first: date,
        last: date,
      };
      files.set(change.path, file);
      file.commits += 1;
      file.first = date;
      file.authors.add(key);
      for (const sum of [file, total]) {
        sum.additions += change.additions;
        sum.deletions += change.deletions;
      }
    }
  }
  return {
    ...total,
    ...(dates.length > 0 && { first: dates.at(-1), last: dates[0] }),
    ...(isMore && { truncated: true as const }),
    authors: [...authors.values()].sort((one, other) => other.commits - one.commits).slice(0, maxAuthors),
    files: [...files.values()]
      .sort((one, other) => other.commits - one.commits || linesOf(other) - linesOf(one))
      .slice(0, max)
      .map((file) => ({ ...file, authors: file.authors.size })),
  };
}

function linesOf({ additions, deletions }: FileChurn): number {
  return additions + deletions;
}

/** Commits with their changed files: a header of three fields, the files with their modes, then the counts of lines in the same order. */
function parseCounted(bytes: Buffer): CountedCommit[] {
  const commits: CountedCommit[] = [];
  let at = 0;
  const take = (): Buffer => {
    const end = bytes.indexOf(0, at);
    const field = bytes.subarray(at, end < 0 ? bytes.length : end);
    at = end < 0 ? bytes.length : end + 1;
    return field;
  };
  while (at < bytes.length) {
    if (take().length > 0) continue;
    const [seconds, name, email] = [take(), take(), take()].map((field) => field.toString("utf8"));
    const entries = new Map<string, TreeEntry>();
    const changes: CountedChange[] = [];
    while (at < bytes.length && bytes[at] !== 0) {
      const field = take();
      const text = isUtf8(field) ? field.toString("utf8").trimStart() : "";
      if (text.startsWith(":")) {
        const [before = "", after = "", old = "", now = "", status] = text.slice(1).split(" ");
        const path = take();
        const entry = status === "D" ? { kind: kindOfMode(before), hash: old } : { kind: kindOfMode(after), hash: now };
        if (isUtf8(path)) entries.set(path.toString("utf8"), entry);
        continue;
      }
      // A binary file has "-" for both.
      const [, additions, deletions, path = ""] = /^(\d+|-)\t(\d+|-)\t([^]+)$/.exec(text) ?? [];
      const entry = entries.get(path);
      if (entry) changes.push({ path, entry, additions: Number(additions) || 0, deletions: Number(deletions) || 0 });
    }
    const ms = Number(seconds) * 1000;
    commits.push({
      author: { name: name!.slice(1), email: email!.slice(1) },
      date: new Date(Math.abs(ms) <= 8.64e15 ? ms : 0).toISOString(),
      changes,
    });
  }
  return commits;
}

function day(date = ""): string {
  return date.slice(0, 10);
}

export function churnText({ commits, additions, deletions, first, last, truncated, authors, files }: Churn): string {
  const older = `Older commits are not counted; use "since", "until" or "path".`;
  if (commits === 0) return truncated ? `No changes in the newest commits. ${older}` : "No changes.";
  return [
    `${commits} ${commits === 1 ? "commit" : "commits"} from ${day(first)} to ${day(last)}: ${additions} lines added, ${deletions} deleted.`,
    ...(truncated ? [older] : []),
    markdownTable(
      ["File", "Commits", "Added", "Deleted", "Authors", "First", "Last"],
      files.map((file) => [
        file.path,
        ...[file.commits, file.additions, file.deletions, file.authors].map(String),
        day(file.first),
        day(file.last),
      ]),
    ),
    markdownTable(
      ["Author", "Commits"],
      authors.map(({ name, email, commits: count }) => [`${name} <${email}>`, String(count)]),
    ),
  ].join("\n\n");
}
