import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBlockWriter, seek, walkBlock } from "./blocks.ts";
import { compareBytes, createWriter, maxTermBytes, readNumber, readTerm, writeTerm } from "./bytes.ts";
import { body, createListWriter, eachPosting, listsOf, title } from "./lists.ts";
import { createPostings } from "./postings.ts";
import { longLength, openSegments, segmentTables, shortLength, type StoredDocument } from "./segments.ts";
import { createVocabulary } from "./vocabulary.ts";

const term = fc.string({ unit: fc.constantFrom(..."ab9é設定\uffff", "\ud842", "\udfb7"), minLength: 1, maxLength: 6 });

it("numbers are read as they were written", () => {
  const writer = createWriter();
  const numbers = [0, 1, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 32 - 1];
  for (const number of numbers) writer.number(number);
  const reader = { bytes: writer.view(), at: 0 };
  expect(numbers.map(() => readNumber(reader))).toEqual(numbers);
});

it("terms are read as they were written, and their bytes compare as they do", () => {
  const [left, right] = [new Uint8Array(maxTermBytes), new Uint8Array(maxTermBytes)];
  fc.assert(
    fc.property(term, term, (one, other) => {
      const [oneLength, otherLength] = [writeTerm(one, left), writeTerm(other, right)];
      expect(readTerm(left, 0, oneLength)).toBe(one);
      expect(Math.sign(compareBytes(left, oneLength, right, 0, otherLength))).toBe(
        one < other ? -1 : one > other ? 1 : 0,
      );
    }),
  );
});

it("a length in one byte is near the true one", () => {
  expect(shortLength(0)).toBe(0);
  for (const length of [1, 10, 100, 1000, 5000]) {
    expect(shortLength(length)).toBeGreaterThan(0);
    expect(Math.abs(longLength(shortLength(length)) / length - 1)).toBeLessThan(0.05);
  }
});

describe("blocks", () => {
  const terms = Array.from({ length: 5000 }, (_, at) => `term${String(at * 2).padStart(6, "0")}`);
  const blocks: { first: string; block: Uint8Array }[] = [];
  const writer = createBlockWriter((first, block) => blocks.push({ first, block }));
  const bytes = new Uint8Array(maxTermBytes);
  for (const one of terms) writer.add(bytes, writeTerm(one, bytes), Buffer.from(`of ${one}`));
  writer.finish();

  it("hold every term, in order", () => {
    const read = blocks.flatMap(({ block }) => {
      const cursor = walkBlock(block);
      const found: string[] = [];
      while (cursor.next()) found.push(readTerm(cursor.term, 0, cursor.termLength));
      return found;
    });
    expect(read).toEqual(terms);
    expect(blocks.length).toBeGreaterThan(5);
    expect(Math.max(...blocks.map(({ block }) => block.length))).toBeLessThanOrEqual(8000);
  });
  it("seek to the first term that is not before the given one", () => {
    const { block } = blocks[2]!;
    const cursor = walkBlock(block);
    while (cursor.next()) {
      const here = readTerm(cursor.term, 0, cursor.termLength);
      const just = `${here.slice(0, -1)}${String.fromCharCode(here.charCodeAt(here.length - 1) - 1)}~`;
      for (const sought of [here, just]) {
        const found = seek(block, sought)!;
        expect(readTerm(found.term, 0, found.termLength)).toBe(here);
        expect(Buffer.from(found.block.subarray(found.payloadFrom, found.payloadTo)).toString()).toBe(`of ${here}`);
      }
    }
    expect(seek(block, "zzz")).toBeUndefined();
  });
});

it("the vocabulary finds a term by its text, and sorts as strings do", () => {
  fc.assert(
    fc.property(fc.array(term, { maxLength: 40 }), fc.boolean(), (terms, isMany) => {
      const vocabulary = createVocabulary();
      const all = isMany ? [...terms, ...Array.from({ length: 2500 }, (_, at) => `many${at}`)] : terms;
      vocabulary.numberOf("forgotten", "word");
      for (const one of all.toReversed()) vocabulary.numberOf(one, "pair");
      vocabulary.clear();
      expect(vocabulary.size).toBe(0);
      const text = `xx${all.join("")}`;
      const units = Uint16Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
      let at = 2;
      const numbers = all.map((one) => vocabulary.numberAt(units, at, (at += one.length), "pair"));
      expect(numbers.map((number) => vocabulary.termOf(number))).toEqual(all);
      expect(new Set(numbers).size).toBe(new Set(all).size);
      const sorted = vocabulary.sort(Int32Array.from(new Set(numbers)));
      expect([...sorted].map((number) => vocabulary.termOf(number))).toEqual([...new Set(all)].sort());
    }),
    { numRuns: 50 },
  );
});

