/** The inverted index as a sequence of segments: each is written once, read, and eventually merged with its neighbours. */
import type { DatabaseSync } from "node:sqlite";
import { countGarbage } from "../lib/v8-memory.ts";
import { createBlockCache } from "./block-cache.ts";
import { createBlockWriter, seek } from "./blocks.ts";
import { createBytePool } from "./byte-pool.ts";
import { createWriter, readNumber, readTerm, type ByteReader } from "./bytes.ts";
import { listsOf, type List } from "./lists.ts";
import { mergeTerms, type Moved, type Stream } from "./merge-terms.ts";
import type { TakeTerm } from "./postings.ts";

export const segmentTables = `
  create table segments (
    id integer primary key, first integer not null, last integer not null, passages integer not null,
    dead integer not null, bytes integer not null, first_block integer not null, head blob not null, terms blob not null
  ) strict;
  create table blocks (id integer primary key, data blob not null) strict;
`;

/** The id of a document is that of its first passage; the others follow. */
export interface StoredDocument {
  readonly id: number;
  readonly passages: number;
}

export interface Segment {
  readonly id: number;
  /** Ids of its first and last passage. No two segments overlap. */
  readonly first: number;
  readonly last: number;
  readonly documents: Uint32Array;
  /** Ordinal of each document's first passage, and at the end the number of passages. */
  readonly starts: Ordinals;
  /** Ordinal of each passage's document. */
  readonly owners: Ordinals;
  /** Length of each passage, encoded by `shortLength`. */
  readonly lengths: Uint8Array;
  /** Total of all its passages, in tokens. */
  readonly tokens: number;
  /** The first term of each block. */
  readonly terms: readonly string[];
  readonly firstBlock: number;
}

/** 16 bits each if the ordinals are small, as in most segments: this takes half of the memory. */
export type Ordinals = Uint16Array | Uint32Array;

export function createOrdinals(length: number, largest: number): Ordinals {
  return largest <= 0xffff ? new Uint16Array(length) : new Uint32Array(length);
}

type EachTerm = (take: TakeTerm) => void;

/** Number of neighbours of similar size that are merged into one. */
const fanOut = 16;
/** Larger segments are not merged: it would take long, and much memory and disk, for little gain. */
const maxMergedBytes = 4 * 1024 ** 2;
const cacheBytes = 2 * 1024 ** 2;

export type Segments = ReturnType<typeof openSegments>;

