import * as fs from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Encoding, encodeText } from "../../lib/text-encoding.ts";
import type { Part } from "../../source.ts";
import { refusal } from "../../testing/refusal.ts";
import { type Stretch, readRange } from "./range.ts";
import { createLineIndex } from "./range-lines.ts";
import { type FileSource, useFolder } from "../disk/test-folder.ts";

const folder = useFolder();
const { at, call, open, write } = folder;

const encodings = ["utf-8", "utf-16le", "utf-16be", "shift_jis", "euc-jp", "iso-2022-jp"] as const;
const poem = "古池や\r\n蛙飛び込む\nThe sound\n\n水の音です。設定ファイル\n";

interface SaidRange {
  readonly lines?: readonly [number, number];
  readonly bytes?: readonly [number, number];
  readonly total?: number;
  readonly next?: string;
}

const marks: Partial<Record<Encoding, readonly number[]>> = { "utf-16le": [0xff, 0xfe], "utf-16be": [0xfe, 0xff] };

function encode(text: string, encoding: Encoding): Buffer {
  return Buffer.from([...(marks[encoding] ?? []), ...(encodeText(text, encoding) ?? [])]);
}

async function readPart(source: FileSource, path: string, query: string): Promise<Part> {
  const parts = await source.read({ path, query: Object.fromEntries(new URLSearchParams(query)) }, call());
  expect(parts).toHaveLength(1);
  return parts[0] as Part;
}

const textOf = ({ body }: Part): string => {
  if (!("text" in body)) throw new Error("bytes were given, not text");
  return body.text;
};
const bytesOf = ({ body }: Part): Buffer => {
  if (!("bytes" in body)) throw new Error(`text was given, not bytes: ${body.text}`);
  return Buffer.from(body.bytes);
};
const saidOf = ({ meta }: Part): SaidRange => meta?.["pressmark/range"] as SaidRange;

/** Follows `next` to the end. */
async function readOn(source: FileSource, path: string, first: string): Promise<Part[]> {
  const parts: Part[] = [];
  for (let query: string | undefined = first; query !== undefined; query = saidOf(parts.at(-1) as Part).next) {
    expect(parts.length).toBeLessThan(1000);
    parts.push(await readPart(source, path, query));
  }
  return parts;
}

