import { setImmediate } from "node:timers/promises";
import { queryObjects } from "node:v8";
import { expect, it } from "vitest";
import type { Attached } from "../backends/postgres/pool.ts";
import { keepListening } from "./keep-listening.ts";

it("keeps nothing of each check of a connection that lasts", async () => {
  const stop = new AbortController();
  const counts: number[] = [];
  let checks = 0;
  const client = {
    async query() {
      checks += 1;
      if (checks % 1000 === 0) counts.push(queryObjects(Promise, { format: "count" }));
      if (checks === 3000) stop.abort();
    },
  } as unknown as Attached["client"];
  await keepListening({
    attach: async () => ({
      client,
      over: new Promise(() => undefined),
      listen: async () => undefined,
      end: async () => undefined,
      abandon: () => undefined,
    }),
    channel: "a",
    handlers: { notified: () => undefined, connected: () => undefined, lost: () => undefined },
    runtime: {
      monotonicMs: () => 0,
      wait: (_ms, signal) => setImmediate(undefined, { signal }),
      log: () => undefined,
    },
    signal: stop.signal,
  });
  expect(counts).toHaveLength(3);
  expect(counts[2]! - counts[0]!).toBeLessThan(500);
});
