/** A key store as a source, for tests: keys are resources, some have keys below them, and lists have no order. */
import { isDirectoryError, notFound } from "../errors.ts";
import { createSourceWatches } from "../backends/source-watches.ts";
import { directoryType, type Page } from "../resources.ts";
import { type Address, type Entry, type ListRequest, pathOf, segmentsOf, type Source } from "../source.ts";

interface KeySourceOptions {
  /** Number of empty pages before each page with entries. */
  readonly emptyPages?: number;
  /** True to list every key again on the page after its own. */
  readonly repeats?: boolean;
  /** Maximum number of entries on a page, whatever is requested. */
  readonly maxPage?: number;
}

/** A key such as `user:1:friends` has the path `user/1/friends`. The key "" is the mount itself. */
export function createKeySource(
  initial: readonly string[],
  { emptyPages = 0, repeats = false, maxPage = Infinity }: KeySourceOptions = {},
) {
  const values = new Map(initial.map((key) => [toPath(key), `value of ${key}`]));
  const watches = createSourceWatches();
  const calls = { list: 0, children: 0, stat: 0, read: 0 };

  function isAbove(path: string): boolean {
    if (path === "") return true;
    for (const each of values.keys()) if (each.startsWith(`${path}/`)) return true;
    return false;
  }

  function entryAt(path: string, isWithChildren = isAbove(path)): Entry {
    const value = values.get(path);
    if (value === undefined) return { path, mimeType: directoryType };
    const entry = { path, mimeType: "text/plain", size: Buffer.byteLength(value), version: value };
    return isWithChildren ? { ...entry, hasChildren: true } : entry;
  }

  /** Pages in an order of no meaning, as of a hash table. A cursor names the last entry before it, which may be gone. */
  function page(paths: readonly string[], { cursor, limit: requested }: ListRequest): Page<Entry> {
    const limit = Math.min(requested, maxPage);
    const [, empty = "0", last] = /^(\d+)(?:\.(.*))?$/s.exec(cursor ?? "") ?? [];
    const from = last === undefined ? 0 : indexAfter(paths, last);
    if (Number(empty) < emptyPages && from < paths.length)
      return { items: [], next: cursorOf(Number(empty) + 1, last) };
    const to = Math.min(from + limit, paths.length);
    const start = repeats ? Math.max(0, from - limit) : from;
    const items = paths.slice(start, to).map((path) => entryAt(path, paths.length < 1000 ? undefined : false));
    return to < paths.length ? { items, next: cursorOf(0, paths[to - 1]) } : { items };
  }

  let order: string[] | undefined;

  function find({ path, query }: Address): string {
    if (query && Object.keys(query).length > 0) throw notFound(path);
    if (!values.has(path) && !isAbove(path)) throw notFound(path);
    return path;
  }

  const source: Source = {
    isUnordered: true,
    impliesDirectories: true,
    async list(request) {
      calls.list += 1;
      return page((order ??= scattered(values.keys())), request);
    },
    async read(at) {
      calls.read += 1;
      const value = values.get(find(at));
      if (value === undefined) throw isDirectoryError(at.path);
      return [{ body: { text: value }, mimeType: "text/plain" }];
    },
    async stat(at) {
      calls.stat += 1;
      return entryAt(find(at));
    },
    async children(at, request) {
      calls.children += 1;
      if (!isAbove(find(at))) throw notFound(at.path);
      const depth = segmentsOf(at.path).length;
      const below = [...values.keys()].filter(
        (path) => path !== at.path && (at.path === "" || path.startsWith(`${at.path}/`)),
      );
      return page(
        scattered(
          new Set(
            below.map((path) =>
              path
                .split("/")
                .slice(0, depth + 1)
                .join("/"),
            ),
          ),
        ),
        request,
      );
    },
    async watch({ signal }) {
      return watches.join(signal);
    },
  };

  return {
    source,
    calls,
    set(key: string, value = `value of ${key}`): void {
      const path = toPath(key);
      const kind = values.has(path) ? "changed" : "appeared";
      values.set(path, value);
      order = undefined;
      watches.tell([kind === "changed" ? { kind, path } : { kind, path, eachBelow: true }]);
    },
    delete(key: string): void {
      if (!values.delete(toPath(key))) return;
      order = undefined;
      watches.tell([{ kind: "gone", path: toPath(key), eachBelow: true }]);
    },
  };
}

/** In an order of no meaning. */
function scattered(paths: Iterable<string>): string[] {
  const hashed = [...paths].map((path) => [hashOf(path), path] as const);
  return hashed.sort(([one, left], [other, right]) => one - other || (left < right ? -1 : 1)).map(([, path]) => path);
}

/** The position after this path in scattered paths, whether or not it is among them. */
function indexAfter(paths: readonly string[], last: string): number {
  const hash = hashOf(last);
  let low = 0;
  let high = paths.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const path = paths[middle] as string;
    if ((hashOf(path) - hash || (path <= last ? -1 : 1)) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function toPath(key: string): string {
  return key === "" ? "" : pathOf(key.split(":"));
}

/** The number of empty pages before, and the last path. */
function cursorOf(empty: number, last: string | undefined): string {
  return last === undefined ? String(empty) : `${empty}.${last}`;
}

function hashOf(text: string): number {
  let hash = 7;
  for (let at = 0; at < text.length; at += 1) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  return Math.imul(hash, 0x9e3779b1);
}
