import { expect, it } from "vitest";
import { parseSiteMap } from "./parse-site-map.ts";

it.each([
  ["- [東京](https://x.example/東京_(曖昧)): 説明 (日本)", "https://x.example/東京_(曖昧)", "東京", "説明 (日本)"],
  ["- [a [b]](https://x.example/y)", "https://x.example/y", "a [b]"],
  ['* [t](<https://x.example/z)> "t") - d', "https://x.example/z)", "t", "d"],
  ['+ [t]( /a "title" )', "/a", "t"],
  ["- [](/a)", "/a"],
  ["- [a \\[b](/a)", "/a", "a \\[b"],
])("the link of llms.txt %s", (line, url, title?: string, description?: string) => {
  expect(parseSiteMap(`# Docs\n${line}\n`, 9)?.pages).toEqual([
    { url, ...(title && { title }), ...(description && { description }) },
  ]);
});

it.each(["- [a](/a", "- [a(/a)", "- [a] (/a)", "- [a](</a)", "- [a](/a_(b)", `- ${"[".repeat(40)}](/a)`])(
  "is no link: %s",
  (line) => {
    expect(parseSiteMap(`# Docs\n${line}\n`, 9)).toBeUndefined();
  },
);
