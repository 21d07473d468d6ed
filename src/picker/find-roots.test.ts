import { describe, expect, it } from "vitest";
import { notFound, ResourceError } from "../errors.ts";
import type { Resource, Resources } from "../resources.ts";
import { findTreeRoots, startOf } from "./find-roots.ts";

const call = { caller: { id: "test" }, signal: new AbortController().signal };

interface Served {
  readonly templates?: readonly string[];
  readonly resources?: readonly string[];
  /** URIs that can be opened. */
  readonly directories?: readonly string[];
  readonly broken?: readonly string[];
  /** The content of `pressmark://status`; a string for invalid JSON. */
  readonly status?: unknown;
}

type Asked = Pick<Resources, "read" | "templates" | "list" | "children">;

function serve({ templates = [], resources = [], directories = [], broken = [], status }: Served): Asked {
  return {
    async read(uri) {
      if (uri !== "pressmark://status" || status === undefined) throw notFound(uri);
      const text = typeof status === "string" ? status : JSON.stringify(status);
      return { contents: [{ uri, body: { text } }], ttlMs: 0, scope: "private" };
    },
    templates: async () => ({ items: templates.map((uriTemplate) => ({ uriTemplate, name: "t" })) }),
    list: async () => ({ items: resources.map((uri) => ({ uri, name: uri })) }),
    async children(uri) {
      if (broken.includes(uri)) throw new ResourceError("unavailable", "gone for now");
      if (!directories.includes(uri)) throw notFound(uri);
      return { items: [] };
    },
  };
}

async function rootsOf(served: Served): Promise<string[][]> {
  const found: (readonly Resource[])[] = [];
  for await (const roots of findTreeRoots(serve(served), call)) found.push(roots);
  return found.map((roots) => roots.map(({ uri }) => uri));
}

describe("the top of the tree", () => {
  it("is the mounts, by name and in the server's order, if its status lists them", async () => {
    const mounts = [
      { name: "two", uri: "file:///b", state: "failing" },
      { name: "one", uri: "docs://one", title: "一", description: "文書" },
      { name: "x" },
    ];
    const pressmark = serve({ status: { mounts }, templates: ["file:///b/{+path}"], resources: ["other://1"] });
    const found: (readonly Resource[])[] = [];
    for await (const roots of findTreeRoots(pressmark, call)) found.push(roots);
    expect(found).toEqual([
      [
        { uri: "file:///b", name: "two", mimeType: "inode/directory" },
        { uri: "docs://one", name: "one", title: "一", description: "文書", mimeType: "inode/directory" },
      ],
    ]);
  });

  it("is derived otherwise if there is no status, or it lists no mounts", async () => {
    for (const status of ["<html>", "null", "{}"])
      expect(await rootsOf({ status, templates: ["a://x/{p}"], directories: ["a://x"] })).toEqual([["a://x"]]);
  });

  it("is the start of templates that can be opened, in the server's order", async () => {
    const templates = ["file:///b/{+path}{?lines}", "file:///a/{+path}", "file:///a/below/{x}", "gone://x/{y}", "{z}"];
    expect(await rootsOf({ templates, directories: ["file:///b", "file:///a", "file:///a/below"] })).toEqual([
      ["file:///b", "file:///a"],
    ]);
  });

  it("is derived from the list if there are no templates", async () => {
    const resources = ["file:///home/me/x/1.md", "file:///home/me/x/2.md", "note:alone"];
    expect(await rootsOf({ resources, directories: ["file:///home/me", "file:///home/me/x"] })).toEqual([
      ["file:///home/me", "note:alone"],
    ]);
  });

  it("shows the roots of templates before the list is loaded", async () => {
    const found = await rootsOf({ templates: ["a://x/{p}"], resources: ["b://y/1"], directories: ["a://x", "b://y"] });
    expect(found).toEqual([["a://x"], ["a://x", "b://y"]]);
  });

  it("keeps a root that is unavailable, and is empty if nothing is served", async () => {
    expect(await rootsOf({ templates: ["a://x/{p}"], broken: ["a://x"] })).toEqual([["a://x"]]);
    expect(await rootsOf({})).toEqual([[]]);
  });

  it("does not exist for a scheme alone", () => {
    expect([startOf("file:///a/{+path}"), startOf("x://{host}/y"), startOf("{any}")]).toEqual([
      "file:///a/",
      undefined,
      undefined,
    ]);
  });
});
