/** Plain text search in memory. */
import type { Call } from "../../resources.ts";
import type { Entry, Part, SourceHit } from "../../source.ts";

export interface Searchable {
  readonly entry: Entry;
  /** Empty if `read` makes them. */
  readonly parts: readonly Part[];
  readonly read?: (call: Call) => readonly Part[] | Promise<readonly Part[]>;
  /** The normalized text; created on first use. */
  folded?: string;
}

const snippetLength = 240;

/** Normalizes a text for comparison: ignores case, width and composition of letters. Keeps lines. */
export function foldForSearch(text: string): string {
  // Through upper case, so that ß equals ss and ſ equals s.
  return text.normalize("NFKC").toUpperCase().toLowerCase().replaceAll("ς", "σ").normalize("NFKC");
}

export function searchIn(found: Searchable, wanted: string): SourceHit | undefined {
  const body = found.parts[0]?.body;
  if (body === undefined || !("text" in body)) return undefined;
  const folded = (found.folded ??= foldForSearch(body.text));
  const first = folded.indexOf(wanted);
  if (first < 0) return undefined;
  let count = 0;
  for (let at = first; at >= 0 && count < 100; at = folded.indexOf(wanted, at + wanted.length)) count += 1;
  let line = 1;
  for (let at = folded.indexOf("\n"); at >= 0 && at < first; at = folded.indexOf("\n", at + 1)) line += 1;
  const whole = body.text.split("\n", line)[line - 1] ?? "";
  const column = first - (folded.lastIndexOf("\n", first - 1) + 1);
  const start = whole.length <= snippetLength ? 0 : Math.max(0, column - snippetLength / 2);
  const snippet = whole
    .slice(start, start + snippetLength)
    .toWellFormed()
    .trim();
  return { entry: found.entry, score: count / (count + 1), snippet, lines: [line, line] };
}
