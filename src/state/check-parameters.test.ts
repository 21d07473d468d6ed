/** Parameters in the URLs of `server.state` and `server.bus`. */
import { describe, expect, it } from "vitest";
import { parseNatsUrl } from "./nats-url.ts";
import { databaseOf, parseStateUrl } from "./state-url.ts";

describe("the parameters of server.state", () => {
  it.each([
    ["shema=team", 'has the unknown parameter "shema"; did you mean "schema"?'],
    ["schema=team&sslmod=require", 'has the unknown parameter "sslmod"; did you mean "sslmode"?'],
    ["Schema=team", 'has the unknown parameter "Schema"; did you mean "schema"?'],
    ["target_session_attrs=any", 'has the unknown parameter "target_session_attrs"; known are: schema, sslmode, '],
  ])("refuse %s", (query, message) => {
    for (const parse of [parseStateUrl, databaseOf])
      expect(() => parse(`postgres://u:p@h/db?${query}`)).toThrow(`"server.state" ${message}`);
  });

  it.each(["host=/run/postgresql&port=5433", "application_name=a&gssencmode=disable", "ssl=true", "user=u&password=p"])(
    "accept %s",
    (query) => {
      expect(parseStateUrl(`postgres://h/db?schema=team&${query}`).schema).toBe("team");
    },
  );
});

describe("the parameters of server.bus", () => {
  it("refuse what is unknown", () => {
    expect(() => parseNatsUrl("nats://h?replica=3")).toThrow(
      '"server.bus" has the unknown parameter "replica"; did you mean "replicas"?',
    );
    expect(() => parseNatsUrl("nats://h?tls=true")).toThrow(
      '"server.bus" has the unknown parameter "tls"; known are: replicas, ca',
    );
  });
});

it.each(["postgres://u:12?planted@h/db", "postgres://u:12?planted&x@h/db"])(
  "the error for %s, whose password is not encoded, contains no part of it",
  (url) => {
    let message = "";
    try {
      parseStateUrl(url);
    } catch (cause) {
      message = (cause as Error).message;
    }
    expect(message).toContain('"server.state" has an unknown parameter');
    expect(message).not.toContain("planted");
  },
);
