/** What every official client should find in a served folder, over every transport and in every era. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { png } from "./fixture-media.ts";
import type { Folder } from "./folder.ts";
import type { Visitor } from "./visitor.ts";

export interface Visit {
  readonly name: string;
  readonly revision: string;
  /** As this client reports it. */
  readonly notFoundCode: number;
  open(): Promise<Visitor>;
}

export function describeVisit({ name, revision, notFoundCode, open }: Visit, folder: () => Folder): void {
  describe(`a client over ${name}`, () => {
    let visitor: Visitor;

    beforeAll(async () => {
      visitor = await open();
    });
    afterAll(async () => {
      await visitor[Symbol.asyncDispose]();
    });

    it(`agrees on ${revision}, and learns who answers`, () => {
      expect(visitor.revision).toBe(revision);
      expect(visitor.server).toBe("pressmark");
    });

    it("lists every file once, over several pages", async () => {
      const pages = await visitor.pages();
      expect(pages.length).toBeGreaterThan(1);
      expect(pages.flat().sort()).toEqual(folder().uris);
    });

    it("reads text", async () => {
      const uri = folder().uri("notes.txt");
      expect(await visitor.read(uri)).toEqual([{ uri, mimeType: "text/plain", text: "Buy ink.\n" }]);
    });

    it("reads bytes", async () => {
      const uri = folder().uri("pixel.png");
      expect(await visitor.read(uri)).toEqual([
        { uri, mimeType: "image/png", blob: Buffer.from(png).toString("base64") },
      ]);
    });

    it("reads a name that is hard to spell", async () => {
      const uri = folder().uri("Größe & 100% 日本.md");
      expect(await visitor.read(uri)).toMatchObject([{ uri, text: "# Odd, and yet a name\n" }]);
    });

    it("finds the template, and completes its path", async () => {
      expect(await visitor.templates()).toEqual([folder().template]);
      expect(await visitor.complete(folder().template, "path", "no")).toEqual(["notes.txt"]);
      expect(await visitor.complete(folder().template, "path", "many/209")).toContain("many/2099.txt");
    });

    it("is told what is not there, with its code and the URI", async () => {
      const uri = folder().uri("gone.txt");
      await expect(visitor.read(uri)).rejects.toMatchObject({
        code: notFoundCode,
        message: expect.stringContaining("Resource not found"),
        data: { uri },
      });
    });

    it("hears of an update after a file is written, and reads the new text", async () => {
      const file = `update-${name.replaceAll(/\W/g, "-")}.txt`;
      const uri = folder().uri(file);
      await folder().write(file, "before\n");
      expect(await visitor.read(uri)).toMatchObject([{ text: "before\n" }]);
      await visitor.watch(uri);
      visitor.heard.forget();
      await folder().write(file, "after\n");
      await visitor.heard.next(`updated ${uri}`);
      expect(await visitor.read(uri)).toMatchObject([{ text: "after\n" }]);
    });

    it("hears that the list changed after a file is created, and lists it", async () => {
      const file = `new-${name.replaceAll(/\W/g, "-")}.txt`;
      await visitor.watch(folder().uri("notes.txt"));
      visitor.heard.forget();
      await folder().write(file, "new\n");
      await visitor.heard.next("list-changed");
      expect((await visitor.pages()).flat()).toContain(folder().uri(file));
    });
  });
}
