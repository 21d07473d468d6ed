/** Decides whether a hit matches a query by what is shown of it. The index decides by the same definition with all of the text. */
import { ResourceError } from "../errors.ts";
import { definedNames } from "./defined-names.ts";
import { textFormatOf } from "./format.ts";
import { hasPhrase, hasWord } from "./matches.ts";
import { nameKey, parseQuery, type ParsedQuery } from "./query.ts";

/** How well a hit fits: it is similar, it contains every content word, or the query is its name or a name that it defines. */
export const similar = 0;
export const matching = 1;
export const named = 2;
export type Tier = typeof similar | typeof matching | typeof named;

/** The texts of a hit, as far as they are known. */
interface HitTexts {
  readonly path: string;
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly snippet?: string | undefined;
  readonly mimeType?: string | undefined;
}

/** Returns a function for the tier of a hit. */
export function createQueryMatcher(text: string, typing = false) {
  const query = parsed(text, typing);
  return (hit: HitTexts): Tier => {
    const { path, name = "", title = "", description = "", snippet = "", mimeType } = hit;
    const texts = [name, title, path, description, snippet].filter((each) => each !== "");
    // Only the index is known to apply filters.
    if (!query?.content || query.isFiltered) return similar;
    if (!query.content.every((word) => texts.some((each) => hasWord(each, word)))) return similar;
    if (query.nots.some((phrase) => texts.some((each) => hasPhrase(each, phrase)))) return similar;
    const { whole } = query;
    if (whole === undefined) return matching;
    const isDefined = (): boolean =>
      definedNames(snippet, textFormatOf(path, mimeType)).some((defined) => nameKey(defined) === whole);
    return isNamed(whole, hit) || isDefined() ? named : matching;
  };
}

/** True if the query is the name, the title, the path or the end of the path. The extension may be left out. */
export function isNamed(whole: string, { path, name, title }: Pick<HitTexts, "path" | "name" | "title">): boolean {
  const address = `/${nameKey(path)}`;
  return (
    (name !== undefined && nameKey(name) === whole) ||
    (title !== undefined && nameKey(title) === whole) ||
    address.endsWith(whole.startsWith("/") ? whole : `/${whole}`) ||
    address.slice(address.lastIndexOf("/") + 1).replace(/\.[^.]*$/u, "") === whole
  );
}

/** The words and phrases that each match contains. Undefined if the query says more than that, or cannot be understood. */
export function requiredWordsOf(text: string): readonly string[] | undefined {
  const query = parsed(text, false);
  if (!query?.content || query.isFiltered || query.nots.length > 0) return undefined;
  return query.content.map(({ phrase }) => phrase.map(({ surface }) => surface).join(" "));
}

/** A line, and maybe a column, after a path. */
export const lineSuffix = /(?::\d{1,9}){1,2}:?$/u;

/** Returns a function that says whether the query is the path of a hit, or the end of its path, with a line. */
export function createLocationMatcher(text: string) {
  const typed = text.trim();
  const path = lineSuffix.test(typed) ? nameKey(typed.replace(lineSuffix, "")) : "";
  return (hit: Pick<HitTexts, "path">): boolean => /[./]/u.test(path) && isNamed(path, { path: hit.path });
}

/** The first hits. If none of them matches, the best match takes the last place. */
export function firstWithMatch<T extends { readonly isMatch?: boolean | undefined }>(
  hits: readonly T[],
  limit: number,
): T[] {
  const first = hits.slice(0, limit);
  const match = hits.find(({ isMatch }) => isMatch);
  return match === undefined || first.includes(match) ? first : [...first.slice(0, -1), match];
}

/** Undefined if the query is invalid: each searcher has its own rules. */
function parsed(text: string, typing: boolean): ParsedQuery | undefined {
  try {
    return parseQuery(text, { typing });
  } catch (cause) {
    if (cause instanceof ResourceError && cause.kind === "invalid") return undefined;
    throw cause;
  }
}
