/** Fuzzy matching of paths: all letters in order; closer together and nearer to the file name scores higher. */

/** Folds width, case and kana, so that different spellings match. */
export function foldPath(text: string): string {
  // oxlint-disable-next-line no-control-regex -- the whole of ASCII is intended
  if (/^[\u0000-\u007f]*$/.test(text)) return text.toLowerCase();
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[\u30a1-\u30f6]/g, (kana) => String.fromCharCode(kana.charCodeAt(0) - 0x60));
}

interface Fit {
  readonly score: number;
  /** Position of each letter in the folded path. */
  readonly at: readonly number[];
}

/** Both arguments must be folded. Undefined if they do not match. */
export function fuzzyFit(letters: string, path: string): Fit | undefined {
  if (letters === "") return { score: 0, at: [] };
  const name = path.lastIndexOf("/") + 1;
  // As one substring, if possible in the file name.
  const whole = path.lastIndexOf(letters);
  const at = whole >= 0 ? run(whole, letters.length) : scattered(letters, path);
  if (!at) return undefined;
  let score = -path.length * 0.05;
  for (const [index, place] of at.entries()) {
    const before = at[index - 1];
    score += 16;
    if (before === place - 1) score += 12;
    else if (before !== undefined) score -= Math.min(12, place - before - 1);
    if (place === 0 || isBreak(path.charCodeAt(place - 1))) score += 8;
    if (place >= name) score += 4;
  }
  if (at[0] === name) score += 12;
  return { score, at };
}

function run(from: number, length: number): number[] {
  return Array.from({ length }, (_, index) => from + index);
}

/** Matches from the end, so that letters match in the file name rather than in folders. */
function scattered(letters: string, path: string): number[] | undefined {
  const at: number[] = [];
  let place = path.length;
  for (let index = letters.length - 1; index >= 0; index -= 1) {
    place = place === 0 ? -1 : path.lastIndexOf(letters[index]!, place - 1);
    if (place < 0) return undefined;
    at[index] = place;
  }
  // Then forwards from the first match, to get the shortest span.
  let next = at[0]!;
  for (let index = 0; index < letters.length; index += 1) {
    next = path.indexOf(letters[index]!, next);
    at[index] = next;
    next += 1;
  }
  return at;
}

function isBreak(unit: number): boolean {
  return unit === 0x2f || unit === 0x2e || unit === 0x2d || unit === 0x5f || unit === 0x20 || unit === 0x3a;
}
