import { describe, expect, it } from "vitest";
import { displayWidth } from "../../lib/display-width.ts";
import { inColumns } from "./columns.ts";

const cells = (...texts: string[]) => texts.map((text) => ({ text }));

describe("columns", () => {
  it("are filled from top to bottom, in as few lines as fit", () => {
    expect(inColumns(cells("a", "b", "c", "d", "e"), 7)).toBe("a  c  e\nb  d\n");
    expect(inColumns(cells("a", "b", "c", "d", "e"), 13)).toBe("a  b  c  d  e\n");
    expect(inColumns(cells("a", "b", "c"), 3)).toBe("a\nb\nc\n");
    expect(inColumns([], 80)).toBe("");
  });

  it("are as wide as their widest name, in cells", () => {
    expect(inColumns(cells("日本語", "a", "ｶﾞ", "zz"), 12)).toBe("日本語  ｶﾞ\na       zz\n");
  });

  it("leave what is wider than the terminal a line for itself", () => {
    expect(inColumns(cells("a", "x".repeat(30), "b"), 10)).toBe(`a\n${"x".repeat(30)}\nb\n`);
  });

  it("do not count colour", () => {
    const painted = [{ text: "ab", shown: "\u001b[1mab\u001b[0m" }, { text: "c" }, { text: "d" }, { text: "e" }];
    expect(inColumns(painted, 6)).toBe("\u001b[1mab\u001b[0m  d\nc   e\n");
  });

  it("never exceed the width", () => {
    const names = Array.from(
      { length: 97 },
      (_, index) => "字".repeat(index % 7) + "x".repeat(1 + ((index * 31) % 11)),
    );
    for (let width = 24; width < 160; width += 7) {
      const lines = inColumns(cells(...names), width)
        .trimEnd()
        .split("\n");
      expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(width);
      const shown = lines.flatMap((line) => line.split(/ +/));
      expect(shown.toSorted()).toEqual(names.toSorted());
    }
  });
});
