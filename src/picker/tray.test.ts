import { describe, expect, it } from "vitest";
import { asMarkdown, counted, has, roughTokens, shifted, toggled, total, type Tray } from "./tray.ts";

const [a, b] = [
  { uri: "x:///a", name: "a" },
  { uri: "x:///b", name: "b", mimeType: "text/markdown" },
];
const both: Tray = toggled(toggled([], a), b);

describe("the tray", () => {
  it("holds each resource once, in the person's order", () => {
    expect(both.map(({ resource }) => resource.name)).toEqual(["a", "b"]);
    expect(has(toggled(both, a), a.uri)).toBe(false);
    expect(shifted(both, b.uri, -1).map(({ resource }) => resource.name)).toEqual(["b", "a"]);
    expect(shifted(both, b.uri, 1)).toEqual(both);
  });

  it("sums up what is counted", () => {
    expect(total(counted(counted(both, a.uri, 40), b.uri, "none"))).toBe(40);
  });

  it("counts four letters as one token, and one of other scripts as a little more", () => {
    expect([roughTokens(""), roughTokens("abcdefgh"), roughTokens("予算")]).toEqual([0, 2, 3]);
  });

  it("is copied in fences that no content can close", () => {
    expect(asMarkdown([{ resource: b, text: "````\nx\n````\n" }])).toBe(
      "## b\n\n<x:///b>\n\n`````markdown\n````\nx\n````\n`````\n",
    );
  });
});
