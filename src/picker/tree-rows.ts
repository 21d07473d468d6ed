/** The rows of a tree as one flat list; only visible rows are created. */
import { hasChildren, type Resource } from "../resources.ts";
import { countOf, isFolder, type ResourceTree } from "./tree.ts";

export type TreeRow =
  | {
      readonly kind: "resource";
      readonly key: string;
      readonly resource: Resource;
      readonly depth: number;
      /** True for a folder, and for a resource that has children. */
      readonly canOpen: boolean;
      readonly isOpen: boolean;
      /** Counted from 1. */
      readonly position: number;
      /** Number of siblings; -1 if unknown. */
      readonly siblings: number;
    }
  | {
      readonly kind: "loading" | "more" | "failed" | "empty";
      readonly key: string;
      readonly folder: string;
      readonly depth: number;
      readonly problem?: string;
    };

export interface Rows {
  readonly length: number;
  at(index: number): TreeRow | undefined;
  /** Index of the parent row. */
  parentOf(index: number): number | undefined;
  /** Index of the row with this key; `near` is tried first. -1 if there is none. */
  indexOf(key: string, near?: number): number;
  /** Index of the next matching resource, with wraparound. */
  find(from: number, fits: (resource: Resource) => boolean): number | undefined;
}

/** Consecutive rows of one page of one folder, or one note on a folder. */
interface Run {
  readonly start: number;
  readonly length: number;
  readonly depth: number;
  readonly parentAt: number | undefined;
  readonly inside: Inside | Extract<TreeRow, { readonly folder: string }>;
}

interface Inside {
  readonly kind: "page";
  readonly parent: string | undefined;
  readonly page: readonly Resource[];
  /** Index in the page where the run begins. */
  readonly from: number;
  /** Number of entries in the pages before. */
  readonly before: number;
  readonly siblings: number;
}

/** Ends the recursion of a directory that contains itself. */
const maxDepth = 64;

/** Number of cached rows: a few screens. */
const maxMade = 1000;

/** A longer folder is shown as the server orders it, because its rows would move when the rest is loaded. */
const maxOrdered = 1000;

/** A page never changes, so it is ordered once. */
const ordered = new WeakMap<readonly Resource[], readonly Resource[]>();

/** A page never changes, so what can be opened is found once. */
const foldersOf = new WeakMap<readonly Resource[], readonly number[]>();

