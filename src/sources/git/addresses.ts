/** Parses addresses of a repository, and rejects those that cannot exist. */
import { invalid, notFound, quote } from "../../errors.ts";
import { type Address, innerSlash, pathOf, segmentsOf } from "../../source.ts";
import { parseReadQuery, type ContentRange } from "../../backends/ranges/range.ts";

type GitRequest =
  | { readonly kind: "mount" | "refs" | "branches" | "status" | "tags" }
  | { readonly kind: "log" | "churn"; readonly query: Readonly<Record<string, string>>; readonly asText: boolean }
  | {
      readonly kind: "changes";
      readonly base: string | undefined;
      readonly path: string | undefined;
      readonly as: string | undefined;
    }
  | { readonly kind: "commit"; readonly ref: string; readonly as: string | undefined }
  | GitDiffRequest
  | GitFileRequest;

/** A patch or, for a range without a path, a list of changed files. */
export interface GitDiffRequest {
  readonly kind: "diff" | "range";
  readonly base: string;
  readonly head: string;
  readonly path: string | undefined;
  /** Whether the base is the commit that both have in common. */
  readonly isFromCommon: boolean;
  readonly asText: boolean;
}

export interface GitFileRequest {
  readonly kind: "tree" | "blob" | "blame";
  readonly ref: string;
  readonly path: readonly string[];
  readonly range: ContentRange | undefined;
}

const noQuery: Readonly<Record<string, string>> = {};
const noNames: readonly string[] = [];
const maxPathLength = 4096;
/** Query parameters of addresses without a ref in their path. */
const queryNames = {
  log: new Set(["ref", "max", "since", "until", "path", "author", "grep", "pickaxe", "follow", "after", "as"]),
  churn: new Set(["ref", "path", "since", "until", "max", "as"]),
};

/** Throws "not-found" for an address that no repository can have, "invalid" for an invalid range. */
export function parseAddress({ path, query = noQuery }: Address): GitRequest {
  const [kind, ref, ...rest] = path.includes(innerSlash) ? segmentsOf(path) : path === "" ? [] : path.split("/");
  const names = query === noQuery ? noNames : Object.keys(query);
  if (ref === undefined) {
    if ((kind === "log" || kind === "churn") && names.every((name) => queryNames[kind].has(name)))
      return { kind, query, asText: formOf(query, "text") !== undefined };
    if (kind === "changes" && names.every((name) => name === "base" || name === "path" || name === "as"))
      return parseChanges(query);
    if (names.length > 0) throw notFound(path);
    if (kind === undefined) return { kind: "mount" };
    if (kind === "tree") return { kind: "refs" };
    if (kind === "branches" || kind === "status" || kind === "tags") return { kind };
  } else if (kind === "commit" && rest.length === 0 && names.every((name) => name === "as"))
    return { kind, ref, as: formOf(query, "text", "summary") };
  else if (kind === "diff" && rest.length <= 1) {
    const request = parseDiff(ref, rest[0], query);
    if (request) return request;
  } else if (kind === "tree" || ((kind === "blob" || kind === "blame") && rest.length > 0)) {
    const parsed = names.length === 0 ? undefined : parseReadQuery(query);
    const isKnown = names.length === 0 || (parsed?.range !== undefined && !parsed.asText);
    if (isKnown && !(kind === "blame" && parsed?.range?.unit === "bytes"))
      return { kind, ref, path: rest, range: parsed?.range };
  }
  throw notFound(path);
}

/** Two refs, or a range with two or three dots: no ref contains two dots in a row. */
function parseDiff(
  first: string,
  second: string | undefined,
  { path, ...query }: Readonly<Record<string, string>>,
): GitDiffRequest | undefined {
  const range = second === undefined ? /^(.*?)(\.{2,3})([^.][^]*)?$/.exec(first) : undefined;
  const isList = range !== undefined && path === undefined;
  const isKnown = Object.keys(query).every((name) => name === "as" && isList);
  if (range === null || !isKnown) return undefined;
  if (path !== undefined) checkPath(path);
  return {
    kind: isList ? "range" : "diff",
    base: range ? range[1] || "HEAD" : first,
    head: range ? (range[3] ?? "HEAD") : (second ?? ""),
    path,
    isFromCommon: range?.[2] === "...",
    asText: formOf(query, "text") !== undefined,
  };
}

function parseChanges({ base, path, ...query }: Readonly<Record<string, string>>): GitRequest {
  if (path !== undefined) checkPath(path);
  const as = path === undefined ? formOf(query, "text", "patch") : "patch";
  if (path !== undefined && "as" in query) throw notFound("changes");
  return { kind: "changes", base, path, as };
}

function formOf({ as }: Readonly<Record<string, string>>, ...forms: readonly string[]): string | undefined {
  if (as !== undefined && !forms.includes(as))
    throw invalid(`"as" must be ${forms.map((form) => quote(form)).join(" or ")}, not ${quote(as, 40)}`);
  return as;
}

/** The address of the file itself, whether its content or its blame is requested. */
export function blobPath({ ref, path }: Pick<GitFileRequest, "ref" | "path">): string {
  return pathOf(["blob", ref, ...path]);
}

/** Throws "not-found" for a path that no repository can contain. */
export function checkPath(path: string): void {
  const isPath =
    path.length <= maxPathLength &&
    !path.includes("\0") &&
    path.split("/").every((name) => name !== "" && name !== "." && name !== "..");
  if (!isPath) throw notFound(path);
}
