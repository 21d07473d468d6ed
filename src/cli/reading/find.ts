/** What a person means by a word: a thing, a directory, or all that a pattern matches. */
import { quote, ResourceError } from "../../errors.ts";
import { createGlob, type Glob, GlobError, isGlob } from "../../lib/glob.ts";
import { directoryType, type Resource } from "../../resources.ts";
import { UsageError } from "../command.ts";
import type { ReadingContext } from "./reading-context.ts";
import { pagesOf } from "./pages.ts";
import { pathBelowRoot } from "./resource-access.ts";

export type Pages = AsyncGenerator<readonly Resource[]>;

export interface FoundResources {
  readonly pages: Pages;
  /** The directory whose direct children these are; absent for things from several places. */
  readonly directory?: string;
}

/** Everything there is, in the order of the house. */
export function everything({ resources, call, ...options }: ReadingContext): Pages {
  return pagesOf((page) => resources.list(page, call), options);
}

/** The direct children of a directory. What is none throws "not-found". */
export function childrenOf(uri: string, { resources, call, ...options }: ReadingContext): Pages {
  return pagesOf((page) => resources.children(uri, page, call), options);
}

/** What to show when no word was given: the only mount's children, or the mounts themselves. */
export async function findMountRoots(context: ReadingContext): Promise<FoundResources> {
  const { roots, resources, call } = context;
  const [root, ...more] = roots;
  if (!root) return { pages: everything(context) };
  if (more.length > 0) return { pages: once(await Promise.all(roots.map(({ uri }) => resources.stat(uri, call)))) };
  const pages = await begun(childrenOf(root.uri, context));
  // A source without directories is a list.
  return pages ? { pages, directory: root.uri } : { pages: everything(context) };
}

/** A path or URI that is there comes before a pattern, so that a name with brackets is found as it stands. */
export async function findMatching(
  word: string,
  { all }: { readonly all: boolean },
  context: ReadingContext,
): Promise<FoundResources> {
  const uri = await locateOrPattern(word, context);
  if (typeof uri !== "string") return { pages: matching(uri, word, context) };
  const pages = await begun(childrenOf(uri, context));
  if (!pages) return { pages: once([await context.resources.stat(uri, context.call)]) };
  return all ? { pages: below(pages, context) } : { pages, directory: uri };
}

/** What a word means: one URI, or those of all that a pattern matches. */
export async function findUris(word: string, context: ReadingContext): Promise<readonly string[]> {
  const uri = await locateOrPattern(word, context);
  if (typeof uri === "string") return [uri];
  const uris: string[] = [];
  for await (const page of matching(uri, word, context)) for (const resource of page) uris.push(resource.uri);
  return uris;
}

export function isNotFound(cause: unknown): boolean {
  return cause instanceof ResourceError && cause.kind === "not-found";
}

async function locateOrPattern(word: string, context: ReadingContext): Promise<string | Glob> {
  try {
    return await context.locate(word);
  } catch (cause) {
    if (!isNotFound(cause) || !isGlob(word) || word.includes("://")) throw cause;
    return toGlob(word.replace(/^(?:\.\/+)+/, ""));
  }
}

function toGlob(pattern: string): Glob {
  try {
    return createGlob(pattern);
  } catch (cause) {
    if (cause instanceof GlobError) throw new UsageError(cause.message, { cause });
    throw cause;
  }
}

/** Throws "not-found" if there is nothing. */
async function* matching(glob: Glob, word: string, context: ReadingContext): Pages {
  let isEmpty = true;
  for await (const page of glob.isDeep ? everything(context) : reachable(glob, context)) {
    const matches = page.filter((resource) => {
      const path = pathBelowRoot(context.roots, resource);
      return path !== undefined && glob.matches(path);
    });
    if (matches.length === 0) continue;
    isEmpty = false;
    yield matches;
  }
  if (isEmpty) throw new ResourceError("not-found", `nothing matches ${quote(word)}`);
}

/** What stands in the directories that the pattern leads through: of a large tree, mostly little. */
async function* reachable(glob: Glob, context: ReadingContext): Pages {
  for (const { uri: root, base } of context.roots) {
    const open = [root];
    for (let uri = open.pop(); uri !== undefined; uri = open.pop()) {
      const pages = await begun(childrenOf(uri, context));
      // A source without directories is a list; a directory that is gone by now holds nothing.
      if (!pages && uri === root) yield* startingWith(base, context);
      if (!pages) continue;
      const further: string[] = [];
      for await (const page of pages) {
        yield page;
        for (const child of page) {
          const path = child.mimeType === directoryType ? pathBelowRoot(context.roots, child) : undefined;
          if (path !== undefined && glob.mayLead(path)) further.push(child.uri);
        }
      }
      open.push(...further.toReversed());
    }
  }
}

/** All that is in a directory whose children these are, and further down. Linked directories are not entered, as in every list. */
async function* below(children: Pages, context: ReadingContext): Pages {
  for await (const [child] of children) {
    if (!child) continue;
    // The house's own spelling of the directory, which may not be the person's.
    yield* startingWith(child.uri.slice(0, child.uri.lastIndexOf("/") + 1), context);
    return;
  }
}

async function* startingWith(start: string, context: ReadingContext): Pages {
  for await (const page of everything(context)) {
    const found = page.filter(({ uri }) => uri.startsWith(start));
    if (found.length > 0) yield found;
  }
}

/** The same pages, once the first is there; undefined if it is not to be had. */
async function begun(pages: Pages): Promise<Pages | undefined> {
  try {
    const first = await pages.next();
    return rest(first, pages);
  } catch (cause) {
    if (isNotFound(cause)) return undefined;
    throw cause;
  }
}

async function* rest(first: IteratorResult<readonly Resource[], void>, pages: Pages): Pages {
  if (first.done) return;
  yield first.value;
  yield* pages;
}

async function* once(page: readonly Resource[]): Pages {
  yield page;
}
