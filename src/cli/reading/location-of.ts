/** The text by which reading commands name a resource to people; they accept it as an argument, too. */
import { readableUri } from "../../lib/readable-uri.ts";
import { plain } from "../print.ts";
import { pathBelowRoot, type ReachRoot } from "./resource-access.ts";
import { urisOfPath } from "./uris-of-path.ts";

/** In front of what looks like a line number. */
const lineColon = /:(?=\d+(?::|$))/g;
/** Matches a path that would be taken for a flag or a URI as an argument. */
const otherMeaning = /^(?:-|[a-z][a-z0-9+.-]*:)/i;

/** The decoded path, if paths lead to one root only; else the readable URI. A name that could mislead is shown in a URI, encoded. */
export function locationOf(roots: readonly ReachRoot[], uri: string): string {
  const root = roots.find(({ base }) => uri.startsWith(base));
  if (!root) return readableUri(uri);
  const isOnly = root.acceptsPaths && roots.every((other) => other === root || !other.acceptsPaths);
  const path = isOnly ? pathBelowRoot(roots, { uri }) : undefined;
  if (path !== undefined && isClear(path) && leadsTo(uri, path, root))
    return otherMeaning.test(path) ? `./${path}` : path;
  const rest = readableUri(uri.slice(root.base.length));
  return readableUri(root.base) + (isOfOtherServer(root) ? rest : rest.replaceAll(lineColon, "%3A"));
}

function isClear(path: string): boolean {
  const names = path.split("/");
  if (names.some((name) => name === "" || name === "." || name === "..")) return false;
  return plain(path) === path && path.trim() === path && path.search(lineColon) < 0;
}

function leadsTo(uri: string, path: string, root: ReachRoot): boolean {
  return !isOfOtherServer(root) || urisOfPath(root.base, path).includes(uri);
}

function isOfOtherServer({ name }: ReachRoot): boolean {
  return name === undefined;
}
