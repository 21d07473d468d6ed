import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeReadableUri, decodeForDisplay, readableUri } from "./readable-uri.ts";

const letters = ["a", "/", "%", "?", ":", " ", "\n", "é", "設", "\u0301", "\u200b", "\u202e", "\u{1f600}", "\u{e0001}"];

describe("a readable URI", () => {
  it.each([
    ["file:///a/%E8%A8%AD%E8%A8%88/%E6%B1%BA%E6%B8%88.md", "file:///a/設計/決済.md"],
    ["notes://a/caf%C3%A9%20%25%2F%3F.md?key=%E8%A8%AD", "notes://a/café%20%25%2F%3F.md?key=設"],
    ["file:///a/%E2%80%AEgnp.exe", "file:///a/%E2%80%AEgnp.exe"],
    ["file:///a/%E8%A8%AD%E2%80%8B%E8%A8%88", "file:///a/設%E2%80%8B計"],
    ["file:///a/%E8%A8%AD%FF", "file:///a/%E8%A8%AD%FF"],
    ["file:///a/%e8%a8%ad", "file:///a/%e8%a8%ad"],
    ["wiki://設計/%E6%B1%BA", "wiki://設計/%E6%B1%BA"],
  ])("of %s is %s", (uri, readable) => expect(readableUri(uri)).toBe(readable));

  it("leads back to its URI", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...letters) }), (name) => {
        const uri = `notes://a/${encodeURIComponent(name)}`;
        expect(encodeReadableUri(readableUri(uri))).toBe(uri);
      }),
    );
  });
});

it("is decoded for display as far as it can be seen", () => {
  expect(decodeForDisplay("my%20%e8%a8%ad%E8%A8%88/a%2Fb/100%25/%E2%80%AEx/%0A/%FF")).toBe(
    "my 設計/a/b/100%/%E2%80%AEx/%0A/%FF",
  );
});
