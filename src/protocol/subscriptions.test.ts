import { expect, it, onTestFinished } from "vitest";
import { openPolicy } from "../access/policy.ts";
import { unavailable } from "../errors.ts";
import type { Resources } from "../resources.ts";
import { createResources } from "../router/create-resources.ts";
import { createMemory } from "../sources/memory.ts";
import { createClock } from "../testing/clock.ts";
import { createProtocol } from "./create-protocol.ts";
import { createWatchQuota, type WatchQuotaOptions } from "./watch-quota.ts";

const [a, b, c] = ["m://a", "m://b", "m://c"];
const saved = { revision: "2025-11-25", client: {}, capabilities: {}, subscriptions: [], requestSecret: "secret" };

/** A session that another instance began, with a clock that stands still. */
function open({ quota, own }: { quota?: WatchQuotaOptions; own?: (whole: Resources) => Partial<Resources> } = {}) {
  const clock = createClock();
  const { runtime } = clock;
  const memory = createMemory({ a: "one", b: "one", c: "one" });
  const resources = createResources({
    mounts: [{ name: "m", base: "m://", source: memory.source }],
    policy: openPolicy,
    runtime,
    cursorKey: new Uint8Array(32),
  });
  const protocol = createProtocol({
    resources: { ...resources, ...own?.(resources) },
    server: { name: "test", version: "1" },
    watchQuota: createWatchQuota({ ...quota, now: runtime.monotonicMs }),
    wait: runtime.wait,
  });
  const told: string[] = [];
  const stop = new AbortController();
  const peer = {
    caller: { id: "me" },
    signal: stop.signal,
    send: (wire: readonly unknown[]) => {
      const { method, params } = JSON.parse(wire.join("")) as { method: string; params?: { uri?: string } };
      told.push(params?.uri ?? method);
    },
  };
  onTestFinished(() => stop.abort());
  return { session: protocol.session(peer, { modern: false, saved }), told, clock, memory, stop };
}

it("begins the subscriptions of a session from another instance as fast as the quota permits, and announces the late ones", async () => {
  const { session, told, clock, memory } = open({ quota: { burst: 2, perSecond: 1, maxWaitMs: 0 } });
  await session.resume([a, b, c], false);
  expect([told.splice(0), session.subscriptions]).toEqual([[a, b, c], 3]);
  await clock.advance(999);
  expect(told).toEqual([]);
  await clock.advance(1);
  expect(told.splice(0)).toEqual([c]);
  memory.set("c", "two");
  await clock.advance(30);
  expect(told).toContain(c);
});

it("tries a subscription again after 1 s, 2 s, 4 s, at last every 30 s, until the session ends", async () => {
  const at: number[] = [];
  const { session, clock, stop, told } = open({
    own: ({ watch }) => ({
      async watch(filter, call) {
        if (filter.list) return watch(filter, call);
        at.push(clock.runtime.monotonicMs());
        throw unavailable("the source is away");
      },
    }),
  });
  await session.resume([a], true);
  await session.resume([a], false);
  expect(told.filter((uri) => uri === a)).toEqual([a]);
  for (let seconds = 0; seconds < 121; seconds += 1) await clock.advance(1000);
  expect(at.map((ms) => (ms - at[0]!) / 1000)).toEqual([0, 1, 3, 7, 15, 31, 61, 91, 121]);
  stop.abort();
  for (let seconds = 0; seconds < 31; seconds += 1) await clock.advance(1000);
  expect([at.length, clock.waiting, session.subscriptions]).toEqual([9, 0, 0]);
});

it("watches a missing resource when it appears in the list, and not after its subscription has ended", async () => {
  const { session, told, clock, memory } = open();
  memory.delete("a");
  memory.delete("b");
  await session.resume([a, b, c], false);
  told.length = 0;
  expect(session.subscriptions).toBe(3);
  await session.resume([a, c], false);
  expect([told, session.subscriptions]).toEqual([[], 2]);
  memory.set("a", "again");
  memory.set("b", "again");
  await clock.advance(30);
  expect(told.splice(0).sort()).toEqual([a, "notifications/resources/list_changed"].sort());
  memory.set("a", "more");
  memory.set("b", "more");
  await clock.advance(1000);
  expect(told).toEqual([a]);
});

it("begins nothing when what is stored arrives after the end of the session", async () => {
  const { session, clock, stop } = open();
  stop.abort();
  await session.resume([a], true);
  await clock.settle();
  expect([session.subscriptions, clock.waiting]).toEqual([0, 0]);
});
