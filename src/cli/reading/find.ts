/** What a person means by a word: a thing, a directory, or all that a pattern matches. */
import { quote, ResourceError } from "../../errors.ts";
import { createGlob, type Glob, GlobError, isGlob } from "../../lib/glob.ts";
import { directoryType, type Resource } from "../../resources.ts";
import { UsageError } from "../command.ts";
import type { Desk } from "./desk.ts";
import { pagesOf } from "./pages.ts";
import { pathWithin } from "./reach.ts";

export type Pages = AsyncGenerator<readonly Resource[]>;

export interface Found {
  readonly pages: Pages;
  /** The directory whose direct children these are; absent for things from several places. */
  readonly directory?: string;
}

/** Everything there is, in the order of the house. */
export function everything({ resources, call, ...options }: Desk): Pages {
  return pagesOf((page) => resources.list(page, call), options);
}

/** The direct children of a directory. What is none throws "not-found". */
export function childrenOf(uri: string, { resources, call, ...options }: Desk): Pages {
  return pagesOf((page) => resources.children(uri, page, call), options);
}

/** What to show when no word was given: the only mount's children, or the mounts themselves. */
export async function findRoots(desk: Desk): Promise<Found> {
  const { roots, resources, call } = desk;
  const [root, ...more] = roots;
  if (!root) return { pages: everything(desk) };
  if (more.length > 0) return { pages: once(await Promise.all(roots.map(({ uri }) => resources.stat(uri, call)))) };
  const pages = await begun(childrenOf(root.uri, desk));
  // A source without directories is a list.
  return pages ? { pages, directory: root.uri } : { pages: everything(desk) };
}

/** A path or URI that is there comes before a pattern, so that a name with brackets is found as it stands. */
export async function find(word: string, { all }: { readonly all: boolean }, desk: Desk): Promise<Found> {
  const uri = await locateOrPattern(word, desk);
  if (typeof uri !== "string") return { pages: matching(uri, word, desk) };
  const pages = await begun(childrenOf(uri, desk));
  if (!pages) return { pages: once([await desk.resources.stat(uri, desk.call)]) };
  return all ? { pages: below(pages, desk) } : { pages, directory: uri };
}

/** What a word means: one URI, or those of all that a pattern matches. */
export async function findUris(word: string, desk: Desk): Promise<readonly string[]> {
  const uri = await locateOrPattern(word, desk);
  if (typeof uri === "string") return [uri];
  const uris: string[] = [];
  for await (const page of matching(uri, word, desk)) for (const resource of page) uris.push(resource.uri);
  return uris;
}

export function isNotFound(cause: unknown): boolean {
  return cause instanceof ResourceError && cause.kind === "not-found";
}

async function locateOrPattern(word: string, desk: Desk): Promise<string | Glob> {
  try {
    return await desk.locate(word);
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
async function* matching(glob: Glob, word: string, desk: Desk): Pages {
  let isEmpty = true;
  for await (const page of glob.isDeep ? everything(desk) : reachable(glob, desk)) {
    const matches = page.filter((resource) => {
      const path = pathWithin(desk.roots, resource);
      return path !== undefined && glob.matches(path);
    });
    if (matches.length === 0) continue;
    isEmpty = false;
    yield matches;
  }
  if (isEmpty) throw new ResourceError("not-found", `nothing matches ${quote(word)}`);
}

/** What stands in the directories that the pattern leads through: of a large tree, mostly little. */
async function* reachable(glob: Glob, desk: Desk): Pages {
  for (const { uri: root, base } of desk.roots) {
    const open = [root];
    for (let uri = open.pop(); uri !== undefined; uri = open.pop()) {
      const pages = await begun(childrenOf(uri, desk));
      // A source without directories is a list; a directory that is gone by now holds nothing.
      if (!pages && uri === root) yield* startingWith(base, desk);
      if (!pages) continue;
      const further: string[] = [];
      for await (const page of pages) {
        yield page;
        for (const child of page) {
          const path = child.mimeType === directoryType ? pathWithin(desk.roots, child) : undefined;
          if (path !== undefined && glob.mayLead(path)) further.push(child.uri);
        }
      }
      open.push(...further.toReversed());
    }
  }
}

/** All that is in a directory whose children these are, and further down. Linked directories are not entered, as in every list. */
async function* below(children: Pages, desk: Desk): Pages {
  for await (const [child] of children) {
    if (!child) continue;
    // The house's own spelling of the directory, which may not be the person's.
    yield* startingWith(child.uri.slice(0, child.uri.lastIndexOf("/") + 1), desk);
    return;
  }
}

async function* startingWith(start: string, desk: Desk): Pages {
  for await (const page of everything(desk)) {
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