it("lists are read as they were written, moved or not", () => {
  const writer = createListWriter();
  writer.add(body, 3, 1);
  writer.add(body, 200, 7);
  writer.add(body, 70_000, 300);
  writer.add(title, 0, 1);
  const first = writer.take().slice();
  writer.append(first, 0, first.length, 10, 100);
  writer.append(first, 0, first.length, 100_000, 200);
  const merged = writer.take().slice();
  const read = listsOf(merged, 0, merged.length).map((list) => {
    const places: number[][] = [];
    eachPosting(list, (...place) => places.push(place));
    return [list.field, places];
  });
  expect(read).toEqual([
    [
      body,
      [
        [13, 1],
        [210, 7],
        [70_010, 300],
        [100_003, 1],
        [100_200, 7],
        [170_000, 300],
      ],
    ],
    [
      title,
      [
        [100, 1],
        [200, 1],
      ],
    ],
  ]);
});

function openSome() {
  const database = new DatabaseSync(":memory:");
  database.exec(`create table documents (id integer primary key);
    create table counters (name text primary key, value integer); insert into counters values ('block', 1), ('segment', 1); ${segmentTables}`);
  const segments = openSegments(database);
  const vocabulary = createVocabulary();
  const postings = createPostings(vocabulary);
  let next = 1;
  return {
    database,
    segments,
    /** Documents of one passage for each word. */
    write(...documents: string[][]): number[] {
      const kept: StoredDocument[] = [];
      const lengths: number[] = [];
      for (const words of documents) {
        for (const word of words) {
          postings.add(vocabulary.numberOf(word, "pair"), body, lengths.length);
          lengths.push(16);
        }
        postings.add(vocabulary.numberOf("title", "pair"), title, kept.length);
        kept.push({ id: next, passages: words.length });
        database.prepare("insert into documents values (?)").run(next);
        next += words.length;
      }
      segments.write(kept, lengths, postings.take);
      return kept.map(({ id }) => id);
    },
    /** Ids of the passages, or documents, where a term occurs. */
    find(word: string): number[] {
      return segments.load().flatMap((segment) =>
        segments.find(segment, word).flatMap((list) => {
          const ids: number[] = [];
          eachPosting(list, (ordinal) => {
            const document = list.field === body ? segment.owners[ordinal]! : ordinal;
            ids.push(segment.documents[document]! + (list.field === body ? ordinal - segment.starts[document]! : 0));
          });
          return ids;
        }),
      );
    },
  };
}

describe("segments", () => {
  it("find what was written", () => {
    const { write, find, segments } = openSome();
    expect(write(["a", "b"], ["b", "c", "b"])).toEqual([1, 3]);
    write(["b"]);
    expect([find("a"), find("b"), find("c"), find("title"), find("x")]).toEqual([
      [1],
      [2, 3, 5, 6],
      [4],
      [1, 3, 6],
      [],
    ]);
    const begun: string[] = [];
    segments.eachTerm(segments.load()[0]!, "", (one) => begun.push(one) > 0);
    expect(begun).toEqual(["a", "b", "c", "title"]);
  });

  it("are merged when there are many, without removed documents", () => {
    const { write, find, segments, database } = openSome();
    const ids = Array.from({ length: 40 }, (_, at) => write(["all", `only${at}`, at % 2 === 0 ? "even" : "odd"])[0]!);
    for (const id of ids.slice(10, 13)) {
      database.prepare("delete from documents where id = ?").run(id);
      segments.markRemoved({ id, passages: 3 });
    }
    segments.tidy();
    expect(segments.load().length).toBeLessThan(16);
    expect(find("all")).toEqual(ids.filter((_, at) => at < 10 || at > 12));
    expect([find("only9"), find("only10"), find("only13")]).toEqual([[ids[9]! + 1], [], [ids[13]! + 1]]);
    expect(find("odd")).toEqual(ids.filter((_, at) => at % 2 === 1 && at !== 11).map((id) => id + 2));
    expect(database.prepare("select count(*) as count from blocks").get()).toEqual({ count: segments.load().length });
  });

  it("lose removed documents in a merge", () => {
    const { write, find, segments, database } = openSome();
    const [first, second, third] = write(["a", "b"], ["a", "c"], ["a", "b"]);
    database.prepare("delete from documents where id = ?").run(second!);
    segments.markRemoved({ id: second!, passages: 2 });
    const others = Array.from({ length: 15 }, () => write(["a"])[0]!);
    segments.tidy();
    expect(segments.load()).toHaveLength(1);
    expect([find("a"), find("b"), find("c")]).toEqual([[first, third, ...others], [first! + 1, third! + 1], []]);
    expect(find("title")).toEqual([first, third, ...others]);
  });

  it("without remaining documents are removed", () => {
    const { write, segments, database } = openSome();
    const [id] = write(["a"]);
    database.exec("delete from documents");
    segments.markRemoved({ id: id!, passages: 1 });
    segments.tidy();
    expect(segments.load()).toEqual([]);
    expect(database.prepare("select count(*) as count from blocks").get()).toEqual({ count: 0 });
  });
});