export function rowsOf(tree: ResourceTree): Rows {
  const runs: Run[] = [];
  const made = new Map<number, TreeRow>();
  let length = 0;
  add([tree.roots], 0, undefined, undefined, tree.roots.length);

  function push(count: number, depth: number, parentAt: number | undefined, inside: Run["inside"]): void {
    if (count === 0) return;
    runs.push({ start: length, length: count, depth, parentAt, inside });
    length += count;
  }

  function add(
    pages: readonly (readonly Resource[])[],
    depth: number,
    parent: string | undefined,
    parentAt: number | undefined,
    siblings: number,
  ): void {
    let before = 0;
    for (const page of pages) {
      let from = 0;
      const upTo = (end: number): void => {
        push(end - from, depth, parentAt, { kind: "page", parent, page, from, before, siblings });
        from = end;
      };
      if (depth < maxDepth)
        for (const index of foldersIn(page)) {
          const uri = page[index]?.uri ?? "";
          if (!tree.open.has(uri)) continue;
          upTo(index + 1);
          addInside(uri, depth + 1, length - 1);
        }
      upTo(page.length);
      before += page.length;
    }
  }

  function addInside(uri: string, depth: number, parentAt: number): void {
    const folder = tree.folders.get(uri);
    const { next, status = "loading", problem } = folder ?? {};
    const count = countOf(folder);
    const { pages = [] } = folder ?? {};
    const isWhole = pages.length === 1 && next === undefined && count <= maxOrdered;
    add(isWhole ? pages.map(foldersFirst) : pages, depth, uri, parentAt, next === undefined ? count : -1);
    const kind = status !== "ready" ? status : next !== undefined ? "more" : count === 0 ? "empty" : undefined;
    if (kind) push(1, depth, parentAt, { kind, key: `${kind} ${uri}`, folder: uri, depth, problem });
  }

  function runAt(index: number): Run | undefined {
    let [low, high] = [0, runs.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((runs[middle]?.start ?? 0) <= index) low = middle;
      else high = middle - 1;
    }
    return index >= 0 && index < length ? runs[low] : undefined;
  }

  /** Returns the same object each time, so that unchanged rows are not drawn again. */
  function at(index: number): TreeRow | undefined {
    const known = made.get(index);
    if (known) return known;
    const row = make(index);
    if (made.size >= maxMade) made.clear();
    if (row) made.set(index, row);
    return row;
  }

  function make(index: number): TreeRow | undefined {
    const run = runAt(index);
    if (run?.inside.kind !== "page") return run?.inside;
    const { page, from, before, parent, siblings } = run.inside;
    const place = from + index - run.start;
    const resource = page[place];
    if (!resource) return undefined;
    const canOpen = hasChildren(resource);
    return {
      kind: "resource",
      key: keyOf(parent, resource),
      resource,
      depth: run.depth,
      canOpen,
      isOpen: canOpen && tree.open.has(resource.uri),
      position: before + place + 1,
      siblings,
    };
  }

  return {
    get length() {
      return length;
    },
    at,
    parentOf: (index) => runAt(index)?.parentAt,
    indexOf(key, near = 0) {
      if (at(near)?.key === key) return near;
      for (const { start, length: count, inside } of runs) {
        if (inside.kind !== "page") {
          if (inside.key === key) return start;
        } else if (key.startsWith(`${inside.parent ?? ""} `)) {
          const { page, from, parent } = inside;
          for (let step = 0; step < count; step += 1) if (keyOf(parent, page[from + step]) === key) return start + step;
        }
      }
      return -1;
    },
    find(first, fits) {
      const begin = length === 0 ? 0 : first % length;
      return seek(begin, length) ?? seek(0, begin);

      function seek(from: number, to: number): number | undefined {
        for (const { start, length: count, inside } of runs) {
          if (inside.kind !== "page" || start + count <= from || start >= to) continue;
          for (let index = Math.max(from, start); index < Math.min(to, start + count); index += 1) {
            const resource = inside.page[inside.from + index - start];
            if (resource && fits(resource)) return index;
          }
        }
        return undefined;
      }
    },
  };
}

function keyOf(parent: string | undefined, resource: Resource | undefined): string {
  return `${parent ?? ""} ${resource?.uri ?? ""}`;
}

/** Otherwise in the server's order. */
function foldersFirst(page: readonly Resource[]): readonly Resource[] {
  const known = ordered.get(page);
  if (known) return known;
  const both = [...page.filter(isFolder), ...page.filter((resource) => !isFolder(resource))];
  ordered.set(page, both);
  return both;
}

function foldersIn(page: readonly Resource[]): readonly number[] {
  const known = foldersOf.get(page);
  if (known) return known;
  const found = page.flatMap((resource, index) => (hasChildren(resource) ? [index] : []));
  foldersOf.set(page, found);
  return found;
}

/** Target row of a key press at `from`; undefined for other keys. */
export function moved({ length }: Rows, from: number, key: string, page: number): number | undefined {
  const last = length - 1;
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: Math.min(last, from + 1),
    ArrowUp: Math.max(0, from - 1),
    PageDown: Math.min(last, from + page),
    PageUp: Math.max(0, from - page),
    Home: 0,
    End: last,
  };
  return steps[key];
}

/** The next row whose name begins with the typed text, with wraparound. One letter moves on, more letters stay on a match. */
export function jumped(rows: Rows, from: number, typed: string): number | undefined {
  const wanted = folded(typed);
  // A prefix of this length decides, whatever its characters.
  const length = 4 * wanted.length + 8;
  return rows.find(wanted.length > 1 ? from : from + 1, ({ name }) => folded(name.slice(0, length)).startsWith(wanted));
}

function folded(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}
