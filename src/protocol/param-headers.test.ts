import { describe, expect, it } from "vitest";
import { ProtocolError } from "./message.ts";
import { checkParamHeaders } from "./param-headers.ts";

const property = (type: string, name: string) => ({ type, "x-mcp-header": name });
const schema = {
  type: "object",
  properties: {
    region: property("string", "Region"),
    count: property("integer", "Count"),
    dry: property("boolean", "Dry"),
    query: { type: "string" },
    where: { type: "object", properties: { zone: property("string", "Zone") } },
  },
};

function check(args: unknown, headers: Readonly<Record<string, string>>): void {
  checkParamHeaders(schema, args, { param: (name) => headers[name] });
}

const encoded = (text: string) => `=?base64?${Buffer.from(text).toString("base64")}?=`;

describe("the headers of a call", () => {
  it.each<[string, object, Record<string, string>]>([
    ["texts", { region: "here", query: "x" }, { Region: "here" }],
    ["a text that is encoded", { region: "日本" }, { Region: encoded("日本") }],
    ["an empty text", { region: "" }, { Region: encoded("") }],
    ["a text that only begins like an encoded one", { region: "=?base64?SGVsbG8=" }, { Region: "=?base64?SGVsbG8=" }],
    ["numbers by value", { count: 42 }, { Count: "42.0" }],
    ["booleans", { dry: false }, { Dry: "false" }],
    ["nested arguments", { where: { zone: "a" } }, { Zone: "a" }],
    ["nothing that is null, absent or too large for a number", { region: null, count: 2 ** 60 }, {}],
  ])("repeat %s", (_what, args, headers) => {
    expect(() => check(args, headers)).not.toThrow();
  });

  it.each<[string, unknown, Record<string, string>]>([
    ["a missing header", { region: "here" }, {}],
    ["a missing header of a nested argument", { where: { zone: "a" } }, {}],
    ["another text", { region: "here" }, { Region: "there" }],
    ["another case", { region: "here" }, { Region: "Here" }],
    ["base64 without padding", { region: "Hello" }, { Region: "=?base64?SGVsbG8?=" }],
    ["what is not base64", { region: "Hello" }, { Region: "=?base64?SGVs!!!bG8=?=" }],
    ["another number", { count: 42 }, { Count: "43" }],
    ["an empty header for 0", { count: 0 }, { Count: "" }],
    ["a number in another notation", { count: 16 }, { Count: "0x10" }],
    ["another boolean", { dry: false }, { Dry: "0" }],
    ["a header without an argument", {}, { Region: "here" }],
    ["a header for null", { region: null }, { Region: "null" }],
    ["a header for an object", { region: {} }, { Region: "[object Object]" }],
    ["a header without arguments", undefined, { Zone: "a" }],
  ])("may not have %s", (_what, args, headers) => {
    const status = (() => {
      try {
        check(args, headers);
        return undefined;
      } catch (cause) {
        return cause instanceof ProtocolError ? [cause.code, cause.status] : cause;
      }
    })();
    expect(status).toEqual([-32020, 400]);
  });

  it("are not asked for by a schema that marks nothing", () => {
    for (const plain of [{}, { properties: [] }, { properties: { a: true } }])
      expect(() => checkParamHeaders(plain, { a: 1 }, {})).not.toThrow();
  });
});
