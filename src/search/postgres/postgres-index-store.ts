/** Stores the index in the PostgreSQL database that the instances of a server share. */
import { cancelled, denied, ResourceError, unavailable } from "../../errors.ts";
import { fromKey, keysBelow, readQuery, encodeQuery, toKey } from "../address-key.ts";
import type { Address } from "../../source.ts";
import type { SharedDatabase, SharedSql, SqlParameter } from "../../state/database.ts";
import type { HeldLease } from "../../state/leases.ts";
import type { AsyncIndexStore, DocumentAddress, IndexedDocument } from "../store.ts";
import { createVocabulary } from "../vocabulary.ts";
import { type AnalysedDocument, createAnalyser } from "./analyse-documents.ts";
import { intArray } from "./binary.ts";
import { maxTermId } from "./elements.ts";
import { freeTerms, TermsExhausted, tooManyTerms } from "./free-terms.ts";
import { sqlStateOf } from "../../state/open-database.ts";
import { checkFence } from "../../state/postgres-leases.ts";
import { deleteRows, retireMount, retireSome, sweepRemoved } from "./remove-mounts.ts";
import { searchPassages } from "./search-passages.ts";
import { headBytes } from "./stored-forms.ts";
import { indexIdentity } from "./tables.ts";
import { indexVersion, isNewerVersion, removingVersion } from "./version.ts";
import { createVisibleMounts } from "./visible-mounts.ts";
import {
  deleteDocuments,
  documentsAt,
  insertDocuments,
  openMount,
  rowsAtOnce,
  takeIds,
  type TermIds,
} from "./write-documents.ts";

export interface PostgresIndexOptions {
  readonly database: SharedDatabase;
  /** The lease of the writer: a transaction that writes is refused once another instance has it. */
  readonly fence?: (Pick<HeldLease, "name" | "fence"> & Partial<Pick<HeldLease, "signal">>) | undefined;
  /** The highest id of a term. */
  readonly lastTerm?: number;
}

/** Maximum number of terms remembered from one `put` to the next. A term takes about 100 bytes. */
const maxTerms = 100_000;

export interface PostgresIndexStore extends AsyncIndexStore {
  overview(notes: readonly string[]): Promise<IndexOverview>;
}

/** State of the index, which a search reads before it begins. */
export interface IndexOverview {
  /** Changes when the same ids may belong to other documents. */
  readonly identity: string;
  /** No document has a higher id. */
  readonly lastDocument: number;
  /** The requested notes that exist. Empty if another version made the index. */
  readonly notes: ReadonlyMap<string, string>;
}

