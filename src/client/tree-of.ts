/** Directories where a server has none: as the URIs of its list are written. */
import { notFound } from "../errors.ts";
import { cutAt } from "../lib/cut-at.ts";
import { type Content, directoryType, type Resource } from "../resources.ts";

/** The direct children of what this URI would be a directory of; what has nothing below it throws "not-found". */
export async function childrenByUri(all: AsyncIterable<Resource>, uri: string): Promise<readonly Resource[]> {
  const start = uri.endsWith("/") ? uri : `${uri}/`;
  const found = new Map<string, Resource>();
  for await (const resource of all) {
    if (!resource.uri.startsWith(start)) continue;
    const rest = resource.uri.slice(start.length);
    const slash = cutAt(rest, /\?/).indexOf("/");
    if (slash < 0 && rest !== "") found.set(resource.uri, resource);
    if (slash <= 0) continue;
    const directory = start + rest.slice(0, slash);
    if (!found.has(directory)) found.set(directory, toDirectory(directory));
  }
  if (found.size === 0) throw notFound(uri);
  return [...found.values()];
}

export function toDirectory(uri: string): Resource {
  return { uri, name: nameIn(uri), mimeType: directoryType };
}

/** Whether a Pressmark server shows a directory here: it answers a read of one with what is in it. */
export function showsDirectory({ mimeType, body }: Content, uri: string): boolean {
  return (
    mimeType === "application/json" && "text" in body && body.text.startsWith(`{"uri":${JSON.stringify(uri)},"count":`)
  );
}

/** The last segment, as a person would read it. */
export function nameIn(uri: string): string {
  const last = cutAt(uri, /[?#]/).replace(/(?<!\/)\/+$/, "");
  const name = last.slice(last.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(name) || uri;
  } catch {
    return name;
  }
}

/** The directory that a resource is in, as its URI is written; undefined where there is none above. */
export function parentOf(uri: string): string | undefined {
  const path = cutAt(uri, /[?#]/);
  const slash = path.lastIndexOf("/");
  return slash <= path.indexOf("://") + 2 ? undefined : path.slice(0, slash);
}
