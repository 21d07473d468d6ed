/** Every page of docs/ has its place on the site. */
import { expect, it } from "vitest";
import { english, existing, japanese, leftOut, pagesOf, titleOf } from "../../site/pages.ts";

const grouped = [...english, ...japanese].flatMap(pagesOf);

it("every page is in a group of site/pages.ts, or left out with a reason", () => {
  const missing = existing.filter((page) => !grouped.includes(page) && !Object.hasOwn(leftOut, page));
  expect(missing.map((page) => `add ${page} to a group of site/pages.ts, or to leftOut with a reason`)).toEqual([]);
});

it("no page is in two groups, and what is left out exists", () => {
  expect(grouped.filter((page, at) => grouped.indexOf(page) !== at)).toEqual([]);
  expect(Object.keys(leftOut).filter((page) => !existing.includes(page) || grouped.includes(page))).toEqual([]);
});

it("a declared page that is not written yet is skipped, and a star stands for the others of a folder", () => {
  expect(pagesOf({ title: "Some", pages: ["not-written-yet", "cli"] })).toEqual(["cli"]);
  const sources = pagesOf({ title: "Sources", pages: ["sources/git", "sources/*"] });
  expect(sources[0]).toBe("sources/git");
  expect(sources.filter((page) => page === "sources/git")).toHaveLength(1);
  expect(sources).toContain("sources/web");
});

it("titles are the first headings, and names for sources", () => {
  expect(titleOf("search")).toBe("Search");
  expect(titleOf("sources/docs")).toBe("docs");
});
