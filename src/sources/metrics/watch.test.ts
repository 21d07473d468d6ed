import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { SourceChange } from "../../source.ts";
import { createClock } from "../../testing/clock.ts";
import { collectChanges } from "../../testing/listen.ts";
import metrics, { createMetrics } from "../metrics.ts";
import { failing, startTestServer } from "./test-server.ts";

const caller = { id: "test" };
const server = await startTestServer();
afterAll(() => server.close());

const newest = (...seconds: string[]) => ({
  resultType: "vector",
  result: seconds.map((value, index) => ({ metric: { at: String(index) }, value: [0, value] })),
});
const result = (value: string, seconds: number) => ({
  resultType: "vector",
  result: [{ metric: {}, value: [seconds, value] }],
});
const firing = (state: string) => ({ labels: { alertname: "Down" }, state, value: "1" });

/** A source that polls only on request. */
function open() {
  let look = Promise.withResolvers<void>();
  const waits: number[] = [];
  const { runtime, advance } = createClock();
  const options = { ...metrics.options(z).parse({ url: server.url }), pollMs: 1000, timeoutMs: 5000 };
  const source = createMetrics(options, {
    ...runtime,
    wait(ms, signal) {
      if (ms === 10_000) return runtime.wait(ms, signal);
      waits.push(ms);
      look = Promise.withResolvers();
      signal.addEventListener("abort", () => look.reject(signal.reason), { once: true });
      return look.promise;
    },
  });
  const stop = new AbortController();
  const call = { caller, signal: stop.signal };
  return {
    source,
    call,
    stop: () => stop.abort(),
    advance,
    waits,
    async watch() {
      const heard = collectChanges<SourceChange>(await source.watch!(call));
      return {
        ...heard,
        /** Resolves when it has polled, and waits again. */
        async look(): Promise<SourceChange[]> {
          const [reported, waited] = [heard.heard.length, waits.length];
          look.resolve();
          while (waits.length === waited) await new Promise(setImmediate);
          return heard.heard.slice(reported);
        },
      };
    },
  };
}

beforeEach(() => server.reset());

describe("a watch", () => {
  it("reports new samples of watched series, once for each poll, and nothing else", async () => {
    server.now = newest("100");
    const { source, call, stop, watch } = open();
    await source.follow!({ path: "series/up", query: { range: "1h" } }, call);
    await source.follow!({ path: "series/up", query: { range: "1d", format: "svg" } }, call);
    const { look, ended } = await watch();
    expect(await look()).toEqual([]);
    server.now = newest("115");
    expect(await look()).toEqual([{ kind: "changed", path: "series/up" }]);
    expect(await look()).toEqual([]);
    expect(server.asked.at(-1)!.params.get("query")).toBe(
      'label_replace(max(timestamp({__name__="up"})), "at", "0", "", "")',
    );
    stop();
    await ended;
  });

  it("requests the samples of many series together", async () => {
    server.answers.set("label/__name__/values", () => Array.from({ length: 45 }, (_, index) => `m${index}`));
    const { source, call, stop, watch } = open();
    for (let index = 0; index < 45; index += 1) await source.follow!({ path: `series/m${index}` }, call);
    const { look } = await watch();
    server.asked.length = 0;
    await look();
    expect(server.asked).toHaveLength(3);
    stop();
  });

  it("reports changed states of alerts, not changed values", async () => {
    server.alerts = [firing("pending")];
    server.targets = [{ labels: { job: "a" }, health: "up", lastScrape: "1" }];
    const { source, call, stop, watch } = open();
    for (const path of ["alerts", "targets"]) await source.follow!({ path }, call);
    const { look } = await watch();
    server.alerts = [{ ...firing("pending"), value: "2" }];
    server.targets = [{ labels: { job: "a" }, health: "up", lastScrape: "2" }];
    expect(await look()).toEqual([]);
    server.alerts = [firing("firing")];
    expect(await look()).toEqual([{ kind: "changed", path: "alerts" }]);
    server.alerts = [];
    server.targets = [{ labels: { job: "a" }, health: "down" }];
    expect(await look()).toEqual([
      { kind: "changed", path: "alerts" },
      { kind: "changed", path: "targets" },
    ]);
    stop();
  });

  it("reports a changed query result, and changed metrics", async () => {
    server.now = result("1", 100);
    const { source, call, stop, watch, advance } = open();
    await source.follow!({ path: "query", query: { promql: "sum(up)" } }, call);
    const { look } = await watch();
    server.now = result("1", 200);
    expect(await look()).toEqual([]);
    server.now = result("2", 300);
    expect(await look()).toEqual([{ kind: "changed", path: "query" }]);
    await source.follow!({ path: "series" }, call);
    server.answers.set("label/__name__/values", () => ["up", "new"]);
    await advance(10_000);
    expect(await look()).toEqual([{ kind: "changed", path: "series" }]);
    stop();
  });

  it("continues after a server was unavailable, polls less often meanwhile, and reports what is new", async () => {
    server.now = newest("100");
    const { source, call, stop, waits, watch } = open();
    await source.follow!({ path: "series/up" }, call);
    const { look } = await watch();
    server.answers.set("query", failing(503, "unavailable", "starting"));
    for (let count = 0; count < 8; count += 1) expect(await look()).toEqual([]);
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    server.answers.set("query", () => newest("100"));
    expect(await look()).toEqual([]);
    expect(waits.at(-1)).toBe(1000);
    server.answers.set("query", () => newest("130"));
    expect(await look()).toEqual([{ kind: "changed", path: "series/up" }]);
    stop();
  });

  it("started while the server was unavailable reports everything when it is back", async () => {
    server.answers.set("query", failing(503, "unavailable", "starting"));
    const { source, call, stop, watch } = open();
    await source.follow!({ path: "series/up" }, call);
    const { look } = await watch();
    expect(await look()).toEqual([]);
    server.answers.set("query", () => newest("100"));
    expect(await look()).toEqual([{ kind: "changed", path: "series/up" }]);
    stop();
  });

  it("polls nothing that is no longer watched", async () => {
    const { source, stop, watch } = open();
    const leaving = new AbortController();
    await source.follow!({ path: "alerts" }, { caller, signal: leaving.signal });
    const { look } = await watch();
    leaving.abort();
    server.asked.length = 0;
    await look();
    expect(server.asked).toEqual([]);
    stop();
  });

  it("does not wait longer than ten seconds for a hanging server", async () => {
    const { runtime, advance } = createClock();
    const requested = Promise.withResolvers<void>();
    server.answers.set("alerts", () => void requested.resolve());
    const options = { ...metrics.options(z).parse({ url: server.url }), timeoutMs: 300_000 };
    const source = createMetrics(options, runtime);
    const stop = new AbortController();
    const following = source.follow!({ path: "alerts" }, { caller, signal: stop.signal });
    await requested.promise;
    await advance(10_000);
    await following;
    stop.abort();
  });
});
