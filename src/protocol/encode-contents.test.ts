import { describe, expect, it } from "vitest";
import type { Content } from "../resources.ts";
import { revision20241105 } from "./revisions/2024-11-05.ts";
import { revision20260728 } from "./revisions/2026-07-28.ts";
import { encodeContents } from "./encode-contents.ts";

const join = (pieces: readonly (string | Uint8Array)[]): unknown =>
  JSON.parse(Buffer.concat(pieces.map((piece) => Buffer.from(piece as string))).toString());

describe("contents", () => {
  const large = { text: 'line "quoted"\n日本語\u2028'.repeat(5000) };
  const contents: Content[] = [
    { uri: "test://a b", mimeType: "text/plain", body: { text: "short" }, meta: { "x/y": 1 } },
    { uri: "test://large", body: large },
    { uri: "test://bytes", mimeType: "image/png", body: { bytes: new Uint8Array(40_000).fill(7) } },
  ];

  it("are encoded as JSON, text as text and bytes as base64", () => {
    expect(join(encodeContents(contents, revision20260728.has))).toEqual([
      { uri: "test://a b", mimeType: "text/plain", text: "short", _meta: { "x/y": 1 } },
      { uri: "test://large", text: large.text },
      { uri: "test://bytes", mimeType: "image/png", blob: Buffer.alloc(40_000, 7).toString("base64") },
    ]);
  });

  it("carry no _meta in a revision that has none", () => {
    expect(join(encodeContents(contents.slice(0, 1), revision20241105.has))).toEqual([
      { uri: "test://a b", mimeType: "text/plain", text: "short" },
    ]);
  });

  it("are encoded once for the same body", () => {
    const spelling = () => encodeContents([{ uri: "test://large", body: large }], revision20260728.has)[1];
    expect(spelling()).toBe(spelling());
    expect(encodeContents([{ uri: "test://large", body: { ...large } }], revision20260728.has)[1]).not.toBe(spelling());
  });
});
