import { expect, it } from "vitest";
import { canonicalJson } from "./canonical-json.ts";

it("is the same text whatever the order of keys", () => {
  const one = canonicalJson({ b: [1, { z: null, a: "ä" }], a: true });
  expect(one).toBe('{"a":true,"b":[1,{"a":"ä","z":null}]}');
  expect(canonicalJson({ a: true, b: [1, { a: "ä", z: null }] })).toBe(one);
});

it("orders keys by code units, as in RFC 8785", () => {
  const keys = { "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\u{1f600}": 5, "\u0080": 6, "\u00f6": 7 };
  expect(canonicalJson(keys)).toBe('{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\u{1f600}":5,"\ufb33":3}');
});

it("writes numbers, and omits undefined members, as JSON does", () => {
  expect(canonicalJson({ a: 1e21, b: -0, c: 0.1, d: undefined, e: [undefined] })).toBe(
    '{"a":1e+21,"b":0,"c":0.1,"e":[null]}',
  );
});
