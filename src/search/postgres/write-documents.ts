/** Adds documents to the shared index and removes them. Called within a transaction that holds the lock of writers. */
import { encodeQuery, toKey } from "../address-key.ts";
import { maxTermBytes, writeTerm } from "../bytes.ts";
import { fields } from "../lists.ts";
import type { Entry } from "../../source.ts";
import type { SharedSql } from "../../state/database.ts";
import type { TermVocabulary } from "../vocabulary.ts";
import type { AnalysedDocument } from "./analyse-documents.ts";
import { byteaArray, intArray } from "./binary.ts";
import { writeEntry } from "./content.ts";
import { codeOf, elementOf } from "./elements.ts";
import { reuseIds } from "./free-terms.ts";
import { createPostingsWriter } from "./postings.ts";
import { foldedPath, headBytes, storable } from "./stored-forms.ts";

/** Rows of one statement: its time is limited. */
export const rowsAtOnce = 1000;

/** Ids of terms by their numbers in a vocabulary. */
export interface TermIds {
  get(number: number): number | undefined;
  set(number: number, id: number): void;
  /** The highest id that a term may have. */
  readonly last: number;
}

/** Returns the id of the mount. Creates it with its partition if it is new. */
export async function openMount(sql: SharedSql, name: string): Promise<number> {
  const [known] = await sql.query<{ id: number }>("select id from search_mounts where name = $1", [name]);
  if (known) return known.id;
  const [made] = await sql.query<{ id: number }>("insert into search_mounts (name) values ($1) returning id", [name]);
  const { id } = made!;
  await sql.query(`create table search_passages_${id} partition of search_passages for values in (${id})`);
  return id;
}

/** Returns the first of as many new ids. */
export async function takeIds(sql: SharedSql, count: number): Promise<number> {
  const [counter] = await sql.query<{ last: number }>(
    "update search_about set last_document = last_document + $1::integer returning last_document as last",
    [count],
  );
  return counter!.last - count + 1;
}

export interface NumberedDocument extends AnalysedDocument {
  readonly id: number;
}

/** There must be no other documents at these addresses. */
export async function insertDocuments(
  sql: SharedSql,
  mount: number,
  documents: readonly NumberedDocument[],
  vocabulary: TermVocabulary,
  ids: TermIds,
): Promise<void> {
  await resolveTerms(sql, documents, vocabulary, ids);
  await insertRows(sql, mount, documents);
  const frequencies = new Map<number, number>();
  const writer = createPostingsWriter();
  let rows: PassageRow[] = [];
  for (const { id: document, passages } of documents)
    for (const [ordinal, passage] of passages.entries()) {
      const { terms, times, inherited, length, content } = passage;
      const order = Array.from(terms, (number, at) => ({ id: ids.get(number)!, at })).sort((a, b) => a.id - b.id);
      const elements = new Int32Array(order.length);
      for (const [to, { id, at }] of order.entries()) {
        const own = times.subarray(at * fields.length, (at + 1) * fields.length);
        const element = elementOf(id, codeOf(own, inherited[at] === 1, length));
        elements[to] = element;
        frequencies.set(element, (frequencies.get(element) ?? 0) + 1);
        if (own[0]! + own[1]! + own[2]! + own[3]! > 0) writer.add(id, own);
      }
      const head = { document, ordinal, siblings: passages.length, length };
      rows.push({ ...head, elements, postings: writer.finish(head), content });
      if (rows.length === rowsAtOnce) {
        await insertPassages(sql, mount, rows);
        rows = [];
      }
    }
  if (rows.length > 0) await insertPassages(sql, mount, rows);
  await addFrequencies(sql, mount, frequencies);
  await sql.query(
    `update search_mounts set documents = documents + $2::integer, passages = passages + $3::integer, tokens = tokens + $4::double precision,
       changes = changes + $2::integer where id = $1`,
    [
      mount,
      documents.length,
      documents.reduce((sum, { passages }) => sum + passages.length, 0),
      documents.reduce((sum, { tokens }) => sum + tokens, 0),
    ],
  );
}

