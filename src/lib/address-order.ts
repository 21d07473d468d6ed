/** The order of addresses in every list. */

/**
 * Compares two paths segment by segment, each by UTF-16 code units, so that a directory comes directly before its content: `a`, `a/b`,
 * `a-b`.
 */
export function compareAddresses(left: string, right: string): number {
  const shorter = Math.min(left.length, right.length);
  for (let at = 0; at < shorter; at += 1) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a === b) continue;
    // A slash ends a segment, and a shorter segment comes first.
    if (a === slash) return -1;
    if (b === slash) return 1;
    return a - b;
  }
  return left.length - right.length;
}

const slash = 0x2f;

/** By code points, the order of UTF-8 bytes: that of databases and object stores. */
export function compareCodePoints(left: string, right: string): number {
  const shorter = Math.min(left.length, right.length);
  for (let at = 0; at < shorter; at += 1) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a !== b) return rank(a) - rank(b);
  }
  return left.length - right.length;
}

/** Surrogates stand for the highest code points, but as code units they are below U+E000 to U+FFFF. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
