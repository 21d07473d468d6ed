/** Builds a tree from one walk of a list, for key stores: each directory there costs a walk of everything. */
import { toDirectory, withChildren } from "../../client/tree-of.ts";
import { notFound } from "../../errors.ts";
import { cutAt } from "../../lib/cut-at.ts";
import { hasChildren, type Resource } from "../../resources.ts";
import type { ReadingContext } from "./reading-context.ts";

interface TreeOfListOptions {
  /** Number of levels to keep, and one more to count the children of the last. */
  readonly depth: number;
  /** Maximum number of children to keep of each directory. */
  readonly maxChildren: number;
}

/** Returns the same context, whose directories at and below `start` are those of the list. `prefix` is that of all URIs below. */
export async function withTreeOfList(
  pages: AsyncIterable<readonly Resource[]>,
  { start, prefix }: { readonly start: string; readonly prefix: string },
  { depth, maxChildren }: TreeOfListOptions,
  context: ReadingContext,
): Promise<ReadingContext> {
  const directories = new Map<string, Map<string, Resource>>();

  function add(resource: Resource): void {
    const path = cutAt(resource.uri, /\?/);
    let parent = start;
    for (let level = 0, from = prefix.length; level <= depth; level += 1) {
      const slash = path.indexOf("/", from);
      const uri = slash < 0 ? resource.uri : path.slice(0, slash);
      let children = directories.get(parent);
      if (!children) directories.set(parent, (children = new Map()));
      const known = children.get(uri);
      if (!known && children.size >= maxChildren) return;
      if (slash < 0) return void children.set(uri, known && hasChildren(known) ? withChildren(resource) : resource);
      if (!known || !hasChildren(known)) children.set(uri, known ? withChildren(known) : toDirectory(uri));
      parent = uri;
      from = slash + 1;
    }
  }

  for await (const page of pages)
    for (const resource of page) if (resource.uri.startsWith(prefix) && resource.uri !== prefix) add(resource);

  const resources: ReadingContext["resources"] = {
    ...context.resources,
    async children(uri) {
      const found = directories.get(uri);
      if (!found) throw notFound(uri);
      return { items: [...found.values()].sort((left, right) => (left.uri < right.uri ? -1 : 1)) };
    },
  };
  return { ...context, resources };
}
