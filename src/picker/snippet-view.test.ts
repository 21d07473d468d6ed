import { expect, it } from "vitest";
import { firstLine } from "./snippet-view.tsx";

it("the first line of a snippet is known if it has all found lines, or begins the text", () => {
  const hit = { resource: { uri: "a:b", name: "b" }, score: 1, lines: [5, 7], offset: 90 } as const;
  expect(firstLine({ ...hit, snippet: "a\nb\nc" })).toBe(5);
  expect(firstLine({ ...hit, snippet: "a\nb\nc\n" })).toBe(5);
  expect(firstLine({ ...hit, snippet: "b\nc\n" })).toBeUndefined();
  expect(firstLine({ ...hit, snippet: "b\nc", offset: 0, lines: [1, 7] })).toBe(1);
  expect(firstLine({ ...hit, snippet: "a", lines: undefined })).toBeUndefined();
});
