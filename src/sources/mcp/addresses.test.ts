import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { innerSlash } from "../../source.ts";
import { createAddresses } from "./addresses.ts";

describe("URIs of another server as addresses", () => {
  it.each([
    ["notes://all/a", { path: `notes:${innerSlash}${innerSlash}all/a` }],
    ["notes://all", { path: `notes:${innerSlash}${innerSlash}all` }],
    ["file:///a/b", { path: `file:${innerSlash}${innerSlash}/a/b` }],
    ["notes://all/a%20b/%E6%97%A5", { path: `notes:${innerSlash}${innerSlash}all/a b/日` }],
    ["git://r/tree/feature%2Fx", { path: `git:${innerSlash}${innerSlash}r/tree/feature${innerSlash}x` }],
    ["skill://refunds/SKILL.md", { path: `skill:${innerSlash}${innerSlash}/refunds/SKILL.md` }],
    ["skill://acme/a%20b", { path: `skill:${innerSlash}${innerSlash}/acme/a b` }],
    ["skill:///odd", { path: `skill:${innerSlash}${innerSlash}//odd` }],
    ["skill://", { path: `skill:${innerSlash}${innerSlash}` }],
    ["urn:isbn:123", { path: "urn:isbn:123" }],
    ["x://h/p?a=1&b=c%20d", { path: `x:${innerSlash}${innerSlash}h/p`, query: { a: "1", b: "c d" } }],
  ])("%s", (uri, at) => {
    const addresses = createAddresses();
    expect(addresses.of(uri)).toEqual(at);
    expect(addresses.uri(at)).toBe(uri);
  });

  it("translate back to the URI as it was listed, in any spelling", () => {
    const odd = [
      "X://Host/a",
      "x://h/100%",
      "x://h/日本 語",
      "x://h/a?b",
      "x://h/%e6%97%a5",
      "x://h/(a)[b]",
      "x://h%41/a",
    ];
    const addresses = createAddresses();
    for (const uri of odd) expect(addresses.uri(addresses.of(uri) ?? { path: "" }), uri).toBe(uri);
  });

  it("are the same for every spelling, so that a hidden resource is hidden under all", () => {
    const addresses = createAddresses();
    expect(addresses.of("x://h/%73ecrets/key")).toEqual(addresses.of("x://h/secrets/key"));
    // A URI that was not listed is requested only in the normal spelling.
    for (const path of [
      "X:\0\0h/a",
      "x:\0\0H/a",
      "x:\0\0h%41/a",
      "skill:\0\0refunds/SKILL.md",
      "no-scheme/a",
      "",
      "://x",
    ])
      expect(createAddresses().uri({ path }), path).toBeUndefined();
  });

  it("do not exist for status resources of another Pressmark server", () => {
    const addresses = createAddresses();
    for (const uri of ["pressmark://status", "PRESSMARK://status", "pressmark:status"])
      expect(addresses.of(uri), uri).toBeUndefined();
    for (const path of [`pressmark:${innerSlash}${innerSlash}status`, "pressmark:status"])
      expect(addresses.uri({ path }), path).toBeUndefined();
  });

  it("do not exist for URIs that ours cannot express", () => {
    const long = `x://h/${"a".repeat(9000)}`;
    for (const uri of [
      "x://h/a#b",
      "x://h/a/../b",
      "x://h/a/%2e%2e/b",
      "x://h/a%00b",
      "x://h/?a=1&a=2",
      "nothing",
      "",
      long,
    ])
      expect(createAddresses().of(uri), uri).toBeUndefined();
  });

  it("are unique for each URI that can be requested", () => {
    const segment = fc.constantFrom(
      "x:",
      "x:\0\0",
      "x:\0\0h",
      "h",
      "a",
      "",
      "skill:",
      "skill:\0\0",
      "skill:\0\0a",
      "file:\0\0",
    );
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 5 }), (segments) => {
        const path = segments.join("/");
        const uri = createAddresses().uri({ path });
        if (uri !== undefined) expect(createAddresses().of(uri)).toEqual({ path });
      }),
      { numRuns: 500 },
    );
  });

  it("are lossless for any URI that is listed", () => {
    fc.assert(
      fc.property(
        fc.webPath(),
        fc.webQueryParameters(),
        fc.constantFrom("x://h", "file://", "skill:/", "http://a.b:80"),
        (path, query, head) => {
          const uri = `${head}${path}${query === "" ? "" : `?${query}`}`;
          const addresses = createAddresses();
          const at = addresses.of(uri);
          if (at) expect(addresses.uri(at)).toBe(uri);
        },
      ),
    );
  });
});
