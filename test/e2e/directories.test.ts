/** Directories: what has children instead of content. */
import { describe, expect, it } from "vitest";
import { isRecord } from "../wire/json.ts";
import { missingCode, pagesOf, recordsIn, textAt, urisIn } from "./answers.ts";
import { sampleContents } from "./fixtures.ts";
import { base, legs, modernLegs, openTestServer } from "./harness.ts";

describe.for(modernLegs)("resources/directory/read over $transport", (leg) => {
  it("gives the direct children, directories among them (MOD-20)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    const children = recordsIn(await line.result("resources/directory/read", { uri: `${base}docs` }), "resources");
    expect(children).toEqual([
      { uri: `${base}docs/deep`, name: "deep", title: "docs/deep", mimeType: "inode/directory" },
      { uri: `${base}docs/guide.md`, name: "guide.md", title: "docs/guide.md", mimeType: "text/markdown", size: 8 },
    ]);
  });

  it("comes in pages like every list (MOD-45)", async () => {
    await using pressmark = await openTestServer({ sampleContents, pageSize: 2 });
    const line = await pressmark.line(leg);
    const pages = await pagesOf(line, "resources/directory/read", { uri: "memory://house" });
    expect(pages.length).toBeGreaterThan(2);
    const uris = pages.flatMap((page) => urisIn(page));
    expect(new Set(uris).size).toBe(uris.length);
    expect(uris).toContain(`${base}docs`);
    expect(uris).not.toContain(`${base}secrets`);
    const cursor = String(pages[0]?.["nextCursor"]);
    expect((await line.error("resources/directory/read", { uri: `${base}docs`, cursor })).code).toBe(-32602);
    expect((await line.error("resources/list", { cursor })).code).toBe(-32602);
  });

  it("refuses what is no directory and what is not there alike (MOD-25)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    for (const uri of [`${base}notes.txt`, `${base}nothing`, `${base}docs/`, "nobody://here"])
      expect(await line.error("resources/directory/read", { uri })).toMatchObject({ code: -32602, data: { uri } });
    expect((await line.error("resources/directory/read", {})).code).toBe(-32602);
  });
});

describe.for(legs)("a directory over $transport in $revision", (leg) => {
  it("is not listed, and reading it names its children (S3-13, LEG-4)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    expect(urisIn(await line.result("resources/list"))).not.toContain(`${base}docs`);
    const said: unknown = JSON.parse(await textAt(line, `${base}docs`));
    expect(said).toMatchObject({
      uri: `${base}docs`,
      count: 2,
      children: [
        { uri: `${base}docs/deep`, mimeType: "inode/directory" },
        { uri: `${base}docs/guide.md`, mimeType: "text/markdown" },
      ],
    });
  });

  it("that is empty of what the caller may see says nothing of the rest (LEG-8)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    const error = await line.error("resources/read", { uri: `${base}secrets` });
    expect(error.code).toBe(missingCode(line));
    const top: unknown = JSON.parse(await textAt(line, "memory://house"));
    expect(isRecord(top) && top["count"]).toBe(9);
  });
});
