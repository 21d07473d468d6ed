/** Recognizes resources that a list without order repeats, in bounded memory. */
const maxRemembered = 200_000;

/** Returns a function that tells whether it was called with an item of this URI before. URIs after the first 200,000 are not remembered. */
export function createRepeatFilter(max = maxRemembered): (item: unknown) => boolean {
  const seen = new Set<string>();
  return (item) => {
    const { uri } = (item ?? {}) as { readonly uri?: unknown };
    if (typeof uri !== "string") return false;
    if (seen.has(uri)) return true;
    if (seen.size < max) seen.add(uri);
    return false;
  };
}
