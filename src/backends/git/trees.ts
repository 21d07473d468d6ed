/** The folders of a commit, served or not. Trees never change, so recently used ones are cached. */
import { isUtf8 } from "node:buffer";
import type { Maybe } from "../disk/steps.ts";
import { ResourceError } from "../../errors.ts";
import type { Mirror } from "./mirror.ts";
import type { Objects } from "./objects.ts";

export type TreeEntryKind = "folder" | "file" | "link" | "submodule";

export interface TreeEntry {
  readonly kind: TreeEntryKind;
  readonly hash: string;
}

export interface GitTree {
  readonly hash: string;
  /** Sorted by UTF-16 code units. */
  readonly names: readonly string[];
  readonly entries: ReadonlyMap<string, TreeEntry>;
}

export interface GitTrees {
  /** The entry at a path of a commit. */
  find(commit: string, path: readonly string[]): Maybe<TreeEntry | undefined>;
  read(hash: string): Promise<GitTree>;
}

export const maxTreeBytes = 64 * 1024 * 1024;
/** At most twice as many names are cached. */
const maxRecent = 100_000;

export function createTrees(mirror: Mirror, contents: Objects): GitTrees {
  /** Trees used in the current period, and in the one before. A tree that is unused for a whole period is dropped. */
  let recent = new Map<string, GitTree>();
  let older: ReadonlyMap<string, GitTree> = new Map();
  const roots = new Map<string, string>();
  const pending = new Map<string, Promise<GitTree>>();
  let recentNames = 0;

  function keep(tree: GitTree): GitTree {
    recent.set(tree.hash, tree);
    recentNames += tree.names.length + 1;
    if (recentNames > maxRecent) {
      older = recent;
      recent = new Map();
      recentNames = 0;
    }
    return tree;
  }

  function cached(hash: string): GitTree | undefined {
    const known = recent.get(hash);
    if (known) return known;
    const found = older.get(hash);
    return found && keep(found);
  }

  async function fetch(name: string): Promise<GitTree> {
    await mirror.ready();
    const found = await contents.find(name, maxTreeBytes);
    if (!found) throw lacking();
    if (found.type !== "tree" || !found.bytes) throw new ResourceError("too-large", "this folder has too many names");
    return keep({ hash: found.hash, ...parseTree(found.bytes, mirror.hashLength / 2) });
  }

  function read(name: string): Promise<GitTree> {
    const known = cached(name);
    if (known) return Promise.resolve(known);
    const under = pending.get(name);
    if (under) return under;
    const answer = fetch(name).finally(() => pending.delete(name));
    pending.set(name, answer);
    return answer;
  }

  async function findWaiting(commit: string, path: readonly string[]): Promise<TreeEntry | undefined> {
    let root = roots.get(commit);
    if (root === undefined) {
      root = (await read(`${commit}^{tree}`)).hash;
      if (roots.size >= 1000) roots.clear();
      roots.set(commit, root);
    }
    let found: TreeEntry = { kind: "folder", hash: root };
    for (const name of path) {
      if (found.kind !== "folder") return undefined;
      const { entries } = cached(found.hash) ?? (await read(found.hash));
      const next = entries.get(name);
      if (!next) return undefined;
      found = next;
    }
    return found;
  }

  return {
    read,

    find(commit, path) {
      const root = roots.get(commit);
      let found: TreeEntry = { kind: "folder", hash: root ?? "" };
      for (const name of path) {
        if (found.kind !== "folder") return undefined;
        const tree = cached(found.hash);
        // A cached tree is returned without a promise: files are often read by the thousand.
        if (!tree) return findWaiting(commit, path);
        const next = tree.entries.get(name);
        if (!next) return undefined;
        found = next;
      }
      return root === undefined ? findWaiting(commit, path) : found;
    },
  };
}

/** For an object that the repository refers to but lacks: a partial clone, or damage. */
export function lacking(): ResourceError {
  return new ResourceError("not-found", "the repository lacks this object; it may be a partial clone");
}

/** Undefined for an object that the repository lacks; throws any other failure. */
export function ifLacking(cause: unknown): undefined {
  if (!(cause instanceof ResourceError && cause.kind === "not-found")) throw cause;
  return undefined;
}

function parseTree(bytes: Buffer, hashBytes: number): Omit<GitTree, "hash"> {
  const entries = new Map<string, TreeEntry>();
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at);
    const end = space < 0 ? -1 : bytes.indexOf(0, space);
    if (end < 0 || end + hashBytes >= bytes.length) break;
    const name = bytes.subarray(space + 1, end);
    const kind = kindOfMode(bytes.toString("latin1", at, space));
    at = end + 1 + hashBytes;
    const text = isUtf8(name) ? name.toString("utf8") : "";
    if (isPossible(text) && !entries.has(text)) entries.set(text, { kind, hash: bytes.toString("hex", end + 1, at) });
  }
  return { names: [...entries.keys()].sort(), entries };
}

/** A tree written by hand can contain names that no folder could have. */
export function isPossible(name: string): boolean {
  return name !== "" && name !== "." && name !== ".." && !name.includes("/");
}

/** The kind of an entry with this mode in a tree. */
export function kindOfMode(mode: string): TreeEntryKind {
  switch (mode) {
    case "40000":
    case "040000":
      return "folder";
    case "120000":
      return "link";
    case "160000":
      return "submodule";
    default:
      return "file";
  }
}
