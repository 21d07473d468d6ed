import { describe, expect, it } from "vitest";
import { createLines } from "./lines.ts";

function split(chunks: readonly (string | Uint8Array)[], maxBytes = 10): string[] {
  const lines = createLines(maxBytes);
  const all: string[] = [];
  for (const chunk of chunks) {
    lines.push(Buffer.from(chunk as string));
    for (let line = lines.next(); line !== undefined; line = lines.next()) all.push(String(line));
  }
  const rest = lines.rest();
  return rest === undefined ? all : [...all, `rest: ${String(rest)}`];
}

describe("lines", () => {
  it("come whole, however they were cut", () => {
    const bytes = Buffer.from("one\n\ntwo\nthree\r\n日本\nrest");
    const expected = ["one", "", "two", "three\r", "日本", "rest: rest"];
    expect(split([bytes])).toEqual(expected);
    expect(split([...bytes].map((byte) => Buffer.from([byte])))).toEqual(expected);
    for (let at = 0; at <= bytes.length; at++)
      expect(split([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(expected);
  });

  it("may be as long as they may, and not a byte longer", () => {
    expect(split(["0123456789\n"])).toEqual(["0123456789"]);
    expect(split(["0123456789x\nnext\n"])).toEqual(["too-long", "next"]);
    expect(split(["01234", "56789x", "yz\nnext\n"])).toEqual(["too-long", "next"]);
    expect(split(["01234", "56789", "x", "y", "z"])).toEqual(["rest: too-long"]);
  });

  it("hold no more than the longest line, however much comes without an end", () => {
    const lines = createLines(1024);
    const chunk = Buffer.alloc(64 * 1024, "x");
    const before = process.memoryUsage().arrayBuffers;
    for (let count = 0; count < 4096; count++) {
      lines.push(chunk);
      expect(lines.next()).toBeUndefined();
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
    lines.push(Buffer.from("\nok\n"));
    expect(lines.next()).toBe("too-long");
    expect(String(lines.next())).toBe("ok");
  });

  it("put together from single bytes cost time in proportion to their length", () => {
    const lines = createLines(2 * 1024 * 1024);
    const byte = Buffer.from("x");
    for (let count = 0; count < 1024 * 1024; count++) {
      lines.push(byte);
      lines.next();
    }
    lines.push(Buffer.from("\n"));
    expect(lines.next()).toHaveLength(1024 * 1024);
  });
});
