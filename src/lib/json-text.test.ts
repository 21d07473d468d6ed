import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonTextError, memberOf, parseJsonText, nodeValue } from "./json-text.ts";
import { createPlaceFinder } from "./text-position.ts";

function complaint(text: string, options = {}): string {
  try {
    parseJsonText(text, options);
  } catch (cause) {
    if (!(cause instanceof JsonTextError)) throw cause;
    const { line, column } = createPlaceFinder(text)(cause.offset);
    return `${line}:${column} ${cause.message}`;
  }
  return "no complaint";
}

describe("JSON with positions", () => {
  it("has the values of JSON.parse, however it is formatted", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, 4, "\t"), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        expect(nodeValue(parseJsonText(text))).toEqual(JSON.parse(text));
        expect(nodeValue(parseJsonText(text, { comments: true }))).toEqual(JSON.parse(text));
      }),
    );
  });

  it("rejects what JSON.parse rejects, whatever is wrong", () => {
    const mutated = fc.tuple(
      fc.jsonValue(),
      fc.nat(),
      fc.constantFrom("", "{", "]", ",", ":", '"', "x", "1", "\n", "\\"),
    );
    fc.assert(
      fc.property(mutated, ([value, at, character]) => {
        const whole = JSON.stringify(value, undefined, 2);
        const place = at % (whole.length + 1);
        const text = whole.slice(0, place) + character + whole.slice(place + 1);
        let expected: unknown;
        try {
          expected = { value: JSON.parse(text) };
        } catch {
          expected = "refused";
        }
        let found: unknown;
        try {
          found = { value: nodeValue(parseJsonText(text)) };
        } catch (cause) {
          expect(cause).toBeInstanceOf(JsonTextError);
          found = "refused";
        }
        expect(found).toEqual(expected);
      }),
      { numRuns: 2000 },
    );
  });

  it("has the position of everything", () => {
    const text = '{\n  "a": [1, { "b": null }]\n}';
    const a = memberOf(parseJsonText(text), "a")!;
    expect(text.slice(a.name.start, a.name.end)).toBe('"a"');
    expect(text.slice(a.value.start, a.value.end)).toBe('[1, { "b": null }]');
    expect(createPlaceFinder(text)(a.value.start)).toEqual({ line: 2, column: 8 });
  });

  it("may have comments and a trailing comma if allowed", () => {
    const text = '// first\n{ "a": 1, /* and */ "b": [2,], // last\n}\n';
    expect(nodeValue(parseJsonText(text, { comments: true }))).toEqual({ a: 1, b: [2] });
    expect(complaint(text)).toBe("1:1 expected a value");
  });

  it.each([
    ['{\n "a": 1\n "b": 2 }', '3:2 expected "," or "}"'],
    ['{ "a": 1, }', '1:11 unexpected comma before "}"'],
    ["{ a: 1 }", '1:3 expected a key in "'],
    ['{ "a" 1 }', '1:7 expected ":"'],
    ['{ "a": "secret\n" }', '1:8 unclosed text; expected "'],
    ['["\\q"]', "1:2 unknown escape in a text"],
    ["[1", "1:3 unexpected end of the text"],
    ["1 2", "1:3 unexpected text after the value"],
    ["[".repeat(1000), "1:202 values are nested too deeply"],
  ])("is rejected with position and reason: %j", (text, sentence) => {
    expect(complaint(text)).toBe(sentence);
  });
});
