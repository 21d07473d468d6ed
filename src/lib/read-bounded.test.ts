import { expect, it } from "vitest";
import { takeUpTo } from "./read-bounded.ts";

it("returns the whole body, or nothing if there is none", async () => {
  expect((await takeUpTo(3, new Response("abc").body))?.toString()).toBe("abc");
  expect((await takeUpTo(3, null))?.toString()).toBe("");
});

it("is undefined if there are more bytes, and the rest is not read", async () => {
  let isCancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(2)),
    cancel: () => void (isCancelled = true),
  });
  expect(await takeUpTo(3, endless)).toBeUndefined();
  expect(isCancelled).toBe(true);
});
