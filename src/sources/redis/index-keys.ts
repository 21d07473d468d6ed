/** Finds keys by their prefix, in time that does not depend on how many parts the keys have. */

/** Returns a function that finds a key with this prefix for which `isServed` is true. */
export function indexKeys(
  keys: readonly Buffer[],
  isServed: (key: Buffer) => boolean,
): (prefix: Buffer) => Buffer | undefined {
  // In the order of their bytes, keys with the same prefix follow one another.
  const sorted = keys.map((key) => key.toString("latin1")).sort();
  const served = new Map<string, boolean>();
  return (prefix) => {
    const start = prefix.toString("latin1");
    for (let at = lowerBound(sorted, start); at < sorted.length; at += 1) {
      const text = sorted[at]!;
      if (!text.startsWith(start)) break;
      const key = Buffer.from(text, "latin1");
      const mayBeSeen = served.get(text) ?? isServed(key);
      served.set(text, mayBeSeen);
      if (mayBeSeen) return key;
    }
    return undefined;
  };
}

/** The first index whose text does not come before this one. */
function lowerBound(sorted: readonly string[], text: string): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (sorted[middle]! < text) from = middle + 1;
    else to = middle;
  }
  return from;
}