describe("lines", () => {
  it("count from 1 and include both ends, with unchanged line ends", async () => {
    write("a.txt", "one\ntwo\r\nthree\nfour");
    const source = await open();
    const cases: [string, string, SaidRange][] = [
      ["lines=1-1", "one\n", { lines: [1, 1], next: "lines=2-2" }],
      ["lines=2-3", "two\r\nthree\n", { lines: [2, 3], next: "lines=4-5" }],
      ["lines=3-", "three\nfour", { lines: [3, 4], total: 4 }],
      ["lines=4-9", "four", { lines: [4, 4], total: 4 }],
      ["lines=1-4", "one\ntwo\r\nthree\nfour", { lines: [1, 4], total: 4 }],
    ];
    for (const [query, text, said] of cases) {
      const part = await readPart(source, "a.txt", query);
      expect(part, query).toEqual({ body: { text }, mimeType: "text/plain", meta: { "pressmark/range": said } });
    }
  });

  it.each(encodings)("of %s are decoded, one by one and in sequence", async (encoding) => {
    write("a.md", encode(poem, encoding));
    const source = await open();
    const lines = poem.split(/(?<=\n)/);
    for (const [index, line] of lines.entries()) {
      const part = await readPart(source, "a.md", `lines=${index + 1}-${index + 1}`);
      expect(textOf(part)).toBe(line);
      expect(part.mimeType).toBe("text/markdown");
      const mark = index === 0 && marks[encoding] ? "-bom" : "";
      expect(part.meta?.["pressmark/encoding"]).toBe(encoding === "utf-8" ? undefined : `${encoding}${mark}`);
    }
    expect((await readOn(source, "a.md", "lines=1-2")).map(textOf).join("")).toBe(poem);
  });

  it("end at the size limit, and continue from there", async () => {
    const text = Array.from({ length: 500 }, (_, line) => `${line} ${"長い行".repeat(line % 7)}\n`).join("");
    write("a.txt", text);
    const source = await open({ maxBytes: 1000 });
    for (const first of ["lines=1-", "lines=1-500", "lines=1-9999"]) {
      const parts = await readOn(source, "a.txt", first);
      expect(parts.map(textOf).join("")).toBe(text);
      for (const part of parts) expect(Buffer.byteLength(textOf(part))).toBeLessThanOrEqual(1000);
      expect(saidOf(parts.at(-1) as Part)).toMatchObject({ total: 500 });
      expect(saidOf(parts[0] as Part).next).toBe(first === "lines=1-" ? "lines=34-" : `lines=34-${first.slice(8)}`);
    }
  });

  it("that are longer than the limit are returned in pieces", async () => {
    const text = `short\n${"あいう".repeat(400)}\nend\n`;
    write("a.txt", text);
    const source = await open({ maxBytes: 1000 });
    const parts = await readOn(source, "a.txt", "lines=2-2");
    expect(saidOf(parts[0] as Part)).toEqual({ bytes: [6, 1007], total: 3611, next: "bytes=1008-2007" });
    expect(`short\n${parts.map(textOf).join("")}`).toBe(text);
  });

  it("beyond the end fail with the number of lines", async () => {
    const source = await open();
    for (const [content, lines] of [
      ["", 0],
      ["a", 1],
      ["a\n", 1],
      ["a\nb", 2],
      ["\n\n", 2],
    ] as const) {
      write("a.txt", content);
      const error = await refusal(readPart(source, "a.txt", `lines=${lines + 1}-`), ["invalid"], content);
      expect(error.message).toContain(`has ${lines} line`);
      expect(error.details).toEqual({ reason: "beyond-end", total: lines });
    }
  });

  it("of binary content are rejected, with a message that says what to request", async () => {
    write("a.png", Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1"));
    const { message } = await refusal(readPart(await open(), "a.png", "lines=1-3"), ["invalid"], "lines");
    expect(message).toBe('"a.png" is not text, so it has no lines; request bytes, as in "bytes=0-1023"');
  });

  it("that contain binary content are returned as bytes", async () => {
    const broken = Buffer.from("\xff\xff\n", "latin1");
    write("a.log", Buffer.concat([Buffer.from("fine\n".repeat(20_000)), broken, Buffer.from("fine\n")]));
    const source = await open();
    const part = await readPart(source, "a.log", "lines=20001-20001");
    expect(bytesOf(part)).toEqual(broken);
    expect(part.mimeType).toBe("application/octet-stream");
    expect(textOf(await readPart(source, "a.log", "lines=20002-20002"))).toBe("fine\n");
  });
});

describe("bytes", () => {
  it("of binary content are exact", async () => {
    const content = Buffer.from([0, 1, 2, 255, 254, 3]);
    write("a.bin", content);
    const source = await open();
    const part = await readPart(source, "a.bin", "bytes=1-3");
    expect(bytesOf(part)).toEqual(content.subarray(1, 4));
    expect(saidOf(part)).toEqual({ bytes: [1, 3], total: 6, next: "bytes=4-5" });
    expect(bytesOf(await readPart(source, "a.bin", "bytes=4-"))).toEqual(content.subarray(4));
    expect(Buffer.concat((await readOn(source, "a.bin", "bytes=0-1")).map(bytesOf))).toEqual(content);
  });

  it("keep the type of the whole", async () => {
    write("a.png", Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1"));
    expect((await readPart(await open(), "a.png", "bytes=8-11")).mimeType).toBe("image/png");
  });

  it.each(encodings)("of %s text are whole characters, each returned once and none lost", async (encoding) => {
    const text = `${poem}🦊${poem}`.replaceAll("🦊", encoding.startsWith("utf") ? "🦊" : "狐");
    const content = encode(text, encoding);
    write("a.txt", content);
    const source = await open();
    for (const width of [1, 2, 3, 5, 7, 16, 1000]) {
      let joined = "";
      let next = 0;
      for (let begin = 0; begin < content.length; begin += width) {
        const end = Math.min(content.length, begin + width) - 1;
        const part = await readPart(source, "a.txt", `bytes=${begin}-${end}`);
        const [from, to] = saidOf(part).bytes as [number, number];
        // If no character begins in a range, it contains the one that covers it.
        if (from < next) continue;
        expect(from).toBe(next);
        expect(to).toBeGreaterThanOrEqual(Math.min(end, content.length - 1));
        next = to + 1;
        joined += textOf(part);
      }
      expect(joined, `${width} at a time`).toBe(text);
      expect((await readOn(source, "a.txt", `bytes=0-${width - 1}`)).map(textOf).join("")).toBe(text);
    }
  });

  it("of a text that is one long line of Shift_JIS fall on characters, too", async () => {
    const text = `x${"ソ表十予申".repeat(20_000)}`;
    write("a.txt", encode(text, "shift_jis"));
    const source = await open();
    const parts = await readOn(source, "a.txt", "bytes=0-30000");
    expect(parts.map(textOf).join("")).toBe(text);
  });

  it("are limited by the size limit", async () => {
    write("a.txt", "0123456789".repeat(1000));
    const source = await open({ maxBytes: 1000 });
    const part = await readPart(source, "a.txt", "bytes=10-");
    expect(textOf(part)).toHaveLength(1000);
    expect(saidOf(part)).toEqual({ bytes: [10, 1009], total: 10_000, next: "bytes=1010-2009" });
    expect(saidOf(await readPart(source, "a.txt", "bytes=0-4999")).next).toBe("bytes=1000-4999");
  });

  it("beyond the end fail with the number of bytes", async () => {
    write("a.txt", "abc");
    const { message, details } = await refusal(readPart(await open(), "a.txt", "bytes=3-"), ["invalid"], "bytes");
    expect(message).toContain('"a.txt" has 3 bytes, so there is none at 3');
    expect(details).toEqual({ reason: "beyond-end", total: 3 });
  });
});

describe("a range", () => {
  it.each([
    "lines=0-3",
    "lines=5-2",
    "lines=x",
    "lines=",
    "lines=-",
    "lines=-5",
    "lines=3",
    "lines=1-2-3",
    "lines=1e3-",
    "lines= 1-2",
    "lines=１-２",
    "lines=9999999999999999-",
    "bytes=-5",
    "bytes=5-2",
    "bytes=0x0-0x5",
    "lines=1-2&bytes=0-1",
    "as=html",
    "as=",
  ])("that is invalid is rejected with an example: %s", async (query) => {
    write("a.txt", "a\nb\nc\n");
    const { message } = await refusal(readPart(await open(), "a.txt", query), ["invalid"], query);
    expect(message).toMatch(/"lines=10-40"|"bytes=0-1023"|"as" must be "text"/);
    expect(message.length).toBeLessThan(300);
  });

  it("of a missing file, of a folder, and with an unknown query is not found", async () => {
    write("d/a.txt", "a");
    const source = await open();
    await refusal(readPart(source, "b.txt", "lines=1-"), ["not-found"], "b.txt");
    await refusal(readPart(source, "d", "lines=1-"), ["directory"], "d");
    await refusal(readPart(source, "d/a.txt", "lines=1-&other=1"), ["not-found"], "other");
    await refusal(readPart(source, "d/a.txt", "Lines=1-"), ["not-found"], "Lines");
    await refusal(source.stat({ path: "d", query: { lines: "1-" } }, call()), ["not-found"], "d");
    await refusal(source.stat({ path: "d/a.txt", query: { other: "1" } }, call()), ["not-found"], "other");
  });

  it("has the version of its file, so that it can be cached, and no size", async () => {
    write("a.txt", "a\nb\n");
    const source = await open();
    const query = { lines: "1-1" };
    let { version } = await source.stat({ path: "a.txt" }, call());
    while (version === undefined) ({ version } = await source.stat({ path: "a.txt" }, call()));
    const entry = await source.stat({ path: "a.txt", query }, call());
    expect(entry).toMatchObject({ path: "a.txt", query, version });
    expect(entry.size).toBeUndefined();
  });

  it("behind a link has the real path", async () => {
    write("a.txt", "a\nb\n");
    folder.link("a.txt", "b.txt");
    const source = await open();
    expect((await readPart(source, "b.txt", "lines=2-2")).reveals).toEqual({ path: "a.txt" });
    expect((await readPart(source, "b.txt", "as=text")).reveals).toEqual({ path: "a.txt" });
  });

  it("of a changed file is read again", async () => {
    const source = await open();
    for (const word of ["one", "two", "six"]) {
      write("a.txt", `${`${word}\n`.repeat(100_000)}`);
      expect(textOf(await readPart(source, "a.txt", "lines=99999-"))).toBe(`${word}\n${word}\n`);
    }
  });
});

describe("a file far too large for memory", () => {
  it("gives lines and bytes at any position without being read completely", async () => {
    // A hole of 40 GiB, which would take too long to read completely.
    const size = 40 * 1024 ** 3;
    const head = Array.from({ length: 10_000 }, (_, line) => `${line + 1}: 行\n`).join("");
    const tail = "the end\n";
    write("a.log", head);
    const fd = fs.openSync(at("a.log"), "r+");
    fs.ftruncateSync(fd, size);
    fs.writeSync(fd, Buffer.from(tail), 0, tail.length, size - tail.length);
    fs.closeSync(fd);
    const source = await open();
    expect(textOf(await readPart(source, "a.log", `bytes=${size - tail.length}-`))).toBe(tail);
    expect(textOf(await readPart(source, "a.log", "bytes=0-6"))).toBe("1: 行\n");
    expect(textOf(await readPart(source, "a.log", "lines=9998-9999"))).toBe("9998: 行\n9999: 行\n");
    const { details } = await refusal(source.read({ path: "a.log" }, call()), ["too-large"], "a.log");
    expect(details).toMatchObject({ reason: "too-large", size, maxBytes: 5_242_880, next: "lines=1-1000" });
  });

  it("is scanned for its lines once, block by block, and only while the caller waits", async () => {
    const lines = Array.from({ length: 300_000 }, (_, line) => `line ${line + 1}\n`).join("");
    const content = Buffer.from(lines);
    let bytesRead = 0;
    const stretch: Stretch = {
      size: content.length,
      read(from, length) {
        expect(length).toBeLessThanOrEqual(256 * 1024);
        bytesRead += length;
        return content.subarray(from, from + length);
      },
    };
    const stop = new AbortController();
    const options = {
      path: "a.log",
      kind: { mimeType: "text/plain", text: { encoding: "utf-8", markBytes: 0 } },
      maxBytes: 100_000,
      signal: stop.signal,
      index: createLineIndex(),
    } as const;
    const ask = (first: number) => readRange(stretch, { unit: "lines", first, last: first + 1 }, options);
    expect(textOf(await ask(290_000))).toBe("line 290000\nline 290001\n");
    expect(bytesRead).toBeGreaterThan(3_000_000);
    bytesRead = 0;
    for (const first of [290_002, 150_000, 299_000, 3, 1])
      expect(textOf(await ask(first))).toContain(`line ${first}\n`);
    expect(bytesRead).toBeLessThan(5 * (256 + 17) * 1024);
    stop.abort();
    await refusal(ask(299_999), ["cancelled"], "after the end");
  });

  it("finds the same lines as a plain split, for any block boundaries", async () => {
    const line = fc.string({ maxLength: 12, unit: fc.constantFrom("a", "\r", "é", "水", "🦊") });
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 30 }),
        fc.boolean(),
        fc.nat(31),
        fc.nat(5),
        async (all, ended, from, more) => {
          const text = all.join("\n") + (ended && all.length > 0 ? "\n" : "");
          const lines = text.split(/(?<=\n)/).filter((each) => each !== "");
          fc.pre(from < lines.length);
          const content = Buffer.from(text);
          const stretch: Stretch = {
            size: content.length,
            read: (start, length) => content.subarray(start, start + length),
          };
          const kind = { mimeType: "text/plain", text: { encoding: "utf-8", markBytes: 0 } } as const;
          const part = await readRange(
            stretch,
            { unit: "lines", first: from + 1, last: from + 1 + more },
            { path: "a", kind, maxBytes: 1000, signal: call().signal },
          );
          expect(textOf(part)).toBe(lines.slice(from, from + more + 1).join(""));
        },
      ),
    );
  });
});

describe("a file above the limit", () => {
  it("names what to read instead: the template, and ranges for its type", async () => {
    write("a.log", "a line\n".repeat(1000));
    write("a.bin", new Uint8Array(5000));
    write("a.html", `<p>${"x".repeat(5000)}</p>`);
    const source = await open({ maxBytes: 1000 });
    const told = async (path: string) => (await refusal(source.read({ path }, call()), ["too-large"], path)).details;
    expect(await told("a.log")).toEqual({
      reason: "too-large",
      size: 7000,
      maxBytes: 1000,
      template: "{+path}{?lines,bytes,as}",
      next: "lines=1-1000",
      ranges: ["lines=1-1000", "bytes=0-999", "bytes=6000-6999"],
    });
    expect(await told("a.bin")).toMatchObject({ ranges: ["bytes=0-999", "bytes=4000-4999"] });
    expect(await told("a.html")).toMatchObject({
      ranges: ["as=text", "lines=1-1000", "bytes=0-999", "bytes=4007-5006"],
    });
    for (const range of ["lines=1-1000", "bytes=0-999", "bytes=6000-6999"]) await readPart(source, "a.log", range);
  });
});
