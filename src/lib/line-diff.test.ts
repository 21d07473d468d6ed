import { expect, it } from "vitest";
import { lineDiff } from "./line-diff.ts";

it("a change is shown with some context", () => {
  expect(lineDiff("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nX\nY\ne\nf\n")).toBe("  b\n  c\n- d\n+ X\n+ Y\n  e\n  f\n");
  expect(lineDiff("", "new\n")).toBe("+ new\n");
  expect(lineDiff("old", "")).toBe("- old\n");
  expect(lineDiff("a\na\n", "a\na\na\n")).toBe("  a\n  a\n+ a\n");
  expect(lineDiff("same\n", "same\n")).toBe("  same\n");
});
