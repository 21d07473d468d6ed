import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { digestOf } from "./digest.ts";

it("a digest is that of the bytes; a text counts as its UTF-8", async () => {
  for (const text of ["", "a", "設定\n", "👩‍💻"]) {
    const bytes = new TextEncoder().encode(text);
    const expected = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    expect([await digestOf(text), await digestOf(bytes)]).toEqual([expected, expected]);
  }
  const whole = Uint8Array.of(1, 2, 3, 4);
  expect(await digestOf(whole.subarray(1, 3))).toBe(await digestOf(Uint8Array.of(2, 3)));
});
