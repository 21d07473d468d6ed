import { expect, it } from "vitest";
import { createRepeatFilter } from "./repeat-filter.ts";

it("recognizes a URI that it has seen, up to a number of them", () => {
  const isRepeated = createRepeatFilter(2);
  const items = ["a", "b", "a", "c", "c", "b"].map((uri) => ({ uri }));
  expect(items.filter((item) => !isRepeated(item)).map(({ uri }) => uri)).toEqual(["a", "b", "c", "c"]);
});

it("leaves items without a URI alone", () => {
  const isRepeated = createRepeatFilter();
  for (const item of [{ path: "a" }, { path: "a" }, undefined, null]) expect(isRepeated(item)).toBe(false);
});