/** The tables must exist (`searchMigrations`). Has no vectors: a vector in a query is ignored. */
export function openPostgresIndexStore({
  database,
  fence,
  lastTerm = maxTermId,
}: PostgresIndexOptions): PostgresIndexStore {
  const openMounts = createVisibleMounts();
  let vocabulary = createVocabulary();
  let analyse = createAnalyser(vocabulary);
  let ids = new Map<number, number>();
  /** Changes when an id may belong to another term. */
  let identity: string | undefined;

  function forgetTerms(): void {
    vocabulary = createVocabulary();
    analyse = createAnalyser(vocabulary);
    ids = new Map();
  }

  /** Writers take turns: the first statement locks a row that every writer needs. */
  function write<T>(work: (sql: SharedSql, version: string) => Promise<T>): Promise<T> {
    return database.transaction(async (sql) => {
      if (fence) await checkFence(sql, fence);
      if (fence?.signal?.aborted) throw cancelled(fence.signal.reason);
      const [row] = await sql.query<{ version: string; identity: string }>(
        `select version, ${indexIdentity} || ' ' || terms_freed as identity from search_about for update`,
      );
      const version = row?.version ?? "";
      if (row?.identity !== identity) ids.clear();
      identity = row?.identity;
      // Two versions that run side by side must not remove each other's index again and again.
      if (isNewerVersion(version))
        throw denied("the shared search index was made by a newer version of Pressmark or Node; update this instance");
      return work(sql, version);
    });
  }

  async function change<T>(work: (sql: SharedSql) => Promise<T>): Promise<T> {
    for (;;) {
      const done = await write(async (sql, version) =>
        version === indexVersion ? { result: await work(sql) } : undefined,
      );
      if (done) return done.result;
      await startAgain();
    }
  }

  /** Rows of another version mean something else: everything is read again from its source. Several writers may do this together. */
  async function startAgain(): Promise<void> {
    await write(async (sql, version) => {
      if (version === indexVersion) return;
      await sql.query("delete from search_notes");
      await sql.query("update search_about set version = $1", [removingVersion]);
    });
    /** Nothing is done once another writer has ended it: there may be new rows. */
    const writeOld = (work: (sql: SharedSql) => Promise<unknown>) =>
      write(async (sql, version) => (version === removingVersion ? work(sql) : false));
    while (await writeOld(retireSome));
    await sweepRemoved(database, write);
    await deleteRows(database, "search_terms", (deleteWhere) => writeOld((sql) => sql.query(deleteWhere)));
    await writeOld(async (sql) => {
      await sql.query("select setval(pg_get_serial_sequence('search_terms', 'id'), 1, false)");
      await sql.query("truncate search_free_terms");
      await sql.query("update search_about set version = $1, terms_freed = terms_freed + 1, terms_checked = null", [
        indexVersion,
      ]);
    });
    ids.clear();
  }

  async function putAnalysed(analysed: readonly AnalysedDocument[]): Promise<void> {
    // Ids of new terms are valid once the transaction is committed.
    const [known, numbered] = [ids, vocabulary];
    const added = new Map<number, number>();
    const termIds: TermIds = {
      get: (number) => added.get(number) ?? known.get(number),
      set: (number, id) => added.set(number, id),
      last: lastTerm,
    };
    await change(async (sql) => {
      const first = await takeIds(sql, analysed.length);
      const withIds = analysed.map((one, at) => ({ ...one, id: first + at }));
      for (const [name, own] of Map.groupBy(withIds, ({ document }) => document.mount)) {
        const mount = await openMount(sql, name);
        const before = await documentsAt(
          sql,
          mount,
          own.map(({ document }) => document.entry),
        );
        if (before.length > 0) await deleteDocuments(sql, mount, before);
        await insertDocuments(sql, mount, own, numbered, termIds);
      }
    });
    for (const [number, id] of added) known.set(number, id);
  }

  async function addressesWhere(condition: string, values: readonly SqlParameter[]): Promise<DocumentAddress[]> {
    const rows = await database.query<{
      id: number;
      mount: string;
      key: Uint8Array;
      query: string;
      reveals: string | null;
    }>(
      `select d.id, m.name as mount, d.key, d.query, d.reveals from search_documents d join search_mounts m on m.id = d.mount
       where ${condition}`,
      values,
    );
    return rows.map(({ id, mount, key, query, reveals }) => ({
      id,
      mount,
      path: fromKey(key),
      query: readQuery(query),
      ...(reveals !== null && { reveals: JSON.parse(reveals) as Address }),
    }));
  }

  return {
    async put(documents) {
      if (documents.length === 0) return;
      const last = new Map<string, IndexedDocument>();
      for (const document of documents) {
        const { path, query } = document.entry;
        last.set(JSON.stringify([document.mount, path, encodeQuery(query)]), document);
      }
      if (vocabulary.size > maxTerms) forgetTerms();
      const analysed = [...last.values()].map(analyse);
      try {
        await putAnalysed(analysed);
      } catch (cause) {
        if (!(cause instanceof TermsExhausted)) throw cause;
        await freeTerms(change, lastTerm);
        await putAnalysed(analysed).catch((again: unknown) => {
          throw again instanceof TermsExhausted ? tooManyTerms(lastTerm) : again;
        });
      }
    },
    async remove(mount, addresses) {
      for (let at = 0; at < addresses.length; at += rowsAtOnce) {
        const some = addresses.slice(at, at + rowsAtOnce);
        await change(async (sql) => {
          const id = await mountId(sql, mount);
          if (id !== undefined) await deleteDocuments(sql, id, await documentsAt(sql, id, some));
        });
      }
    },
    async removeBelow(mount, path) {
      if (path === "") {
        await change(async (sql) => {
          const id = await mountId(sql, mount);
          if (id !== undefined) await retireMount(sql, id);
        });
        return sweepRemoved(database, write);
      }
      const key = toKey(path);
      const [from, to] = keysBelow(path);
      const removeSome = async (sql: SharedSql): Promise<boolean> => {
        const id = await mountId(sql, mount);
        if (id === undefined) return false;
        const rows = await sql.query<{ id: number }>(
          `select id from search_documents where mount = $1 and (key = $2 or (key >= $3 and key < $4)) and head >= $5 and head <= $6 limit $7`,
          [id, key, from, to, key.slice(0, headBytes), to.slice(0, headBytes), rowsAtOnce],
        );
        await deleteDocuments(
          sql,
          id,
          rows.map((row) => row.id),
        );
        return rows.length === rowsAtOnce;
      };
      while (await change(removeSome));
    },
    async stored(mount, { after, limit }) {
      const key = after && toKey(after.path);
      const rows = await database.query<{ key: Uint8Array; query: string; version: string | null }>(
        `select d.key, d.query, d.version from search_documents d join search_mounts m on m.id = d.mount
         where m.name = $1 and ($2::bytea is null or (d.head >= $3 and (d.key, d.query collate "C") > ($2, $4)))
         order by d.head, d.key, d.query collate "C" limit $5`,
        [mount, key ?? null, key?.slice(0, headBytes) ?? null, encodeQuery(after?.query), limit],
      );
      return rows.map(({ key: at, query, version }) => ({
        path: fromKey(at),
        query: readQuery(query),
        ...(version !== null && { version: JSON.parse(version) as string }),
      }));
    },
    counts: () =>
      database.query<{ mount: string; documents: number; passages: number }>(
        "select name as mount, documents, passages from search_mounts where documents > 0 order by name",
      ),
    search: (request, count, signal) =>
      database.snapshot(
        (sql) =>
          searchPassages(sql, openMounts, request, count).catch((cause: unknown) => {
            // The snapshot still has the mount, but a dropped partition is gone for everyone.
            if (!isPartitionMissing(cause)) throw cause;
            throw unavailable(
              "a mount was removed from the shared search index during this search; search again",
              cause,
            );
          }),
        signal,
      ),
    addresses: (after, limit) => addressesWhere("d.id > $1 order by d.id limit $2", [after, limit]),
    addressesOf: (wanted) => addressesWhere("d.id = any($1::integer[])", [intArray(wanted)]),
    async overview(names) {
      const [row] = await database.query<{
        identity: string;
        last: number | null;
        notes: Readonly<Record<string, string>> | null;
      }>(
        `select ${indexIdentity} as identity, (select last_document from search_about) as last,
           (select json_object_agg(n.name, n.value) from search_notes n join search_about a on a.version = $2 where n.name = any($1::text[])) as notes`,
        [names, indexVersion],
      );
      const { identity: found, last, notes } = row!;
      return { identity: found, lastDocument: last ?? Infinity, notes: new Map(Object.entries(notes ?? {})) };
    },
    async note(name) {
      const [row] = await database.query<{ value: string }>(
        `select n.value from search_notes n join search_about a on a.version = $2 where n.name = $1`,
        [name, indexVersion],
      );
      return row?.value;
    },
    async setNote(name, value) {
      await change(async (sql) => {
        await sql.query(
          "insert into search_notes values ($1, $2) on conflict (name) do update set value = excluded.value",
          [name, value],
        );
      });
    },
    close: () => Promise.resolve(),
  };
}

function isPartitionMissing(cause: unknown): boolean {
  return (
    cause instanceof ResourceError &&
    sqlStateOf(cause) === "42P01" &&
    /search_passages_\d/.test((cause.cause as Error).message)
  );
}

async function mountId(sql: SharedSql, name: string): Promise<number | undefined> {
  const [row] = await sql.query<{ id: number }>("select id from search_mounts where name = $1", [name]);
  return row?.id;
}
