/**
 * A URI as people read it: percent-encoded characters are decoded where they are visible and have no other meaning. The result is an
 * IRI (RFC 3987) of the same resource, so it can be read again.
 */

/** Stays encoded wherever it occurs: what frames a text, and what a reader does not see or takes for something else. */
const unsafe = String.raw`[\\<>"\u0060\u2800\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}`;
const literalUnsafe = new RegExp(unsafe, "gu");
/** A decoded character with a meaning in a URI would change it. */
const decodedUnsafe = new RegExp(`${unsafe}|[%?#/]`, "gu");
/** Spaces that a reader does not notice, and heaps of accents that paint over other lines. */
const heaped = /^ | {2,}| $|\p{M}{3,}/gu;

export function visibleUri(uri: string): string {
  return uri
    .toWellFormed()
    .split(/((?:%[0-9a-f]{2})+)/i)
    .map((piece, at) => (at % 2 === 0 ? piece.replaceAll(literalUnsafe, encodeURIComponent) : decodeRun(piece)))
    .join("")
    .replaceAll(heaped, encodeURIComponent);
}

function decodeRun(run: string): string {
  try {
    return decodeURIComponent(run).replaceAll(decodedUnsafe, encodeURIComponent);
  } catch {
    return run;
  }
}

/** With every character encoded that a URI cannot contain. */
export function encodedUri(uri: string): string {
  return uri.replaceAll(/[^\u0021-\u007e]|[<>"`\\^{|}]/gu, (character) => encodeURIComponent(character.toWellFormed()));
}
