/** What passages say, kept compressed, a few of them together. */
import type { DatabaseSync } from "node:sqlite";
import type { Entry } from "../source.ts";
import type { Passage } from "./passages.ts";

export const textTables = `
  create table texts (id integer primary key, data blob not null) strict;
`;

export interface KeptPassage extends Passage {
  readonly text: string;
}

export interface Texts {
  /** The first passage gets the id, the others those behind it; so does the next document. Written by `flush` at the latest. */
  put(id: number, entry: Entry, text: string, passages: readonly Passage[]): void;
  flush(): void;
  remove(id: number, passages: number): void;
  /** Undefined for an id that is not there. */
  passage(id: number): KeptPassage | undefined;
  /** The entry of the document whose first passage this is. */
  entry(id: number): Entry;
  /** Forgets what was read or put in a transaction that was taken back. */
  forget(): void;
}

/** Enough for a compressor to learn from, and little to undo for one passage. */
const chunkLength = 6000;
/** What is known of a passage beside its text takes about as much room as so much text. */
const passageLength = 100;
const cachedChunks = 256;

/** Passages whose ids follow one another, of one document or of several. */
interface Chunk {
  readonly id: number;
  /** Null where one was removed. */
  readonly passages: (ChunkPassage | null)[];
}

interface ChunkPassage extends KeptPassage {
  /** With the first passage of a document. */
  readonly entry?: Entry;
}

export function openTexts(database: DatabaseSync): Texts {
  const { deflateRawSync, inflateRawSync } = process.getBuiltinModule("node:zlib");
  const insert = database.prepare("insert or replace into texts (id, data) values (?, ?)");
  const find = database.prepare("select id, data from texts where id <= ? order by id desc limit 1");
  const idOf = database.prepare("select id from texts where id <= ? order by id desc limit 1");
  const drop = database.prepare("delete from texts where id = ?");
  const cache = new Map<number, Chunk>();
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
    // Half a pair of surrogates has no UTF-8.
    const spelling = text.isWellFormed() ? "utf8" : "utf16le";
    const whole = Buffer.from(`${JSON.stringify(head)}\n${text}`, spelling);
    const data = deflateRawSync(whole, { level: 4, windowBits: 13, memLevel: 6 });
    insert.run(id, Buffer.concat([Buffer.of(spelling === "utf8" ? 0 : 1), data]));
  }

  function read(id: number): Chunk | undefined {
    const row = find.get(id);
    if (!row) return undefined;
    const first = row["id"] as number;
    let chunk = cache.get(first);
    if (!chunk) {
      chunk = { id: first, passages: unpack(row["data"] as Uint8Array) };
      for (const oldest of cache.keys()) if (cache.size >= cachedChunks) cache.delete(oldest);
      cache.set(first, chunk);
    }
    return chunk;
  }

  function unpack(data: Uint8Array): Chunk["passages"] {
    const whole = inflateRawSync(data.subarray(1)).toString(data[0] === 0 ? "utf8" : "utf16le");
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
      return { from, to: from + length, lines: [line, line + more], heading, text, ...(entry && { entry }) };
    });
  }

  function flush(): void {
    if (open) write(open);
    open = undefined;
    openLength = 0;
  }

  return {
    put(id, entry, text, passages) {
      for (let at = 0; at < passages.length; at += 1) {
        const { from, to, lines, heading } = passages[at]!;
        open ??= { id: id + at, passages: [] };
        const piece = text.slice(from, to);
        open.passages.push(
          at === 0 ? { from, to, lines, heading, text: piece, entry } : { from, to, lines, heading, text: piece },
        );
        openLength += to - from + passageLength;
        if (openLength >= chunkLength) flush();
      }
    },
    flush,
    remove(id, passages) {
      flush();
      const last = id + passages - 1;
      for (let at = last; at >= id;) {
        const first = idOf.get(at)?.["id"] as number | undefined;
        if (first === undefined) return;
        const chunk = read(first)!;
        for (let passage = Math.max(id, first); passage <= at; passage += 1) chunk.passages[passage - first] = null;
        if (chunk.passages.every((passage) => passage === null)) {
          drop.run(first);
          cache.delete(first);
        } else write(chunk);
        at = first - 1;
      }
    },
    passage(id) {
      const chunk = read(id);
      return chunk?.passages[id - chunk.id] ?? undefined;
    },
    entry(id) {
      const chunk = read(id)!;
      return chunk.passages[id - chunk.id]!.entry!;
    },
    forget() {
      cache.clear();
      open = undefined;
      openLength = 0;
    },
  };
}
