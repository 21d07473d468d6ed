import { describe, expect, it } from "vitest";
import { createEventListener, endEventListener, eventsOf, pushEvent } from "./event-listener.ts";

describe("a listener", () => {
  it("receives everything in order, also what came before it started", async () => {
    const listener = createEventListener<number>();
    const heard = eventsOf(listener, () => undefined);
    pushEvent(listener, [1, 2], 10, 0);
    expect(await heard.next()).toEqual({ done: false, value: 1 });
    expect(await heard.next()).toEqual({ done: false, value: 2 });
    const next = heard.next();
    pushEvent(listener, [3], 10, 0);
    expect(await next).toEqual({ done: false, value: 3 });
  });

  it("a consumer that is too far behind receives one replacement item", async () => {
    const listener = createEventListener<number>();
    pushEvent(listener, [1, 2], 2, 0);
    pushEvent(listener, [3], 2, 0);
    expect(listener.queue).toEqual([0]);
  });

  it("drops queued items when it ends, throws the failure, and always calls leave", async () => {
    const listener = createEventListener<number>();
    let left = 0;
    const heard = eventsOf(listener, () => (left += 1));
    const next = heard.next();
    pushEvent(listener, [1], 2, 0);
    endEventListener(listener, new Error("gone"));
    endEventListener(listener);
    await expect(next).rejects.toThrow("gone");
    await listener.ended.promise;
    expect(left).toBe(1);
  });
});
