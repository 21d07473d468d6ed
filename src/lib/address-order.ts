/** The one order of addresses: as every list stands. */

/**
 * Compares two paths segment by segment, each by UTF-16 code units, so that a directory stands directly before what is
 * below it: `a`, `a/b`, `a-b`.
 */
export function compareAddresses(left: string, right: string): number {
  const shorter = Math.min(left.length, right.length);
  for (let at = 0; at < shorter; at += 1) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a === b) continue;
    // The slash ends a segment, and what ends first stands first.
    if (a === slash) return -1;
    if (b === slash) return 1;
    return a - b;
  }
  return left.length - right.length;
}

const slash = 0x2f;
