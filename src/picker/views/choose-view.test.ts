import { describe, expect, it } from "vitest";
import { bareType, viewFor } from "./choose-view.ts";
import { isPicture } from "./is-picture.ts";

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
    ["application/x-ipynb+json", "notebook"],
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

  it("has pages if it is the text of a document with pages", () => {
    expect(viewFor("text/plain", "[page 1]\na", true)).toBe("pages");
    expect(viewFor("text/plain", "[page 1]\na", false)).toBeUndefined();
    expect(viewFor("text/plain", "a\n[page 1]\n", true)).toBeUndefined();
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
