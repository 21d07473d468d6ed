import { describe, expect, it } from "vitest";
import { directoryType, type Resource } from "../resources.ts";
import { jumped, moved, type Rows, rowsOf } from "./tree-rows.ts";
import {
  closed,
  emptyTree,
  loading,
  opened,
  pageCame,
  pageFailed,
  pathBeside,
  shownPath,
  touched,
  wayTo,
  withRoots,
} from "./tree.ts";

const folder = (uri: string): Resource => ({ uri, name: uri.slice(uri.lastIndexOf("/") + 1), mimeType: directoryType });
const manyFiles = (page: number) => Array.from({ length: 1000 }, (_, index) => file(`a:///r/${page}/${index}`));
const file = (uri: string): Resource => ({ uri, name: uri.slice(uri.lastIndexOf("/") + 1) });
const root = folder("a:///r");
const start = opened(withRoots(emptyTree, [root]), root.uri);
const listed = (rows: Rows) => Array.from({ length: rows.length }, (_, index) => rows.at(index)!);
const shown = (rows: Rows): string[] =>
  listed(rows).map((row) => "  ".repeat(row.depth) + (row.kind === "resource" ? row.resource.name : `(${row.kind})`));

describe("the tree", () => {
  it("shows open folders, and notes on loading, empty and failed ones", () => {
    expect(shown(rowsOf(loading(start, root.uri)))).toEqual(["r", "  (loading)"]);
    expect(shown(rowsOf(pageCame(start, root.uri, { items: [] }, true)))).toEqual(["r", "  (empty)"]);
    expect(shown(rowsOf(pageFailed(start, root.uri, "no")))).toEqual(["r", "  (failed)"]);
    expect(shown(rowsOf(closed(start, root.uri)))).toEqual(["r"]);
  });

  it("opens a resource that has children, which stays among the resources", () => {
    const key: Resource = { ...file("a:///r/user"), mimeType: "text/plain", meta: { "pressmark/hasChildren": true } };
    const before = pageCame(start, root.uri, { items: [file("a:///r/a"), key, folder("a:///r/z")] }, true);
    expect(shown(rowsOf(before))).toEqual(["r", "  z", "  a", "  user"]);
    expect(rowsOf(before).at(3)).toMatchObject({ canOpen: true, isOpen: false });
    const open = pageCame(opened(before, key.uri), key.uri, { items: [file("a:///r/user/friends")] }, true);
    expect(shown(rowsOf(open))).toEqual(["r", "  z", "  a", "  user", "    friends"]);
  });

  it("appends pages, and shows whether there is more", () => {
    const first = pageCame(start, root.uri, { items: [file("a:///r/x")], next: "2" }, true);
    expect(shown(rowsOf(first))).toEqual(["r", "  x", "  (more)"]);
    expect(rowsOf(first).at(1)).toMatchObject({ position: 1, siblings: -1 });
    const both = pageCame(first, root.uri, { items: [file("a:///r/y")] }, false);
    expect(shown(rowsOf(both))).toEqual(["r", "  x", "  y"]);
    expect(rowsOf(both).at(2)).toMatchObject({ position: 2, siblings: 2 });
    expect(shown(rowsOf(pageCame(both, root.uri, { items: [] }, true)))).toEqual(["r", "  (empty)"]);
  });

  it("shows folders first where a folder is one page; longer ones stay as the server orders them", () => {
    const items = [file("a:///r/a"), folder("a:///r/b"), file("a:///r/c"), folder("a:///r/d")];
    const whole = rowsOf(pageCame(start, root.uri, { items }, true));
    expect(shown(whole)).toEqual(["r", "  b", "  d", "  a", "  c"]);
    expect(whole.at(3)).toMatchObject({ position: 3, siblings: 4 });
    const first = pageCame(start, root.uri, { items, next: "2" }, true);
    expect(shown(rowsOf(first))).toEqual(["r", "  a", "  b", "  c", "  d", "  (more)"]);
    const both = pageCame(first, root.uri, { items: [folder("a:///r/e")] }, false);
    expect(shown(rowsOf(both))).toEqual(["r", "  a", "  b", "  c", "  d", "  e"]);
    const many = Array.from({ length: 1000 }, (_, index) => file(`a:///r/${index}`));
    const long = rowsOf(pageCame(start, root.uri, { items: [...many, folder("a:///r/z")] }, true));
    expect(long.at(1)).toMatchObject({ resource: { name: "0" } });
  });

  it("ends if a folder contains itself", () => {
    expect(rowsOf(pageCame(start, root.uri, { items: [root] }, true)).length).toBeLessThan(100);
  });

  it("is navigated by keys that never leave it", () => {
    const rows = rowsOf(pageCame(start, root.uri, { items: [file("a:///r/x"), file("a:///r/y")] }, true));
    expect([moved(rows, 0, "ArrowUp", 9), moved(rows, 2, "ArrowDown", 9), moved(rows, 0, "PageDown", 9)]).toEqual([
      0, 2, 2,
    ]);
    expect([moved(rows, 2, "Home", 9), moved(rows, 0, "End", 9), moved(rows, 0, "q", 9)]).toEqual([0, 2, undefined]);
    expect([rows.parentOf(2), rows.parentOf(0)]).toEqual([0, undefined]);
    expect([rows.at(-1), rows.at(3)]).toEqual([undefined, undefined]);
  });

  it("jumps to the beginnings of names, in any width and case", () => {
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

  it("keeps open folders between their neighbours, whichever page they came with", () => {
    const one = pageCame(start, root.uri, { items: [folder("a:///r/d"), file("a:///r/x")], next: "2" }, true);
    const two = pageCame(one, root.uri, { items: [file("a:///r/y"), folder("a:///r/e")] }, false);
    const inside = pageCame(opened(two, "a:///r/d"), "a:///r/d", { items: [file("a:///r/d/1")] }, true);
    const rows = rowsOf(opened(inside, "a:///r/e"));
    expect(shown(rows)).toEqual(["r", "  d", "    1", "  x", "  y", "  e", "    (loading)"]);
    expect(listed(rows).map((row) => (row.kind === "resource" ? row.position : 0))).toEqual([1, 1, 1, 2, 3, 4, 0]);
    expect([2, 4, 6].map((index) => rows.parentOf(index))).toEqual([1, 0, 5]);
    for (const [index, { key }] of listed(rows).entries()) expect(rows.indexOf(key)).toBe(index);
    expect([rows.indexOf("nowhere"), rows.indexOf(rows.at(4)!.key, 4)]).toEqual([-1, 4]);
  });

  it("shows when something has changed", () => {
    const held = pageCame(start, root.uri, { items: [file("a:///r/x"), file("a:///r/y")] }, true);
    const at = "2026-11-15T12:00:00Z";
    const rows = listed(rowsOf(touched(held, "a:///r/y", at)));
    expect(rows.map((row) => row.kind === "resource" && row.resource.annotations?.lastModified)).toEqual([
      undefined,
      undefined,
      at,
    ]);
  });

  it("creates rows only on demand", () => {
    let tree = start;
    for (let count = 0; count < 1000; count += 1)
      tree = pageCame(tree, root.uri, { items: manyFiles(count), next: "x" }, false);
    const rows = rowsOf(tree);
    expect(rows.length).toBe(1_000_002);
    expect(rows.at(1_000_000)).toMatchObject({ position: 1_000_000, siblings: -1, resource: { name: "999" } });
    expect(rows.at(1_000_001)).toMatchObject({ kind: "more" });
  });

  it("shows an entry once that a later page repeats", () => {
    const [a, b, c] = ["a", "b", "c"].map((name) => file(`a:///r/${name}`)) as [Resource, Resource, Resource];
    const first = pageCame(start, root.uri, { items: [a, b], next: "x" }, true);
    for (let time = 0; time < 2; time += 1) {
      const both = pageCame(first, root.uri, { items: [b, c, c] }, false);
      expect(both.folders.get(root.uri)?.pages).toEqual([[a, b], [c]]);
    }
    const again = pageCame(first, root.uri, { items: [b, c] }, true);
    expect(again.folders.get(root.uri)?.pages).toEqual([[b, c]]);
  });

  it("finds the path to a resource", () => {
    expect(wayTo([root], "a:///r/x/y/z.md?lines=1-2")).toEqual(["a:///r", "a:///r/x", "a:///r/x/y"]);
    expect(wayTo([root], "a:///rest/z.md")).toEqual([]);
  });
});

it("shows the decoded path of a resource, and its mount if there are several", () => {
  const files = { uri: "file:///p", name: "files", title: "資料", mimeType: directoryType };
  const notes = { uri: "notes://", name: "notes", mimeType: directoryType };
  const uri = "file:///p/%E8%A8%AD%E8%A8%88/a%20b.md";
  expect(shownPath([files], uri)).toBe("設計/a b.md");
  expect(shownPath([files, notes], uri)).toBe("資料 › 設計/a b.md");
  expect(shownPath([files, notes], "notes://%E2%80%AEx")).toBe("notes › %E2%80%AEx");
  expect(shownPath([files], "file:///prefix/%E8%A8%AD")).toBe("file:///prefix/設");
});

it("beside a name, the path does not repeat it", () => {
  const [one, other] = [folder("git://p"), folder("a:///r")];
  const beside = (roots: readonly Resource[], uri: string) => pathBeside(roots, file(uri));
  expect(beside([one, other], "git://p/big.ts")).toBe("p");
  expect(beside([one, other], "git://p/src/big.ts")).toBe("p › src/");
  expect(beside([one], "git://p/big.ts")).toBe("");
  expect(beside([one], "git://p/src/big.ts")).toBe("src/");
  expect(pathBeside([one, other], one)).toBe("");
  expect(pathBeside([one], { ...file("git://p/big.ts"), title: "Large" })).toBe("big.ts");
});
