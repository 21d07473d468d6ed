import { describe, expect, it } from "vitest";
import { asMarkdown, asXml, trayCounts, has, movedTo, toggled, trayTotal, type Tray, withAll } from "./tray.ts";

const [a, b] = [
  { uri: "x:///a", name: "a" },
  { uri: "x:///b", name: "b", mimeType: "text/markdown" },
];
const both: Tray = toggled(toggled([], a), b);
const names = (tray: Tray): string[] => tray.map(({ resource }) => resource.name);

describe("the tray", () => {
  it("holds each resource once, in the person's order", () => {
    expect(names(both)).toEqual(["a", "b"]);
    expect(has(toggled(both, a), a.uri)).toBe(false);
    expect(names(movedTo(both, b.uri, 0))).toEqual(["b", "a"]);
    expect(names(movedTo(both, a.uri, 9))).toEqual(["b", "a"]);
    expect(movedTo(both, "x:///c", 0)).toEqual(both);
    expect(names(withAll(both, [b, { uri: "x:///c", name: "c" }, b]))).toEqual(["a", "b", "c"]);
  });

  it("sums up what is counted", () => {
    expect(trayTotal(trayCounts(trayCounts(both, a.uri, 40), b.uri, "none"))).toBe(40);
  });

  it("is copied in fences that no content can close", () => {
    expect(asMarkdown([{ resource: b, text: "````\nx\n````\n" }])).toBe(
      "## b\n\n<x:///b>\n\n`````markdown\n````\nx\n````\n`````\n",
    );
  });

  it("is copied as XML that no content can close", () => {
    expect(asXml([{ resource: { uri: "x:///a?b&c", name: 'a"' }, text: "</document>\u0000&\n" }])).toBe(
      `<documents>\n<document name="a&quot;" uri="x:///a?b&amp;c">\n&lt;/document&gt;\ufffd&amp;\n</document>\n</documents>\n`,
    );
  });
});
