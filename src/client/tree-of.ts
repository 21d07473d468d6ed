/** Derives directories from the URIs of a list, for servers without directories. */
import { notFound } from "../errors.ts";
import { cutAt } from "../lib/cut-at.ts";
import { type Content, directoryType, hasChildren, hasChildrenKey, type Resource } from "../resources.ts";

/** The direct children of this URI as a directory; throws "not-found" if nothing is below it. */
export async function childrenByUri(all: AsyncIterable<Resource>, uri: string): Promise<readonly Resource[]> {
  const start = uri.endsWith("/") ? uri : `${uri}/`;
  const found = new Map<string, Resource>();
  for await (const resource of all) {
    if (!resource.uri.startsWith(start)) continue;
    const rest = resource.uri.slice(start.length);
    const slash = cutAt(rest, /\?/).indexOf("/");
    if (slash < 0 && rest !== "") {
      const known = found.get(resource.uri);
      found.set(resource.uri, known && hasChildren(known) ? withChildren(resource) : resource);
    }
    if (slash <= 0) continue;
    const directory = start + rest.slice(0, slash);
    const known = found.get(directory);
    if (known?.mimeType !== directoryType) found.set(directory, known ? withChildren(known) : toDirectory(directory));
  }
  if (found.size === 0) throw notFound(uri);
  return [...found.values()];
}

/** A resource with others below it. */
export function withChildren(resource: Resource): Resource {
  return { ...resource, meta: { ...resource.meta, [hasChildrenKey]: true } };
}

export function toDirectory(uri: string): Resource {
  return { uri, name: nameIn(uri), mimeType: directoryType };
}

/** Returns whether this is the content that a Pressmark server returns for a directory. */
export function showsDirectory({ mimeType, body }: Content, uri: string): boolean {
  return (
    mimeType === "application/json" && "text" in body && body.text.startsWith(`{"uri":${JSON.stringify(uri)},"count":`)
  );
}

/** The last segment, decoded. */
export function nameIn(uri: string): string {
  const last = cutAt(uri, /[?#]/).replace(/(?<!\/)\/+$/, "");
  const name = last.slice(last.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(name) || uri;
  } catch {
    return name;
  }
}

/** The directory of a resource according to its URI; undefined if there is none. */
export function parentOf(uri: string): string | undefined {
  const path = cutAt(uri, /[?#]/);
  const slash = path.lastIndexOf("/");
  return slash <= path.indexOf("://") + 2 ? undefined : path.slice(0, slash);
}
