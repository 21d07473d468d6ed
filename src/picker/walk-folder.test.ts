import { expect, it } from "vitest";
import { ResourceError } from "../errors.ts";
import { directoryType, type Resource, type Resources } from "../resources.ts";
import { filesBelow, type FolderWalk, maxEntries } from "./walk-folder.ts";

const file = (uri: string): Resource => ({ uri, name: uri });
const folder = (uri: string): Resource => ({ uri, name: uri, mimeType: directoryType });

function walkOn(children: Resources["children"], except: readonly string[] = []): FolderWalk {
  const call = { caller: { id: "test" }, signal: new AbortController().signal };
  return { pressmark: { children }, call, except: new Set(except), entries: 0, failed: 0, isMore: false };
}

async function urisBelow(uri: string, walk: FolderWalk): Promise<string[]> {
  const uris: string[] = [];
  for await (const each of filesBelow(uri, walk)) uris.push(each.uri);
  return uris;
}

/** Folders of a server, two entries on a page. */
const tree: Readonly<Record<string, readonly Resource[]>> = {
  "x:///": [file("x:///a"), folder("x:///d"), file("x:///z")],
  "x:///d": [file("x:///d/1"), file("x:///d/2"), folder("x:///d/broken"), folder("x:///"), file("x:///d/3")],
};
const children: Resources["children"] = async (uri, { cursor = "0" }) => {
  const entries = tree[uri];
  if (!entries) throw new ResourceError("unavailable", "no");
  const next = Number(cursor) + 2;
  return { items: entries.slice(Number(cursor), next), ...(next < entries.length && { next: `${next}` }) };
};

it("lists a resource that has children, and what is below it", async () => {
  const key: Resource = { ...file("k:///u"), meta: { "pressmark/hasChildren": true } };
  const walk = walkOn(async (uri) => ({ items: uri === "k:///" ? [key] : [file("k:///u/friends")] }));
  expect(await urisBelow("k:///", walk)).toEqual(["k:///u", "k:///u/friends"]);
});

it("lists all files of all pages in order, and counts the folders that failed", async () => {
  const walk = walkOn(children);
  expect(await urisBelow("x:///", walk)).toEqual(["x:///a", "x:///d/1", "x:///d/2", "x:///d/3", "x:///z"]);
  expect(walk).toMatchObject({ failed: 1, isMore: false });
});

it("leaves out exceptions and everything below them", async () => {
  expect(await urisBelow("x:///", walkOn(children, ["x:///d", "x:///z"]))).toEqual(["x:///a"]);
  const walk = walkOn(children, ["x:///d/1", "x:///d/broken"]);
  expect(await urisBelow("x:///", walk)).toEqual(["x:///a", "x:///d/2", "x:///d/3", "x:///z"]);
  expect(walk.failed).toBe(0);
});

it("ends on a server without an end, in breadth and in depth", async () => {
  const wide = walkOn(async (_uri, { cursor = "0" }) => ({
    items: Array.from({ length: 999 }, (_, at) => file(`x:///${cursor}/${at}`)),
    next: `${Number(cursor) + 1}`,
  }));
  expect((await urisBelow("x:///", wide)).length).toBe(maxEntries);
  expect(wide.isMore).toBe(true);
  const deep = walkOn(async (uri) => ({ items: [folder(`${uri}/d`), file(`${uri}/f`)] }));
  expect((await urisBelow("x:///", deep)).length).toBeLessThan(100);
  expect(deep.isMore).toBe(true);
});

it("fails only if it is cancelled", async () => {
  const ended = new AbortController();
  const walk = walkOn(async () => {
    ended.abort();
    throw new ResourceError("cancelled", "cancelled");
  });
  const call = { ...walk.call, signal: ended.signal };
  await expect(urisBelow("x:///", { ...walk, call })).rejects.toThrow("cancelled");
});
