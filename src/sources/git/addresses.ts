/** Parses addresses of a repository, and rejects those that cannot exist. */
import { notFound } from "../../errors.ts";
import { type Address, innerSlash, pathOf, segmentsOf } from "../../source.ts";
import { parseReadQuery, type ContentRange } from "../../backends/ranges/range.ts";

export type GitRequest =
  | { readonly kind: "mount" | "refs" | "branches" | "status" | "tags" }
  | { readonly kind: "log"; readonly query: Readonly<Record<string, string>> }
  | { readonly kind: "commit"; readonly ref: string }
  | { readonly kind: "diff"; readonly base: string; readonly head: string; readonly path: string | undefined }
  | GitFileRequest;

export interface GitFileRequest {
  readonly kind: "tree" | "blob" | "blame";
  readonly ref: string;
  readonly path: readonly string[];
  readonly range: ContentRange | undefined;
}

const noQuery: Readonly<Record<string, string>> = {};
const noNames: readonly string[] = [];
const logNames = new Set(["ref", "max", "since", "until", "path", "author", "after"]);
const maxPathLength = 4096;

/** Throws "not-found" for an address that no repository can have, "invalid" for an invalid range. */
export function parseAddress({ path, query = noQuery }: Address): GitRequest {
  const [kind, ref, ...rest] = path.includes(innerSlash) ? segmentsOf(path) : path === "" ? [] : path.split("/");
  const names = query === noQuery ? noNames : Object.keys(query);
  if (ref === undefined) {
    if (kind === "log" && names.every((name) => logNames.has(name))) return { kind, query };
    if (names.length > 0) throw notFound(path);
    if (kind === undefined) return { kind: "mount" };
    if (kind === "tree") return { kind: "refs" };
    if (kind === "branches" || kind === "status" || kind === "tags") return { kind };
  } else if (kind === "commit" && rest.length === 0 && names.length === 0) return { kind, ref };
  else if (kind === "diff" && rest.length === 1 && names.every((name) => name === "path")) {
    if (query["path"] !== undefined) checkPath(query["path"]);
    return { kind, base: ref, head: rest[0] ?? "", path: query["path"] };
  } else if (kind === "tree" || ((kind === "blob" || kind === "blame") && rest.length > 0)) {
    const parsed = names.length === 0 ? undefined : parseReadQuery(query);
    const isKnown = names.length === 0 || (parsed?.range !== undefined && !parsed.asText);
    if (isKnown && !(kind === "blame" && parsed?.range?.unit === "bytes"))
      return { kind, ref, path: rest, range: parsed?.range };
  }
  throw notFound(path);
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
