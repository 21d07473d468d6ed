/** Finds the resource that was probably meant by a path or URI that does not exist. */
import { cutAt } from "../../lib/cut-at.ts";
import { nearest } from "../../lib/nearest.ts";
import { readableUri } from "../../lib/readable-uri.ts";
import type { ResourceAccess } from "./resource-access.ts";
import type { Call, Resource } from "../../resources.ts";

/** Enough for most directories; comparing them takes a few milliseconds. */
const maxCompared = 2000;
const patienceMs = 2000;

/** In the form of `where`: a path or a URI. Considers only siblings, and what the caller may list. */
export async function nearestResource(
  where: string,
  { resources, roots, locate }: Pick<ResourceAccess, "resources" | "roots" | "locate">,
  given: Call,
): Promise<string | undefined> {
  const call: Call = { ...given, signal: AbortSignal.any([given.signal, AbortSignal.timeout(patienceMs)]) };
  const isUri = where.includes("://");
  const bare = (isUri ? cutAt(where, /[?#]/) : where).replace(/(?<!\/)\/+$/, "");
  const head = bare.slice(0, bare.lastIndexOf("/") + 1);
  const name = decoded(bare.slice(head.length), isUri);
  try {
    const directories = isUri
      ? [head.replace(/(?<=[^:/])\/$/, "")]
      : head === "" || head === "./"
        ? roots.map(({ uri }) => uri)
        : [await locate(head, call)];
    const siblings = new Map<string, Resource>();
    for (const directory of directories) {
      const { items } = await resources.children(directory, { limit: maxCompared }, call);
      for (const item of items) siblings.set(nameOf(item).toLowerCase(), item);
      if (siblings.size >= maxCompared) break;
    }
    // Search prints names with a line number.
    const wanted = name.toLowerCase().replace(/:\d+$/, "");
    const found = siblings.get(nearest(wanted, [...siblings.keys()]) ?? "");
    if (!found || nameOf(found) === name) return undefined;
    return isUri ? readableUri(found.uri) : head + nameOf(found);
  } catch {
    return undefined;
  }
}

function nameOf({ uri }: Resource): string {
  return decoded(uri.slice(uri.lastIndexOf("/") + 1), true);
}

function decoded(segment: string, isEncoded: boolean): string {
  try {
    return isEncoded ? decodeURIComponent(segment) : segment;
  } catch {
    return segment;
  }
}
