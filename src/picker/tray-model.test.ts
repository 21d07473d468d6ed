import fc from "fast-check";
import { expect, it } from "vitest";
import { type Lines, linesOf, withoutLines } from "../lib/line-range-uri.ts";
import { directoryType, type Resource } from "../resources.ts";
import { choiceOf, choicesIn, passageOf, toggled, type Tray, wholeToggled, withAll, withoutAll } from "./tray.ts";

const lineCount = 7;
const folders = ["x:///d", "x:///d/e"];
const files = ["x:///d/a", "x:///d/e/b", "x:///d/e/c", "x:///f"];

/**
 * Everything that can be chosen, in parts that are chosen or not: the lines of each file, those after them, which only an open range
 * contains, and the files of each folder that are not known.
 */
const parts = [
  ...files.flatMap((uri) => Array.from({ length: lineCount + 1 }, (_, at) => ({ uri, line: at + 1 }))),
  ...folders.map((uri) => ({ uri: `${uri}/others`, line: 1 })),
];

function isIn(part: (typeof parts)[number], { uri, mimeType }: Pick<Resource, "uri" | "mimeType">): boolean {
  if (mimeType === directoryType) return part.uri.startsWith(`${uri}/`);
  const lines = linesOf(uri);
  return part.uri === withoutLines(uri) && (!lines || (lines[0] <= part.line && part.line <= lines[1]));
}

function partsOf(resource: Pick<Resource, "uri" | "mimeType">): Set<string> {
  return new Set(parts.filter((part) => isIn(part, resource)).map(({ uri, line }) => `${uri} ${line}`));
}

/** The parts that a tray means. Fails if two items have one in common. */
function meant(tray: Tray): Set<string> {
  const all = new Set<string>();
  for (const { resource, except = [] } of tray) {
    const excluded = except.map((uri) => partsOf({ uri, ...(folders.includes(uri) && { mimeType: directoryType }) }));
    for (const part of excluded.reduce(minus, partsOf(resource))) {
      expect(all).not.toContain(part);
      all.add(part);
    }
  }
  return all;
}

const plus = (one: ReadonlySet<string>, other: ReadonlySet<string>) => new Set([...one, ...other]);
const minus = (one: ReadonlySet<string>, other: ReadonlySet<string>) =>
  new Set([...one].filter((part) => !other.has(part)));

const lines = fc
  .tuple(fc.integer({ min: 1, max: lineCount }), fc.integer({ min: 1, max: lineCount }))
  .map(([one, other]): Lines => [Math.min(one, other), Math.max(one, other)]);
const file = fc.constantFrom(...files).map((uri): Resource => ({ uri, name: uri }));
const folder = fc.constantFrom(...folders).map((uri): Resource => ({ uri, name: uri, mimeType: directoryType }));
const openLines = fc.integer({ min: 1, max: lineCount }).map((first): Lines => [first, Infinity]);
const passage = fc.tuple(file, fc.oneof(lines, openLines)).map(([resource, range]) => passageOf(resource, range));
const step = fc.record({
  action: fc.constantFrom("toggle", "choose", "unchoose", "whole"),
  resource: fc.oneof(file, folder, passage),
});

it("chooses exactly the files and lines that were meant", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      let tray: Tray = [];
      let model = new Set<string>();
      for (const { action, resource } of steps) {
        const wanted = partsOf(resource);
        const isAll = minus(wanted, model).size === 0;
        if (action === "whole") {
          if (!linesOf(resource.uri) || !tray.some((chosen) => chosen.resource.uri === resource.uri)) continue;
          tray = wholeToggled(tray, resource.uri);
          const whole = withoutLines(resource.uri);
          const back = wholeToggled(tray, whole);
          if (back !== tray) expect(meant(back)).toEqual(model);
          model = plus(model, partsOf({ uri: whole }));
        } else if (action === "choose" || (action === "toggle" && !isAll)) {
          tray = action === "choose" ? withAll(tray, [resource]) : toggled(tray, resource);
          model = plus(model, wanted);
        } else {
          tray = action === "unchoose" ? withoutAll(tray, [resource]) : toggled(tray, resource);
          if (isAll) model = minus(model, wanted);
        }
        expect(meant(tray)).toEqual(model);
        for (const item of [
          ...files.map((uri) => ({ uri })),
          ...folders.map((uri) => ({ uri, mimeType: directoryType })),
        ]) {
          const all = partsOf(item);
          const missing = minus(all, model).size;
          const choice = missing === 0 ? "all" : missing === all.size ? "none" : "some";
          expect([item.uri, choiceOf(tray, item.uri)]).toEqual([item.uri, choice]);
          expect(choicesIn(tray)(item.uri)).toBe(choice);
        }
        expect(choiceOf(tray, resource.uri) === "all").toBe(minus(wanted, model).size === 0);
      }
    }),
  );
});

it("joins passages that overlap or touch", () => {
  const all = fc.array(lines, { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(all, (ranges) => {
      const tray = withAll(
        [],
        ranges.map((range) => passageOf({ uri: "x:///f", name: "f" }, range)),
      );
      const chosen = tray.map(({ resource }) => linesOf(resource.uri)!).toSorted(([one], [other]) => one - other);
      chosen.reduce((before, after) => {
        expect(after[0]).toBeGreaterThan(before[1] + 1);
        return after;
      });
    }),
  );
});
