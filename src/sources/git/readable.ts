/** Commits, logs and counts as Markdown, for people and models. */
import { type CommitFacts, splitMessage } from "../../backends/git/commits.ts";
import { markdownTable } from "../../lib/markdown-table.ts";
import type { Part } from "../../source.ts";

export interface ReadableFile {
  readonly path: string;
  readonly change: string;
  readonly from?: string;
  readonly additions?: number;
  readonly deletions?: number;
  /** True for a file that git does not know yet. */
  readonly untracked?: true;
}

export interface ReadableCommit extends Pick<CommitFacts, "author" | "committer"> {
  readonly hash: string;
  readonly parents: readonly string[];
  readonly message: string;
  /** True for a commit whose parents the clone lacks: then its files are not known. */
  readonly boundary?: true;
  readonly files?: readonly ReadableFile[];
  readonly leftOut?: number;
  readonly truncated?: boolean;
}

export function markdownPart(text: string): Part {
  return { body: { text }, mimeType: "text/markdown" };
}

export function commitText({ hash, author, committer, parents, message, files, ...rest }: ReadableCommit): string {
  const byOther = committer.name !== author.name || committer.email !== author.email;
  const { subject, body } = splitMessage(message);
  return [
    `# ${subject}`,
    body,
    [
      `- Commit: ${hash}`,
      `- Author: ${personText(author)}, ${author.date}`,
      ...(byOther ? [`- Committer: ${personText(committer)}, ${committer.date}`] : []),
      ...(parents.length > 0 ? [`- Parents: ${parents.join(", ")}`] : []),
    ].join("\n"),
    files ? filesText(files, rest) : "The clone lacks the parents of this commit, so its changes are not known.",
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** The changed files with their counts of lines. */
export function filesText(
  files: readonly ReadableFile[],
  { leftOut = 0, truncated = false }: Pick<ReadableCommit, "leftOut" | "truncated"> = {},
): string {
  const rows = files.map(({ path, change, from, additions, deletions }) => [
    from === undefined ? path : `${from} → ${path}`,
    change,
    additions === undefined ? "" : `+${additions}`,
    deletions === undefined ? "" : `-${deletions}`,
  ]);
  return [
    rows.length === 0 ? "No files." : markdownTable(["File", "Change", "Added", "Deleted"], rows),
    ...(truncated ? ["More files are not listed."] : []),
    ...(leftOut > 0 ? [`${leftOut === 1 ? "1 file" : `${leftOut} files`} not shown.`] : []),
  ].join("\n\n");
}

/** Maximum number of files, and of folders of further files, in a readable list of changes. */
const maxShownFiles = 80;
const maxShownFolders = 40;

/** The changed files; of many, the first ones, and how many are in which folder. */
export function changesText(
  files: readonly ReadableFile[],
  rest: Pick<ReadableCommit, "leftOut" | "truncated">,
): string {
  const more = files.slice(maxShownFiles);
  if (more.length === 0) return filesText(files, rest);
  const folders = [...Map.groupBy(more, ({ path }) => path.slice(0, path.lastIndexOf("/") + 1) || "./")]
    .map(([folder, { length }]) => [folder, length] as const)
    .sort((one, other) => other[1] - one[1]);
  const rows = folders.slice(0, maxShownFolders).map(([folder, count]) => [folder, String(count)]);
  const others = folders.slice(maxShownFolders).reduce((sum, [, count]) => sum + count, 0);
  return [
    markdownTable(["Folder", "Further files"], others > 0 ? [...rows, ["other folders", String(others)]] : rows),
    filesText(files.slice(0, maxShownFiles), rest),
  ].join("\n\n");
}

interface ReadableLog {
  readonly commits: readonly {
    readonly hash: string;
    readonly author: CommitFacts["author"];
    readonly subject: string;
  }[];
  readonly renamed?: { readonly from: string; readonly commit: string };
  readonly next?: string;
  readonly notes?: readonly string[];
}

export function logText({ commits, renamed, next, notes = [] }: ReadableLog): string {
  const rows = commits.map(({ hash, author, subject }) => [
    hash.slice(0, 12),
    author.date.slice(0, 10),
    author.name,
    subject,
  ]);
  return [
    rows.length === 0 ? "No commits." : markdownTable(["Commit", "Date", "Author", "Subject"], rows),
    ...(renamed ? [`Renamed from ${renamed.from} in ${renamed.commit.slice(0, 12)}.`] : []),
    ...notes,
    ...(next === undefined ? [] : [`Next page: log?${next}`]),
  ].join("\n\n");
}

export function personText({ name, email }: Pick<CommitFacts["author"], "name" | "email">): string {
  return `${name} <${email}>`;
}
