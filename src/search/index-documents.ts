/** Adds documents to an index and removes them. Called within a transaction. */
import type { DatabaseSync } from "node:sqlite";
import type { Entry } from "../source.ts";
import { encodeQuery, toKey } from "./address-key.ts";
import { foldUnits } from "./fold.ts";
import { textFormatOf, isGarbled, textLanguageOf } from "./format.ts";
import { body, headingField, path, title } from "./lists.ts";
import type { MountCounts } from "./mount-counts.ts";
import { passagesOf } from "./passages.ts";
import { createPostings, type Postings } from "./postings.ts";
import { shortLength, type StoredDocument, type Segments } from "./segments.ts";
import type { IndexedDocument } from "./store.ts";
import type { PassageTexts } from "./texts.ts";
import { scan } from "./tokens.ts";
import type { Vectors } from "./vectors.ts";
import { createVocabulary, type TermVocabulary } from "./vocabulary.ts";

export interface OpenIndex {
  readonly database: DatabaseSync;
  /** Called repeatedly during long work; throws to stop it. */
  goOn(): void;
  readonly segments: Segments;
  readonly texts: PassageTexts;
  readonly vectors: Vectors;
}

/** Maximum size of the postings collected in memory before they are written. */
const maxPostingBytes = 16 * 1024 ** 2;
/** Maximum number of terms remembered from one segment to the next. A term takes about 100 bytes. */
const maxTerms = 100_000;

export function openDocuments(index: OpenIndex, counts: Pick<MountCounts, "add">) {
  const { database, segments, texts, vectors } = index;
  const counter = database.prepare("select value from counters where name = 'passage'");
  const setCounter = database.prepare("update counters set value = ? where name = 'passage'");
  const atAddress = database.prepare("select id, passages from documents where mount = ? and key = ? and query = ?");
  const remove = database.prepare("delete from documents where id = ? returning mount");
  const insert = database.prepare(`
    insert into documents (id, mount, key, query, version, reveals, mime, lang, modified, priority, passages, embedded)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  let vocabulary: TermVocabulary;
  let postings: Postings;
  let collected: StoredDocument[];
  let lengths: number[];
  forget();

  function forget(): void {
    vocabulary = createVocabulary();
    postings = createPostings(vocabulary);
    collected = [];
    lengths = [];
  }

  function drop(document: StoredDocument): void {
    const removed = remove.get(document.id);
    if (removed) counts.add(removed["mount"] as number, -1, -document.passages);
    texts.remove(document.id, document.passages);
    vectors.remove(document.id, document.id + document.passages - 1);
    // Only a segment counts its removed passages.
    if (collected.length > 0 && document.id >= collected[0]!.id) write();
    segments.markRemoved(document);
  }

  function write(): void {
    segments.write(collected, lengths, postings.take);
    collected = [];
    lengths = [];
    // No posting is left that has the number of a term.
    if (vocabulary.size > maxTerms) vocabulary.clear();
  }

  /** Returns the number of tokens. */
  function collect(piece: string, field: number, ordinal: number): number {
    if (piece === "") return 0;
    let tokens = 0;
    const units = foldUnits(piece);
    scan(units, (kind, _, from, to, ownText) => {
      if (kind !== "whole") tokens += 1;
      const number =
        ownText === undefined ? vocabulary.numberAt(units, from, to, kind) : vocabulary.numberOf(ownText, kind);
      postings.add(number, field, ordinal);
    });
    return tokens;
  }

  /** Returns the id after its last passage. */
  function putOne({ entry, text }: IndexedDocument, mount: number, id: number): number {
    const key = toKey(entry.path);
    const query = encodeQuery(entry.query);
    const before = atAddress.get(mount, key, query) as StoredDocument | undefined;
    if (before) drop(before);
    const format = textFormatOf(entry.path, entry.mimeType);
    const isText = !isGarbled(text);
    const passages = passagesOf(isText ? text : "", format);
    insert.run(
      id,
      mount,
      key,
      query,
      entry.version ?? null,
      entry.reveals ? JSON.stringify(entry.reveals) : null,
      entry.mimeType ?? null,
      isText ? textLanguageOf(text, format) : "",
      timeOf(entry),
      entry.annotations?.priority ?? null,
      passages.length,
      // An empty passage needs no vector.
      passages[0]!.to === 0 ? 1 : 0,
    );
    texts.put(id, entry, text, passages);
    counts.add(mount, 1, passages.length);

    collect(entry.title ?? entry.name ?? "", title, collected.length);
    collect([entry.path, ...Object.values(entry.query ?? {})].join(" "), path, collected.length);
    if (entry.description !== undefined) collect(entry.description, headingField, lengths.length);
    for (const passage of passages) {
      collect(passage.heading, headingField, lengths.length);
      lengths.push(shortLength(collect(text.slice(passage.from, passage.to), body, lengths.length)));
    }
    collected.push({ id, passages: passages.length });
    return id + passages.length;
  }

  return {
    /** Each address at most once. With `isWhole` it is not stopped, so that what was put before it in the same transaction is not lost. */
    put(documents: Iterable<IndexedDocument>, isWhole: boolean): void {
      const mounts = new Map<string, number>();
      let next = counter.get()!["value"] as number;
      for (const document of documents) {
        if (!isWhole) index.goOn();
        const { mount } = document;
        if (!mounts.has(mount)) mounts.set(mount, idOfMount(database, mount));
        next = putOne(document, mounts.get(mount)!, next);
        if (postings.bytes > maxPostingBytes) write();
      }
      setCounter.run(next);
    },
    /** Writes what was put since the last call as a segment. */
    write,
    drop,
    /** Drops what was collected in a transaction that was rolled back, and the memory for it. */
    forget,
  };
}

function idOfMount(database: DatabaseSync, name: string): number {
  database.prepare("insert into mounts (name) values (?) on conflict do nothing").run(name);
  return database.prepare("select id from mounts where name = ?").get(name)!["id"] as number;
}

function timeOf({ annotations }: Entry): number | null {
  const time = Date.parse(annotations?.lastModified ?? "");
  return Number.isNaN(time) ? null : time;
}
