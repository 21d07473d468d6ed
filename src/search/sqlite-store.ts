/** Stores an index in one SQLite file. */
import { ResourceError } from "../errors.ts";
import { fromKey, keysBelow, readQuery, encodeQuery, toKey } from "./address-key.ts";
import { createAdmission } from "./admission.ts";
import { conditionOf } from "./filters.ts";
import { findPassages } from "./find-passages.ts";
import { createMountCounts } from "./mount-counts.ts";
import { openDocuments, type OpenIndex } from "./index-documents.ts";
import { openVisibleTerms } from "./lookup.ts";
import { openToRead, openToWrite } from "./open-database.ts";
import { parseQuery } from "./query.ts";
import { openSegments, type StoredDocument } from "./segments.ts";
import type { Address } from "../source.ts";
import type { DocumentAddress, IndexedDocument, OpenStore, StoreHit, StoreQuery, Unembedded } from "./store.ts";
import { openTexts } from "./texts.ts";
import { openVectors } from "./vectors.ts";

/** Free pages are returned to the disk when a quarter of the file is free, unless the file is small. */
const freePages = 128;

export const openStore: OpenStore = (file, { readOnly = false, isWhole = false, isStopped = () => false } = {}) => {
  const database = readOnly ? openToRead(file) : openToWrite(file, isWhole);
  const goOn = (): void => {
    if (isStopped()) throw new ResourceError("cancelled", "the index is being closed");
  };
  const index: OpenIndex = {
    database,
    goOn,
    segments: openSegments(database, goOn),
    texts: openTexts(database),
    vectors: openVectors(database),
  };

  const counted = createMountCounts(database);
  const documents = openDocuments(index, counted);

  /** Mounts with documents that are not committed, and those whose documents were rolled back because another call failed. */
  const pending = new Set<string>();
  const lost = new Map<string, unknown>();

  /** With `isMore` the transaction stays open, until a change without it. */
  function change(run: () => void, isMore = false): void {
    if (!database.isTransaction) database.exec("begin immediate");
    try {
      run();
      index.texts.flush();
      if (isMore) return;
      documents.write();
      index.segments.tidy();
      database.exec("commit");
      counted.settle();
      pending.clear();
    } catch (error) {
      for (const mount of pending) lost.set(mount, error);
      pending.clear();
      // Data read within the transaction was rolled back.
      index.segments.forget();
      index.texts.forget();
      documents.forget();
      counted.forget();
      if (database.isTransaction) database.exec("rollback");
      throw error;
    }
    const free = pragma("freelist_count");
    if (free > freePages && free * 4 > pragma("page_count")) database.exec("pragma incremental_vacuum");
  }

  function pragma(name: string): number {
    return database.prepare(`pragma ${name}`).get()![name] as number;
  }

  function commit(): void {
    if (database.isTransaction) change(() => undefined);
  }

  /** A crawl learns here that documents were lost which it had put before. */
  function reportLoss(mount: string): void {
    if (!lost.has(mount)) return;
    const cause = lost.get(mount);
    lost.delete(mount);
    throw cause;
  }

  /** Reads one consistent state, whatever others write meanwhile. */
  function look<T>(run: () => T): T {
    commit();
    database.exec("begin");
    try {
      return run();
    } finally {
      if (database.isTransaction) database.exec("commit");
    }
  }

  function addressesWhere(condition: string, ...values: readonly (string | number)[]): DocumentAddress[] {
    const select =
      "select d.id, m.name as mount, d.key, d.query, d.reveals from documents d join mounts m on m.id = d.mount";
    const rows = database.prepare(`${select} where ${condition}`).all(...values);
    return rows.map((row) => ({
      id: row["id"] as number,
      mount: row["mount"] as string,
      path: fromKey(row["key"] as Uint8Array),
      query: readQuery(row["query"] as string),
      ...(row["reveals"] !== null && { reveals: JSON.parse(row["reveals"] as string) as Address }),
    }));
  }

  const note = database.prepare("select value from notes where name = ?");

  return {
    put(put, isMore = false) {
      if (put.length === 0) return;
      if (isMore) for (const mount of new Set(put.map((document) => document.mount))) reportLoss(mount);
      const last = new Map<string, IndexedDocument>();
      for (const document of put) {
        const { path, query } = document.entry;
        last.set(JSON.stringify([document.mount, path, encodeQuery(query)]), document);
      }
      change(() => documents.put(last.values(), isMore), isMore);
      if (isMore) for (const { mount } of put) pending.add(mount);
    },
    commit(mount, isLast = false) {
      reportLoss(mount);
      commit();
      // Nothing is collected after a commit.
      if (isLast) documents.forget();
    },
    remove(mount, addresses) {
      if (addresses.length === 0) return;
      const find = database.prepare(`
        select d.id, d.passages from documents d join mounts m on m.id = d.mount where m.name = ? and d.key = ? and d.query = ?`);
      change(() => {
        for (const { path, query } of addresses) {
          goOn();
          const document = find.get(mount, toKey(path), encodeQuery(query)) as StoredDocument | undefined;
          if (document) documents.drop(document);
        }
      });
    },
    removeBelow(mount, path) {
      const find = database.prepare(`
        select d.id, d.passages from documents d join mounts m on m.id = d.mount
        where m.name = ? and (d.key = ? or (d.key >= ? and d.key < ?))`);
      change(() => {
        for (const document of find.all(mount, toKey(path), ...keysBelow(path)) as unknown as StoredDocument[]) {
          goOn();
          documents.drop(document);
        }
      });
    },
    stored(mount, { after, limit }) {
      const rows = database
        .prepare(`
          select d.key, d.query, d.version from documents d join mounts m on m.id = d.mount
          where m.name = ? and (d.key, d.query) > (?, ?) order by d.key, d.query limit ?`)
        // The mount itself has an empty key and an empty query: only this is before it.
        .all(mount, after ? toKey(after.path) : "", after ? encodeQuery(after.query) : "", limit);
      return rows.map((row) => {
        const query = readQuery(row["query"] as string);
        const version = row["version"] as string | null;
        return {
          path: fromKey(row["key"] as Uint8Array),
          query,
          ...(version !== null && { version }),
        };
      });
    },
    counts: () => counted.counts(),
    search: (query, count) => look(() => searchIn(index, query, count)),
    addresses: (after, limit) => addressesWhere("d.id > ? order by d.id limit ?", after, limit),
    addressesOf: (ids) => addressesWhere("d.id in (select value from json_each(?))", JSON.stringify(ids)),
    unembedded: (limit) => look(() => unembeddedOf(index, limit)),
    embed(vectors) {
      const owner = database.prepare("select id, passages from documents where id <= ? order by id desc limit 1");
      const settle = database.prepare("update documents set embedded = 1 where id = ?");
      const touched = new Map<number, StoredDocument>();
      change(() => {
        for (const { id, vector } of vectors) {
          const document = owner.get(id) as StoredDocument | undefined;
          if (!document || id >= document.id + document.passages) continue;
          index.vectors.put(id, vector);
          touched.set(document.id, document);
        }
        for (const { id, passages } of touched.values())
          if (index.vectors.count(id, id + passages - 1) === passages) settle.run(id);
      });
    },
    note: (name) => note.get(name)?.["value"] as string | undefined,
    setNote(name, value) {
      // A note is durable at once.
      commit();
      database
        .prepare("insert into notes values (?, ?) on conflict do update set value = excluded.value")
        .run(name, value);
    },
    close() {
      try {
        // Without merges, which take long and end with an error once the index is being closed.
        if (database.isTransaction) {
          documents.write();
          database.exec("commit");
        }
      } finally {
        database.close();
      }
    },
  };
};

function searchIn(index: OpenIndex, request: StoreQuery, count?: (rows: number) => void): readonly StoreHit[] {
  const now = Date.now();
  const query = parseQuery(request.text, { typing: request.typing ?? false, now });
  const searched = {
    terms: openVisibleTerms(index.segments, request.visibility),
    texts: index.texts,
    admission: createAdmission(index.database, conditionOf(query, request), now),
    nearest: index.vectors.nearest,
  };
  return findPassages(searched, query, request, count);
}

/** A passage is embedded with its headings, which often carry half of its meaning. */
function unembeddedOf({ database, texts, vectors }: OpenIndex, limit: number): Unembedded[] {
  const passages: Unembedded[] = [];
  const open = database.prepare("select id, passages from documents where embedded = 0 order by id");
  for (const row of open.iterate()) {
    const { id, passages: count } = row as unknown as StoredDocument;
    const { title, name } = texts.entry(id);
    for (let at = id; at < id + count; at += 1) {
      if (passages.length >= limit) return passages;
      if (vectors.has(at)) continue;
      const { heading, text } = texts.passage(at)!;
      passages.push({ id: at, text: [title ?? name, heading, text].filter(Boolean).join("\n") });
    }
  }
  return passages;
}
