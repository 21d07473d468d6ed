/** Gives ids of terms that no passage has any more to new terms, once all ids have been given out. */
import { lastingFailure } from "../../errors.ts";
import type { SharedSql } from "../../state/database.ts";
import { byteaArray, intArray } from "./binary.ts";
import type { WriteTransaction } from "./remove-mounts.ts";

/** Ids that are checked in one transaction. */
const idsAtOnce = 2 ** 16;
/** All ids are checked again only after this time, unless this share of them was free. */
const pauseMinutes = 10;
const enoughFree = 0.01;

/** Thrown within a transaction, which is then rolled back. */
export class TermsExhausted extends Error {}

/** Gives these new terms ids up to `last`, in their order. They have higher ones, which are taken back. */
export async function reuseIds(sql: SharedSql, terms: readonly Uint8Array[], last: number): Promise<readonly number[]> {
  const free = await sql.query<{ id: number }>(
    "delete from search_free_terms where id in (select id from search_free_terms limit $1) returning id",
    [terms.length],
  );
  if (free.length < terms.length) throw new TermsExhausted();
  const ids = free.map(({ id }) => id);
  await sql.query("delete from search_terms where id > $1", [last]);
  await sql.query("select setval(pg_get_serial_sequence('search_terms', 'id'), $1::integer)", [last]);
  await sql.query(
    `insert into search_terms (id, term) overriding system value
     select id, term from unnest($1::integer[], $2::bytea[]) as row (id, term)`,
    [intArray(ids), byteaArray(terms)],
  );
  return ids;
}

/** Finds the ids that no passage uses. Throws if that was done a short time ago, and few were found. `write` does nothing if the index is started again. */
export async function freeTerms(write: WriteTransaction, last: number): Promise<void> {
  const mayCheck = await write(
    async (sql) =>
      (
        await sql.query(
          `update search_about set terms_checked = clock_timestamp()
           where terms_checked is null or terms_checked < clock_timestamp() - interval '${pauseMinutes} minutes' returning 1`,
        )
      ).length > 0,
  );
  if (!mayCheck) throw tooManyTerms(last);
  let free = 0;
  for (let from = 1; from <= last; from += idsAtOnce)
    free += await write((sql) => freeBetween(sql, from, Math.min(last, from + idsAtOnce - 1), last));
  if (free === 0) throw tooManyTerms(last);
  if (free >= last * enoughFree) await write((sql) => sql.query("update search_about set terms_checked = null"));
}

/** Returns the number of free ids among these. */
async function freeBetween(sql: SharedSql, from: number, to: number, last: number): Promise<number> {
  // Before all ids were given out, one that no term has may still be given to a term.
  const [sequence] = await sql.query<{ value: number }>("select last_value::integer as value from search_terms_id_seq");
  if (sequence!.value < last) return 0;
  // The next element in the index, because a range of elements would have a wrong estimate.
  const gone = await sql.query(
    `with gone as (
       delete from search_terms t where t.id between $1 and $2 and coalesce(
         (select f.element from search_frequencies f where f.element >= t.id << 8 order by f.element limit 1) > (t.id << 8 | 255), true)
       returning 1)
     select from gone limit 1`,
    [from, to],
  );
  if (gone.length > 0) await sql.query("update search_about set terms_freed = terms_freed + 1");
  await sql.query(
    `insert into search_free_terms select id from generate_series($1::integer, $2::integer) numbers (id)
     where not exists (select from search_terms t where t.id = numbers.id) on conflict do nothing`,
    [from, to],
  );
  const [row] = await sql.query<{ count: number }>(
    "select count(*)::integer as count from search_free_terms where id between $1 and $2",
    [from, to],
  );
  return row!.count;
}

export function tooManyTerms(last: number): Error {
  return lastingFailure(
    `the shared search index has ${last} terms, and cannot have more; exclude generated files, such as logs, from the mounts: terms that no document has any more make room within ${pauseMinutes} minutes`,
  );
}
