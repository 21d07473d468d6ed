/** Finds the roots of the tree: the mounts, if the server lists them; otherwise from templates and the first pages of the list. */
import { ResourceError } from "../errors.ts";
import { type Call, directoryType, type Page, type Resource, type Resources } from "../resources.ts";
import { nameIn } from "../client/tree-of.ts";
import { walkPages } from "../client/walk-pages.ts";
import { parseServerStatus, statusUri } from "./state-page-status.ts";

type RootResources = Pick<Resources, "read" | "templates" | "list" | "children">;

/** The list may hold millions; roots without a template that appear later are reached by search only. */
const maxPages = 5;

/** Yields directories at the top, then resources in none: all that are known so far, each time there are more; at least once. */
export async function* findTreeRoots(
  pressmark: RootResources,
  call: Call,
): AsyncGenerator<readonly Resource[], void, undefined> {
  const mounts = await readMounts(pressmark, call);
  if (mounts) yield mounts;
  else yield* guessRoots(pressmark, call);
}

/** In the server's order; undefined if it has no status, or none for this caller. */
export async function readMounts(pressmark: RootResources, call: Call): Promise<readonly Resource[] | undefined> {
  try {
    const { mounts } = parseServerStatus((await pressmark.read(statusUri, call)).contents);
    const named = mounts.filter(({ uri }) => uri !== "");
    if (named.length === 0) return undefined;
    return named.map(({ name, title, description, uri }) => ({
      uri,
      name: name || nameIn(uri),
      title,
      description,
      mimeType: directoryType,
    }));
  } catch {
    // If the server cannot be reached, the next request reports that.
    call.signal.throwIfAborted();
    return undefined;
  }
}

async function* guessRoots(pressmark: RootResources, call: Call): AsyncGenerator<readonly Resource[], void, undefined> {
  const starts = new Set<string>();
  for await (const { uriTemplate } of walkPages((request) => pressmark.templates(request, call).catch(orNothing))) {
    const start = startOf(uriTemplate);
    if (start !== undefined) starts.add(start);
  }
  const roots = new Map<string, Resource>();
  const isHeld = (uri: string) => [...roots.keys()].some((root) => uri.startsWith(root.replace(/\/?$/, "/")));
  const loose: Resource[] = [];
  const order = [...starts].map(withoutSlash);
  const checks = [...starts].map(async (start) => ((await isDirectory(start, pressmark, call)) ? [start] : []));
  const there = (await Promise.all(checks)).flat();
  for (const start of there.toSorted((one, other) => one.length - other.length))
    if (!isHeld(start)) roots.set(withoutSlash(start), toRoot(start));
  const known = roots.size;
  if (known > 0) yield all();

  let page: Page<Resource> = await pressmark.list({}, call).catch(orNothing);
  for (let count = 1; ; count += 1) {
    for (const resource of page.items) {
      if (isHeld(resource.uri)) continue;
      const root = await directoryOver(resource.uri, pressmark, call);
      if (root === undefined) loose.push(resource);
      else roots.set(withoutSlash(root), toRoot(root));
    }
    if (page.next === undefined || count === maxPages) break;
    page = await pressmark.list({ cursor: page.next }, call);
  }
  if (known === 0 || roots.size + loose.length > known) yield all();

  function all(): readonly Resource[] {
    return [...[...roots.values()].toSorted((one, other) => place(one) - place(other)), ...loose];
  }

  /** Position in the server's order; unnamed ones are last. */
  function place({ uri }: Resource): number {
    const at = order.indexOf(uri);
    return at < 0 ? order.length : at;
  }
}

/** The directory of all expansions of a template; undefined if there is none. */
export function startOf(template: string): string | undefined {
  const literal = template.slice(0, `${template}{`.indexOf("{"));
  const start = literal.slice(0, literal.lastIndexOf("/") + 1);
  return /^[a-z][a-z0-9+.-]*:\/\/./i.test(start) ? start : undefined;
}

/** The topmost directory that can be opened. */
async function directoryOver(uri: string, pressmark: RootResources, call: Call): Promise<string | undefined> {
  const [place = "", path = ""] = /^([^:]+:\/\/[^/?#]*\/)([^?#]*)/.exec(uri)?.slice(1) ?? [];
  if (place === "") return undefined;
  const names = path.split("/");
  for (let depth = 0; depth < names.length; depth += 1) {
    const candidate =
      place +
      names
        .slice(0, depth)
        .map((name) => `${name}/`)
        .join("");
    if (await isDirectory(candidate, pressmark, call)) return candidate;
  }
  return undefined;
}

async function isDirectory(uri: string, pressmark: RootResources, call: Call): Promise<boolean> {
  try {
    await pressmark.children(withoutSlash(uri), { limit: 1 }, call);
    return true;
  } catch (cause) {
    if (cause instanceof ResourceError && ["not-found", "invalid", "unsupported"].includes(cause.kind)) return false;
    // A root that is unavailable is shown, and reports the error when it is opened.
    if (cause instanceof ResourceError && !call.signal.aborted) return true;
    throw cause;
  }
}

function orNothing(cause: unknown): Page<never> {
  if (cause instanceof ResourceError && cause.kind === "unsupported") return { items: [] };
  throw cause;
}

/** `file:///a/` is requested as `file:///a`; `memory://` stays unchanged. */
function withoutSlash(uri: string): string {
  return uri.replace(/(?<=[^:/])\/$/, "");
}

function toRoot(start: string): Resource {
  const uri = withoutSlash(start);
  return { uri, name: nameIn(uri), mimeType: directoryType };
}
