import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { unlessAborted } from "./unless-aborted.ts";

describe("waiting unless aborted", () => {
  it("settles as the work does, and leaves no listener", async () => {
    const { signal } = new AbortController();
    expect(await unlessAborted(Promise.resolve(1), signal)).toBe(1);
    expect(await unlessAborted(2, signal)).toBe(2);
    await expect(unlessAborted(Promise.reject(new Error("broken")), signal)).rejects.toThrow("broken");
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("rejects with the reason, before or while it waits", async () => {
    const stop = new AbortController();
    const waiting = unlessAborted(new Promise(() => undefined), stop.signal);
    stop.abort(new Error("left"));
    await expect(waiting).rejects.toThrow("left");
    await expect(unlessAborted(new Promise(() => undefined), stop.signal)).rejects.toThrow("left");
  });

  it("rejects with the given error, made from the reason", async () => {
    const failure = unlessAborted(
      Promise.resolve(),
      AbortSignal.abort("left"),
      (cause) => new Error("cancelled", { cause }),
    );
    await expect(failure).rejects.toMatchObject({ message: "cancelled", cause: "left" });
  });
});
