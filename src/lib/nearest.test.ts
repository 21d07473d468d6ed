import { describe, expect, it } from "vitest";
import { nearest } from "./nearest.ts";

const known = ["serve", "stdio", "ls", "read", "completions", "help"];

describe("the nearest word", () => {
  it.each([
    ["sevre", "serve"],
    ["serv", "serve"],
    ["raed", "read"],
    ["l", "ls"],
    ["comp", "completions"],
    ["hlep", "help"],
  ])("to %s is %s", (word, intended) => {
    expect(nearest(word, known)).toBe(intended);
  });

  it("is undefined if nothing is close", () => {
    expect(nearest("deploy", known)).toBeUndefined();
    expect(nearest("", known)).toBeUndefined();
    expect(nearest("x".repeat(100_000), known)).toBeUndefined();
  });
});
