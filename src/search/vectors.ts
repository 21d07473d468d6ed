/** Stores vectors of passages with one byte per dimension, and compares them by brute force. */
import type { DatabaseSync } from "node:sqlite";
import { keepLargest } from "./keep-largest.ts";

export const vectorTables = `
  create table vectors (
    number integer primary key autoincrement, passage integer not null unique, data blob not null
  ) strict;
`;

/** Number of vectors per chunk in memory. */
const pieceSize = 4096;

interface Piece {
  readonly passages: Float64Array;
  readonly values: Int8Array;
  readonly scales: Float32Array;
  count: number;
}

export type Vectors = ReturnType<typeof openVectors>;

export function openVectors(database: DatabaseSync) {
  const insert = database.prepare("insert or replace into vectors (passage, data) values (?, ?)");
  const one = database.prepare("select 1 from vectors where passage = ?");
  const drop = database.prepare("delete from vectors where passage between ? and ?");
  const since = database.prepare("select number, passage, data from vectors where number > ? order by number");
  const size = database.prepare("select count(*) as count from vectors");
  const between = database.prepare("select count(*) as count from vectors where passage between ? and ?");
  let pieces: Piece[] = [];
  let dimensions = 0;
  let held = 0;
  let last = 0;

  /** Rows are only appended and removed; when half of those in memory are gone, all are read again. */
  function refresh(wanted: number): void {
    if (wanted !== dimensions || (size.get()!["count"] as number) * 2 < held) {
      pieces = [];
      held = 0;
      last = 0;
      dimensions = wanted;
    }
    for (const row of since.iterate(last)) {
      last = row["number"] as number;
      const data = row["data"] as Uint8Array;
      if (data.length !== dimensions + 4) continue;
      let piece = pieces.at(-1);
      if (!piece || piece.count === pieceSize) {
        piece = {
          passages: new Float64Array(pieceSize),
          values: new Int8Array(pieceSize * dimensions),
          scales: new Float32Array(pieceSize),
          count: 0,
        };
        pieces.push(piece);
      }
      piece.passages[piece.count] = row["passage"] as number;
      piece.scales[piece.count] = new DataView(data.buffer, data.byteOffset).getFloat32(0);
      piece.values.set(new Int8Array(data.buffer, data.byteOffset + 4, dimensions), piece.count * dimensions);
      piece.count += 1;
      held += 1;
    }
  }

  return {
    /** A zero vector is stored as such, and is near to nothing. */
    put(passage: number, vector: Float32Array): void {
      insert.run(passage, toBytes(vector) ?? new Uint8Array());
    },
    /** Number of passages with a vector, from the first id to the last. */
    count: (first: number, end: number): number => between.get(first, end)!["count"] as number,
    has: (passage: number): boolean => one.get(passage) !== undefined,
    /** Removes those of the passages from the first id to the last. */
    remove(first: number, end: number): void {
      drop.run(first, end);
    },
    /** Ids of the nearest passages, nearest first. Some may no longer exist. */
    nearest(vector: Float32Array, count: number): readonly number[] {
      const bytes = toBytes(vector);
      if (!bytes) return [];
      refresh(vector.length);
      const wanted = new Int8Array(bytes.buffer, bytes.byteOffset + 4, vector.length);
      const best: { passage: number; score: number }[] = [];
      for (const { passages, values, scales, count: inPiece } of pieces)
        for (let at = 0; at < inPiece; at += 1) {
          let sum = 0;
          const from = at * dimensions;
          for (let dimension = 0; dimension < dimensions; dimension += 1)
            sum += wanted[dimension]! * values[from + dimension]!;
          const likeness = sum * scales[at]!;
          if (best.length < count || likeness > best[0]!.score)
            keepLargest(best, count, { passage: passages[at]!, score: likeness });
        }
      return best.sort((left, right) => right.score - left.score).map(({ passage }) => passage);
    },
  };
}

/** Normalised to length 1: a scale of four bytes and a byte for each dimension. Undefined for a vector without direction. */
function toBytes(vector: Float32Array): Uint8Array | undefined {
  let squares = 0;
  let most = 0;
  for (const value of vector) {
    squares += value * value;
    most = Math.max(most, Math.abs(value));
  }
  if (!(squares > 0 && squares < Infinity)) return undefined;
  const bytes = new Uint8Array(vector.length + 4);
  new DataView(bytes.buffer).setFloat32(0, most / Math.sqrt(squares) / 127);
  vector.forEach((value, at) => {
    bytes[at + 4] = Math.round((value / most) * 127);
  });
  return bytes;
}
