/** The database's own full-text search, in the configured tables and columns. */
import { randomBytes } from "node:crypto";
import { invalid, quote } from "../../errors.ts";
import { requiredWordsOf } from "../../search/query-match.ts";
import type { SourceHit } from "../../source.ts";
import type { TableRef } from "../../backends/sql/allow-list.ts";
import { formatKey } from "../../backends/sql/rows.ts";
import { fullName } from "../../backends/sql/description.ts";
import { quoteIdentifier } from "../../backends/sql/segments.ts";
import type { PostgresQuery, PostgresRow } from "./connection.ts";
import { postgresPath } from "./addresses.ts";
import { relationOf, type Shape } from "./rows.ts";

interface SearchedTable {
  /** `table`, in `public`, or `schema.table`. */
  readonly table: string;
  readonly columns: readonly string[];
  /** The text search configuration: english, simple, … */
  readonly config: string;
}

const maxHits = 1000;
const maxSnippet = 600;

interface MatchMarks {
  readonly start: string;
  readonly end: string;
}

/** Random, so that no text contains them. */
export function createMatchMarks(): MatchMarks {
  const word = randomBytes(9).toString("hex");
  return { start: `<${word}:`, end: `:${word}>` };
}

/** The vector is written like the expression of an index, so that one can be used. */
export function searchQuery(
  searched: SearchedTable,
  shape: Shape,
  { text, limit, marks }: { readonly text: string; readonly limit: number; readonly marks: MatchMarks },
): PostgresQuery {
  const { schema, table, columns, key } = shape;
  const known = searched.columns.filter((name) => columns.some((column) => column.name === name));
  if (known.length < searched.columns.length || key === undefined)
    throw invalid(
      `"fullText" names a column that ${quote(fullName({ schema, table }))} does not have, or that may not be read`,
    );
  const words = known.map((name) => `coalesce(${quoteIdentifier(name)}::text, '')`).join(" || ' ' || ");
  const keys = key.map(({ expression }) => expression);
  return {
    text: `
      SELECT key, score, left(ts_headline($1::text::regconfig, left(words, 100000), query, $3), ${maxSnippet}) AS snippet,
        (SELECT bool_and(numnode(plainto_tsquery($1::text::regconfig, word)) > 0) FROM unnest($4::text[]) word) AS "hasAll"
      FROM (
        SELECT ARRAY[${keys.map((each) => `${each}::text`).join(", ")}] AS key, ${words} AS words, query,
          ts_rank_cd(to_tsvector($1::text::regconfig, ${words}), query, 32) AS score
        FROM ${relationOf(shape)}, websearch_to_tsquery($1::text::regconfig, $2) query
        WHERE to_tsvector($1::text::regconfig, ${words}) @@ query
        ORDER BY score DESC, ${keys.join(", ")} LIMIT ${Math.min(maxHits, Math.max(1, limit))}) best
      ORDER BY score DESC, key`,
    values: [
      searched.config,
      text,
      `StartSel="${marks.start}", StopSel="${marks.end}", MaxWords=40, MinWords=15, MaxFragments=0, HighlightAll=false`,
      foundWordsOf(text),
    ],
  };
}

/**
 * The words that each row of the result contains, except those that the configuration ignores. None if the database understands the
 * text as something other than words and phrases that must all occur, or understands it in another way than the rest of the search.
 */
function foundWordsOf(text: string): readonly string[] {
  const isOther = /\bor\b|(?<![\p{L}\p{N}_])-|[“„＂－]/iu.test(text) || text.split('"').length % 2 === 0;
  return isOther ? [] : (requiredWordsOf(text) ?? []);
}

export function toHit(row: PostgresRow, { schema, table }: TableRef, marks: MatchMarks): SourceHit {
  const { key, score, snippet, hasAll } = row as {
    readonly key: readonly string[];
    readonly score: number;
    readonly snippet: string;
    /** Null if nothing is known of the words. */
    readonly hasAll: boolean | null;
  };
  const written = formatKey(key);
  return {
    entry: {
      path: postgresPath({ kind: "rows", schema, name: table }),
      query: { key: written },
      name: `${fullName({ schema, table })} ${key.join(", ").slice(0, 100)}`,
      mimeType: "application/json",
    },
    score,
    ...unmark(snippet, marks),
    // The snippet may be too short for all words.
    ...(hasAll && { isMatch: true }),
  };
}

/** The text without its marks, and their positions. */
function unmark(marked: string, { start, end }: MatchMarks): Pick<SourceHit, "snippet" | "marks"> {
  const marks: [number, number][] = [];
  let snippet = "";
  let at = 0;
  for (;;) {
    const opens = marked.indexOf(start, at);
    if (opens < 0) break;
    const from = opens + start.length;
    const closes = marked.indexOf(end, from);
    snippet += marked.slice(at, opens);
    const word = marked.slice(from, closes < 0 ? undefined : closes);
    marks.push([snippet.length, snippet.length + word.length]);
    snippet += word;
    at = closes < 0 ? marked.length : closes + end.length;
  }
  return { snippet: snippet + marked.slice(at), marks };
}
