import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { withDeadline } from "./with-deadline.ts";

const never = new AbortController().signal;
const long = 60_000;
const late = () => new Error("too late");
const endless = () => new Promise<never>(() => undefined);

describe("work with a deadline", () => {
  it("returns the same result as without, and leaves nothing behind", async () => {
    const { signal } = new AbortController();
    expect(await withDeadline(long, signal, late, async () => "done")).toBe("done");
    await expect(withDeadline(long, signal, late, () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("is abandoned at the deadline, and its signal aborted", async () => {
    let given: AbortSignal | undefined;
    const work = withDeadline(1, never, late, ({ signal }) => {
      given = signal;
      return endless();
    });
    await expect(work).rejects.toThrow("too late");
    expect(given?.reason).toMatchObject({ message: "too late" });
  });

  it("ends with the caller's signal, with its reason", async () => {
    const leaving = new AbortController();
    const work = withDeadline(long, leaving.signal, late, endless);
    leaving.abort(new Error("left"));
    await expect(work).rejects.toThrow("left");
  });

  it("is not started for an aborted signal", async () => {
    const begun: string[] = [];
    const work = withDeadline(long, AbortSignal.abort(new Error("left")), late, async () => begun.push("begun"));
    await expect(work).rejects.toThrow("left");
    expect(begun).toEqual([]);
  });

  it("restarts its time when it is extended, but not after its end", async () => {
    const waited = withDeadline(20, never, late, async ({ signal, extend }) => {
      for (let count = 0; count < 100 && !signal.aborted; count += 1) {
        extend();
        await new Promise(setImmediate);
      }
      return signal.aborted;
    });
    expect(await waited).toBe(false);
    const over = withDeadline(1, never, late, ({ signal, extend }) => {
      signal.addEventListener("abort", extend);
      return endless();
    });
    await expect(over).rejects.toThrow("too late");
  });
});
