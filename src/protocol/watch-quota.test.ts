import { describe, expect, it } from "vitest";
import type { ResourceError } from "../errors.ts";
import { createWatchQuota } from "./watch-quota.ts";

const one = {};
const other = {};
const { signal } = new AbortController();

describe("the quota on watches", () => {
  it("lets ten thousand listens of one client begin at once", () => {
    const quota = createWatchQuota({ now: () => 0 });
    for (let i = 0; i < 10_000; i++) expect(quota.take(one, signal)).toBeUndefined();
  });

  it("slows a flood of 76,000 in nine minutes, and tells when to retry", () => {
    let time = 0;
    const quota = createWatchQuota({ now: () => time, maxWaitMs: 0 });
    let refused = 0;
    let said: ResourceError | undefined;
    for (let i = 0; i < 76_000; i++) {
      time += 540_000 / 76_000;
      try {
        void quota.take(one, signal);
      } catch (error) {
        refused += 1;
        said = error as ResourceError;
      }
    }
    expect(refused).toBeGreaterThan(20_000);
    expect(said?.kind).toBe("busy");
    expect(said?.details?.["retryAfterMs"]).toBeGreaterThan(0);
  });

  it("holds a request back for a moment before it is refused, and takes it off when it is cancelled", async () => {
    const quota = createWatchQuota({ burst: 1, perSecond: 200, maxWaitMs: 1000, now: () => 0 });
    expect(quota.take(one, signal)).toBeUndefined();
    await quota.take(one, signal);
    const cancelled = new AbortController();
    const waiting = quota.take(one, cancelled.signal);
    cancelled.abort();
    await expect(waiting).rejects.toMatchObject({ kind: "cancelled" });
  });

  it("does not let one client's flood touch another", () => {
    const quota = createWatchQuota({ burst: 2, maxWaitMs: 0, now: () => 0 });
    void quota.take(one, signal);
    void quota.take(one, signal);
    expect(() => quota.take(one, signal)).toThrow("too many watches started");
    expect(quota.take(other, signal)).toBeUndefined();
  });

  it("leaves every client a few when all together hold too many", () => {
    const quota = createWatchQuota({ maxHeld: 20_000, alwaysHeld: 100, now: () => 0 });
    void quota.take(one, signal, 20_000);
    expect(() => quota.take(other, signal, 101)).toThrow(
      expect.objectContaining({ kind: "busy", details: { reason: "busy", retryAfterMs: 30_000 } }),
    );
    expect(quota.take(other, signal, 60)).toBeUndefined();
    expect(quota.take(other, signal, 40)).toBeUndefined();
    expect(() => quota.take(other, signal)).toThrow("too many resources are watched on this server");
    expect(quota.take({}, signal, 100)).toBeUndefined();
  });

  it("counts what was given back, or cancelled while it waited, as free", async () => {
    const quota = createWatchQuota({ burst: 10, perSecond: 1000, maxHeld: 10, alwaysHeld: 0, now: () => 0 });
    void quota.take(one, signal, 10);
    expect(() => quota.take(other, signal)).toThrow("too many resources are watched on this server");
    quota.release(one, 10);
    const cancelled = new AbortController();
    const waiting = quota.take(one, cancelled.signal, 10);
    expect(() => quota.take(other, signal)).toThrow("too many resources are watched on this server");
    cancelled.abort();
    await expect(waiting).rejects.toMatchObject({ kind: "cancelled" });
    expect(quota.take(other, signal, 10)).toBeUndefined();
  });
});
