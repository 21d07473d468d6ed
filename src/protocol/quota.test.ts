import { describe, expect, it } from "vitest";
import type { ResourceError } from "../errors.ts";
import { createQuota } from "./quota.ts";

const alice = { id: "alice" };
const bob = { id: "bob" };
const { signal } = new AbortController();

describe("the quota on watches", () => {
  it("lets ten thousand listens of one caller begin at once", () => {
    const quota = createQuota({ now: () => 0 });
    for (let i = 0; i < 10_000; i++) expect(quota.take(alice, signal)).toBeUndefined();
  });

  it("slows a flood of 76,000 in nine minutes, and says when to come back", () => {
    let time = 0;
    const quota = createQuota({ now: () => time, maxWaitMs: 0 });
    let refused = 0;
    let said: ResourceError | undefined;
    for (let i = 0; i < 76_000; i++) {
      time += 540_000 / 76_000;
      try {
        void quota.take(alice, signal);
      } catch (error) {
        refused += 1;
        said = error as ResourceError;
      }
    }
    expect(refused).toBeGreaterThan(20_000);
    expect(said?.kind).toBe("busy");
    expect(said?.details?.["retryAfterMs"]).toBeGreaterThan(0);
  });

  it("holds a question back for a moment before it is refused, and takes it off when it is withdrawn", async () => {
    const quota = createQuota({ burst: 1, perSecond: 200, maxWaitMs: 1000, now: () => 0 });
    expect(quota.take(alice, signal)).toBeUndefined();
    await quota.take(alice, signal);
    const withdrawn = new AbortController();
    const waiting = quota.take(alice, withdrawn.signal);
    withdrawn.abort();
    await expect(waiting).rejects.toMatchObject({ kind: "cancelled" });
  });

  it("does not let one caller's flood touch another", () => {
    const quota = createQuota({ burst: 2, maxWaitMs: 0, now: () => 0 });
    void quota.take(alice, signal);
    void quota.take(alice, signal);
    expect(() => quota.take(alice, signal)).toThrow("too many watches begun");
    expect(quota.take(bob, signal)).toBeUndefined();
  });
});
