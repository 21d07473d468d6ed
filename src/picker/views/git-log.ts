/** Recognises a page of a git log, and a commit. */
import { isJsonList, isJsonRecord, type Json } from "./json.ts";

interface LoggedCommit {
  readonly hash: string;
  readonly date: string;
  readonly author: string;
  readonly subject: string;
  readonly isMerge: boolean;
}

export interface GitLogPage {
  readonly commits: readonly LoggedCommit[];
  /** Query of the page with the commits before these. */
  readonly next?: string;
  /** Earlier name of the file, with which the next page begins. */
  readonly renamedFrom?: string;
  readonly notes: readonly string[];
}

const hashes = /^(?:[\da-f]{40}|[\da-f]{64})$/;

/** Undefined for anything but the log of the git source. */
export function parseGitLog(value: Json): GitLogPage | undefined {
  if (!isJsonRecord(value) || value["commits"] === undefined || !isJsonList(value["commits"])) return undefined;
  const { next, renamed, notes = [] } = value;
  const commits = value["commits"].map(commitIn);
  if (!commits.every((commit) => commit !== undefined) || !("from" in value)) return undefined;
  const renamedFrom = isJsonRecord(renamed) ? renamed["from"] : undefined;
  return {
    commits,
    notes: isJsonList(notes) ? notes.filter((note) => typeof note === "string") : [],
    ...(typeof next === "string" && { next }),
    ...(typeof renamedFrom === "string" && { renamedFrom }),
  };
}

function commitIn(value: Json): LoggedCommit | undefined {
  if (!isJsonRecord(value)) return undefined;
  const { hash, author, subject, parents = [] } = value;
  if (typeof hash !== "string" || !hashes.test(hash) || typeof subject !== "string" || !isJsonRecord(author))
    return undefined;
  const { name, date } = author;
  return {
    hash,
    subject,
    author: typeof name === "string" ? name : "",
    date: typeof date === "string" ? date : "",
    isMerge: isJsonList(parents) && parents.length > 1,
  };
}

interface ChangedFile {
  readonly path: string;
  /** The earlier path of a renamed file. */
  readonly from?: string;
  readonly change: string;
}

export interface GitCommit extends Omit<LoggedCommit, "isMerge"> {
  /** The message without its first line. */
  readonly body: string;
  readonly parents: readonly string[];
  readonly files: readonly ChangedFile[];
}

/** Undefined for anything but a commit of the git source. */
export function parseGitCommit(value: Json): GitCommit | undefined {
  if (!isJsonRecord(value) || typeof value["message"] !== "string") return undefined;
  const { message, parents = [], files = [] } = value;
  const [subject = "", ...others] = message.split("\n");
  const commit = commitIn({ ...value, subject });
  if (!commit || !isJsonList(parents) || !isJsonList(files)) return undefined;
  const { isMerge: _, ...facts } = commit;
  return {
    ...facts,
    body: others.join("\n").trim(),
    parents: parents.filter((parent) => typeof parent === "string").filter((parent) => hashes.test(parent)),
    files: files.filter(isJsonRecord).map(({ path, from, change }) => ({
      path: typeof path === "string" ? path : "",
      change: typeof change === "string" ? change : "",
      ...(typeof from === "string" && { from }),
    })),
  };
}

/** Formats the dates of commits in a language; anything else stays as it is. */
export function commitTimes(language: string): (date: string) => string {
  const format = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  return (date) => {
    const at = Date.parse(date);
    return Number.isNaN(at) ? date : format.format(at);
  };
}

/** Addresses in the repository of a log or a commit; undefined if the URI is not one of a repository. */
export function commitUri(uri: string, hash: string): string | undefined {
  return inRepository(uri, `commit/${hash}`);
}

export function nextPageUri(uri: string, query: string): string | undefined {
  return inRepository(uri, `log?${query}`);
}

/** The changes of a commit since its first parent, of one file or of all. */
export function changesUri(uri: string, { hash, parents: [parent] }: GitCommit, path?: string): string | undefined {
  if (parent === undefined) return undefined;
  const query = path === undefined ? "" : `?path=${encodeURIComponent(path)}`;
  return inRepository(uri, `diff/${parent}/${hash}${query}`);
}

function inRepository(uri: string, path: string): string | undefined {
  const [all, base = ""] = /^([^?#]*\/)(?:log|commit\/[^/?#]*)(?:[?#]|$)/.exec(uri) ?? [];
  return all === undefined ? undefined : base + path;
}
