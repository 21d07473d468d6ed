/** Stores the index in the PostgreSQL database that the instances of a server share. */
import { denied } from "../../errors.ts";
import { fromKey, keysBelow, readQuery, encodeQuery, toKey } from "../address-key.ts";
import type { Address } from "../../source.ts";
import type { SharedDatabase, SharedSql, SqlParameter } from "../../state/database.ts";
import type { HeldLease } from "../../state/leases.ts";
import type { AsyncIndexStore, DocumentAddress, IndexedDocument } from "../store.ts";
import { createVocabulary } from "../vocabulary.ts";
import { createAnalyser } from "./analyse-documents.ts";
import { intArray } from "./binary.ts";
import { checkFence } from "../../state/postgres-leases.ts";
import { searchPassages } from "./search-passages.ts";
import { headBytes } from "./stored-forms.ts";
import { indexIdentity } from "./tables.ts";
import { indexVersion, isNewerVersion } from "./version.ts";
import { createVisibleMounts } from "./visible-mounts.ts";
import {
  deleteDocuments,
  deleteMount,
  documentsAt,
  insertDocuments,
  openMount,
  takeIds,
  type TermIds,
} from "./write-documents.ts";

export interface PostgresIndexOptions {
  readonly database: SharedDatabase;
  /** The lease of the writer: a transaction that writes is refused once another instance has it. */
  readonly fence?: Pick<HeldLease, "name" | "fence"> | undefined;
}

/** Maximum number of terms remembered from one `put` to the next. A term takes about 100 bytes. */
const maxTerms = 100_000;

export interface PostgresIndexStore extends AsyncIndexStore {
  /** Changes when the same ids may belong to other documents. */
  identity(): Promise<string>;
}

/** The tables must exist (`searchMigrations`). Has no vectors: a vector in a query is ignored. */
export function openPostgresIndexStore({ database, fence }: PostgresIndexOptions): PostgresIndexStore {
  const openMounts = createVisibleMounts();
  let vocabulary = createVocabulary();
  let analyse = createAnalyser(vocabulary);
  let ids = new Map<number, number>();
  /** The identity of the index that has these ids. */
  let identity: string | undefined;

  function forgetTerms(): void {
    vocabulary = createVocabulary();
    analyse = createAnalyser(vocabulary);
    ids = new Map();
  }

  /** Writers take turns: the first statement locks a row that every writer needs. */
  function change(work: (sql: SharedSql) => Promise<void>): Promise<void> {
    return database.transaction(async (sql) => {
      if (fence) await checkFence(sql, fence);
      const [row] = await sql.query<{ version: string; identity: string }>(
        `select version, ${indexIdentity} as identity from search_about for update`,
      );
      const stored = row?.version ?? "";
      if (row?.identity !== identity) ids.clear();
      identity = row?.identity;
      // Two versions that run side by side must not remove each other's index again and again.
      if (isNewerVersion(stored))
        throw denied("the shared search index was made by a newer version of Pressmark or Node; update this instance");
      if (stored !== indexVersion) await startAgain(sql);
      await work(sql);
    });
  }

  /** Rows of another version mean something else: everything is read again from its source. */
  async function startAgain(sql: SharedSql): Promise<void> {
    for (const { id } of await sql.query<{ id: number }>("select id from search_mounts")) await deleteMount(sql, id);
    await sql.query("delete from search_terms");
    await sql.query("delete from search_notes");
    await sql.query("update search_about set version = $1", [indexVersion]);
    ids.clear();
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
      // Ids of new terms are valid once the transaction is committed.
      const [known, numbered] = [ids, vocabulary];
      const added = new Map<number, number>();
      const termIds: TermIds = {
        get: (number) => added.get(number) ?? known.get(number),
        set: (number, id) => added.set(number, id),
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
    },
    async remove(mount, addresses) {
      if (addresses.length === 0) return;
      await change(async (sql) => {
        const id = await mountId(sql, mount);
        if (id !== undefined) await deleteDocuments(sql, id, await documentsAt(sql, id, addresses));
      });
    },
    async removeBelow(mount, path) {
      await change(async (sql) => {
        const id = await mountId(sql, mount);
        if (id === undefined) return;
        if (path === "") return deleteMount(sql, id);
        const key = toKey(path);
        const [from, to] = keysBelow(path);
        const rows = await sql.query<{ id: number }>(
          `select id from search_documents where mount = $1 and (key = $2 or (key >= $3 and key < $4)) and head >= $5 and head <= $6`,
          [id, key, from, to, key.slice(0, headBytes), to.slice(0, headBytes)],
        );
        await deleteDocuments(
          sql,
          id,
          rows.map((row) => row.id),
        );
      });
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
      database.snapshot((sql) => searchPassages(sql, openMounts, request, count), signal),
    addresses: (after, limit) => addressesWhere("d.id > $1 order by d.id limit $2", [after, limit]),
    addressesOf: (wanted) => addressesWhere("d.id = any($1::integer[])", [intArray(wanted)]),
    async identity() {
      const [row] = await database.query<{ identity: string }>(`select ${indexIdentity} as identity`);
      return row!.identity;
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

async function mountId(sql: SharedSql, name: string): Promise<number | undefined> {
  const [row] = await sql.query<{ id: number }>("select id from search_mounts where name = $1", [name]);
  return row?.id;
}
