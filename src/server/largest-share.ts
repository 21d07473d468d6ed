/** Finds who uses most of a bounded list, so that nobody displaces the entries of others. */

/** The entries of the owner with the largest total size, in their order. Empty if there are no entries. */
export function largestShare<T>(
  entries: Iterable<T>,
  ownerOf: (entry: T) => string,
  sizeOf: (entry: T) => number = () => 1,
): readonly T[] {
  const totalOf = (share: readonly T[]) => share.reduce((sum, entry) => sum + sizeOf(entry), 0);
  const shares = [...Map.groupBy(entries, ownerOf).values()].map((share) => ({ share, total: totalOf(share) }));
  return shares.reduce<(typeof shares)[number]>((most, each) => (each.total > most.total ? each : most), {
    share: [],
    total: 0,
  }).share;
}
