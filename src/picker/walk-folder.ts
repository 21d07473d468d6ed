/** Walks the files below a folder page by page, in the server's order, within bounds. */
import { walkPages } from "../client/walk-pages.ts";
import { type Call, hasChildren, type Resource, type Resources } from "../resources.ts";
import { isFolder } from "./tree.ts";

/** A history shows each version of a project as a folder: such a tree has no useful end. */
export const maxEntries = 10_000;
const maxDepth = 32;

export interface FolderWalk {
  readonly pressmark: Pick<Resources, "children">;
  readonly call: Call;
  /** URIs that are left out, with everything below them. */
  readonly except: ReadonlySet<string>;
  entries: number;
  /** Folders that could not be listed completely. */
  failed: number;
  /** True if a bound was reached: there may be more files. */
  isMore: boolean;
}

/** Throws only if it is cancelled. */
export async function* filesBelow(
  uri: string,
  walk: FolderWalk,
  above: readonly string[] = [],
): AsyncGenerator<Resource, void, undefined> {
  const { pressmark, call, except } = walk;
  if (above.includes(uri)) return;
  if (above.length >= maxDepth) {
    walk.isMore = true;
    return;
  }
  try {
    const pages = walkPages(
      async (request) => {
        const page = await pressmark.children(uri, request, call);
        walk.failed += page.failures?.length ?? 0;
        return page;
      },
      { maxPages: maxEntries },
    );
    for await (const item of pages) {
      if (except.has(item.uri)) continue;
      if (walk.entries >= maxEntries) {
        walk.isMore = true;
        return;
      }
      walk.entries += 1;
      if (!isFolder(item)) yield item;
      if (hasChildren(item)) yield* filesBelow(item.uri, walk, [...above, uri]);
    }
  } catch (cause) {
    if (call.signal.aborted) throw cause;
    walk.failed += 1;
  }
}