/** Removes documents by their ids. */
export async function deleteDocuments(sql: SharedSql, mount: number, documents: readonly number[]): Promise<void> {
  for (let at = 0; at < documents.length; at += rowsAtOnce) {
    const some = [mount, intArray(documents.slice(at, at + rowsAtOnce))];
    await sql.query(
      `update search_frequencies f set passages = f.passages - gone.count
       from (select element, count(*)::integer as count from search_passages, unnest(elements) element
             where mount = $1 and document = any($2::integer[]) group by element) gone
       where f.mount = $1 and f.element = gone.element`,
      some,
    );
    await sql.query("delete from search_frequencies where mount = $1 and passages <= 0", [mount]);
    await sql.query("delete from search_passages where mount = $1 and document = any($2::integer[])", some);
    await sql.query(
      `with gone as (delete from search_documents where mount = $1 and id = any($2::integer[]) returning passages, tokens)
       update search_mounts set documents = search_mounts.documents - total.documents, passages = search_mounts.passages - total.passages,
         tokens = search_mounts.tokens - total.tokens, changes = changes + total.documents
       from (select count(*)::integer as documents, coalesce(sum(passages), 0)::integer as passages, coalesce(sum(tokens), 0) as tokens
             from gone) total
       where id = $1`,
      some,
    );
  }
}

/** Ids of the documents at these addresses. */
export async function documentsAt(
  sql: SharedSql,
  mount: number,
  addresses: readonly Pick<Entry, "path" | "query">[],
): Promise<readonly number[]> {
  const keys = addresses.map(({ path }) => toKey(path));
  const rows = await sql.query<{ id: number }>(
    `select d.id from unnest($2::bytea[], $3::bytea[], $4::bytea[]) wanted (head, key, query)
     join search_documents d on d.mount = $1 and d.head = wanted.head and d.key = wanted.key
       and d.query = convert_from(wanted.query, 'UTF8')`,
    [
      mount,
      byteaArray(keys.map((key) => key.subarray(0, headBytes))),
      byteaArray(keys),
      byteaArray(addresses.map(({ query }) => Buffer.from(encodeQuery(query)))),
    ],
  );
  return rows.map(({ id }) => id);
}

async function resolveTerms(
  sql: SharedSql,
  documents: readonly AnalysedDocument[],
  vocabulary: TermVocabulary,
  ids: TermIds,
): Promise<void> {
  const unknown = new Set<number>();
  for (const { passages } of documents)
    for (const { terms } of passages)
      for (const number of terms) if (ids.get(number) === undefined) unknown.add(number);
  if (unknown.size === 0) return;
  const numbers = vocabulary.sort(Int32Array.from(unknown));
  const bytes = new Uint8Array(maxTermBytes);
  const spelt = Array.from(numbers, (number) => bytes.slice(0, writeTerm(vocabulary.termOf(number), bytes)));
  const terms = byteaArray(spelt);
  await sql.query(
    `insert into search_terms (term) select wanted.term from unnest($1::bytea[]) wanted (term)
     where not exists (select from search_terms t where t.term = wanted.term)`,
    [terms],
  );
  const rows = await sql.query<{ at: number; id: number }>(
    `select wanted.at::integer, t.id from unnest($1::bytea[]) with ordinality wanted (term, at) join search_terms t on t.term = wanted.term`,
    [terms],
  );
  for (const { at, id } of rows) ids.set(numbers[at - 1]!, id);
  const over = rows.filter(({ id }) => id > ids.last).map(({ at }) => at - 1);
  if (over.length === 0) return;
  const reused = await reuseIds(
    sql,
    over.map((at) => spelt[at]!),
    ids.last,
  );
  for (const [index, at] of over.entries()) ids.set(numbers[at]!, reused[index]!);
}

