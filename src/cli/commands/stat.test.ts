import { utimesSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createStand, type Stand } from "../test-command.ts";

let stand: Stand;

beforeAll(() => {
  stand = createStand();
  stand.write("README.md", "# Read me\n\nおわり");
  stand.write("sjis.txt", Buffer.from([0x82, 0xb1, 0x82, 0xf1, 0x82, 0xc9, 0x82, 0xbf, 0x82, 0xcd, 0x81, 0x41, 0x0a]));
  stand.write("large.bin", Buffer.alloc(12_345));
  stand.write("docs/a.txt");
  stand.write("docs/deep/b.txt");
  utimesSync(join(stand.folder, "README.md"), 1e9, 1e9);
});

afterAll(() => stand.remove());

const two = (part: number) => String(part).padStart(2, "0");

describe("stat", () => {
  it("shows the metadata of a resource", async () => {
    const at = new Date(1e12);
    expect(await stand.run(["stat", "README.md"])).toMatchObject({
      code: 0,
      err: "",
      out: `URI      ${stand.base}README.md
name     README.md
type     text/markdown
size     20 bytes
changed  2001-09-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}
`,
    });
    expect((await stand.run(["stat", `${stand.base}large.bin`])).out).toMatch(/^size +12,345 bytes \(12\.3 kB\)$/m);
  });

  it("counts the children of a directory", async () => {
    expect((await stand.run(["stat", "docs"])).out).toMatch(/^children +2, 1 directory among them$/m);
    expect(JSON.parse((await stand.run(["stat", "docs", "--json"])).out)).toMatchObject({
      uri: `${stand.base}docs`,
      mimeType: "inode/directory",
      children: { count: 2, directories: 1 },
    });
  });

  it("shows the encoding of a text with --read", async () => {
    expect((await stand.run(["stat", "sjis.txt"])).out).not.toContain("encoding");
    expect((await stand.run(["stat", "sjis.txt", "--read"])).out).toMatch(/^encoding +shift_jis\nlines +1$/m);
    expect((await stand.run(["stat", "README.md", "--read"])).out).toMatch(/^encoding +utf-8\nlines +3$/m);
    expect((await stand.run(["stat", "large.bin", "--read"])).out).toMatch(/^holds +12,345 bytes/m);
    expect(JSON.parse((await stand.run(["stat", "sjis.txt", "--read", "--json"])).out)).toMatchObject({
      size: 13,
      contents: [{ mimeType: "text/plain", encoding: "shift_jis", lines: 1 }],
    });
  });

  it("fails for what is not there", async () => {
    expect(await stand.run(["stat", "nothing"])).toMatchObject({ code: 3, out: "" });
  });
});
