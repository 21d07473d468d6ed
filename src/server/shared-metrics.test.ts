import { expect, it } from "vitest";
import { sharedText } from "./shared-metrics.ts";

it("does not count the lease of a cache, which is free most of the time, as one without a leader", () => {
  const leases = ["cache:gdrive:1", "watch:docs"].map((name) => ({ name, holder: "b", fence: 1, isExpired: true }));
  const bus = { engine: "nats", isConnected: true, lag: 0, gaps: 0, published: 0, received: 0 } as const;
  expect(sharedText({ instance: "a", bus, leases, pool: { open: 1, waiting: 0, max: 5 } })).toContain(
    "\npressmark_leases_expired 1\n",
  );
});
