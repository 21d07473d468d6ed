/** Reads passages and documents of the shared index for one query. */
import type { Admitted } from "../admission.ts";
import { boostOf } from "../admission.ts";
import { fromKey } from "../address-key.ts";
import type { Entry } from "../../source.ts";
import type { SharedSql } from "../../state/database.ts";
import type { KeptPassage } from "../texts.ts";
import { base64, fromBase64, intArray, readInts } from "./binary.ts";
import { readContent, readEntry } from "./content.ts";
import { createParameters, type DocumentFilter, type SqlParameters } from "./document-filter.ts";
import type { CandidateSet } from "./plan-candidates.ts";

/** A document as far as a query needs it. */
export interface FetchedDocument extends Omit<Admitted, "id"> {
  readonly path: string;
  readonly entry: Entry;
}

export interface FetchOptions {
  readonly sql: SharedSql;
  readonly mounts: readonly number[];
  readonly filter: DocumentFilter;
  /** Documents with one of these elements are left out. */
  readonly excluded: readonly number[];
}

/** Passages of a longer document are read only if they contain a term of the query. */
const shortDocument = 50;

/**
 * Packed postings of the passages of these sets, at most this many of each set and mount. Each partition is named: with a condition on the mount,
 * the planner may prefer the index of documents to that of elements.
 */
export async function fetchSets(
  { sql, mounts, filter, excluded }: FetchOptions,
  sets: readonly CandidateSet[],
  limit: number,
): Promise<Uint8Array | null> {
  if (sets.length === 0) return null;
  const parameters = createParameters();
  const has = (elements: readonly number[]): string => `p.elements && ${parameters.add(intArray(elements))}::integer[]`;
  const passing = filter.condition("p.document", parameters);
  const others = withoutExcluded(excluded, parameters);
  const wheres = sets.map(({ words }) =>
    [
      ...words.map((ways) => `(${ways.map((way) => `(${way.map(has).join(" and ")})`).join(" or ")})`),
      passing,
      ...others,
    ].join(" and "),
  );
  const parts = mounts.flatMap((mount) =>
    wheres.map((where) => `(select p.postings from search_passages_${mount} p where ${where} limit ${limit})`),
  );
  // Not "union all": many passages are in several sets.
  return queryBytes(
    sql,
    `select ${base64("string_agg(postings, '')")} as bytes from (${parts.join(" union ")}) p`,
    parameters,
  );
}

/** Number of passages that these documents have. */
export async function countPassagesOf({ sql }: FetchOptions, documents: readonly number[]): Promise<number> {
  const [row] = await sql.query<{ passages: number }>(
    "select coalesce(sum(passages), 0)::integer as passages from search_documents where id = any($1::integer[])",
    [intArray(documents)],
  );
  return row!.passages;
}

export interface PassagesOptions {
  /** Maximum number of passages of each mount: those of the first documents. */
  readonly most?: number;
  /** Read only the first passage of a short document too, and those with one of the elements. */
  readonly isFirstEnough?: boolean;
}

/** Packed postings of all passages of these documents; of a long document, only of the first passage and of those with one of the elements. */
export function fetchPassagesOf(
  { sql, mounts }: FetchOptions,
  documents: readonly number[],
  elements: readonly number[],
  { most, isFirstEnough = false }: PassagesOptions = {},
): Promise<Uint8Array | null> {
  const parameters = createParameters();
  const document = parameters.add(intArray(documents));
  const wanted = [
    "p.ordinal = 0",
    ...(isFirstEnough ? [] : [`p.siblings <= ${shortDocument}`]),
    ...(elements.length === 0 ? [] : [`p.elements && ${parameters.add(intArray(elements))}::integer[]`]),
  ].join(" or ");
  const parts = mounts.map((mount) =>
    most === undefined
      ? `(select p.postings from search_passages_${mount} p where p.document = any(${document}::integer[]) and (${wanted}))`
      : `(select p.postings from unnest(${document}::integer[]) with ordinality first (document, at)
            join search_passages_${mount} p on p.document = first.document
          where ${wanted} order by first.at limit ${most})`,
  );
  return queryBytes(
    sql,
    `select ${base64("string_agg(postings, '')")} as bytes from (${parts.join(" union all ")}) p`,
    parameters,
  );
}

