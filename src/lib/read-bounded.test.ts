import { expect, it } from "vitest";
import { takeUpTo } from "./read-bounded.ts";

it("gives the whole body, and nothing where there is none", async () => {
  expect((await takeUpTo(3, new Response("abc").body))?.toString()).toBe("abc");
  expect((await takeUpTo(3, null))?.toString()).toBe("");
});

it("is undefined where there are more bytes, and what is left is not waited for", async () => {
  let isCancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(2)),
    cancel: () => void (isCancelled = true),
  });
  expect(await takeUpTo(3, endless)).toBeUndefined();
  expect(isCancelled).toBe(true);
});
