import { describe, expect, it } from "vitest";
import { requestScope } from "../lib/request-scope.ts";
import { createRequestIds } from "./request-ids.ts";
import { modernHeaders } from "./test-client.ts";
import { resultOf } from "./test-protocol.ts";
import { modern, question } from "./test-question.ts";
import { serveFake } from "./test-server.ts";

describe("the id of a request", () => {
  it("is the one that a proxy gave, if it is short and plain", () => {
    const idOf = createRequestIds();
    for (const given of ["7b3f", "A-1_2.3~4:5+6/7=@8", "x".repeat(128)]) expect(idOf(given)).toBe(given);
    for (const given of [undefined, "", "a b", 'a"b', "a\nb", "é", "x".repeat(129), ["a", "b"]])
      expect(idOf(given)).toMatch(/^[\w-]{8}-\d+$/);
  });

  it("is new for each request and each process", () => {
    const [one, other] = [createRequestIds(), createRequestIds()];
    const ids = [one(undefined), one(undefined), other(undefined), other(undefined)];
    expect(new Set(ids).size).toBe(4);
  });

  it("is sent back with every kind of response, and known while the request is handled", async () => {
    const known: (string | undefined)[] = [];
    const { ask } = await serveFake({
      exchange(message, reply) {
        known.push(requestScope()?.id);
        reply.end(resultOf(message));
      },
    });
    const own = await ask({ ...modern, headers: { ...modernHeaders, "X-Request-Id": "mine-1" } });
    const fresh = await ask(modern);
    expect([own.headers["x-request-id"], fresh.headers["x-request-id"]]).toEqual(known);
    expect(known[0]).toBe("mine-1");
    const others = [
      await ask({ headers: { ...modernHeaders, Accept: "text/event-stream" }, body: question }),
      await ask({ headers: { ...modernHeaders, Host: "evil.example" }, body: question }),
      await ask({ headers: { ...modernHeaders, "Content-Type": "text/plain" }, body: question }),
      await ask({ method: "GET", path: "/elsewhere" }),
      await ask({ method: "OPTIONS" }),
    ];
    const ids = others.map(({ headers }) => headers["x-request-id"]);
    expect(ids.every((id) => /^[\w-]{8}-\d+$/.test(String(id)))).toBe(true);
    expect(new Set(ids).size).toBe(others.length);
  });
});
