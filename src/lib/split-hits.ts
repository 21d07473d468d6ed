/** Search results are shown in two parts: matches, then what is only similar. A hit without a claim counts as a match. */
export function splitHits<H extends { readonly isMatch?: boolean }>(
  hits: readonly H[],
): { readonly matches: readonly H[]; readonly similar: readonly H[] } {
  return {
    matches: hits.filter(({ isMatch }) => isMatch !== false),
    similar: hits.filter(({ isMatch }) => isMatch === false),
  };
}
