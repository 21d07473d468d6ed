/** Looks up the terms of a query in the shared index: themselves, those with a prefix, and those that differ by a typing error. */
import { editDistance } from "../../lib/nearest.ts";
import { maxTermBytes, readTerm, writeTerm } from "../bytes.ts";
import { fields } from "../lists.ts";
import type { SharedSql } from "../../state/database.ts";
import { byteaArray, readInts } from "./binary.ts";
import { hasField } from "./elements.ts";
import type { ElementCount, VisibleMounts } from "./visible-mounts.ts";

export interface DictionaryTerm {
  readonly id: number;
  readonly term: string;
  /** Visible occurrences. */
  readonly counts: readonly ElementCount[];
  /** Number of visible passages by field; of documents for title and path. */
  readonly byField: readonly number[];
}

interface TermRow {
  readonly id: number;
  readonly term: Uint8Array;
  /** Mounts, elements and counts, packed. */
  readonly found: Uint8Array | null;
}

const found = `(select string_agg(int4send(f.mount) || int4send(f.element) || int4send(f.passages), '')
  from search_frequencies f where f.element between t.id << 8 and (t.id << 8) | 255) as found`;

/** A short prefix matches too much. */
const maxPrefixTerms = 10_000;
/** Terms with the same first letter that are compared with a misspelt one. */
const maxCompared = 200_000;
/** As in the lookup of terms. */
const maxErrors = 2;

export type TermDictionary = ReturnType<typeof createDictionary>;

/** Terms may be looked up before it is known what is visible. */
export function createDictionary(sql: SharedSql, visible: Promise<VisibleMounts>) {
  const known = new Map<string, DictionaryTerm>();

  async function addTerms(rows: readonly TermRow[]): Promise<void> {
    const all = rows.flatMap(({ found: packed }) => (packed ? unpack(packed) : []));
    const counts = new Map<number, ElementCount[]>();
    for (const one of await (await visible).count(all)) {
      const id = one.element >>> 8;
      const own = counts.get(id);
      if (own) own.push(one);
      else counts.set(id, [one]);
    }
    for (const { id, term } of rows) {
      const own = counts.get(id);
      if (!own) continue;
      const text = readTerm(term, 0, term.length);
      const byField = fields.map((_, field) =>
        own.reduce((sum, { element, passages }) => sum + (hasField(element, 1 << field) ? passages : 0), 0),
      );
      known.set(text, { id, term: text, counts: own, byField });
    }
  }

  return {
    /** Those that occur in visible documents. */
    known: known as ReadonlyMap<string, DictionaryTerm>,
    async find(terms: readonly string[]): Promise<void> {
      const wanted = [...new Set(terms)];
      if (wanted.length === 0) return;
      await addTerms(
        await sql.query<TermRow>(
          `select t.id, t.term, ${found} from unnest($1::bytea[]) wanted (term) join search_terms t on t.term = wanted.term`,
          [byteaArray(wanted.map(toBytes))],
        ),
      );
    },
    async findBeginning(beginning: string): Promise<void> {
      const [from, to] = rangeOf(beginning);
      await addTerms(
        await sql.query<TermRow>(
          `select t.id, t.term, ${found} from search_terms t where t.term >= $1 and t.term < $2 order by t.term limit ${maxPrefixTerms}`,
          [from, to],
        ),
      );
    },
    /** Terms with the same first letter that differ by few letters. */
    async findNear(term: string): Promise<void> {
      const [from, to] = rangeOf(term.slice(0, 1));
      const { length } = toBytes(term);
      const [row] = await sql.query<{ terms: Uint8Array | null }>(
        // No term contains the byte that separates them.
        `select string_agg(term, '\\xff') as terms from (
           select t.term from search_terms t where t.term >= $1 and t.term < $2 and length(t.term) between $3 and $4
           order by t.term limit ${maxCompared}) t`,
        [from, to, length - 3 * maxErrors, length + 3 * maxErrors],
      );
      const near: string[] = [];
      const bytes = row?.terms ?? new Uint8Array();
      for (let at = 0; at < bytes.length;) {
        const next = bytes.indexOf(0xff, at);
        const end = next === -1 ? bytes.length : next;
        const other = readTerm(bytes, at, end);
        if (Math.abs(other.length - term.length) <= maxErrors && editDistance(term, other) <= maxErrors)
          near.push(other);
        at = end + 1;
      }
      await this.find(near);
    },
  };
}

function unpack(packed: Uint8Array): ElementCount[] {
  const numbers = readInts(packed);
  const counts: ElementCount[] = [];
  for (let at = 0; at < numbers.length; at += 3)
    counts.push({ mount: numbers[at]!, element: numbers[at + 1]!, passages: numbers[at + 2]! });
  return counts;
}

function toBytes(term: string): Uint8Array {
  const bytes = new Uint8Array(Math.max(maxTermBytes, term.length * 3));
  return bytes.slice(0, writeTerm(term, bytes));
}

/** Terms with this prefix: no byte of a term is 255. */
function rangeOf(beginning: string): readonly [from: Uint8Array, to: Uint8Array] {
  const from = toBytes(beginning);
  return [from, Uint8Array.of(...from, 0xff)];
}
