/** Resolves an argument to a resource, a directory, or all resources that match a pattern. */
import { quote, ResourceError } from "../../errors.ts";
import { createGlob, type Glob, GlobError, isGlob } from "../../lib/glob.ts";
import { directoryType, hasChildren, type Resource } from "../../resources.ts";
import { UsageError } from "../command.ts";
import { plain } from "../print.ts";
import type { ReadingContext } from "./reading-context.ts";
import { formatCount } from "./amounts.ts";
import { pagesOf } from "./pages.ts";
import { locationOf } from "./location-of.ts";
import { explainUnreachableMount } from "./unreachable.ts";
import { pathBelowRoot, type ReachRoot } from "./resource-access.ts";

type Pages = AsyncGenerator<readonly Resource[]>;

export interface FoundResources {
  readonly pages: Pages;
  /** Directory of which these are the direct children; absent for resources from several directories. */
  readonly directory?: string;
}

/** All resources, in the server's order. */
export function everything({ resources, call, ...options }: ReadingContext): Pages {
  return pagesOf((page) => resources.list(page, call), options);
}

/** The direct children of a directory. Throws "not-found" if it is not a directory. */
export function childrenOf(uri: string, { resources, roots, call, ...options }: ReadingContext): Pages {
  return pagesOf(
    (page) =>
      resources.children(uri, page, call).catch((cause: unknown) => {
        throw explainFailure(cause, locationOf(roots, uri));
      }),
    options,
  );
}

/** Says to the person at the terminal why a mount cannot be used, which callers of a server are not told. Other errors are returned unchanged. */
export function explainFailure(cause: unknown, where: string): unknown {
  const inner = isNotFound(cause) ? (cause as ResourceError).cause : undefined;
  if (!(inner instanceof ResourceError) || inner.kind !== "denied") return explainUnreachableMount(cause);
  const { code } = (inner.cause ?? {}) as NodeJS.ErrnoException;
  const message =
    code === "EACCES" || code === "EPERM"
      ? `no permission to open ${quote(where)}; check its permissions`
      : `cannot open ${quote(where)}: ${inner.message}`;
  return new ResourceError("denied", message, { cause });
}

/** Used without arguments: the children of the current folder or, if no mount contains it, the mounts. With `all`, everything below. */
export async function findCurrent(
  { all }: { readonly all: boolean },
  context: ReadingContext,
): Promise<FoundResources> {
  const { roots } = context;
  const [root, ...more] = roots;
  const current = context.current ?? (more.length === 0 ? root?.uri : undefined);
  if (!root || (all && (current === undefined || roots.some(({ uri }) => uri === current))))
    return { pages: everything(context) };
  if (current === undefined) return findMounts(context);
  const found = await findBelow(current, context).catch((cause: unknown) => {
    throw isNotFound(cause) ? notServed(cause) : cause;
  });
  if (all) return { pages: below(found.pages, context) };
  const others = roots.filter(({ uri, base }) => uri !== current && !current.startsWith(base));
  if (others.length > 0 && context.isTerminal)
    context.note(`${formatCount(others.length, "mount")} elsewhere; "pressmark ls --mounts" lists all mounts`);
  return found;
}

/** The current folder is in a mount, which does not show it. */
export function notServed(cause: unknown): ResourceError {
  const message = `this folder is not served (it may be hidden or ignored); "pressmark ls --mounts" lists what is served`;
  return new ResourceError("not-found", message, { cause });
}

export async function findMounts(context: ReadingContext): Promise<FoundResources> {
  return { pages: once(await Promise.all(context.roots.map((each) => statRoot(each, context)))) };
}

/** A mount is a directory even if its source has none, or fails. */
export async function statRoot({ uri, name = uri }: ReachRoot, context: ReadingContext): Promise<Resource> {
  try {
    return await context.resources.stat(uri, context.call);
  } catch (thrown) {
    const cause = explainFailure(thrown, uri);
    if (!(cause instanceof ResourceError) || cause.kind === "cancelled") throw cause;
    if (cause.kind !== "not-found") context.warn(`mount ${quote(name)}: ${plain(cause.message)}`);
    return { uri, name, mimeType: directoryType };
  }
}

/** The children of a directory; for a mount whose source has no directories, all of its resources; else the resource itself. */
async function findBelow(uri: string, context: ReadingContext): Promise<FoundResources> {
  const pages = await begun(childrenOf(uri, context));
  if (pages) return { pages, directory: uri };
  const root = context.roots.find((each) => each.uri === uri);
  return { pages: root ? ofMount(root, context) : once([await context.resources.stat(uri, context.call)]) };
}

/** An existing path or URI takes precedence over a pattern, so that names with brackets work. */
export async function findMatching(
  word: string,
  { all }: { readonly all: boolean },
  context: ReadingContext,
): Promise<FoundResources> {
  const uri = await locateOrPattern(word, context);
  if (typeof uri !== "string") return { pages: matching(uri, word, context) };
  const found = await findBelow(uri, context);
  return all && found.directory !== undefined ? { pages: below(found.pages, context) } : found;
}

/** Resolves an argument to one URI, or to all URIs that match a pattern. */
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

/** Throws "not-found" if nothing matches. */
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

/** Lists only the directories that the pattern can match in: usually a small part of the tree. */
async function* reachable(glob: Glob, context: ReadingContext): Pages {
  for (const root of context.roots) {
    const open = [root.uri];
    for (let uri = open.pop(); uri !== undefined; uri = open.pop()) {
      const pages = await begun(childrenOf(uri, context));
      // A source without directories is listed as a whole; a directory removed in the meantime is empty.
      if (!pages && uri === root.uri) yield* ofMount(root, context);
      if (!pages) continue;
      const further: string[] = [];
      for await (const page of pages) {
        yield page;
        for (const child of page) {
          const path = hasChildren(child) ? pathBelowRoot(context.roots, child) : undefined;
          if (path !== undefined && glob.mayLead(path)) further.push(child.uri);
        }
      }
      open.push(...further.toReversed());
    }
  }
}

/** Everything below a directory, given its children. Linked directories are not entered, as in every list. */
async function* below(children: Pages, context: ReadingContext): Pages {
  for await (const [child] of children) {
    if (!child) continue;
    // Uses the server's form of the URI, which may differ from the user's.
    yield* startingWith(child.uri.slice(0, child.uri.lastIndexOf("/") + 1), everything(context));
    return;
  }
}

export function ofMount({ name, base }: ReachRoot, { resources, call, ...options }: ReadingContext): Pages {
  const pages = pagesOf(
    (page) => resources.list({ ...page, ...(name !== undefined && { mount: name }) }, call),
    options,
  );
  return name === undefined ? startingWith(base, pages) : pages;
}

async function* startingWith(start: string, pages: Pages): Pages {
  for await (const page of pages) {
    const found = page.filter(({ uri }) => uri.startsWith(start));
    if (found.length > 0) yield found;
  }
}

/** The same pages after the first has arrived; undefined if it is not available. */
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
