import { posix, win32 } from "node:path";
import { expect, it } from "vitest";
import { withSlashes } from "./with-slashes.ts";

it("writes a path of Windows with slashes, also of a share, and leaves those of other systems", () => {
  expect(withSlashes(String.raw`C:\Users\aki\資料\a.md`, win32.sep)).toBe("C:/Users/aki/資料/a.md");
  expect(withSlashes(String.raw`\\server\share\a.md`, win32.sep)).toBe("//server/share/a.md");
  expect(withSlashes(String.raw`/home/aki/a\b.md`, posix.sep)).toBe(String.raw`/home/aki/a\b.md`);
});
