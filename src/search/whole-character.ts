/** Where a text may be cut without taking a character apart. */

/** This place, or the nearest one before it (but not before `least`) where a character begins, with all that joins it. */
export function wholeCharacterAt(text: string, at: number, least = 0): number {
  let cut = at;
  while (cut > least && at - cut < longest && joins(text, cut)) cut -= 1;
  // Marks without end are cut somewhere, but no code point ever is.
  return cut > least && isPair(text, cut) ? cut - 1 : cut;
}

const longest = 32;

function joins(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false;
  return (
    isPair(text, at) ||
    text.charCodeAt(at - 1) === zeroWidthJoiner ||
    text.charCodeAt(at) === zeroWidthJoiner ||
    /^[\p{M}\p{Emoji_Modifier}\uff9e\uff9f]/u.test(text.slice(at, at + 2))
  );
}

/** Two code units that are one sign: a pair of surrogates, the end of a line. */
function isPair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  return (
    (before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff) || (before === 0x0d && after === 0x0a)
  );
}

const zeroWidthJoiner = 0x200d;
