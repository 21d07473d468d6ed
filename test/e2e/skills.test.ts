/** The skills extension on the wire: what is a skill, what is said of it, and that all of it is true. */
import { createHash } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isRecord, type JsonRecord } from "../wire/json.ts";
import { pagesOf, recordsIn, textAt, urisIn } from "./answers.ts";
import { legacyLegs, modernLegs, openTestServer } from "./harness.ts";
import type { Line } from "./line/line.ts";

const printing = `---
name: printing
description: Prints a page. 印刷する。
license: MIT
metadata:
  version: "1.0"
future-field: [1, two]
---

# Printing
`;
const secret = "---\nname: secrets\ndescription: Not for readers\n---\n";
const skills = {
  "printing/SKILL.md": printing,
  "printing/plates/first.txt": "The first plate.\n",
  "printing/plates/日本 & 100%.md": "# 版\n",
  "team/binding/SKILL.md": "---\nname: binding\ndescription: Binds\n---\n",
  "team/binding/sewing/SKILL.md": "---\nname: sewing\ndescription: Sews\n---\n",
  "secrets/SKILL.md": secret,
  "wrong/SKILL.md": "---\nname: another\ndescription: Stands elsewhere\n---\n",
  "日本語/SKILL.md": "---\nname: 日本語\ndescription: No name that the format allows\n---\n",
  "loose.md": "belongs to no skill\n",
};
const served = ["skill://printing/SKILL.md", "skill://team/binding/SKILL.md", "skill://team/binding/sewing/SKILL.md"];
const digestOf = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;

async function skillsOf(line: Line): Promise<readonly JsonRecord[]> {
  return (await pagesOf(line, "skills/list")).flatMap((page) => recordsIn(page, "skills"));
}

