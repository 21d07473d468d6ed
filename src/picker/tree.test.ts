import { describe, expect, it } from "vitest";
import { directoryType, type Resource } from "../resources.ts";
import {
  closed,
  emptyTree,
  jumped,
  loading,
  moved,
  opened,
  pageCame,
  pageFailed,
  parentRow,
  type Row,
  rowsOf,
  wayTo,
  withRoots,
} from "./tree.ts";

const folder = (uri: string): Resource => ({ uri, name: uri.slice(uri.lastIndexOf("/") + 1), mimeType: directoryType });
const file = (uri: string): Resource => ({ uri, name: uri.slice(uri.lastIndexOf("/") + 1) });
const root = folder("a:///r");
const start = opened(withRoots(emptyTree, [root]), root.uri);
const shown = (rows: readonly Row[]): string[] =>
  rows.map((row) => "  ".repeat(row.depth) + (row.kind === "resource" ? row.resource.name : `(${row.kind})`));

describe("the tree", () => {
  it("shows what is open, and says what is on its way, missing or wrong", () => {
    expect(shown(rowsOf(loading(start, root.uri)))).toEqual(["r", "  (loading)"]);
    expect(shown(rowsOf(pageCame(start, root.uri, { items: [] }, true)))).toEqual(["r", "  (empty)"]);
    expect(shown(rowsOf(pageFailed(start, root.uri, "no")))).toEqual(["r", "  (failed)"]);
    expect(shown(rowsOf(closed(start, root.uri)))).toEqual(["r"]);
  });

  it("puts a page after the one before, and says whether there is more", () => {
    const first = pageCame(start, root.uri, { items: [file("a:///r/x")], next: "2" }, true);
    expect(shown(rowsOf(first))).toEqual(["r", "  x", "  (more)"]);
    expect(rowsOf(first)[1]).toMatchObject({ position: 1, siblings: -1 });
    const both = pageCame(first, root.uri, { items: [file("a:///r/y")] }, false);
    expect(shown(rowsOf(both))).toEqual(["r", "  x", "  y"]);
    expect(rowsOf(both)[2]).toMatchObject({ position: 2, siblings: 2 });
    expect(shown(rowsOf(pageCame(both, root.uri, { items: [] }, true)))).toEqual(["r", "  (empty)"]);
  });

  it("comes to an end where a folder holds itself", () => {
    expect(rowsOf(pageCame(start, root.uri, { items: [root] }, true)).length).toBeLessThan(100);
  });

  it("is walked by keys that never lead out of it", () => {
    const rows = rowsOf(pageCame(start, root.uri, { items: [file("a:///r/x"), file("a:///r/y")] }, true));
    expect([moved(rows, 0, "ArrowUp", 9), moved(rows, 2, "ArrowDown", 9), moved(rows, 0, "PageDown", 9)]).toEqual([
      0, 2, 2,
    ]);
    expect([moved(rows, 2, "Home", 9), moved(rows, 0, "End", 9), moved(rows, 0, "q", 9)]).toEqual([0, 2, undefined]);
    expect([parentRow(rows, 2), parentRow(rows, 0)]).toEqual([0, undefined]);
  });

  it("is jumped through by the beginnings of names, in any width and case", () => {
    const names = ["Apple", "avocado", "ｂanana", "日記"].map((name) => file(`a:///r/${name}`));
    const rows = rowsOf(pageCame(start, root.uri, { items: names }, true));
    expect([jumped(rows, 0, "a"), jumped(rows, 1, "a"), jumped(rows, 2, "a")]).toEqual([1, 2, 1]);
    expect([jumped(rows, 1, "av"), jumped(rows, 0, "B"), jumped(rows, 0, "日"), jumped(rows, 0, "z")]).toEqual([
      2,
      3,
      4,
      undefined,
    ]);
  });

  it("knows the way to a resource", () => {
    expect(wayTo([root], "a:///r/x/y/z.md?lines=1-2")).toEqual(["a:///r", "a:///r/x", "a:///r/x/y"]);
    expect(wayTo([root], "a:///rest/z.md")).toEqual([]);
  });
});
