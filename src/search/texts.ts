/** Stores the texts of passages, compressed in chunks. */
import type { DatabaseSync } from "node:sqlite";
import { constants } from "node:zlib";
import { countGarbage } from "../lib/v8-memory.ts";
import type { Entry } from "../source.ts";
import type { Passage } from "./passages.ts";

export const textTables = `
  create table texts (id integer primary key, data blob not null) strict;
`;

export interface KeptPassage extends Passage {
  readonly text: string;
}

/** Large enough to compress well, and small enough to read one passage quickly. */
const chunkLength = 6000;
/** The metadata of a passage takes about as much space as this length of text. */
const passageLength = 100;
const cachedChunks = 64;
/** Level 1: takes half of the CPU of deflate, and 2 % more space. */
const compression = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Passages with consecutive ids, of one document or of several. */
interface Chunk {
  readonly id: number;
  /** Null for a removed one. */
  readonly passages: (ChunkPassage | null)[];
}

interface ChunkPassage extends KeptPassage {
  /** With the first passage of a document. */
  readonly entry?: Entry;
}

/** Texts and entries by id: the id of a document is that of its first passage. */
export interface PassageReader {
  /** Undefined for an unknown id. */
  passage(id: number): KeptPassage | undefined;
  /** The entry of the document with this first passage. */
  entry(id: number): Entry;
}

export type PassageTexts = ReturnType<typeof openTexts>;

export function openTexts(database: DatabaseSync) {
  const { zstdCompressSync, zstdDecompressSync } = process.getBuiltinModule("node:zlib");
  const insert = database.prepare("insert or replace into texts (id, data) values (?, ?)");
  const dataOf = database.prepare("select data from texts where id = ?");
  const idOf = database.prepare("select id from texts where id <= ? order by id desc limit 1");
  const drop = database.prepare("delete from texts where id = ?");
  const cache = new Map<number, Chunk>();
  /** Chunks that have lost a passage, and are not written yet. */
  const changed = new Map<number, Chunk>();
  let open: Chunk | undefined;
  let openLength = 0;

  function write({ id, passages }: Chunk): void {
    const text = passages.map((passage) => passage?.text ?? "").join("");
    const head = passages.map(
      (passage) =>
        passage && [
          passage.from,
          passage.text.length,
          passage.lines[0],
          passage.lines[1] - passage.lines[0],
          passage.heading,
          ...(passage.entry ? [passage.entry] : []),
        ],
    );
    // Half a surrogate pair has no UTF-8.
    const spelling = text.isWellFormed() ? "utf8" : "utf16le";
    const whole = Buffer.from(`${JSON.stringify(head)}\n${text}`, spelling);
    const data = zstdCompressSync(whole, compression);
    insert.run(id, Buffer.concat([Buffer.of(spelling === "utf8" ? 0 : 1), data]));
  }

  function read(id: number): Chunk | undefined {
    const first = idOf.get(id)?.["id"] as number | undefined;
    if (first === undefined) return undefined;
    let chunk = changed.get(first) ?? cache.get(first);
    if (!chunk) {
      chunk = { id: first, passages: unpack(dataOf.get(first)!["data"] as Uint8Array) };
      for (const oldest of cache.keys()) if (cache.size >= cachedChunks) cache.delete(oldest);
      cache.set(first, chunk);
    }
    return chunk;
  }

  function unpack(data: Uint8Array): Chunk["passages"] {
    const unpacked = zstdDecompressSync(data.subarray(1));
    countGarbage(data.length + unpacked.length);
    const whole = unpacked.toString(data[0] === 0 ? "utf8" : "utf16le");
    let at = whole.indexOf("\n");
    const head = JSON.parse(whole.slice(0, at)) as (
      | [from: number, length: number, line: number, more: number, heading: string, entry?: Entry]
      | null
    )[];
    at += 1;
    return head.map((one) => {
      if (!one) return null;
      const [from, length, line, more, heading, entry] = one;
      const text = whole.slice(at, at + length);
      at += length;
      return { from, to: from + length, lines: [line, line + more], heading, text, entry };
    });
  }

  function close(): void {
    if (open) write(open);
    open = undefined;
    openLength = 0;
  }

  return {
    /** The first passage gets the id, the others the following ids; so does the next document. */
    put(id: number, entry: Entry, text: string, passages: readonly Passage[]): void {
      for (let at = 0; at < passages.length; at += 1) {
        const { from, to, lines, heading } = passages[at]!;
        open ??= { id: id + at, passages: [] };
        const piece = text.slice(from, to);
        open.passages.push(
          at === 0 ? { from, to, lines, heading, text: piece, entry } : { from, to, lines, heading, text: piece },
        );
        openLength += to - from + passageLength;
        if (openLength >= chunkLength) close();
      }
    },
    remove(id: number, passages: number): void {
      close();
      for (let at = id + passages - 1; at >= id;) {
        const chunk = read(at);
        if (!chunk) return;
        for (let passage = Math.max(id, chunk.id); passage <= at; passage += 1)
          chunk.passages[passage - chunk.id] = null;
        changed.set(chunk.id, chunk);
        at = chunk.id - 1;
      }
    },
    /** Writes what was put and removed since the last call. */
    flush(): void {
      close();
      for (const chunk of changed.values())
        if (chunk.passages.some((passage) => passage !== null)) write(chunk);
        else {
          drop.run(chunk.id);
          cache.delete(chunk.id);
        }
      changed.clear();
    },
    /** Undefined for an unknown id. */
    passage(id: number): KeptPassage | undefined {
      const chunk = read(id);
      return chunk?.passages[id - chunk.id] ?? undefined;
    },
    /** The entry of the document with this first passage. */
    entry(id: number): Entry {
      const chunk = read(id)!;
      return chunk.passages[id - chunk.id]!.entry!;
    },
    /** Drops what was read or put in a transaction that was rolled back. */
    forget(): void {
      cache.clear();
      changed.clear();
      open = undefined;
      openLength = 0;
    },
  };
}
