/** How many terminal cells a text takes, to align columns in any script. */

/**
 * First and last of two-cell ranges: wide and fullwidth in Unicode 17's East Asian Width, including emoji. A range may include zero-width
 * or unassigned code points.
 */
const wide: readonly number[] = [
  0x1100, 0x115f, 0x231a, 0x231b, 0x2329, 0x232a, 0x23e9, 0x23ec, 0x23f0, 0x23f0, 0x23f3, 0x23f3, 0x25fd, 0x25fe,
  0x2614, 0x2615, 0x2630, 0x2637, 0x2648, 0x2653, 0x267f, 0x267f, 0x268a, 0x268f, 0x2693, 0x2693, 0x26a1, 0x26a1,
  0x26aa, 0x26ab, 0x26bd, 0x26be, 0x26c4, 0x26c5, 0x26ce, 0x26ce, 0x26d4, 0x26d4, 0x26ea, 0x26ea, 0x26f2, 0x26f3,
  0x26f5, 0x26f5, 0x26fa, 0x26fa, 0x26fd, 0x26fd, 0x2705, 0x2705, 0x270a, 0x270b, 0x2728, 0x2728, 0x274c, 0x274c,
  0x274e, 0x274e, 0x2753, 0x2755, 0x2757, 0x2757, 0x2795, 0x2797, 0x27b0, 0x27b0, 0x27bf, 0x27bf, 0x2b1b, 0x2b1c,
  0x2b50, 0x2b50, 0x2b55, 0x2b55, 0x2e80, 0x303e, 0x3041, 0x3247, 0x3250, 0xa4c6, 0xa960, 0xa97c, 0xac00, 0xd7a3,
  0xf900, 0xfaff, 0xfe10, 0xfe6b, 0xff01, 0xff60, 0xffe0, 0xffe6, 0x16fe0, 0x1b2fb, 0x1d300, 0x1d376, 0x1f004, 0x1f004,
  0x1f0cf, 0x1f0cf, 0x1f18e, 0x1f18e, 0x1f191, 0x1f19a, 0x1f1e6, 0x1f320, 0x1f32d, 0x1f335, 0x1f337, 0x1f37c, 0x1f37e,
  0x1f393, 0x1f3a0, 0x1f3ca, 0x1f3cf, 0x1f3d3, 0x1f3e0, 0x1f3f0, 0x1f3f4, 0x1f3f4, 0x1f3f8, 0x1f43e, 0x1f440, 0x1f440,
  0x1f442, 0x1f4fc, 0x1f4ff, 0x1f53d, 0x1f54b, 0x1f54e, 0x1f550, 0x1f567, 0x1f57a, 0x1f57a, 0x1f595, 0x1f596, 0x1f5a4,
  0x1f5a4, 0x1f5fb, 0x1f64f, 0x1f680, 0x1f6c5, 0x1f6cc, 0x1f6cc, 0x1f6d0, 0x1f6d2, 0x1f6d5, 0x1f6df, 0x1f6eb, 0x1f6ec,
  0x1f6f4, 0x1f6fc, 0x1f7e0, 0x1f7f0, 0x1f90c, 0x1f93a, 0x1f93c, 0x1f945, 0x1f947, 0x1f9ff, 0x1fa70, 0x1faf8, 0x20000,
  0x3fffd,
];

const isPlain = /^[ -~]*$/;
/** Zero-width within a cluster: marks, joiners, variation selectors, and the later parts of a Hangul syllable. */
const takesNone = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}\p{Cs}\u1160-\u11ff\ud7b0-\ud7fb]$/u;
/** Combines several code points into one picture. */
const joinsPictures = /\u200d|\u20e3|\ufe0f|\p{Regional_Indicator}|\p{Emoji_Modifier}/u;
const isPicture = /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3/u;

let graphemes: Intl.Segmenter | undefined;

/** Ambiguous characters count as one cell, control characters as none: they must not be shown. */
export function displayWidth(text: string): number {
  if (isPlain.test(text)) return text.length;
  if (!joinsPictures.test(text)) return sumOf(text);
  graphemes ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  let width = 0;
  for (const { segment } of graphemes.segment(text))
    width += joinsPictures.test(segment) && isPicture.test(segment) ? 2 : sumOf(segment);
  return width;
}

/** Pads the text with spaces to this width. */
export function padToWidth(text: string, width: number, side: "before" | "behind" = "behind"): string {
  const spaces = " ".repeat(Math.max(0, width - displayWidth(text)));
  return side === "behind" ? text + spaces : spaces + text;
}

/** The text, or as much of its beginning as fits before an ellipsis. */
export function cutToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  graphemes ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  let stored = "";
  let room = width - 1;
  for (const { segment } of graphemes.segment(text)) {
    room -= displayWidth(segment);
    if (room < 0) break;
    stored += segment;
  }
  return width < 1 ? "" : `${stored}…`;
}

function sumOf(text: string): number {
  let width = 0;
  for (const character of text) {
    const code = character.codePointAt(0)!;
    if (code >= 0x20 && code < 0x7f) width += 1;
    else if (!takesNone.test(character)) width += isWide(code) ? 2 : 1;
  }
  return width;
}

function isWide(code: number): boolean {
  if (code < 0x1100) return false;
  let low = 0;
  let high = wide.length / 2 - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (code < wide[middle * 2]!) high = middle - 1;
    else if (code > wide[middle * 2 + 1]!) low = middle + 1;
    else return true;
  }
  return false;
}
