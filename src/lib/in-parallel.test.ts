import { describe, expect, it } from "vitest";
import { inParallel } from "./in-parallel.ts";

describe("work in parallel", () => {
  it("gives the results in order, and runs no more than allowed at once", async () => {
    let running = 0;
    let most = 0;
    const results = await inParallel([5, 1, 4, 2, 3], 2, async (item) => {
      most = Math.max(most, (running += 1));
      for (let turn = 0; turn < item; turn += 1) await Promise.resolve();
      running -= 1;
      return item * 10;
    });
    expect(results).toEqual([50, 10, 40, 20, 30]);
    expect(most).toBe(2);
  });

  it("begins nothing after a failure, and waits for what is running", async () => {
    const begun: number[] = [];
    const slow = Promise.withResolvers<void>();
    const work = inParallel([0, 1, 2, 3], 2, async (item) => {
      begun.push(item);
      if (item === 0) throw new Error("broken");
      await slow.promise;
    });
    let isOver = false;
    const over = work.catch((cause: Error) => {
      isOver = true;
      return cause.message;
    });
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    slow.resolve();
    expect(await over).toBe("broken");
    expect(begun).toEqual([0, 1]);
  });

  it("does nothing for no items", async () => {
    expect(await inParallel([], 4, async () => 1)).toEqual([]);
  });
});