/** Documents that pass the filter, by priority, then the latest first, with the number of their passages. */
export async function fetchLatest(
  { sql, mounts, filter, excluded }: FetchOptions,
  limit: number,
): Promise<readonly { readonly document: number; readonly passages: number }[]> {
  const parameters = createParameters();
  const where = [
    `d.mount = any(${parameters.add(intArray(mounts))}::integer[])`,
    filter.condition("d.id", parameters),
    ...(excluded.length === 0
      ? []
      : [
          `not exists (select from search_passages n where n.mount = d.mount and n.document = d.id and n.elements && ${parameters.add(intArray(excluded))}::integer[])`,
        ]),
  ];
  const bytes = await queryBytes(
    sql,
    `select ${base64("string_agg(int4send(id) || int4send(passages), '')")} as bytes from (
       select d.id, d.passages from search_documents d where ${where.join(" and ")}
       order by d.priority desc nulls last, d.modified desc nulls last, d.id limit ${limit}) d`,
    parameters,
  );
  const numbers = bytes ? readInts(bytes) : new Int32Array();
  return Array.from({ length: numbers.length / 2 }, (_, at) => ({
    document: numbers[2 * at]!,
    passages: numbers[2 * at + 1]!,
  }));
}

export async function fetchDocuments(
  sql: SharedSql,
  ids: readonly number[],
  nameOf: (mount: number) => string,
  now: number,
): Promise<ReadonlyMap<number, FetchedDocument>> {
  const rows = await sql.query<{
    id: number;
    mount: number;
    key: Uint8Array;
    modified: number | null;
    priority: number | null;
    entry: Uint8Array;
  }>("select id, mount, key, modified, priority, entry from search_documents where id = any($1::integer[])", [
    intArray(ids),
  ]);
  return new Map(
    rows.map(({ id, mount, key, modified, priority, entry }) => [
      id,
      { mount: nameOf(mount), boost: boostOf(priority, modified, now), path: fromKey(key), entry: readEntry(entry) },
    ]),
  );
}

/** Texts in the order of the addresses; undefined for one that does not exist. */
export async function fetchTexts(
  { sql, mounts }: FetchOptions,
  passages: readonly { readonly document: number; readonly ordinal: number }[],
): Promise<readonly (KeptPassage | undefined)[]> {
  const rows = await sql.query<{ at: number; content: string }>(
    `select wanted.at::integer, ${base64("p.content")} as content from unnest($2::integer[], $3::integer[]) with ordinality wanted (document, ordinal, at)
     join search_passages p on p.document = wanted.document and p.ordinal = wanted.ordinal and p.mount = any($1::integer[])`,
    [
      intArray(mounts),
      intArray(passages.map(({ document }) => document)),
      intArray(passages.map(({ ordinal }) => ordinal)),
    ],
  );
  const texts: (KeptPassage | undefined)[] = passages.map(() => undefined);
  for (const { at, content } of rows) texts[at - 1] = readContent(fromBase64(content));
  return texts;
}

function withoutExcluded(excluded: readonly number[], parameters: SqlParameters): string[] {
  if (excluded.length === 0) return [];
  const elements = `${parameters.add(intArray(excluded))}::integer[]`;
  return [
    `not p.elements && ${elements}`,
    `(p.siblings = 1 or not exists (
       select from search_passages n where n.mount = p.mount and n.document = p.document and n.elements && ${elements}))`,
  ];
}

async function queryBytes(sql: SharedSql, text: string, { values }: SqlParameters): Promise<Uint8Array | null> {
  const [row] = await sql.query<{ bytes: string | null }>(text, values);
  return row?.bytes ? fromBase64(row.bytes) : null;
}
