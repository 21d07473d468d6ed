import { describe, expect, it } from "vitest";
import { filesCounted, markOf, toggled } from "./choice.ts";
import { beginPick, type PickItem, type PickState } from "./state.ts";

const item = (path: string, isDirectory = false): PickItem => ({
  uri: `memory://m/${path}`,
  name: path,
  path,
  isDirectory,
  canOpen: isDirectory,
});
const docs = item("docs", true);
const [guide, passage, intro] = [item("docs/guide.md"), item("docs/guide.md?lines=1-41"), item("docs/intro.md")];
const empty = beginPick({ columns: 80, rows: 24 });
const counted = (state: PickState, folder: PickItem, ...files: readonly PickItem[]) =>
  filesCounted(toggled(state, folder), folder.uri, files, false);
const chosen = (state: PickState) => [...state.chosen.keys()];

describe("the choice contains no text twice", () => {
  it("when a folder is chosen after a passage of one of its files", () => {
    const state = counted(toggled(empty, passage), docs, guide, intro);
    expect(chosen(state)).toEqual([guide.uri, intro.uri]);
    const again = toggled(toggled(toggled(state, docs), passage), docs);
    expect(chosen(again)).toEqual([guide.uri, intro.uri]);
  });

  it("and a passage that is chosen after the folder replaces its file", () => {
    const state = toggled(counted(empty, docs, guide, intro), passage);
    expect(chosen(state)).toEqual([intro.uri, passage.uri]);
    expect(markOf(docs, state)).toBe("some");
  });
});

it("a folder inside a chosen one is chosen, and can be left out", () => {
  const [deep, file] = [item("docs/deep", true), item("docs/deep/a.md")];
  const state = counted(empty, docs, guide, file);
  expect(markOf(deep, state)).toBe("all");
  const without = toggled(state, deep);
  expect(chosen(without)).toEqual([guide.uri]);
  expect([markOf(deep, without), markOf(docs, without)]).toEqual(["none", "some"]);
});
