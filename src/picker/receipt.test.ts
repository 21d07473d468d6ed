import { expect, it } from "vitest";
import { toReceipt } from "./receipt.ts";

it("the valid parts of a receipt are parsed", () => {
  const structured = {
    changed: { base: "main", files: 6 },
    budget: 100,
    tokens: 40,
    counter: "estimate",
    included: [
      {
        uri: "file:///a/b.md",
        lines: "1-3",
        tokens: 40,
        digest: "x",
        why: ["was requested", 7],
        also: ["file:///a/b.md?lines=5-7", "file:///c.md"],
        masked: 2,
      },
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
    isExact: false,
    ready: 1,
    included: [
      {
        resource: links[0],
        passages: [{ ...links[0], uri: "file:///a/b.md?lines=1-3" }],
        tokens: 40,
        why: ["was requested"],
        also: ["file:///c.md"],
        masked: 2,
        removed: 0,
      },
    ],
    leftOut: [{ resource: { uri: "file:///a/%E4%BA%88.md", name: "予.md" }, why: "is too large" }],
    moreLeftOut: 3,
    hasAllRelevant: false,
  });
  expect(toReceipt({ texts: ["no"], links: [] })).toBeUndefined();
  expect(toReceipt({ texts: ["no"], links: [], structured: { included: "all" } })).toBeUndefined();
});

function uris(uri: string, lines: unknown): readonly string[] | undefined {
  const receipt = toReceipt({ texts: [], links: [], structured: { included: [{ uri, lines }] } });
  return receipt?.included[0]?.passages.map((passage) => passage.uri);
}

it("each range is a passage", () => {
  expect(uris("x:///a", "10-40, 52-60")).toEqual(["x:///a?lines=10-40", "x:///a?lines=52-60"]);
  expect(uris("x:///a", "7")).toEqual(["x:///a?lines=7-7"]);
  expect(uris("x:///p?as=text", "1-3")).toEqual(["x:///p?as=text&lines=1-3"]);
  for (const lines of [undefined, "", "all", "3-1", "0-2", "1-2-x", "-4", "1e9999-2"])
    expect([lines, uris("x:///a", lines)]).toEqual([lines, ["x:///a"]]);
});
