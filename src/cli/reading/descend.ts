/** A directory and everything below it, each directory before what is in it. */
import { ResourceError } from "../../errors.ts";
import { directoryType, type Resource } from "../../resources.ts";
import type { ReadingContext } from "./reading-context.ts";
import { childrenOf } from "./find.ts";

export interface DescendEntry {
  readonly resource: Resource;
  /** 0 for what stands directly in the directory that was asked for. */
  readonly depth: number;
  /** Whether it is the last of its siblings, and so for each directory above it, from the outermost on. */
  readonly isLast: readonly boolean[];
  /** Those of a directory. Absent for what is none, and for a directory that could not be opened. */
  readonly children?: readonly Resource[];
  /** Whether a link leads back to where the walk has been: it is not entered. */
  readonly isLoop?: boolean;
  /** Why a directory could not be opened. */
  readonly failure?: ResourceError;
}

export interface DescendOptions {
  /** How many levels are shown. */
  readonly depth: number;
  /** Whether only directories are. */
  readonly dirs: boolean;
}

/** A directory on the way down to where the walk is. */
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
  const shown = options.dirs ? siblings.filter(isDirectory) : siblings;
  const depth = isLastAbove.length;
  for (const [index, resource] of shown.entries()) {
    const isLast = [...isLastAbove, index === shown.length - 1];
    if (!isDirectory(resource)) {
      yield { resource, depth, isLast };
      continue;
    }
    let children: readonly Resource[];
    try {
      children = await allChildren(resource.uri, context);
    } catch (cause) {
      if (!(cause instanceof ResourceError) || cause.kind === "cancelled") throw cause;
      yield { resource, depth, isLast, failure: cause };
      continue;
    }
    const way = [...above, { name: resource.name, children }];
    const isLoop = await leadsBack(resource.uri, way, context);
    yield { resource, depth, isLast, children, ...(isLoop && { isLoop }) };
    if (!isLoop && depth + 1 < options.depth) yield* level(children, way, isLast, options, context);
  }
}

export async function allChildren(uri: string, context: ReadingContext): Promise<readonly Resource[]> {
  const pages: (readonly Resource[])[] = [];
  for await (const page of childrenOf(uri, context)) pages.push(page);
  return pages.length === 1 ? pages[0]! : pages.flat();
}

export function isDirectory({ mimeType }: Resource): boolean {
  return mimeType === directoryType;
}

/** A tree in which directory after directory looks the same for longer than this is taken for a loop. */
const rounds = 16;

/**
 * A house does not say what is a link. But where one leads back, the directory looks like one above it, and going the same way
 * again from there leads to the same once more, and again.
 */
async function leadsBack(uri: string, way: readonly Above[], context: ReadingContext): Promise<boolean> {
  const { children } = way.at(-1)!;
  if (!children.some(isDirectory)) return false;
  for (let index = way.length - 2; index >= 0; index -= 1) {
    if (!looksLike(way[index]!.children, children)) continue;
    if (await goesOn(uri, way.slice(index + 1), context)) return true;
  }
  return false;
}

async function goesOn(uri: string, steps: readonly Above[], context: ReadingContext): Promise<boolean> {
  let at = uri;
  let children = steps.at(-1)!.children;
  for (let round = 0; round < rounds; round += 1)
    for (const step of steps) {
      const next = children.find((child) => child.name === step.name && isDirectory(child));
      if (!next) return false;
      at = next.uri;
      try {
        children = await allChildren(at, context);
      } catch (cause) {
        // The system follows no more than some forty links: so far, it has been the same.
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
