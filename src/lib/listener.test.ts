import { describe, expect, it } from "vitest";
import { createListener, endListener, heardBy, tell } from "./listener.ts";

describe("a listener", () => {
  it("hears everything in order, also what came before it asked", async () => {
    const listener = createListener<number>();
    const heard = heardBy(listener, () => undefined);
    tell(listener, [1, 2], 10, 0);
    expect(await heard.next()).toEqual({ done: false, value: 1 });
    expect(await heard.next()).toEqual({ done: false, value: 2 });
    const next = heard.next();
    tell(listener, [3], 10, 0);
    expect(await next).toEqual({ done: false, value: 3 });
  });

  it("who is so far behind that more than the most would wait is told one thing instead", async () => {
    const listener = createListener<number>();
    tell(listener, [1, 2], 2, 0);
    tell(listener, [3], 2, 0);
    expect(listener.queue).toEqual([0]);
  });

  it("drops what still waits when it ends, throws what it was ended with, and leaves in any case", async () => {
    const listener = createListener<number>();
    let left = 0;
    const heard = heardBy(listener, () => (left += 1));
    const next = heard.next();
    tell(listener, [1], 2, 0);
    endListener(listener, new Error("gone"));
    endListener(listener);
    await expect(next).rejects.toThrow("gone");
    await listener.ended.promise;
    expect(left).toBe(1);
  });
});
