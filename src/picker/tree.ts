/** The tree as a person has opened it. */
import { cutAt } from "../lib/cut-at.ts";
import { createRepeatFilter } from "../lib/repeat-filter.ts";
import { shownTitle } from "./shown-title.ts";
import { decodeForDisplay } from "../lib/readable-uri.ts";
import { directoryType, type Page, type Resource } from "../resources.ts";

interface TreeFolder {
  /** In order. Pages are never joined: a folder may hold a million entries. */
  readonly pages: readonly (readonly Resource[])[];
  /** Present if there is more to load. */
  readonly next?: string;
  readonly status: "loading" | "ready" | "failed";
  readonly problem?: string;
}

export interface ResourceTree {
  readonly roots: readonly Resource[];
  readonly open: ReadonlySet<string>;
  readonly folders: ReadonlyMap<string, TreeFolder>;
}

export const emptyTree: ResourceTree = { roots: [], open: new Set(), folders: new Map() };

export function isFolder({ mimeType }: Resource): boolean {
  return mimeType === directoryType;
}

export function countOf(folder: TreeFolder | undefined): number {
  return folder?.pages.reduce((sum, page) => sum + page.length, 0) ?? 0;
}

export function withRoots(tree: ResourceTree, roots: readonly Resource[]): ResourceTree {
  return { ...tree, roots };
}

export function opened(tree: ResourceTree, uri: string): ResourceTree {
  return { ...tree, open: new Set([...tree.open, uri]) };
}

export function closed(tree: ResourceTree, uri: string): ResourceTree {
  const open = new Set(tree.open);
  open.delete(uri);
  return { ...tree, open };
}

export function loading(tree: ResourceTree, uri: string): ResourceTree {
  const { pages = [], next } = tree.folders.get(uri) ?? {};
  return withFolder(tree, uri, { pages, next, status: "loading" });
}

/** Appends a page; `isFirst` replaces all. */
export function pageCame(
  tree: ResourceTree,
  uri: string,
  { items, next }: Page<Resource>,
  isFirst: boolean,
): ResourceTree {
  const before = isFirst ? [] : (tree.folders.get(uri)?.pages ?? []);
  const isRepeated = takeFilter(before);
  const fresh = items.filter((item) => !isRepeated(item));
  const pages = [...before, ...(fresh.length === 0 ? [] : [fresh])];
  filters.set(pages, isRepeated);
  return withFolder(tree, uri, { pages, next, status: "ready" });
}

/** A list without order may repeat an entry. The filter of the pages so far knows their entries, and is used for one more page. */
const filters = new WeakMap<TreeFolder["pages"], (item: unknown) => boolean>();

function takeFilter(pages: TreeFolder["pages"]): (item: unknown) => boolean {
  const known = filters.get(pages);
  if (filters.delete(pages) && known) return known;
  const isRepeated = createRepeatFilter();
  for (const page of pages) page.forEach((item) => isRepeated(item));
  return isRepeated;
}

export function pageFailed(tree: ResourceTree, uri: string, problem: string): ResourceTree {
  const { pages = [], next } = tree.folders.get(uri) ?? {};
  return withFolder(tree, uri, { pages, next, status: "failed", problem });
}

/** Sets the time of the last change of a resource. */
export function touched(tree: ResourceTree, uri: string, at: string): ResourceTree {
  const touch = (each: Resource): Resource =>
    each.uri === uri ? { ...each, annotations: { ...each.annotations, lastModified: at } } : each;
  const holds = (page: readonly Resource[]): boolean => page.some((each) => each.uri === uri);
  const folders = new Map(tree.folders);
  for (const [parent, folder] of tree.folders)
    if (tree.open.has(parent) && folder.pages.some(holds))
      folders.set(parent, { ...folder, pages: folder.pages.map((page) => (holds(page) ? page.map(touch) : page)) });
  return { ...tree, folders, ...(holds(tree.roots) && { roots: tree.roots.map(touch) }) };
}

/** Drops closed folders; they are loaded again when they are opened. */
export function withoutClosed(tree: ResourceTree): ResourceTree {
  return { ...tree, folders: new Map([...tree.folders].filter(([uri]) => tree.open.has(uri))) };
}

function withFolder(tree: ResourceTree, uri: string, folder: TreeFolder): ResourceTree {
  return { ...tree, folders: new Map(tree.folders).set(uri, folder) };
}

/** For display: the path below the root, after the root's title if there are several; the URI if no root contains it. */
export function shownPath(roots: readonly Resource[], uri: string): string {
  const root = roots.find((each) => uri.startsWith(prefixOf(each)));
  if (!root) return decodeForDisplay(uri);
  const path = decodeForDisplay(uri.slice(prefixOf(root).length));
  return roots.length === 1 ? path : `${shownTitle(root)} › ${path}`;
}

/** As `shownPath`, without the end that is shown as the name: the folder, or the root's title, or nothing. */
export function pathBeside(roots: readonly Resource[], resource: Resource): string {
  const name = shownTitle(resource);
  if (roots.some(({ uri }) => uri === resource.uri)) return "";
  const path = shownPath(roots, resource.uri);
  if (path === name) return "";
  if (path.endsWith(` › ${name}`)) return path.slice(0, -name.length - 3);
  return path.endsWith(`/${name}`) ? path.slice(0, -name.length) : path;
}

/** The directories from the root down to this URI, the root first; empty if no root contains it. */
export function wayTo(roots: readonly Resource[], uri: string): readonly string[] {
  const root = roots.find((each) => uri === each.uri || uri.startsWith(prefixOf(each)));
  if (!root) return [];
  const start = prefixOf(root);
  const names = cutAt(uri.slice(start.length), /[?#]/).split("/");
  return [root.uri, ...names.slice(0, -1).map((_, index) => start + names.slice(0, index + 1).join("/"))];
}

function prefixOf({ uri }: Resource): string {
  return uri.replace(/\/?$/, "/");
}
