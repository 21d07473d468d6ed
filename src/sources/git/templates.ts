/** The listed resources of a repository, and the templates for all others. */
import { changesTemplate } from "../../lib/changes-template.ts";
import type { Entry, SourceTemplate } from "../../source.ts";

const logTemplate = "log{?ref,max,since,until,path,follow,author,grep,pickaxe,after,as}";
export const diffTemplate = "diff/{base}/{head}{?path}";
export const blobTemplate = "blob/{ref}{/path*}{?lines,bytes}";
export const blameTemplate = "blame/{ref}{/path*}{?lines}";

const json = "application/json";

/** In address order. */
export const listed: readonly Entry[] = [
  { path: "branches", title: "Branches", description: "Branches, most recent first", mimeType: json },
  { path: "log", title: "Log", description: "The commits of HEAD, newest first", mimeType: json },
  { path: "status", title: "Status", description: "Where HEAD is, and what differs from it", mimeType: json },
  { path: "tags", title: "Tags", description: "Tags, most recent first", mimeType: json },
];

/** The listed entries that are in the search index. Log and branches would repeat commits that are in it themselves. */
export function indexedEntries(indexedCommits: number): readonly Entry[] {
  return indexedCommits === 0 ? listed : listed.filter(({ path }) => path === "tags");
}

export const gitTemplates: readonly SourceTemplate[] = [
  {
    template: logTemplate,
    name: "Log",
    description:
      'Commits of "ref" (default: HEAD), newest first: at most "max", from "since" until "until" (2026-01-31), that touch "path" (with ' +
      'follow=true also under its earlier names), by "author", with "grep" in the message, or that add or remove the text "pickaxe"; each page ' +
      "contains the query of the next; as=text for a table",
    mimeType: json,
  },
  {
    template: "churn{?path,since,until,ref,max,as}",
    name: "Churn",
    description:
      'The most changed files of the repository, or below "path": commits, lines added and deleted, authors, first and last change; as=text for tables',
    mimeType: json,
  },
  {
    template: changesTemplate,
    name: "Changes of the checkout",
    description:
      'The files that the checkout has changed since it left "base" (default: origin/HEAD, main or master), committed or not, with counts of ' +
      'lines; as=text for a table, as=patch for the patch; with "path", the patch of one of them',
    mimeType: json,
  },
  {
    template: "commit/{sha}",
    name: "Commit",
    description:
      "One commit by its hash, branch or tag: author, date, message, and changed files; with ?as=text, Markdown with counts of lines",
    mimeType: json,
  },
  {
    template: "diff/{base}...{head}{?path,as}",
    name: "Changes of a branch",
    description:
      'The files that "head" has changed since it left "base" (two dots: the differences between the two), with counts of lines; with "path", ' +
      "the patch of one of them",
    mimeType: json,
  },
  {
    template: diffTemplate,
    name: "Diff",
    description: 'The changes from one commit to another, as a patch; "path" limits them to a folder or a file',
    mimeType: "text/x-diff",
  },
  {
    template: "tree/{ref}{/path*}",
    name: "Folder at a commit",
    description: "A folder at a branch, tag or commit; write a slash in the name of a branch as %2F",
  },
  {
    template: blobTemplate,
    name: "File at a commit",
    description:
      "A file at a branch, tag or commit; also some lines (lines=10-40, from 1) or some bytes (bytes=0-1023, from 0)",
  },
  {
    template: blameTemplate,
    name: "Blame",
    description: "The author and commit that last changed each line of a file; also for some lines only (lines=10-40)",
    mimeType: json,
  },
];

/** The first segment of the addresses of a template; for a query parameter, the folders. */
export function sectionOf({ template }: SourceTemplate): string {
  return /^(?:commit|tree|blob|blame)(?=\/)/.exec(template)?.[0] ?? "tree";
}
