import { describe, expect, it } from "vitest";
import { type ErrorKind, ResourceError } from "../errors.ts";
import type { Call } from "../resources.ts";
import type { Address, Entry, Part } from "../source.ts";
import { textOf } from "./text-of.ts";

const call: Call = { caller: { id: "me" }, signal: new AbortController().signal };

/** The indexed text of this entry when reading it gives these parts, and what was read. */
async function found(entry: Entry, parts: readonly Part[] | ErrorKind) {
  const asked: Address[] = [];
  const source = {
    async read(at: Address): Promise<readonly Part[]> {
      asked.push(at);
      if (typeof parts === "string") throw new ResourceError(parts, "no");
      return parts;
    },
  };
  return { text: await textOf(source, entry, { maxFileBytes: 100 }, call), asked };
}

const text = (content: string): Part[] => [{ body: { text: content } }];

describe("the text of a resource", () => {
  it("is what reading it gives", async () => {
    expect(await found({ path: "a", query: { x: "1" } }, text("tea"))).toEqual({
      text: { text: "tea" },
      asked: [{ path: "a", query: { x: "1" } }],
    });
  });

  it("comes with the title that only the content has", async () => {
    const page: Part[] = [{ body: { text: "tea" }, meta: { "pressmark/title": "お茶" } }];
    expect((await found({ path: "a" }, page)).text).toEqual({ text: "tea", title: "お茶" });
  });

  it("is extracted from a document if its source can do that", async () => {
    const pdf = { path: "a.pdf", mimeType: "application/pdf", size: 5000, meta: { "pressmark/as": ["text"] } };
    expect(await found(pdf, text("tea"))).toEqual({
      text: { text: "tea" },
      asked: [{ path: "a.pdf", query: { as: "text" } }],
    });
    expect((await found(pdf, "invalid")).text).toEqual({ text: "" });
    const picture = { ...pdf, path: "a.png", mimeType: "image/png" };
    expect((await found(picture, text("tea"))).text).toEqual({ text: "tea" });
    const { meta: _meta, ...plain } = picture;
    expect(await found(plain, text("tea"))).toEqual({ text: { text: "" }, asked: [] });
    // The lines of a page are those that a reader sees.
    const page = { path: "a.html", mimeType: "text/html", meta: { "pressmark/as": ["text"] } };
    expect((await found(page, text("<p>tea"))).asked).toEqual([{ path: "a.html" }]);
  });

  it.each(["image/png", "video/mp4", "application/zip", "font/woff2"])(
    "is empty for %s, which is not read",
    async (mimeType) => {
      expect(await found({ path: "a", mimeType }, text("tea"))).toEqual({ text: { text: "" }, asked: [] });
    },
  );

  it("is empty if it is too large, whatever size was listed", async () => {
    expect(await found({ path: "a", size: 101 }, text("tea"))).toEqual({ text: { text: "" }, asked: [] });
    expect((await found({ path: "a" }, text("x".repeat(101)))).text).toEqual({ text: "" });
    expect((await found({ path: "a" }, "too-large")).text).toEqual({ text: "" });
  });

  it("is empty for binary data, even if labelled as text", async () => {
    expect((await found({ path: "a" }, [{ body: { bytes: new Uint8Array([1, 2]) } }])).text).toEqual({ text: "" });
    for (const binary of ["tea\0tea", "\u0001\u0002\u0003tea\ufffd", "\ufffd\ufffdtea"])
      expect((await found({ path: "a", mimeType: "text/plain" }, text(binary))).text).toEqual({ text: "" });
    expect(
      (await found({ path: "a" }, text(`tea\t\r\n\u001b[1mtea\u001b[0m ${"x".repeat(40)}\ufffd`))).text,
    ).toMatchObject({
      text: expect.stringContaining("tea"),
    });
  });

  it("is that of its own parts, and reports the target of a link", async () => {
    const parts: Part[] = [
      { body: { text: "tea" }, reveals: { path: "b" } },
      { body: { text: "milk" }, at: { path: "c" } },
      { body: { text: "cup" }, at: { path: "a" } },
    ];
    expect((await found({ path: "a" }, parts)).text).toEqual({ text: "tea\ncup", reveals: { path: "b" } });
  });

  it.each(["not-found", "denied", "directory"] as const)("is undefined if reading throws %s", async (kind) => {
    expect((await found({ path: "a" }, kind)).text).toBeUndefined();
  });

  it.each(["unavailable", "busy", "unexpected", "invalid"] as const)("throws if reading throws %s", async (kind) => {
    await expect(found({ path: "a" }, kind)).rejects.toMatchObject({ kind });
  });
});
