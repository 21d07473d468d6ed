import { expect, it } from "vitest";
import { resourceFactsOf } from "./facts.ts";
import { languageFor } from "./texts.ts";

it("a number of tokens has at most three digits and a unit, so that columns line up", () => {
  for (const [code, wanted] of [
    ["en", ["≈ 31", "≈ 1.48K", "≈ 17.6K", "≈ 115K", "≈ 2.35M"]],
    ["ja", ["≈ 31", "≈ 1477", "≈ 1.76万", "≈ 11.5万", "≈ 235万"]],
  ] as const) {
    const shown = [130, 6200, 74_000, 484_000, 9_880_000].map((size) => {
      const resource = { uri: "file:///a.md", name: "a.md", mimeType: "text/markdown", size };
      return resourceFactsOf(resource, undefined, 0, languageFor([code])).find(({ kind }) => kind === "cost")?.short;
    });
    expect(shown).toEqual(wanted);
  }
});
