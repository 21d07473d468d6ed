import { expect, it } from "vitest";
import { toReceipt } from "./receipt.ts";

it("the valid parts of a receipt are parsed", () => {
  const structured = {
    changed: { base: "main", files: 6 },
    budget: 100,
    tokens: 40,
    counter: "estimate",
    included: [
      { uri: "file:///a/b.md", lines: "1-3", tokens: 40, digest: "x", why: ["was requested", 7], masked: 2 },
      null,
    ],
    leftOut: [{ uri: "file:///a/%E4%BA%88.md", why: "is too large" }],
    moreLeftOut: 3,
  };
  const links = [{ uri: "file:///a/b.md", name: "b.md", title: "B" }];
  expect(toReceipt({ texts: [], links, structured })).toEqual({
    changed: { base: "main", files: 6, isMore: false },
    budget: 100,
    tokens: 40,
    ready: 1,
    included: [
      { resource: links[0], lines: "1-3", tokens: 40, why: ["was requested"], also: [], masked: 2, removed: 0 },
    ],
    leftOut: [{ resource: { uri: "file:///a/%E4%BA%88.md", name: "予.md" }, why: "is too large" }],
    moreLeftOut: 3,
    hasAllRelevant: false,
  });
  expect(toReceipt({ texts: ["no"], links: [] })).toBeUndefined();
  expect(toReceipt({ texts: ["no"], links: [], structured: { included: "all" } })).toBeUndefined();
});
