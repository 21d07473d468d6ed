/** The gdrive source against the fake and, with credentials, against the service itself: what holds there must hold here. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createRuntime } from "../../src/server/runtime.ts";
import type { Source } from "../../src/source.ts";
import gdrive from "../../src/sources/gdrive.ts";
import { collectChanges } from "../../src/testing/listen.ts";
import { asking, collect } from "../../src/testing/pages.ts";
import { type DriveBackend, fakeBackend, realBackend } from "./gdrive-backends.ts";

const keyFile = process.env["PRESSMARK_DRIVE_KEY_FILE"];
const folder = process.env["PRESSMARK_DRIVE_FOLDER"];
const hasService = keyFile !== undefined && folder !== undefined;
const needed =
  "skipped: PRESSMARK_DRIVE_KEY_FILE names the key of a service account, PRESSMARK_DRIVE_FOLDER the id of a folder in a shared drive that it may write to";

const call = { caller: { id: "test" }, signal: new AbortController().signal };
const runtime = createRuntime({ write: () => true });

const textAt = async (source: Source, path: string, query?: Record<string, string>) => {
  const [part] = await source.read(query ? { path, query } : { path }, call);
  return part && "text" in part.body ? part.body.text : "";
};

describe.each([
  ["the fake", true, fakeBackend, 20],
  [`the service${hasService ? "" : ` (${needed})`}`, hasService, () => realBackend(keyFile!, folder!), 2000],
] as const)("gdrive against %s", (_name, isThere, open, pollMs) => {
  let backend: DriveBackend;
  const opened: Source[] = [];
  beforeAll(async () => {
    if (isThere) backend = await open();
  }, 60_000);
  afterEach(async () => {
    for (const source of opened.splice(0)) await source.close?.();
  });
  afterAll(async () => {
    if (isThere) await backend.close();
  }, 60_000);

  async function openSource(): Promise<Source> {
    const source = await gdrive.open(
      { ...gdrive.options(z).parse({ keep: false }), ...backend.options, pollMs },
      runtime,
    );
    opened.push(source);
    return source;
  }

  describe.skipIf(!isThere)("each in a folder of its own", { timeout: 120_000 }, () => {
    it("lists and reads documents and files, also by lines and formats", async () => {
      const doc = await backend.write("A document", "# Heading\n\nA *word* in it.\n");
      const file = await backend.upload("notes.txt", "one\ntwo\nthree\n");
      const source = await openSource();
      const listed = await collect((cursor) => source.list(asking(1, cursor), call));
      expect(listed.map(({ path }) => path)).toEqual(expect.arrayContaining([`file/${doc}`, `file/${file}`]));
      for (const entry of listed) expect(await source.stat!({ path: entry.path }, call)).toEqual(entry);
      expect(await textAt(source, `file/${doc}`)).toMatch(/^# Heading\r?\n[^]*word/);
      expect(await textAt(source, `file/${doc}`, { format: "text" })).toContain("Heading");
      expect(await textAt(source, `file/${file}`)).toBe("one\ntwo\nthree\n");
      expect(await textAt(source, `file/${file}`, { lines: "2-2" })).toBe("two\n");
      await expect(source.read({ path: "file/no-such-id-0123456789" }, call)).rejects.toMatchObject({
        kind: "not-found",
      });
    });

    it("tells of what is made, edited, renamed, moved and thrown away, under one address", async () => {
      const inner = await backend.makeFolder("Inner");
      const source = await openSource();
      const heard = collectChanges(await source.watch!(call));
      const doc = await backend.write("First title", "# First\n");
      const path = `file/${doc}`;
      const hears = (kind: string) =>
        heard.until((change) => change.kind === kind && "path" in change && change.path === path, kind);
      await hears("appeared");
      const before = (await source.stat!({ path }, call)).version;
      await backend.edit(doc, "# Second\n");
      await hears("changed");
      expect((await source.stat!({ path }, call)).version).not.toBe(before);
      expect(await textAt(source, path)).toContain("Second");
      await backend.change(doc, { name: "Second title", folder: inner });
      await heard.until((change) => "path" in change && change.path === `folder/${inner}/${doc}`, "where it moved to");
      expect(await source.stat!({ path }, call)).toMatchObject({ title: "Second title" });
      const children = await collect((cursor) =>
        source.children!({ path: `folder/${inner}` }, asking(10, cursor), call),
      );
      expect(children.map((entry) => entry.path)).toEqual([path]);
      await backend.trash(doc);
      await hears("gone");
      await expect(source.stat!({ path }, call)).rejects.toMatchObject({ kind: "not-found" });
    });

    it("goes on by changes alone once everything is known", async () => {
      const source = await openSource();
      const before = await collect((cursor) => source.list(asking(100, cursor), call));
      const doc = await backend.write("Later", "later\n");
      const heard = collectChanges(await source.watch!(call));
      await backend.edit(doc, "later still\n");
      await heard.until((change) => "path" in change && change.path === `file/${doc}`, "what was edited");
      const after = await collect((cursor) => source.list(asking(100, cursor), call));
      expect(after.map(({ path }) => path)).toEqual([...before.map(({ path }) => path), `file/${doc}`].sort());
    });
  });
});