/** `goOn` is called repeatedly during long work, and throws to stop it. */
export function openSegments(database: DatabaseSync, goOn: () => void = () => undefined) {
  const { deflateRawSync, inflateRawSync } = process.getBuiltinModule("node:zlib");
  const list = database.prepare("select id, first, last, passages, dead, bytes from segments order by first");
  const one = database.prepare("select first, last, first_block, head, terms from segments where id = ?");
  const readBlock = database.prepare("select data from blocks where id = ?");
  const known = new Map<number, Segment>();
  const cache = createBlockCache(cacheBytes);
  const lists = createBytePool();

  function load(): Segment[] {
    lists.clear();
    const rows = list.all();
    const alive = new Set(rows.map(({ id }) => id as number));
    for (const id of known.keys()) if (!alive.has(id)) known.delete(id);
    return rows.map(({ id }) => get(id as number));
  }

  function get(id: number): Segment {
    let segment = known.get(id);
    if (!segment) {
      const row = one.get(id)!;
      const { documents, starts, owners, lengths } = readHead(inflateRawSync(row["head"] as Uint8Array));
      segment = {
        id,
        first: row["first"] as number,
        last: row["last"] as number,
        documents,
        starts,
        owners,
        lengths,
        tokens: lengths.reduce((sum, length) => sum + longLength(length), 0),
        terms: JSON.parse(inflateRawSync(row["terms"] as Uint8Array).toString()) as string[],
        firstBlock: row["first_block"] as number,
      };
      known.set(id, segment);
    }
    return segment;
  }

  /** Valid until the next call. */
  function getBlock(id: number): Uint8Array {
    const cached = cache.get(id);
    if (cached) return cached;
    const data = readBlock.get(id)!["data"] as Uint8Array;
    cache.add(id, data);
    // Later calls return the copy in the cache.
    countGarbage(data.length);
    return data;
  }

  function copyLists(bytes: Uint8Array, from: number, to: number): List[] {
    const copy = lists.copy(bytes, from, to);
    return listsOf(copy, 0, copy.length);
  }

  function write(documents: readonly StoredDocument[], lengths: readonly number[], each: EachTerm): void {
    if (documents.length === 0) return;
    // Ids come from a counter, not from the last row: an id that was in use may still be cached elsewhere.
    const ids = database.prepare("update counters set value = value + ? where name = ? returning value");
    const insert = database.prepare("insert into blocks (id, data) values (?, ?)");
    const firstBlock = ids.get(0, "block")!["value"] as number;
    const firsts: string[] = [];
    let bytes = 0;
    const writer = createBlockWriter((first, data) => {
      insert.run(firstBlock + firsts.length, data);
      firsts.push(first);
      bytes += data.length;
    });
    each((term, termLength, payload) => writer.add(term, termLength, payload));
    writer.finish();
    ids.get(firsts.length, "block");
    const last = documents.at(-1)!;
    database
      .prepare(
        "insert into segments (id, first, last, passages, dead, bytes, first_block, head, terms) values (?, ?, ?, ?, 0, ?, ?, ?, ?)",
      )
      .run(
        ids.get(1, "segment")!["value"] as number,
        documents[0]!.id,
        last.id + last.passages - 1,
        lengths.length,
        bytes,
        firstBlock,
        deflateRawSync(writeHead(documents, lengths), { level: 1 }),
        deflateRawSync(JSON.stringify(firsts), { level: 1 }),
      );
  }

  function merge(ids: readonly number[]): void {
    const segments = ids.map(get);
    const range = database.prepare("select id from documents where id between ? and ?");
    const documents: StoredDocument[] = [];
    const lengths: number[] = [];
    const streams = segments.map((segment): Stream => {
      const alive = new Set(range.all(segment.first, segment.last).map(({ id }) => id as number));
      const isWhole = alive.size === segment.documents.length;
      const ofDocuments: Moved = {
        to: new Int32Array(segment.documents.length).fill(-1),
        by: isWhole ? documents.length : undefined,
      };
      const ofPassages: Moved = {
        to: new Int32Array(segment.lengths.length).fill(-1),
        by: isWhole ? lengths.length : undefined,
      };
      segment.documents.forEach((id, ordinal) => {
        if (!alive.has(id)) return;
        const start = segment.starts[ordinal]!;
        const end = segment.starts[ordinal + 1]!;
        ofDocuments.to[ordinal] = documents.length;
        documents.push({ id, passages: end - start });
        for (let passage = start; passage < end; passage += 1) {
          ofPassages.to[passage] = lengths.length;
          lengths.push(segment.lengths[passage]!);
        }
      });
      let next = 0;
      // Bypasses the cache: blocks that are read once should not evict those that are read repeatedly.
      const nextBlock = (): Uint8Array | undefined => {
        goOn();
        return next < segment.terms.length
          ? (readBlock.get(segment.firstBlock + next++)!["data"] as Uint8Array)
          : undefined;
      };
      return { nextBlock, passages: ofPassages, documents: ofDocuments };
    });
    write(documents, lengths, (take) => mergeTerms(streams, take));
    const drop = database.prepare("delete from segments where id = ?");
    const dropBlocks = database.prepare("delete from blocks where id >= ? and id < ?");
    for (const { id, firstBlock, terms } of segments) {
      dropBlocks.run(firstBlock, firstBlock + terms.length);
      drop.run(id);
      known.delete(id);
    }
  }

  return {
    /** In the order of passages. Segments that were loaded before are the same objects; lists that were found before are no longer valid. */
    load,
    /** Each term once, in order; `lengths` holds the length of each passage, encoded by `shortLength`. */
    write,
    /** Drops what was read in a transaction that was rolled back. */
    forget(): void {
      known.clear();
      cache.clear();
    },
    /** Marks a document as removed. Its passages stay in the lists until the segment is merged. */
    markRemoved({ id, passages }: StoredDocument): void {
      database.prepare("update segments set dead = dead + ? where first <= ? and last >= ?").run(passages, id, id);
    },
    /** Merges if there are many small segments, or many removed passages in one. */
    tidy(): void {
      for (let ids = mergeable(list.all() as unknown as Size[]); ids; ids = mergeable(list.all() as unknown as Size[]))
        merge(ids);
    },
    /** The lists are valid until the next `load`. */
    find(segment: Segment, term: string): readonly List[] {
      const at = blockOf(segment.terms, term);
      if (at < 0) return [];
      const cursor = seek(getBlock(segment.firstBlock + at), term);
      if (!cursor || readTerm(cursor.term, 0, cursor.termLength) !== term) return [];
      return copyLists(cursor.block, cursor.payloadFrom, cursor.payloadTo);
    },
    /** Passes terms with this prefix, in order, until `take` returns false. Lists are valid until the next `load`. */
    eachTerm(segment: Segment, beginning: string, take: (term: string, lists: () => List[]) => boolean): void {
      for (let at = Math.max(0, blockOf(segment.terms, beginning)); at < segment.terms.length; at += 1) {
        if (segment.terms[at]! > beginning && !segment.terms[at]!.startsWith(beginning)) return;
        // Copied, because `take` may read other blocks.
        const cursor = seek(getBlock(segment.firstBlock + at).slice(), beginning);
        if (!cursor) continue;
        do {
          const term = readTerm(cursor.term, 0, cursor.termLength);
          if (!term.startsWith(beginning)) return;
          if (!take(term, () => copyLists(cursor.block, cursor.payloadFrom, cursor.payloadTo))) return;
        } while (cursor.next());
      }
    },
  };
}

