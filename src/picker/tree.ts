/** The tree as a person has opened it, and the rows that it shows: one flat list, of which only what is in sight is drawn. */
import { directoryType, type Page, type Resource } from "../resources.ts";

export interface Folder {
  readonly children: readonly Resource[];
  /** Present if there is more to ask for. */
  readonly next?: string;
  readonly status: "loading" | "ready" | "failed";
  readonly problem?: string;
}

export interface Tree {
  readonly roots: readonly Resource[];
  readonly open: ReadonlySet<string>;
  readonly folders: ReadonlyMap<string, Folder>;
}

export type Row =
  | {
      readonly kind: "resource";
      readonly resource: Resource;
      readonly depth: number;
      readonly parent?: string;
      readonly isFolder: boolean;
      readonly isOpen: boolean;
      /** Counted from 1. */
      readonly position: number;
      /** How many stand beside it; -1 where nobody knows yet. */
      readonly siblings: number;
    }
  | {
      readonly kind: "loading" | "more" | "failed" | "empty";
      readonly folder: string;
      readonly depth: number;
      readonly problem?: string;
    };

/** A directory that holds itself ends here. */
const maxDepth = 64;

export const emptyTree: Tree = { roots: [], open: new Set(), folders: new Map() };

export function isFolder({ mimeType }: Resource): boolean {
  return mimeType === directoryType;
}

export function withRoots(tree: Tree, roots: readonly Resource[]): Tree {
  return { ...tree, roots };
}

export function opened(tree: Tree, uri: string): Tree {
  return { ...tree, open: new Set([...tree.open, uri]) };
}

export function closed(tree: Tree, uri: string): Tree {
  const open = new Set(tree.open);
  open.delete(uri);
  return { ...tree, open };
}

export function loading(tree: Tree, uri: string): Tree {
  const { children = [], next } = tree.folders.get(uri) ?? {};
  return withFolder(tree, uri, { children, ...(next !== undefined && { next }), status: "loading" });
}

/** The page stands after what is there; `isFirst` replaces it. */
export function pageCame(tree: Tree, uri: string, { items, next }: Page<Resource>, isFirst: boolean): Tree {
  const before = isFirst ? [] : (tree.folders.get(uri)?.children ?? []);
  const children = before.length === 0 ? items : [...before, ...items];
  return withFolder(tree, uri, { children, ...(next !== undefined && { next }), status: "ready" });
}

export function pageFailed(tree: Tree, uri: string, problem: string): Tree {
  const { children = [], next } = tree.folders.get(uri) ?? {};
  return withFolder(tree, uri, { children, ...(next !== undefined && { next }), status: "failed", problem });
}

/** What is closed is asked for again when it is opened. */
export function withoutClosed(tree: Tree): Tree {
  return { ...tree, folders: new Map([...tree.folders].filter(([uri]) => tree.open.has(uri))) };
}

function withFolder(tree: Tree, uri: string, folder: Folder): Tree {
  return { ...tree, folders: new Map(tree.folders).set(uri, folder) };
}

export function rowsOf(tree: Tree): readonly Row[] {
  const rows: Row[] = [];
  add(tree.roots, 0, undefined, false);
  return rows;

  function add(resources: readonly Resource[], depth: number, parent: string | undefined, hasMore: boolean): void {
    const siblings = hasMore ? -1 : resources.length;
    for (const [index, resource] of resources.entries()) {
      const [folder, isOpen] = [isFolder(resource), tree.open.has(resource.uri)];
      const place = { depth, position: index + 1, siblings, ...(parent !== undefined && { parent }) };
      rows.push({ kind: "resource", resource, isFolder: folder, isOpen: folder && isOpen, ...place });
      if (folder && isOpen && depth < maxDepth) addInside(resource.uri, depth + 1);
    }
  }

  function addInside(uri: string, depth: number): void {
    const { children, next, status, problem } = tree.folders.get(uri) ?? { children: [], status: "loading" };
    add(children, depth, uri, next !== undefined);
    const row = { folder: uri, depth };
    if (status === "failed") rows.push({ kind: "failed", ...row, ...(problem !== undefined && { problem }) });
    else if (status === "loading") rows.push({ kind: "loading", ...row });
    else if (next !== undefined) rows.push({ kind: "more", ...row });
    else if (children.length === 0) rows.push({ kind: "empty", ...row });
  }
}

/** Where a key leads from the row at `from`; undefined for a key that leads nowhere. */
export function moved(rows: readonly Row[], from: number, key: string, page: number): number | undefined {
  const last = rows.length - 1;
  switch (key) {
    case "ArrowDown":
      return Math.min(last, from + 1);
    case "ArrowUp":
      return Math.max(0, from - 1);
    case "PageDown":
      return Math.min(last, from + page);
    case "PageUp":
      return Math.max(0, from - page);
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return undefined;
  }
}

/** The row that a closed branch leads up to. */
export function parentRow(rows: readonly Row[], from: number): number | undefined {
  const depth = rows[from]?.depth ?? 0;
  for (let at = from - 1; at >= 0; at -= 1) if ((rows[at]?.depth ?? 0) < depth) return at;
  return undefined;
}

/** The next row whose name begins with what was typed, around the end. One letter goes on, more letters stay where they fit. */
export function jumped(rows: readonly Row[], from: number, typed: string): number | undefined {
  const wanted = folded(typed);
  const first = wanted.length > 1 ? from : from + 1;
  for (let step = 0; step < rows.length; step += 1) {
    const at = (first + step) % rows.length;
    const row = rows[at];
    if (row?.kind === "resource" && folded(row.resource.name).startsWith(wanted)) return at;
  }
  return undefined;
}

function folded(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

/** The directories from the root down to this URI, the root first; empty where no root holds it. */
export function wayTo(roots: readonly Resource[], uri: string): readonly string[] {
  const root = roots.find((each) => uri === each.uri || uri.startsWith(each.uri.replace(/\/?$/, "/")));
  if (!root) return [];
  const start = root.uri.replace(/\/?$/, "/");
  const names = uri
    .slice(start.length)
    .replace(/[?#].*$/, "")
    .split("/");
  return [root.uri, ...names.slice(0, -1).map((_, index) => start + names.slice(0, index + 1).join("/"))];
}
