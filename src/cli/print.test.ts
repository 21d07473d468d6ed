import { describe, expect, it } from "vitest";
import { jsonLine, plain, plainText } from "./print.ts";

describe("a name", () => {
  it.each([
    ["plain.txt", "plain.txt"],
    ["日本語 ガラス.txt".normalize("NFD"), "日本語 ガラス.txt".normalize("NFD")],
    ["👨‍👩‍👧.png", "👨‍👩‍👧.png"],
    ["a\nb\tc\rd", String.raw`a\nb\tc\rd`],
    ["\u001b[31mred\u0007", String.raw`\x1b[31mred\x07`],
    ["\u009b2J\u007f", String.raw`\x9b2J\x7f`],
    ["txt.\u202eexe", String.raw`txt.\u202eexe`],
    ["\u2066x\u2069\u200f\u061c", String.raw`\u2066x\u2069\u200f\u061c`],
    ["a\u200bb\ufeff\u2028", String.raw`a\u200bb\ufeff\u2028`],
    ["\u{e0001}", String.raw`\u{e0001}`],
    ["\ud83d", String.raw`\ud83d`],
  ])("%j is shown as %s", (name, shown) => {
    expect(plain(name)).toBe(shown);
  });
});

describe("a text", () => {
  it("keeps its lines and tabs, and what is read from right to left", () => {
    expect(plainText("a\tb\r\nc\n")).toBe("a\tb\nc\n");
    expect(plainText("שלום\u200f!")).toBe("שלום\u200f!");
  });

  it("does not steer the terminal", () => {
    expect(plainText("a\rb\u001b]0;title\u0007\u202e")).toBe(String.raw`a\rb\x1b]0;title\x07\u202e`);
  });
});

describe("JSON", () => {
  it("is the same in characters that are safe for a terminal", () => {
    const value = { name: "a\u001b\u009b\u202e\u{e0001}\n日本\u007f" };
    const line = jsonLine(value);
    expect(JSON.parse(line)).toEqual(value);
    expect(line).toBe(String.raw`{"name":"a\u001b\u009b\u202e\udb40\udc01\n日本\u007f"}` + "\n");
  });
});