interface Size {
  readonly id: number;
  readonly passages: number;
  readonly dead: number;
  readonly bytes: number;
}

/** Returns the neighbours that should be merged. */
function mergeable(sizes: readonly Size[]): readonly number[] | undefined {
  const mostlyRemoved = sizes.find(({ dead, passages }) => dead === passages || dead > Math.max(32, passages / 3));
  if (mostlyRemoved) return [mostlyRemoved.id];
  for (let most = smallBytes; most <= maxMergedBytes; most *= 8) {
    let from = sizes.length;
    while (from > 0 && sizes[from - 1]!.bytes <= most) from -= 1;
    if (sizes.length - from >= fanOut) return sizes.slice(from).map(({ id }) => id);
  }
  return undefined;
}

const smallBytes = 16 * 1024;

/** The last block that begins with this term or an earlier one; -1 if all begin after it. */
function blockOf(terms: readonly string[], term: string): number {
  let low = -1;
  let high = terms.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (terms[middle]! <= term) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Encodes a length in one byte, precise enough for scoring. Only a passage without tokens has 0. */
export function shortLength(tokens: number): number {
  return Math.min(255, Math.round(Math.log2(1 + tokens) * 16));
}

export function longLength(short: number): number {
  return 2 ** (short / 16) - 1;
}

function writeHead(documents: readonly StoredDocument[], lengths: readonly number[]): Uint8Array {
  const head = createWriter();
  head.number(documents.length);
  let last = 0;
  for (const { id, passages } of documents) {
    head.number(id - last);
    head.number(passages);
    last = id;
  }
  for (const length of lengths) head.byte(length);
  return head.copy();
}

function readHead(bytes: Uint8Array): Pick<Segment, "documents" | "starts" | "owners" | "lengths"> {
  const head: ByteReader = { bytes, at: 0 };
  const count = readNumber(head);
  const documents = new Uint32Array(count);
  const firsts = new Uint32Array(count + 1);
  let last = 0;
  for (let at = 0; at < count; at += 1) {
    last += readNumber(head);
    documents[at] = last;
    firsts[at + 1] = firsts[at]! + readNumber(head);
  }
  const passages = firsts[count]!;
  const starts = createOrdinals(count + 1, passages);
  starts.set(firsts);
  const owners = createOrdinals(passages, count);
  for (let at = 0; at < count; at += 1) owners.fill(at, starts[at], starts[at + 1]);
  // Copied, because a slice of a `Buffer` would hold all of it.
  return { documents, starts, owners, lengths: new Uint8Array(bytes.subarray(head.at, head.at + passages)) };
}
