/** Finds positions where a text can be cut without splitting a character. */

/** This position, or the nearest one before it (not before `least`) where a character begins, with its marks. */
export function wholeCharacterAt(text: string, at: number, least = 0): number {
  let cut = at;
  while (cut > least && at - cut < longest && joins(text, cut)) cut -= 1;
  // A very long sequence of marks is cut somewhere, but never within a code point.
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

/** True between two code units that belong together: a surrogate pair, or CR LF. */
function isPair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  return (
    (before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff) || (before === 0x0d && after === 0x0a)
  );
}

const zeroWidthJoiner = 0x200d;
