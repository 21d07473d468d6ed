/** The names in a watched folder and, where it is polled, what was seen of each: folded into few bytes while nothing happens there. */

/** A plain record: there is one for each of many thousand folders. */
export interface WatchedNames {
  /**
   * The names in order, each as a sign for how much of the one before it begins with, the rest, and a slash, which no name
   * contains; empty while they are unfolded.
   */
  text: string;
  /** What was seen of each, in the same order; absent where nothing was. */
  seen: Float64Array | undefined;
  /** The same while the names are unfolded. */
  unfolded: Map<string, number> | undefined;
}

export function createWatchedNames(): WatchedNames {
  return { text: "", seen: undefined, unfolded: undefined };
}

/** Puts names where none were, without unfolding any. */
export function fillNames(names: WatchedNames, all: Iterable<string>): void {
  names.text = shorten([...all].sort());
}

export function isEmpty({ text, unfolded }: WatchedNames): boolean {
  return text === "" && (unfolded?.size ?? 0) === 0;
}

export function hasName(names: WatchedNames, name: string): boolean {
  return unfold(names).has(name);
}

/** What was seen when the name was added; 0 where nothing was. */
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

/** Whoever asks for one of the names unfolds them again. */
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

/** More than this of a beginning is not counted: one byte holds it. */
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
  // Joined, and not added up: a sum would keep all its parts.
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