describe.concurrent.for(modernLegs)("skills over $transport", (leg) => {
  it("are declared, with directories (SKL-1, SKL-3)", async () => {
    await using pressmark = await openTestServer({ skills });
    const line = await pressmark.line(leg);
    expect(line.opened["capabilities"]).toMatchObject({
      resources: {},
      extensions: { "io.modelcontextprotocol/skills": { directoryRead: true } },
    });
  });

  it("are those that keep to the format, each at a path that ends in its name (SKL-2, SKL-4, SKL-5)", async () => {
    await using pressmark = await openTestServer({ skills });
    const line = await pressmark.line(leg);
    const found = await skillsOf(line);
    expect(found.map(({ uri }) => uri)).toEqual(served);
    for (const { uri, frontmatter } of found)
      expect(String(uri).split("/").at(-2)).toBe(isRecord(frontmatter) && frontmatter["name"]);
  });

  it("have their whole front matter, and are listed by it (SKL-6, SKL-7)", async () => {
    await using pressmark = await openTestServer({ skills });
    const line = await pressmark.line(leg);
    const [first] = await skillsOf(line);
    const description = "Prints a page. 印刷する。";
    expect(first?.["frontmatter"]).toEqual({
      name: "printing",
      description,
      license: "MIT",
      metadata: { version: "1.0" },
      "future-field": [1, "two"],
    });
    const listed = (await pagesOf(line, "resources/list")).flatMap((page) => recordsIn(page, "resources"));
    expect(listed.find(({ uri }) => uri === served[0])).toMatchObject({
      name: "printing",
      description,
      mimeType: "text/markdown",
    });
  });

  it("name every file once, with the size and digest of what is read there (SKL-8, SKL-9)", async () => {
    await using pressmark = await openTestServer({ skills });
    const line = await pressmark.line(leg);
    const [first, binding] = await skillsOf(line);
    if (!first || !binding) throw new Error("there are no skills");
    expect(first["resources"]).toEqual([
      { uri: served[0], digest: digestOf(printing), size: Buffer.byteLength(printing) },
      { uri: "skill://printing/plates/first.txt", digest: digestOf("The first plate.\n"), size: 17 },
      {
        uri: "skill://printing/plates/%E6%97%A5%E6%9C%AC%20&%20100%25.md",
        digest: digestOf("# 版\n"),
        size: 6,
      },
    ]);
    expect(urisIn(binding)).toEqual([served[1], served[2]]);
    for (const skill of [first, binding])
      for (const { uri, digest } of recordsIn(skill, "resources"))
        expect(digestOf(await textAt(line, String(uri)))).toBe(digest);
  });

  it("that are too large are left out (SKL-10)", async () => {
    const many = Object.fromEntries(Array.from({ length: 512 }, (_, index) => [`printing/${index}.txt`, ""]));
    await using pressmark = await openTestServer({ skills: { ...skills, ...many } });
    const line = await pressmark.line(leg);
    expect((await skillsOf(line)).map(({ uri }) => uri)).toEqual(served.slice(1));
    expect((await line.error("resources/read", { uri: "skill://printing/SKILL.md" })).code).toBe(-32602);
  });

  it("come in pages that are complete and say how long they stay fresh (SKL-11)", async () => {
    await using pressmark = await openTestServer({ skills, pageSize: 1 });
    const line = await pressmark.line(leg);
    const pages = await pagesOf(line, "skills/list");
    expect(pages.length).toBeGreaterThan(1);
    for (const page of pages) expect(page).toMatchObject({ resultType: "complete", ttlMs: 0, cacheScope: "private" });
    expect(pages.flatMap((page) => urisIn(page, "skills"))).toEqual(served);
    const cursor = String(pages[0]?.["nextCursor"]);
    for (const [method, wrong] of [
      ["skills/list", "never given"],
      ["resources/list", cursor],
    ] as const)
      expect((await line.error(method, { cursor: wrong })).code).toBe(-32602);
  });

  it("are got one by one, as they are listed (SKL-12)", async () => {
    await using pressmark = await openTestServer({ skills });
    const line = await pressmark.line(leg);
    for (const skill of await skillsOf(line)) {
      const got = await line.result("skills/get", { uri: String(skill["uri"]) });
      expect(got).toMatchObject({ resultType: "complete", skill, ttlMs: 0, cacheScope: "private" });
      expect(got).not.toHaveProperty("nextCursor");
    }
  });

  it("are nowhere else: what is none, is not right, or is hidden is answered alike (SKL-13)", async () => {
    await using pressmark = await openTestServer({ skills });
    const line = await pressmark.line(leg);
    for (const uri of [
      "skill://printing",
      "skill://printing/plates/first.txt",
      "skill://nowhere/SKILL.md",
      "skill://wrong/SKILL.md",
      "skill://another/SKILL.md",
      "skill://secrets/SKILL.md",
      "skill://printing/SKILL.md?x=y",
      "memory://house/SKILL.md",
    ])
      expect(await line.error("skills/get", { uri })).toMatchObject({ code: -32602, data: { uri } });
    for (const params of [{}, { uri: 5 }, { uri: "no URI" }])
      expect((await line.error("skills/get", params as JsonRecord)).code).toBe(-32602);
    const owner = await pressmark.line(leg, "owner");
    expect((await skillsOf(owner)).map(({ uri }) => uri)).toContain("skill://secrets/SKILL.md");
  });

  it("have directories whose children are listed (SKL-14)", async () => {
    await using pressmark = await openTestServer({ skills });
    const line = await pressmark.line(leg);
    const childrenOf = async (uri: string) =>
      recordsIn(await line.result("resources/directory/read", { uri }), "resources");
    expect((await childrenOf("skill://")).map(({ uri }) => uri)).toEqual(["skill://printing", "skill://team"]);
    expect(await childrenOf("skill://printing")).toMatchObject([
      { uri: served[0], name: "printing", mimeType: "text/markdown" },
      { uri: "skill://printing/plates", name: "plates", mimeType: "inode/directory" },
    ]);
    expect((await childrenOf("skill://team")).map(({ uri }) => uri)).toEqual(["skill://team/binding"]);
    expect(await childrenOf("skill://printing/plates")).toHaveLength(2);
  });

  it("have no directories where there are none, and may be none at all (SKL-15)", async () => {
    await using pressmark = await openTestServer({ skills });
    const line = await pressmark.line(leg);
    for (const uri of [...served, "skill://printing/nowhere", "skill://printing/", "skill://wrong", "skill://secrets"])
      expect(await line.error("resources/directory/read", { uri })).toMatchObject({ code: -32602, data: { uri } });
    await using none = await openTestServer({ skills: {} });
    const other = await none.line(leg);
    expect(await other.result("resources/directory/read", { uri: "skill://" })).toMatchObject({ resources: [] });
    expect(await other.result("skills/list")).toMatchObject({ skills: [] });
  });

  it("that come, go or are called anew change the list, and those that are half-written stay as they were (SKL-17)", async () => {
    await using pressmark = await openTestServer({ skills });
    const line = await pressmark.line(leg);
    const at = (path: string) => join(pressmark.skillsFolder, path);
    const ear = await line.hear({ list: true });
    await writeFile(at("wrong/SKILL.md"), "---\nname: wrong\ndescription: Is right\n---\n");
    expect(await ear.next()).toBe("list-changed");
    expect((await skillsOf(line)).map(({ uri }) => uri)).toContain("skill://wrong/SKILL.md");

    await writeFile(at("wrong/SKILL.md"), "---\nname: wr");
    const { skill } = await line.result("skills/get", { uri: "skill://wrong/SKILL.md" });
    expect(skill).toMatchObject({ frontmatter: { description: "Is right" } });

    await writeFile(at("wrong/SKILL.md"), "---\nname: wrong\ndescription: Is better\n---\n");
    expect(await ear.next()).toBe("list-changed");
    await rm(at("wrong"), { recursive: true });
    expect(await ear.next()).toBe("list-changed");
    expect((await line.error("skills/get", { uri: "skill://wrong/SKILL.md" })).code).toBe(-32602);
  });
});

describe.for(legacyLegs)("skills over $transport in $revision", (leg) => {
  it("are resources like any other, without methods of their own (MOD-16)", async () => {
    await using pressmark = await openTestServer({ skills });
    const line = await pressmark.line(leg);
    expect((await line.error("skills/list")).code).toBe(-32601);
    expect(await textAt(line, "skill://printing/SKILL.md")).toBe(printing);
  });
});
