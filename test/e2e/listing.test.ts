/** Lists and their pages. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listAll, pagesOf, recordsIn, textAt, urisIn } from "./answers.ts";
import { greeting, pair, sampleContents } from "./fixtures.ts";
import { base, legs, openTestServer } from "./harness.ts";

const visible = [
  "blob.bin",
  "docs/deep/leaf.md",
  "docs/guide.md",
  "emoji%20%F0%9F%96%8B%EF%B8%8F.txt",
  "empty.txt",
  "notes.txt",
  "other.txt",
  "rich.json",
  "with%20space%20&%20100%25%3F%23.txt",
  "%E6%97%A5%E6%9C%AC%E8%AA%9E.md",
].map((path) => base + path);

describe.for(legs)("lists over $transport in $revision", (leg) => {
  it("hold everything the caller may see, in address order (S3-4, MOD-20)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    expect(await listAll(await pressmark.line(leg))).toEqual(visible);
  });

  it("may be empty (S3-4, MOD-20)", async () => {
    await using pressmark = await openTestServer();
    const line = await pressmark.line(leg);
    expect(urisIn(await line.result("resources/list"))).toEqual([]);
  });

  it.for([1, 3, 4, 10])(
    "come in disjoint pages of about %i that are complete together (LEG-18, MOD-45)",
    async (pageSize) => {
      await using pressmark = await openTestServer({ sampleContents, pageSize });
      const line = await pressmark.line(leg);
      const pages = await pagesOf(line, "resources/list");
      expect(pages.flatMap((page) => urisIn(page))).toEqual(visible);
      expect(pages.length > 1).toBe(pageSize < visible.length);
      for (const page of pages.slice(0, -1)) expect(page["nextCursor"]).toBeTypeOf("string");
      expect("nextCursor" in (pages.at(-1) ?? {})).toBe(false);
    },
  );

  it("go on where they were when something before that is removed or added (LEG-18, MOD-45)", async () => {
    await using pressmark = await openTestServer({ sampleContents, pageSize: 3 });
    const line = await pressmark.line(leg);
    const { nextCursor } = await line.result("resources/list");
    pressmark.memory.delete("blob.bin");
    pressmark.memory.set("a-new-first.txt", "first\n");
    const second = await line.result("resources/list", { cursor: nextCursor ?? "" });
    expect(urisIn(second)[0]).toBe(visible[3]);
    expect(urisIn(second)).not.toContain(visible[2]);
  });

  it("give the same page for the same cursor (LEG-18, MOD-45)", async () => {
    await using pressmark = await openTestServer({ sampleContents, pageSize: 3 });
    const line = await pressmark.line(leg);
    const { nextCursor } = await line.result("resources/list");
    const again = { cursor: nextCursor ?? "" };
    expect(await line.result("resources/list", again)).toEqual(await line.result("resources/list", again));
  });

  it("refuse a cursor that is none of theirs, whatever it is, and go on (LEG-18, LEG-21, MOD-45)", async () => {
    await using pressmark = await openTestServer({ sampleContents, pageSize: 3 });
    const line = await pressmark.line(leg);
    const { nextCursor } = await line.result("resources/list");
    const real = String(nextCursor);
    const flipped = (real.startsWith("A") ? "B" : "A") + real.slice(1);
    const wrong = [
      "wrong",
      "",
      " ",
      `${real}A`,
      flipped,
      real.slice(0, -1),
      "../../etc/passwd",
      "日本",
      "A".repeat(100_000),
    ];
    for (const cursor of wrong)
      expect((await line.error("resources/list", { cursor })).code, cursor.slice(0, 60)).toBe(-32602);
    for (const cursor of [7, {}, [], true, null])
      expect((await line.error("resources/list", { cursor })).code, JSON.stringify(cursor)).toBe(-32602);
    expect((await line.error("resources/templates/list", { cursor: real })).code).toBe(-32602);
    expect(urisIn(await line.result("resources/list", { cursor: real }))[0]).toBe(visible[3]);
  });

  it("name only URIs that RFC 3986 allows and that read back, none of them https (S3-13, LEG-3, LEG-5, MOD-28)", async () => {
    await using pressmark = await openTestServer({ sampleContents, folder: true });
    await writeFile(join(pressmark.folder, "a b#c?d%e 日本.txt"), "from a folder\n");
    const line = await pressmark.line(leg);
    const uris = await listAll(line);
    expect(uris).toContain(`${pressmark.folderBase}a%20b%23c%3Fd%25e%20%E6%97%A5%E6%9C%AC.txt`);
    for (const uri of uris) {
      expect(uri).toMatch(/^(?:memory|file):\/\/[!$&'()*+,;=:@/\-._~%A-Za-z0-9]*$/);
      const [content] = recordsIn(await line.result("resources/read", { uri }), "contents");
      expect(content?.["uri"]).toBe(uri);
    }
    expect(await textAt(line, `${pressmark.folderBase}a%20b%23c%3Fd%25e%20%E6%97%A5%E6%9C%AC.txt`)).toBe(
      "from a folder\n",
    );
  });

  it("say of a resource what the revision has words for (LEG-30)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    const { revision } = leg;
    const listed = recordsIn(await line.result("resources/list"), "resources");
    expect(listed.find(({ name }) => name === "rich.json")).toEqual({
      uri: `${base}rich.json`,
      name: "rich.json",
      description: "A resource with every field",
      mimeType: "application/json",
      ...(revision >= "2024-11-05" && {
        size: 10,
        annotations: {
          audience: ["user", "assistant"],
          priority: 0.8,
          ...(revision >= "2025-06-18" && { lastModified: "2026-01-02T03:04:05Z" }),
        },
      }),
      ...(revision >= "2025-06-18" && {
        title: "Everything that can be said",
        _meta: { "example.com/shelf": 3 },
      }),
      ...(revision >= "2025-11-25" && {
        icons: [{ src: "https://example.com/rich.png", mimeType: "image/png", sizes: ["48x48"], theme: "light" }],
      }),
    });
  });

  it("of templates name each of them (S3-3)", async () => {
    await using pressmark = await openTestServer({ sampleContents, templates: [greeting, pair] });
    const line = await pressmark.line(leg);
    const listed = recordsIn(await line.result("resources/templates/list"), "resourceTemplates");
    expect(listed.map(({ uriTemplate }) => uriTemplate)).toEqual([`${base}greetings/{name}`, `${base}pairs/{name}`]);
    expect(listed[0]?.["title"]).toBe(leg.revision >= "2025-06-18" ? "Greeting" : undefined);
  });

  it("of templates may be empty (S3-3)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    expect(recordsIn(await line.result("resources/templates/list"), "resourceTemplates")).toEqual([]);
  });
});
