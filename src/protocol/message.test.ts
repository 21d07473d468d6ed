import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorWire, notificationWire, parseMessage, resultWire } from "./message.ts";

describe("a message", () => {
  it("is a request, a notification or a response", () => {
    expect(parseMessage({ jsonrpc: "2.0", id: 1, method: "ping" })).toEqual({
      kind: "request",
      id: 1,
      method: "ping",
      params: undefined,
    });
    expect(parseMessage({ jsonrpc: "2.0", method: "n", params: {} })).toEqual({
      kind: "notification",
      method: "n",
      params: {},
    });
    const response = { kind: "response", id: "a", result: undefined, error: undefined };
    expect(parseMessage({ jsonrpc: "2.0", id: "a", result: {} })).toEqual({ ...response, result: {} });
    expect(parseMessage({ jsonrpc: "2.0", id: "a", error: {} })).toEqual({ ...response, error: {} });
    expect(parseMessage({ jsonrpc: "2.0", id: {}, error: {} })).toEqual({ ...response, id: null, error: {} });
  });

  it.each([
    [null, "a message must be a JSON object"],
    [[], "a message must be a JSON object"],
    ["ping", "a message must be a JSON object"],
    [{ id: 1, method: "ping" }, 'a message must have "jsonrpc": "2.0"'],
    [{ jsonrpc: "2.0", id: 1 }, 'a request must have a "method"'],
    [{ jsonrpc: "2.0", id: 1, Method: "ping" }, 'a request must have a "method"'],
    [{ jsonrpc: "2.0", id: 1, method: 7 }, '"method" must be a string'],
    [{ jsonrpc: "2.0", id: 1, method: "ping", params: [] }, '"params" must be an object'],
    [{ jsonrpc: "2.0", id: null, method: "ping" }, '"id" must be a string of at most 1,024 characters or an integer'],
    [{ jsonrpc: "2.0", id: 1.5, method: "ping" }, '"id" must be a string of at most 1,024 characters or an integer'],
    [
      { jsonrpc: "2.0", id: "x".repeat(2000), method: "ping" },
      '"id" must be a string of at most 1,024 characters or an integer',
    ],
  ])("that is none of these is said to be wrong: %j", (body, why) => {
    expect(parseMessage(body)).toMatchObject({ kind: "wrong", why });
  });

  it("never makes the parser throw, whatever JSON it is", () => {
    fc.assert(fc.property(fc.jsonValue(), (body) => void parseMessage(body)));
  });

  it("is encoded as one line of JSON with its id unchanged", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ maxLength: 100 }), fc.maxSafeInteger()), fc.jsonValue(), (id, value) => {
        for (const wire of [
          resultWire(id, { value }),
          resultWire(id, ['{"value":', Buffer.from(JSON.stringify(value)), "}"]),
        ]) {
          const text = Buffer.concat(wire.map((piece) => Buffer.from(piece as string))).toString();
          expect(text).not.toContain("\n");
          expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify({ jsonrpc: "2.0", id, result: { value } })));
        }
      }),
    );
  });

  it("carries data and parameters only where there are any", () => {
    expect(errorWire(null, -32700, "no JSON")).toEqual([
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no JSON"}}',
    ]);
    expect(notificationWire("a")).toEqual(['{"jsonrpc":"2.0","method":"a"}']);
  });
});
