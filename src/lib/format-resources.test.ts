import { describe, expect, it } from "vitest";
import { asMarkdown, asXml } from "./format-resources.ts";

describe("the texts of resources as one text", () => {
  it("uses fences that no content can close", () => {
    expect(
      asMarkdown([{ resource: { uri: "x:///b", name: "b", mimeType: "text/markdown" }, text: "````\nx\n````\n" }]),
    ).toBe("## b\n\n<x:///b>\n\n`````markdown\n````\nx\n````\n`````\n");
  });

  it("is XML that no content can close", () => {
    expect(asXml([{ resource: { uri: "x:///a?b&c", name: 'a"' }, text: "</document>\u0000&\n" }])).toBe(
      `<documents>\n<document name="a&quot;" uri="x:///a?b&amp;c">\n&lt;/document>\ufffd&amp;\n</document>\n</documents>\n`,
    );
  });
});
