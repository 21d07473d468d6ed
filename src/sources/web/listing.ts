/** The pages that are listed, and how one list differs from the next. */
import type { Entry, SourceChange } from "../../source.ts";
import { addressOf, keyOf, nameOf, parsePageUrl } from "./page-address.ts";
import type { Listed } from "./sites.ts";
import type { WebOptions } from "./web-options.ts";

/** Whether a listed page is below this path. */
export function isAbove(path: string, listed: ReadonlyMap<string, Listed>): boolean {
  for (const { entry } of listed.values()) if (entry.path.startsWith(`${path}/`)) return true;
  return false;
}

/** What a list has more and less than the one before. */
export function differences(before: ReadonlyMap<string, Listed>, after: ReadonlyMap<string, Listed>): SourceChange[] {
  const missing = (from: typeof before, other: typeof before) =>
    [...from].flatMap(([key, { entry }]) => (other.has(key) ? [] : [entry]));
  const [appeared, gone] = [missing(after, before), missing(before, after)];
  // A change names only a path, and what is gone takes along what is below it.
  if (
    gone.length > 100 ||
    [...appeared, ...gone].some(({ query }) => query) ||
    gone.some(({ path }) => isAbove(path, after))
  )
    return [{ kind: "lost" }];
  return [
    ...gone.map(({ path }): SourceChange => ({ kind: "gone", path })),
    ...appeared.map(({ path }): SourceChange => ({ kind: "appeared", path })),
  ];
}

export function listPages({ pages, direct }: Pick<WebOptions, "pages" | "direct">): readonly Listed[] {
  const listed = pages.map((page) => {
    const { url: given, ...about } = typeof page === "string" ? { url: page } : page;
    const { title, description, priority, audience }: Partial<Exclude<typeof page, string>> = about;
    const url = parsePageUrl(given, { direct });
    const entry: Entry = {
      ...addressOf(url),
      name: nameOf(url),
      title,
      description,
      ...((priority !== undefined || audience !== undefined) && { annotations: { priority, audience } }),
    };
    return { url, entry };
  });
  return [...new Map(listed.map((each) => [keyOf(each.entry), each])).values()];
}
