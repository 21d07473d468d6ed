import { expect, it } from "vitest";
import { createCoalescingQueue } from "../../src/lib/coalescing-queue.ts";
import { findGrowth } from "./cpu-growth.ts";

it("takes the items of a coalescing queue in linear time", async () => {
  expect(await findGrowth((count) => () => takeAll(count), 1_000_000)).toBeUndefined();
});

async function takeAll(count: number): Promise<void> {
  const queue = createCoalescingQueue<number>((item) => item);
  queue.pushAll(Array.from({ length: count }, (_, index) => index));
  for (let index = 0; index < count; index += 1) await queue.next();
}
