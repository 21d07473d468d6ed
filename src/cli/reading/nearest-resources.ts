/** Finds the resources that were probably meant by a path or URI that does not exist. */
import { posix } from "node:path";
import { ResourceError } from "../../errors.ts";
import { cutAt } from "../../lib/cut-at.ts";
import { nearestOf } from "../../lib/nearest.ts";
import { readableUri } from "../../lib/readable-uri.ts";
import { hasChildren, type Call, type Resource } from "../../resources.ts";
import { isDotted } from "../../server/locate.ts";
import { explainFailure } from "./find.ts";
import { locationOf } from "./location-of.ts";
import type { ResourceAccess } from "./resource-access.ts";

/** Enough for most directories; comparing them takes a few milliseconds. */
const maxCompared = 2000;
/** Resources whose names are compared if no directory on the way has a similar one. */
const maxListed = 20_000;
const maxNearest = 3;
const patienceMs = 2000;

type NearestAccess = Pick<ResourceAccess, "resources" | "roots" | "current">;

/** In the form of `where`: paths or URIs, best first. Considers only what the caller may list. Throws "denied" if the system refuses a folder on the way. */
export async function nearestResources(where: string, access: NearestAccess, given: Call): Promise<readonly string[]> {
  const call: Call = { ...given, signal: AbortSignal.any([given.signal, AbortSignal.timeout(patienceMs)]) };
  try {
    const similar = where.includes("://")
      ? await similarUris(where, access, call)
      : await similarPaths(where, access, call);
    return similar.length > 0 ? similar : await sameName(where, access, call);
  } catch (cause) {
    if (isDenied(cause)) throw cause;
    return [];
  }
}

function isDenied(cause: unknown): boolean {
  return cause instanceof ResourceError && cause.kind === "denied";
}

async function similarUris(where: string, { resources, roots }: NearestAccess, call: Call): Promise<string[]> {
  const bare = cutAt(where, /[?#]/).replace(/(?<!\/)\/+$/, "");
  const root = roots.find(({ base }) => bare.startsWith(base));
  const start = root?.base ?? bare.slice(0, bare.lastIndexOf("/") + 1);
  const names = bare.slice(start.length).split("/").map(decoded);
  const found = await correct(root?.uri ?? start.replace(/(?<=[^:/])\/$/, ""), names, resources, call);
  return found.map(({ resource }) => readableUri(resource.uri));
}

async function similarPaths(where: string, access: NearestAccess, call: Call): Promise<string[]> {
  const names = posix
    .normalize(where)
    .split("/")
    .filter((name) => name !== "" && name !== ".");
  const ups = names.findIndex((name) => name !== "..");
  if (ups < 0) return [];
  for (const { uri, prefix } of startsOf(where, ups, access)) {
    const found = await correct(uri, names.slice(ups), access.resources, call).catch((cause: unknown) => {
      if (isDenied(cause)) throw cause;
      return [];
    });
    if (found.length > 0) return found.map(({ path }) => prefix + path.join("/"));
  }
  return [];
}

/** Folders that a path may start at, and how paths from there begin: the current folder first, then the mounts. */
function startsOf(where: string, ups: number, { roots, current }: NearestAccess) {
  if (ups === 0) {
    const tops = roots.map(({ uri }) => ({ uri, prefix: isDotted(where) ? "./" : "" }));
    if (current === undefined) return tops;
    const here = { uri: current, prefix: "./" };
    // At the top of a mount both are the same, and paths are written without a dot.
    return isDotted(where) ? [here] : roots.some((root) => root.uri === current) ? tops : [here, ...tops];
  }
  const uri = current?.split("/").slice(0, -ups).join("/");
  if (uri === undefined) return [];
  return roots.some((root) => root.uri === uri || uri.startsWith(root.base))
    ? [{ uri, prefix: "../".repeat(ups) }]
    : [];
}

interface Corrected {
  readonly resource: Resource;
  readonly path: readonly string[];
}

/** Follows the names from a directory, and takes a similar one where one is missing. Empty if nothing is similar, or nothing is wrong. */
async function correct(
  start: string,
  names: readonly string[],
  resources: NearestAccess["resources"],
  call: Call,
): Promise<Corrected[]> {
  let directory = start;
  const path: string[] = [];
  let isCorrected = false;
  for (const [index, name] of names.entries()) {
    const { items } = await resources.children(directory, { limit: maxCompared }, call).catch((cause: unknown) => {
      throw explainFailure(cause, path.join("/") || directory);
    });
    const isLast = index === names.length - 1;
    const fitting = isLast ? items : items.filter(hasChildren);
    const exact = fitting.find((item) => nameOf(item) === name);
    const found = exact ? [exact] : similarTo(name, fitting);
    const [best] = found;
    if (!best) return [];
    isCorrected ||= !exact;
    if (isLast) return isCorrected ? found.map((resource) => ({ resource, path: [...path, nameOf(resource)] })) : [];
    directory = best.uri;
    path.push(nameOf(best));
  }
  return [];
}

function similarTo(name: string, items: readonly Resource[]): Resource[] {
  const byName = new Map(items.map((item) => [folded(nameOf(item)), item]));
  return nearestOf(bareName(name), [...byName.keys()], maxNearest).map((key) => byName.get(key)!);
}

/** Resources of the same name in other directories. */
async function sameName(where: string, { resources, roots }: NearestAccess, call: Call): Promise<string[]> {
  const isUri = where.includes("://");
  const last = cutAt(where, isUri ? /[?#]/ : /$^/)
    .split("/")
    .at(-1)!;
  const name = bareName(isUri ? decoded(last) : last);
  const found: string[] = [];
  if (name === "") return found;
  let cursor: string | undefined;
  for (let seen = 0; seen < maxListed && found.length < maxNearest;) {
    const page = await resources.list(cursor === undefined ? {} : { cursor }, call);
    for (const item of page.items)
      if (folded(nameOf(item)) === name) found.push(isUri ? readableUri(item.uri) : locationOf(roots, item.uri));
    cursor = page.next;
    seen += page.items.length + 1;
    if (cursor === undefined) break;
  }
  return found.slice(0, maxNearest);
}

/** Folded, and without the number of a line, which search prints behind a name. */
function bareName(name: string): string {
  return folded(name).replace(/:\d+(?:-\d+)?$/, "");
}

/** Composed, so that a letter and its accent count as one character. */
function folded(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

function nameOf({ uri }: Resource): string {
  return decoded(uri.slice(uri.lastIndexOf("/") + 1));
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
