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
  /** The first passage gets the id, the others those behind it. */
  put(id: number, entry: Entry, text: string, passages: readonly Passage[]): void;
  remove(id: number, passages: number): void;
  /** Undefined for an id that is not there. */
  passage(id: number): KeptPassage | undefined;
  /** The entry of the document whose first passage this is. */
  entry(id: number): Entry;
  /** Forgets what was read in a transaction that was taken back. */
  forget(): void;
}

/** Enough for a compressor to learn from, and little to undo for one passage. */
const chunkLength = 6000;
const cachedChunks = 256;

interface Chunk {
  readonly id: number;
  readonly entry: Entry | undefined;
  readonly passages: readonly KeptPassage[];
}

export function openTexts(database: DatabaseSync): Texts {
  const { deflateRawSync, inflateRawSync } = process.getBuiltinModule("node:zlib");
  const insert = database.prepare("insert into texts (id, data) values (?, ?)");
  const find = database.prepare("select id, data from texts where id <= ? order by id desc limit 1");
  const drop = database.prepare("delete from texts where id >= ? and id < ?");
  /** Ids are never used twice, so what is known stays true; what was removed is not asked for. */
  const cache = new Map<number, Chunk>();

  function write(id: number, entry: Entry | undefined, text: string, passages: readonly Passage[]): void {
    const from = passages[0]!.from;
    const piece = text.slice(from, passages.at(-1)!.to);
    const head = JSON.stringify([
      from,
      passages.map((one) => [
        one.from - from,
        one.to - one.from,
        one.lines[0],
        one.lines[1] - one.lines[0],
        one.heading,
      ]),
      ...(entry ? [entry] : []),
    ]);
    // Half a pair of surrogates has no UTF-8.
    const spelling = piece.isWellFormed() ? "utf8" : "utf16le";
    const data = deflateRawSync(Buffer.from(`${head}\n${piece}`, spelling), { level: 4 });
    insert.run(id, Buffer.concat([Buffer.of(spelling === "utf8" ? 0 : 1), data]));
  }

  function read(id: number): Chunk | undefined {
    const row = find.get(id);
    if (!row) return undefined;
    const first = row["id"] as number;
    const known = cache.get(first);
    if (known) return known;
    const data = row["data"] as Uint8Array;
    const whole = inflateRawSync(data.subarray(1)).toString(data[0] === 0 ? "utf8" : "utf16le");
    const end = whole.indexOf("\n");
    const [start, passages, entry] = JSON.parse(whole.slice(0, end)) as [
      number,
      [from: number, length: number, line: number, more: number, heading: string][],
      Entry?,
    ];
    const chunk: Chunk = {
      id: first,
      entry,
      passages: passages.map(([from, length, line, more, heading]) => ({
        from: start + from,
        to: start + from + length,
        lines: [line, line + more],
        heading,
        text: whole.slice(end + 1 + from, end + 1 + from + length),
      })),
    };
    cache.set(first, chunk);
    for (const oldest of cache.keys()) {
      if (cache.size <= cachedChunks) break;
      cache.delete(oldest);
    }
    return chunk;
  }

  return {
    put(id, entry, text, passages) {
      let start = 0;
      for (let at = 1; at <= passages.length; at += 1) {
        if (at < passages.length && passages[at]!.to - passages[start]!.from <= chunkLength) continue;
        write(id + start, start === 0 ? entry : undefined, text, passages.slice(start, at));
        start = at;
      }
    },
    remove(id, passages) {
      drop.run(id, id + passages);
    },
    passage(id) {
      const chunk = read(id);
      return chunk?.passages[id - chunk.id];
    },
    entry(id) {
      return read(id)!.entry!;
    },
    forget() {
      cache.clear();
    },
  };
}
