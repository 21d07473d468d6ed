import { expect, it } from "vitest";
import { shownFullTitle, shownTitle } from "./shown-title.ts";
import { shownPath } from "./tree.ts";

it("a name cannot be shown as another", () => {
  const evil = { uri: "x:///", name: "evil\u202Egnp.txt" };
  const shown = String.raw`evil\u202egnp.txt`;
  expect(shownTitle(evil)).toBe(shown);
  expect(shownTitle({ name: "a", title: evil.name })).toBe(shown);
  expect(shownFullTitle(evil)).toBe(shown);
  expect(shownPath([evil, { uri: "y:///", name: "y" }], "x:///b")).toBe(`${shown} › b`);
});
