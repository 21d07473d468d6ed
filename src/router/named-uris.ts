/** The URIs that a query may mean: it may be a URI, an absolute path or a path in a mount, as results show them, also with a line. */
import { encodePath } from "../lib/encode-path.ts";
import { encodeReadableUri } from "../lib/readable-uri.ts";
import { lineSuffix } from "../search/query-match.ts";
import type { RoutedMount, Routes } from "./route.ts";

const maxLength = 4096;

export function namedUris(text: string, mounts: readonly RoutedMount[], routes: Routes): readonly string[] {
  const typed = text.trim();
  // Other names are found by their words.
  if (typed.length > maxLength || !/[/.:]/u.test(typed)) return [];
  const uris = [typed, typed.replace(lineSuffix, "")].flatMap((location) => {
    if (location.startsWith("/")) return [`file://${encodePath(location)}`];
    const path = location.replace(/^\.\//u, "");
    return [encodeReadableUri(location), ...mounts.map((mount) => routes.format(mount, { path }))];
  });
  return [...new Set(uris.filter((uri) => uri !== undefined))];
}
