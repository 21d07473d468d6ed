import { describe, expect, it } from "vitest";
import { compact, Exact, type Json, parseJsonView } from "./json.ts";
import { recordsIn, recordsOf } from "./records.ts";

const valueOf = (text: string): Json | undefined => parseJsonView(text)?.value;

describe("JSON", () => {
  it("keeps numbers as written that would be rounded", () => {
    expect(
      valueOf('{"id": 12345678901234567890, "fine": 12345678.123456789012, "small": 1.50, "large": 1e400}'),
    ).toEqual({
      id: new Exact("12345678901234567890"),
      fine: new Exact("12345678.123456789012"),
      small: 1.5,
      large: new Exact("1e400"),
    });
  });

  it("is undefined for invalid text", () => {
    expect([parseJsonView("{"), parseJsonView(""), parseJsonView("// no")]).toEqual([undefined, undefined, undefined]);
  });

  it("supports any depth, with and without exact numbers", () => {
    for (const inner of ["1", "12345678901234567890"]) {
      const deep = parseJsonView("[".repeat(100_000) + inner + "]".repeat(100_000));
      if (deep) expect(compact(deep.value, 100)).toContain("[[");
    }
    const depth = 1000;
    expect(compact(valueOf(`${"[".repeat(depth)}${"]".repeat(depth)}`) ?? null, 100)).toBe("[[[[[[[[…]]]]]]]]");
  });

  it("takes linear time for hostile numbers", () => {
    for (const piece of ["1.", "9", "1e", "1.e"])
      expect(parseJsonView(JSON.stringify(piece.repeat(400_000)))).toBeDefined();
    expect(parseJsonView("9".repeat(400_000))).toBeDefined();
  });

  it("is formatted on one line, up to a maximum length", () => {
    expect(compact(valueOf('{"a":[1,null,true,"x"],"b":{}}') ?? null, 100)).toBe(
      '{"a": [1, null, true, "x"], "b": {}}',
    );
    expect(compact("x".repeat(100), 10)).toBe(`"${"x".repeat(9)}…`);
  });
});

describe("records", () => {
  it("are a table of all names, in order of appearance", () => {
    expect(
      recordsOf([
        { a: 1, b: "x" },
        { c: [1], a: null },
      ]),
    ).toEqual({
      head: ["a", "b", "c"],
      rows: [
        ["1", "x"],
        ["null", "", "[1]"],
      ],
    });
  });

  it("treat special object keys as plain names", () => {
    const found = recordsIn(valueOf('[{"__proto__":{"polluted":1},"constructor":2,"hasOwnProperty":3}]') ?? null);
    expect(found).toEqual({
      head: ["__proto__", "constructor", "hasOwnProperty"],
      rows: [['{"polluted": 1}', "2", "3"]],
    });
    expect("polluted" in {}).toBe(false);
  });

  it("are found in the result of a database", () => {
    expect(recordsIn({ columns: [{ name: "id", type: "int" }], rows: [[1], [2]] })).toEqual({
      head: ["id"],
      rows: [["1"], ["2"]],
    });
    expect(recordsIn({ table: "t", rows: [{ id: 1 }] })).toEqual({ head: ["id"], rows: [["1"]] });
  });

  it("are not found in other lists", () => {
    expect([[], [1], [{}, 1], "x", { a: 1 }].map((value) => recordsIn(value as Json))).toEqual(
      Array(5).fill(undefined),
    );
  });
});
