/** Reads, and what is said when there is nothing to read. */
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JsonRecord } from "../wire/json.ts";
import { missingCode, recordsIn, textAt, urisIn } from "./answers.ts";
import { broken, greeting, pair, sampleContents } from "./fixtures.ts";
import { base, legs, openTestServer } from "./harness.ts";

describe.for(legs)("reading over $transport in $revision", (leg) => {
  it("gives a text as text, without a list before (S3-6, S3-7, S3-14)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    const { contents } = await line.result("resources/read", { uri: `${base}notes.txt` });
    expect(contents).toEqual([{ uri: `${base}notes.txt`, mimeType: "text/plain", text: "Buy ink.\n" }]);
    expect(await textAt(line, `${base}empty.txt`)).toBe("");
    expect(await textAt(line, `${base}%E6%97%A5%E6%9C%AC%E8%AA%9E.md`)).toBe("こんにちは\u2028\n");
  });

  it("gives bytes as base64 (S3-6, S3-7, LEG-9, MOD-27)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    const { contents } = await line.result("resources/read", { uri: `${base}blob.bin` });
    expect(contents).toEqual([{ uri: `${base}blob.bin`, mimeType: "application/octet-stream", blob: "AAH+/w==" }]);
  });

  it("gives files as what they are (S3-7, LEG-9, MOD-27)", async () => {
    await using pressmark = await openTestServer({ folder: true });
    await writeFile(join(pressmark.folder, "page.md"), "# Ink\n");
    await writeFile(join(pressmark.folder, "dot.png"), Buffer.from("89504e470d0a1a0a00ff", "hex"));
    const line = await pressmark.line(leg);
    const page = recordsIn(await line.result("resources/read", { uri: `${pressmark.folderBase}page.md` }), "contents");
    expect(page).toEqual([{ uri: `${pressmark.folderBase}page.md`, mimeType: "text/markdown", text: "# Ink\n" }]);
    const dot = recordsIn(await line.result("resources/read", { uri: `${pressmark.folderBase}dot.png` }), "contents");
    expect(dot).toEqual([{ uri: `${pressmark.folderBase}dot.png`, mimeType: "image/png", blob: "iVBORw0KGgoA/w==" }]);
  });

  it("gives an expansion of a template, in the caller's own spelling (S3-14)", async () => {
    await using pressmark = await openTestServer({ sampleContents, templates: [greeting] });
    const line = await pressmark.line(leg);
    expect(await textAt(line, `${base}greetings/ada`)).toBe("Hello, ada!\n");
    const [content] = recordsIn(await line.result("resources/read", { uri: `${base}%6eotes.txt` }), "contents");
    expect(content).toEqual({ uri: `${base}%6eotes.txt`, mimeType: "text/plain", text: "Buy ink.\n" });
  });

  it("may give several contents, each with its own URI (S3-6, MOD-23)", async () => {
    await using pressmark = await openTestServer({ sampleContents, templates: [pair] });
    const line = await pressmark.line(leg);
    const { contents } = await line.result("resources/read", { uri: `${base}pairs/x` });
    expect(contents).toEqual([
      { uri: `${base}pairs/x`, mimeType: "text/plain", text: "left\n" },
      { uri: `${base}blob.bin`, mimeType: "image/png", blob: "AQID" },
    ]);
  });

  it("says that what is not there is not there, and never gives empty contents (S3-12, LEG-6, MOD-25, MOD-26)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    for (const uri of [`${base}nothing.txt`, `${base}notes.txt/below`, "memory://elsewhere/a", "nobody://here"]) {
      const error = await line.error("resources/read", { uri });
      expect(error).toMatchObject({ code: missingCode(line), data: { uri } });
    }
  });

  it("says so of what was listed and is gone (S3-5)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    expect(urisIn(await line.result("resources/list"))).toContain(`${base}other.txt`);
    pressmark.memory.delete("other.txt");
    expect((await line.error("resources/read", { uri: `${base}other.txt` })).code).toBe(missingCode(line));
  });

  it("says of a fault only that there was one (S3-12, LEG-6, MOD-25)", async () => {
    await using pressmark = await openTestServer({ sampleContents, templates: [broken] });
    const line = await pressmark.line(leg);
    const error = await line.error("resources/read", { uri: `${base}broken/x` });
    expect(error.code).toBe(-32603);
    expect(JSON.stringify(error)).not.toMatch(/hunter2|private|store\.db/);
    expect(pressmark.log.join("")).toContain("hunter2");
  });

  it("takes only a URI for a URI (LEG-7, MOD-27)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    for (const params of [{}, { uri: 7 }, { uri: null }, { uri: ["a"] }, { uri: {} }])
      expect((await line.error("resources/read", params as JsonRecord)).code, JSON.stringify(params)).toBe(-32602);
    const odd = [
      "",
      " ",
      "notes.txt",
      "//house/notes.txt",
      `${base}%zz`,
      `${base}%00`,
      `${base}notes.txt#part`,
      `${base}a\nb`,
    ];
    for (const uri of odd) {
      const { code } = await line.error("resources/read", { uri });
      expect([-32602, missingCode(line)], JSON.stringify(uri)).toContain(code);
    }
    // Where the URI stands in a header too, a header's length is the limit.
    const length = line.modern && leg.transport === "http" ? 8_000 : 200_000;
    const { code } = await line.error("resources/read", { uri: `${base}${"a".repeat(length)}` });
    expect([-32602, missingCode(line)]).toContain(code);
    expect(await textAt(line, `${base}notes.txt`)).toBe("Buy ink.\n");
  });

  it("never leaves the folder that is served (LEG-7, MOD-27)", async () => {
    await using pressmark = await openTestServer({ folder: true });
    const outside = join(pressmark.folder, "..", `${pressmark.folder.split("/").at(-1)}-outside.txt`);
    await writeFile(outside, "outside\n");
    await mkdir(join(pressmark.folder, "inner"));
    await writeFile(join(pressmark.folder, "inner", "file.txt"), "inside\n");
    await symlink(outside, join(pressmark.folder, "way-out.txt"));
    await symlink("..", join(pressmark.folder, "up"));
    const line = await pressmark.line(leg);
    const name = outside.split("/").at(-1) ?? "";
    const climbing = [
      `../${name}`,
      `..%2f${name}`,
      `%2e%2e/${name}`,
      `inner/../../${name}`,
      `inner/%2e%2e/%2e%2e/${name}`,
      `..\\${name}`,
      `..%5c${name}`,
      `/${outside}`,
      `inner%2ffile.txt`,
      "way-out.txt",
      `up/${name}`,
      "inner/file.txt%00.png",
    ];
    for (const path of climbing) {
      const uri = pressmark.folderBase + path;
      const error = await line.error("resources/read", { uri });
      expect(error, path).toMatchObject({ code: missingCode(line), data: { uri } });
    }
    expect(await textAt(line, `${pressmark.folderBase}inner/file.txt`)).toBe("inside\n");
    expect(urisIn(await line.result("resources/list"))).toEqual([`${pressmark.folderBase}inner/file.txt`]);
  });
});
