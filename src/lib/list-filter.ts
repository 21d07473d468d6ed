/** Filters of lists by name and URI. https://github.com/modelcontextprotocol/modelcontextprotocol/pull/2564 */
import { createGlobUnion } from "./glob.ts";

/** In a pattern, `*` is any number of characters and `?` is one; everything else is literal, and case matters. */
export interface ListFilter {
  /** One of them must match the whole name. None is no condition. */
  readonly namePatterns?: readonly string[];
  /** One of them must match the whole URI, or the template of URIs. None is no condition. */
  readonly uriPatterns?: readonly string[];
}

/** Takes time proportional to name and URI; in the worst case, times the length of the patterns. */
export function createListFilter({
  namePatterns = [],
  uriPatterns = [],
}: ListFilter): (name: string, uri: string) => boolean {
  const hasName = createMatch(namePatterns);
  const hasUri = createMatch(uriPatterns);
  return (name, uri) => hasName(name) && hasUri(uri);
}

/** Equal for filters that select the same in the same words. */
export function filterKey({ namePatterns = [], uriPatterns = [] }: ListFilter = {}): string {
  return namePatterns.length + uriPatterns.length === 0 ? "" : JSON.stringify([namePatterns, uriPatterns]);
}

function createMatch(patterns: readonly string[]): (text: string) => boolean {
  if (patterns.length === 0) return () => true;
  const { matches } = createGlobUnion(patterns.map((pattern) => flat(pattern).replaceAll(/[\\[\]{},]/g, "\\$&")));
  return (text) => matches(flat(text));
}

/** For path patterns a slash separates segments; here it is a character like any other. No name or URI contains NUL. */
function flat(text: string): string {
  return text.replaceAll("/", "\0");
}
