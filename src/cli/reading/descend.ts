/** Walks a directory tree, each directory before its children. */
import { ResourceError } from "../../errors.ts";
import { directoryType, hasChildren, type Resource } from "../../resources.ts";
import type { ReadingContext } from "./reading-context.ts";
import { childrenOf } from "./find.ts";

export interface DescendEntry {
  readonly resource: Resource;
  /** 0 for direct children of the start directory. */
  readonly depth: number;
  /** Whether it is the last of its siblings, for each level from the outermost. */
  readonly isLast: readonly boolean[];
  /** Children of a directory, or of a resource that has some. Absent for other resources, and for a directory that was not opened. */
  readonly children?: readonly Resource[];
  /** The directory has more children than these. */
  readonly hasMore?: boolean;
  /** A link to a directory above; it is not entered. */
  readonly isLoop?: boolean;
  /** A view of content that is elsewhere; it is not opened. */
  readonly isCollapsed?: boolean;
  /** Why a directory could not be opened. */
  readonly failure?: ResourceError;
}

interface DescendOptions {
  /** Number of levels to show. */
  readonly depth: number;
  /** Only directories, and resources that have children. */
  readonly dirs: boolean;
  /** Open views, and show all children of large directories. */
  readonly all: boolean;
}

/** Children that are shown of one directory, unless all are requested. */
export const maxChildren = 1000;

/** A directory above the current position. */
interface Above {
  readonly name: string;
  readonly children: readonly Resource[];
}

export async function* descend(
  start: readonly Resource[],
  options: DescendOptions,
  context: ReadingContext,
): AsyncGenerator<DescendEntry> {
  yield* level(start, [{ name: "", children: start }], [], options, context);
}

async function* level(
  siblings: readonly Resource[],
  above: readonly Above[],
  isLastAbove: readonly boolean[],
  options: DescendOptions,
  context: ReadingContext,
): AsyncGenerator<DescendEntry> {
  const shown = options.dirs ? siblings.filter(hasChildren) : siblings;
  const depth = isLastAbove.length;
  for (const [index, resource] of shown.entries()) {
    const isLast = [...isLastAbove, index === shown.length - 1];
    if (!hasChildren(resource)) {
      yield { resource, depth, isLast };
      continue;
    }
    if (!options.all && resource.meta?.["pressmark/view"] === true) {
      yield { resource, depth, isLast, isCollapsed: true };
      continue;
    }
    // Another server may have to walk everything to list one directory: it is not opened only to count its children.
    if (depth + 1 >= options.depth && context.watchAll === undefined) {
      yield { resource, depth, isLast };
      continue;
    }
    let children: readonly Resource[];
    let hasMore: boolean;
    try {
      ({ children, hasMore } = await openDirectory(childrenOf(resource.uri, context), options));
    } catch (cause) {
      if (!(cause instanceof ResourceError) || cause.kind === "cancelled") throw cause;
      yield { resource, depth, isLast, failure: cause };
      continue;
    }
    const path = [...above, { name: resource.name, children }];
    const isLoop = await leadsBack(resource.uri, path, options, context);
    yield { resource, depth, isLast, children, ...(hasMore && { hasMore }), ...(isLoop && { isLoop }) };
    if (!isLoop && depth + 1 < options.depth) yield* level(children, path, isLast, options, context);
  }
}

interface OpenedDirectory {
  readonly children: readonly Resource[];
  readonly hasMore: boolean;
}

/** Stops reading pages once there are more children than are shown. */
export async function openDirectory(
  pages: AsyncIterable<readonly Resource[]>,
  { all }: Pick<DescendOptions, "all">,
): Promise<OpenedDirectory> {
  const most = all ? Infinity : maxChildren;
  const children: Resource[] = [];
  for await (const page of pages) {
    for (const child of page) children.push(child);
    if (children.length > most) return { children: children.slice(0, most), hasMore: true };
  }
  return { children, hasMore: false };
}

export function isDirectory({ mimeType }: Resource): boolean {
  return mimeType === directoryType;
}

/** Identical nested directories beyond this depth are treated as a loop. */
const rounds = 16;

/**
 * Resources do not say which are links. A link to a directory above shows itself because the same path below it
 * can be followed again and again with the same result.
 */
async function leadsBack(
  uri: string,
  path: readonly Above[],
  options: DescendOptions,
  context: ReadingContext,
): Promise<boolean> {
  const { children } = path.at(-1)!;
  if (!children.some(isDirectory)) return false;
  for (let index = path.length - 2; index >= 0; index -= 1) {
    if (!looksLike(path[index]!.children, children)) continue;
    if (await goesOn(uri, path.slice(index + 1), options, context)) return true;
  }
  return false;
}

async function goesOn(
  uri: string,
  steps: readonly Above[],
  options: DescendOptions,
  context: ReadingContext,
): Promise<boolean> {
  let at = uri;
  let children = steps.at(-1)!.children;
  for (let round = 0; round < rounds; round += 1)
    for (const step of steps) {
      const next = children.find((child) => child.name === step.name && isDirectory(child));
      if (!next) return false;
      at = next.uri;
      try {
        ({ children } = await openDirectory(childrenOf(at, context), options));
      } catch (cause) {
        // The system follows only about forty links; up to here everything was the same.
        if (cause instanceof ResourceError && cause.kind !== "cancelled") return round > 0;
        throw cause;
      }
      if (!looksLike(step.children, children)) return false;
    }
  return true;
}

function looksLike(some: readonly Resource[], others: readonly Resource[]): boolean {
  return (
    some.length === others.length &&
    some.every((one, index) => {
      const other = others[index]!;
      return (
        one.name === other.name &&
        one.mimeType === other.mimeType &&
        one.size === other.size &&
        one.annotations?.lastModified === other.annotations?.lastModified
      );
    })
  );
}