async function insertRows(sql: SharedSql, mount: number, documents: readonly NumberedDocument[]): Promise<void> {
  const rows = documents.map(({ id, document: { entry }, lang, tokens, passages }) => ({
    id,
    query: encodeQuery(entry.query),
    version: entry.version === undefined ? null : JSON.stringify(entry.version),
    reveals: entry.reveals ? JSON.stringify(entry.reveals) : null,
    path: storable(foldedPath(entry.path)),
    mime: storable(entry.mimeType ?? ""),
    lang,
    modified: timeOf(entry),
    priority: entry.annotations?.priority ?? null,
    passages: passages.length,
    tokens,
  }));
  const keys = documents.map(({ document }) => toKey(document.entry.path));
  await sql.query(
    `insert into search_documents (id, mount, head, key, query, version, reveals, path, mime, lang, modified, priority, passages, tokens, entry)
     select id, $1, head, key, query, version, reveals, path, mime, lang, modified, priority, passages, tokens, entry
     from rows from (
       json_to_recordset($2) as (id integer, query text, version text, reveals text, path text, mime text, lang text,
         modified double precision, priority double precision, passages integer, tokens double precision),
       unnest($3::bytea[]), unnest($4::bytea[]), unnest($5::bytea[])
     ) as r (id, query, version, reveals, path, mime, lang, modified, priority, passages, tokens, head, key, entry)`,
    [
      mount,
      JSON.stringify(rows),
      byteaArray(keys.map((key) => key.subarray(0, headBytes))),
      byteaArray(keys),
      byteaArray(documents.map(({ document }) => writeEntry(document.entry))),
    ],
  );
}

interface PassageRow {
  readonly document: number;
  readonly ordinal: number;
  readonly siblings: number;
  readonly elements: Int32Array;
  readonly postings: Uint8Array;
  readonly content: Uint8Array;
}

async function insertPassages(sql: SharedSql, mount: number, rows: readonly PassageRow[]): Promise<void> {
  // An array of arrays of different lengths does not exist: all in one, with their ends.
  const all = new Int32Array(rows.reduce((sum, { elements }) => sum + elements.length, 0));
  const ends: number[] = [];
  let end = 0;
  for (const { elements } of rows) {
    all.set(elements, end);
    ends.push((end += elements.length));
  }
  await sql.query(
    `insert into search_passages_${mount} (mount, document, ordinal, siblings, elements, postings, content)
     select $1, document, ordinal, siblings, ($2::integer[])[start + 1:finish], postings, content
     from unnest($3::integer[], $4::integer[], $5::integer[], $6::integer[], $7::integer[], $8::bytea[], $9::bytea[])
       as row (document, ordinal, siblings, start, finish, postings, content)`,
    [
      mount,
      intArray(all),
      intArray(rows.map(({ document }) => document)),
      intArray(rows.map(({ ordinal }) => ordinal)),
      intArray(rows.map(({ siblings }) => siblings)),
      intArray([0, ...ends.slice(0, -1)]),
      intArray(ends),
      byteaArray(rows.map(({ postings }) => postings)),
      byteaArray(rows.map(({ content }) => content)),
    ],
  );
}

async function addFrequencies(sql: SharedSql, mount: number, counts: ReadonlyMap<number, number>): Promise<void> {
  const elements = Int32Array.from(counts.keys()).sort();
  for (let at = 0; at < elements.length; at += 20 * rowsAtOnce) {
    const some = elements.subarray(at, at + 20 * rowsAtOnce);
    await sql.query(
      `insert into search_frequencies (element, mount, passages)
       select element, $1, count from unnest($2::integer[], $3::integer[]) as row (element, count)
       on conflict (element, mount) do update set passages = search_frequencies.passages + excluded.passages`,
      [mount, intArray(some), intArray(Array.from(some, (element) => counts.get(element)!))],
    );
  }
}

function timeOf({ annotations }: Entry): number | null {
  const time = Date.parse(annotations?.lastModified ?? "");
  return Number.isNaN(time) ? null : time;
}
