import { describe, expect, it } from "vitest";
import { mayBe, sniff } from "./sniff.ts";

const latin1 = (text: string) => Buffer.from(text, "latin1");

describe("sniff", () => {
  it.each([
    ["\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"],
    ["\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"],
    ["GIF89a\x01\0", "image/gif"],
    ["RIFF\x24\0\0\0WEBPVP8 ", "image/webp"],
    ["RIFF\x24\0\0\0WAVEfmt ", "audio/wav"],
    ["%PDF-1.7\n%\xe2\xe3\xcf\xd3", "application/pdf"],
    ["PK\x03\x04\x14\0", "application/zip"],
    ["\x1f\x8b\x08\0", "application/gzip"],
    ["\x7fELF\x02\x01\x01\0", "application/x-elf"],
    ["\0asm\x01\0\0\0", "application/wasm"],
    ["SQLite format 3\0", "application/vnd.sqlite3"],
    ["ID3\x03\0", "audio/mpeg"],
    ["\0\0\0\x18ftypmp42", "video/mp4"],
    ["\0\0\0\x18ftypavif", "image/avif"],
    ["\0\x01\0\0\0\x0a", "font/ttf"],
    ["wOF2\0\x01\0\0", "font/woff2"],
    [`${"\0".repeat(257)}ustar`, "application/x-tar"],
  ])("knows %j", (bytes, type) => {
    expect(sniff(latin1(bytes))).toBe(type);
  });

  it("returns nothing for bytes without a mark, or too few", () => {
    expect(sniff(latin1(""))).toBeUndefined();
    expect(sniff(latin1("\x89PN"))).toBeUndefined();
    expect(sniff(latin1("RIFF\x24\0\0\0????"))).toBeUndefined();
    expect(sniff(latin1("\x80\x81\x82"))).toBeUndefined();
  });
});

describe("mayBe", () => {
  it("lets the name decide between containers", () => {
    const docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    expect(mayBe("application/zip", docx)).toBe(true);
    expect(mayBe("image/png", "image/png")).toBe(true);
    expect(mayBe("image/png", "image/jpeg")).toBe(false);
    expect(mayBe("constructor", "image/jpeg")).toBe(false);
  });
});
