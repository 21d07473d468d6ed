/** Names the resources of a pack: a decoded path below one base, or a decoded URI. The base and a path are the URI. */
import { encodedUri, visibleUri } from "../lib/visible-uri.ts";

export interface ShownPaths {
  /** As shown. Undefined if no path is below it. */
  readonly base: string | undefined;
  /** Different for different URIs. */
  pathOf(uri: string): string;
  isBelowBase(uri: string): boolean;
}

export function createShownPaths(uris: readonly string[], base: string | undefined): ShownPaths {
  const paths = new Map<string, string>();
  const taken = new Set<string>();
  for (const uri of new Set(uris.toSorted())) {
    const path = shownPath(uri, base);
    // Composed and decomposed letters look alike.
    const isTaken = taken.has(path.normalize("NFC"));
    taken.add(path.normalize("NFC"));
    paths.set(uri, isTaken ? encodedUri(uri) : path);
  }
  return {
    base: base === undefined ? undefined : visibleUri(base),
    pathOf: (uri) => paths.get(uri) ?? encodedUri(uri),
    isBelowBase: (uri) => base !== undefined && uri.startsWith(base),
  };
}

function shownPath(uri: string, base: string | undefined): string {
  const path = base !== undefined && uri.startsWith(base) ? visibleUri(uri.slice(base.length)) : "";
  // The path of a file must not look like the URI of another resource.
  return path === "" || /^[a-z][a-z0-9+.-]*:/i.test(path) ? visibleUri(uri) : path;
}

/** The prefix whose removal saves most: of `roots`, or the common folder of what is below none of them. */
export function findBase(uris: readonly string[], roots: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  const others = new Map<string, string[]>();
  for (const uri of uris) {
    const root = roots
      .filter((one) => uri.startsWith(one))
      .reduce((most, one) => (one.length > most.length ? one : most), "");
    if (root !== "") counts.set(root, (counts.get(root) ?? 0) + 1);
    else {
      const authority = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*\//i.exec(uri)?.[0];
      if (authority !== undefined) others.set(authority, [...(others.get(authority) ?? []), uri]);
    }
  }
  for (const some of others.values()) counts.set(commonFolder(some), some.length);
  const saved = [...counts].map(([base, count]) => ({ base, characters: base.length * count }));
  saved.sort((left, right) => right.characters - left.characters || (left.base < right.base ? -1 : 1));
  return saved[0]?.base;
}

function commonFolder(uris: readonly string[]): string {
  const folders = uris.map((uri) => {
    const path = uri.split(/[?#]/, 1)[0]!;
    return path.slice(0, path.lastIndexOf("/") + 1);
  });
  return folders.reduce((common, folder) => {
    let length = 0;
    while (length < common.length && common[length] === folder[length]) length += 1;
    return common.slice(0, common.lastIndexOf("/", length - 1) + 1);
  });
}
