import { describe, expect, it } from "vitest";
import { bareType, isPicture, viewFor } from "./choose-view.ts";

describe("the view of a content", () => {
  it.each([
    ["text/markdown; charset=utf-8", "markdown"],
    ["TEXT/CSV", "separated"],
    ["text/tab-separated-values", "separated"],
    ["application/json;format=Pressmark::DatabaseSchema", "json"],
    ["application/ld+json", "json"],
    ["application/jsonl", "jsonLines"],
    ["text/x-diff", "diff"],
    ["text/vnd.mermaid", "diagram"],
    ["text/html", "code"],
    ["application/yaml", "code"],
    ["text/x-nothing-we-know", "code"],
    ["text/plain", undefined],
    ["", undefined],
  ])("of %j is %s", (type, view) => {
    expect(viewFor(bareType(type), "x", true)).toBe(view);
  });

  it("is the plain text if it is too long, or incomplete", () => {
    expect(viewFor("text/markdown", "x".repeat(300_000), true)).toBeUndefined();
    expect(
      ["text/markdown", "application/json", "text/csv", "text/x-go"].map((type) => viewFor(type, "x", false)),
    ).toEqual([undefined, undefined, "separated", "code"]);
  });

  it("is an image only for types that a browser shows", () => {
    expect(["image/png", "image/svg+xml", "image/tiff", "text/html", "image/svg+xml2"].map(isPicture)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
