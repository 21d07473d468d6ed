/** Names of a database as segments of a path, and back: every name has one spelling, and no name is taken for another thing. */

/** What stands in the place of a name and is none, by the source. */
export interface NameSegments {
  format(name: string): string;
  /** Undefined for what no name is spelled as. */
  parse(segment: string): string | undefined;
}

/**
 * A name stands as it is. One that is reserved, that no path can hold, or that begins with a quotation mark stands in quotation marks,
 * as SQL writes it.
 */
export function createNameSegments(reserved: readonly string[]): NameSegments {
  const taken = new Set(["", ".", "..", ...reserved]);
  const isQuoted = (name: string) => taken.has(name) || name.startsWith('"');
  return {
    format: (name) => (isQuoted(name) ? quoteIdentifier(name) : name),
    parse(segment) {
      if (!isSpeakable(segment)) return undefined;
      if (!segment.startsWith('"')) return taken.has(segment) ? undefined : segment;
      const name = unquote(segment);
      return name !== undefined && isQuoted(name) ? name : undefined;
    },
  };
}

/** An identifier as both SQL dialects take it, whatever it holds. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** An identifier as a person would write it: in quotation marks only where it needs them. */
export function plainIdentifier(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : quoteIdentifier(name);
}

function unquote(segment: string): string | undefined {
  if (segment.length < 2 || !segment.endsWith('"')) return undefined;
  const inner = segment.slice(1, -1);
  // Quotation marks inside stand twice.
  return inner.replaceAll('""', "").includes('"') ? undefined : inner.replaceAll('""', '"');
}

/** Whether a name came out of the database as it is in there: one in another encoding does not, and could not be asked for. */
export function isSpeakable(name: string): boolean {
  return name !== "" && !name.includes("\ufffd") && !name.includes("\0") && name.isWellFormed();
}

/** By code points, as both databases compare bytes of UTF-8. */
export function compareNames(left: string, right: string): number {
  const shorter = Math.min(left.length, right.length);
  for (let at = 0; at < shorter; at += 1) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a === b) continue;
    // A surrogate stands for a character behind all others.
    return rank(a) - rank(b);
  }
  return left.length - right.length;
}

function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
