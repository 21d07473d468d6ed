/** Database names as path segments, and back: each name has one form, and no two names share one. */

/** Maps names to segments; the source chooses the reserved segments. */
interface NameSegments {
  format(name: string): string;
  /** Undefined if the segment is not the form of any name. */
  parse(segment: string): string | undefined;
}

/** A name is its own segment. A name that is reserved, not valid in a path, or starts with a quotation mark is quoted as in SQL. */
export function createNameSegments(reserved: readonly string[]): NameSegments {
  const taken = new Set(["", ".", "..", ...reserved]);
  const isQuoted = (name: string) => taken.has(name) || name.startsWith('"');
  return {
    format: (name) => (isQuoted(name) ? quoteIdentifier(name) : name),
    parse(segment) {
      if (!isRepresentable(segment)) return undefined;
      if (!segment.startsWith('"')) return taken.has(segment) ? undefined : segment;
      const name = unquote(segment);
      return name !== undefined && isQuoted(name) ? name : undefined;
    },
  };
}

/** An identifier in quotation marks, valid in both SQL dialects. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Words that SQLite does not accept as names. PostgreSQL quotes its names itself. */
const keywords = new Set(
  `add all alter and as autoincrement between check collate commit constraint create cross default deferrable delete distinct drop else
   escape except exists foreign from full group having in index inner insert intersect into is isnull join left limit natural not notnull
   null on or order outer primary references returning right select set table then to transaction union unique update using values when
   where`.split(/\s+/),
);

/** An identifier as a person would write it: quoted only if needed. */
export function plainIdentifier(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) && !keywords.has(name) ? name : quoteIdentifier(name);
}

function unquote(segment: string): string | undefined {
  if (segment.length < 2 || !segment.endsWith('"')) return undefined;
  const inner = segment.slice(1, -1);
  // Quotation marks inside are doubled.
  return inner.replaceAll('""', "").includes('"') ? undefined : inner.replaceAll('""', '"');
}

/** Whether a name was decoded without loss: a name in another encoding was not, and could not be requested. */
export function isRepresentable(name: string): boolean {
  return name !== "" && !name.includes("\ufffd") && !name.includes("\0") && name.isWellFormed();
}
