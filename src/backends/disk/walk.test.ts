import * as fs from "node:fs";
import { describe, expect, it } from "vitest";
import type { Entry } from "../../source.ts";
import { asking } from "../../testing/pages.ts";
import { useFolder } from "./test-folder.ts";

const folder = useFolder();
const { call, link, open, write } = folder;

async function counts(options: Readonly<Record<string, unknown>> = {}): Promise<Record<string, number | undefined>> {
  const { items } = await (await open(options)).children({ path: "" }, asking(1000), call());
  return Object.fromEntries(
    items.filter(({ size }) => size === undefined).map(({ path, children }) => [path, children]),
  );
}

describe("the folders among the children of a folder", () => {
  it("have the number of their served children", async () => {
    for (const path of ["a/1", "a/2", "a/b/3", "c/.hidden", "c/x.log", "c/id_rsa", "d/node_modules/x", "d/e"])
      write(path, "");
    write("c/.gitignore", "*.log\nfolders/\n");
    write("c/folders", "a file of that name");
    fs.mkdirSync(folder.at("empty"));
    expect(await counts()).toEqual({ a: 3, c: 1, d: 1, empty: 0 });
    expect(await counts({ hidden: true })).toEqual({ a: 3, c: 3, d: 1, empty: 0 });
  });

  it("have no number if a link must be followed first, or if there are very many", async () => {
    write("a/1", "");
    write("b/1", "");
    link("../.env", "a/link");
    expect(await counts()).toEqual({ a: undefined, b: 1 });
    for (let index = 0; index < 200; index += 1) fs.mkdirSync(folder.at(`many-${index}`));
    expect(new Set(Object.values(await counts()))).toEqual(new Set([undefined]));
  });
});

describe("icons", () => {
  it("are included on request, the same for the same type, and small", async () => {
    const kinds = ["a.ts", "b.ts", "c.md", "d.png", "e.json", "f.pdf", "g.mp3", "h", "i/j"];
    for (const path of kinds) write(path, "");
    const source = await open({ icons: true });
    const { items } = await source.children({ path: "" }, asking(100), call());
    const pictureOf = (name: string) => items.find(({ path }) => path === name)?.icons?.[0];
    expect(pictureOf("a.ts")).toBe(pictureOf("b.ts"));
    const sources = new Set(
      ["a.ts", "c.md", "d.png", "e.json", "f.pdf", "g.mp3", "i"].map((name) => pictureOf(name)?.src),
    );
    expect(sources.size).toBe(7);
    for (const src of sources) {
      expect(src?.length).toBeLessThan(400);
      expect(decodeURIComponent(src ?? "")).toMatch(/^data:image\/svg\+xml,<svg .*<\/svg>$/);
    }
    expect((await source.stat({ path: "a.ts" }, call())).icons).toEqual([pictureOf("a.ts")]);
    const plain: Entry = await (await open()).stat({ path: "a.ts" }, call());
    expect(plain.icons).toBeUndefined();
  });
});
