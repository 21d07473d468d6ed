/** The names in a watched folder and, if it is polled, a signature for each. Compressed while nothing changes there. */

/** A plain record, because there are many thousands of them. */
export interface WatchedNames {
  /**
   * The names in order, each as a code for the length of the prefix shared with the previous name, the rest, and a slash; empty while
   * uncompressed.
   */
  text: string;
  /** The signatures in the same order; absent if there are none. */
  seen: Float64Array | undefined;
  /** The names and signatures while uncompressed. */
  unfolded: Map<string, number> | undefined;
}

export function createWatchedNames(): WatchedNames {
  return { text: "", seen: undefined, unfolded: undefined };
}

/** Stores names in an empty record without decompressing it. */
export function fillNames(names: WatchedNames, all: Iterable<string>): void {
  names.text = shorten([...all].sort());
}

export function isEmpty({ text, unfolded }: WatchedNames): boolean {
  return text === "" && (unfolded?.size ?? 0) === 0;
}

export function hasName(names: WatchedNames, name: string): boolean {
  return unfold(names).has(name);
}

/** The signature stored with the name; 0 if there is none. */
export function seenOf(names: WatchedNames, name: string): number {
  return unfold(names).get(name) ?? 0;
}

export function addName(names: WatchedNames, name: string, seen = 0): void {
  unfold(names).set(name, seen);
}

export function deleteName(names: WatchedNames, name: string): void {
  unfold(names).delete(name);
}

export function listNames({ unfolded, text }: WatchedNames): readonly string[] {
  return unfolded ? [...unfolded.keys()] : lengthen(text);
}

/** Compresses the names; the next access decompresses them. */
export function foldNames(names: WatchedNames): void {
  const { unfolded } = names;
  if (!unfolded) return;
  const sorted = [...unfolded.keys()].sort();
  const seen = Float64Array.from(sorted, (name) => unfolded.get(name) ?? 0);
  names.seen = seen.some((each) => each !== 0) ? seen : undefined;
  names.text = shorten(sorted);
  names.unfolded = undefined;
}

function unfold(names: WatchedNames): Map<string, number> {
  if (names.unfolded) return names.unfolded;
  const unfolded = new Map<string, number>();
  for (const [index, name] of lengthen(names.text).entries()) unfolded.set(name, names.seen?.[index] ?? 0);
  names.unfolded = unfolded;
  names.text = "";
  names.seen = undefined;
  return unfolded;
}

/** Longest shared prefix that is encoded: it must fit into one byte. */
const maxShared = 255;

function shorten(sorted: readonly string[]): string {
  let before = "";
  const parts: string[] = [];
  for (const name of sorted) {
    let shared = 0;
    while (shared < maxShared && shared < before.length && name.charCodeAt(shared) === before.charCodeAt(shared))
      shared += 1;
    parts.push(String.fromCharCode(shared), name.slice(shared), "/");
    before = name;
  }
  // Joined, not concatenated: a concatenated string would keep all its parts in memory.
  return parts.join("");
}

function lengthen(text: string): string[] {
  const names: string[] = [];
  let before = "";
  for (let at = 0; at < text.length;) {
    const end = text.indexOf("/", at + 1);
    before = before.slice(0, text.charCodeAt(at)) + text.slice(at + 1, end);
    names.push(before);
    at = end + 1;
  }
  return names;
}
