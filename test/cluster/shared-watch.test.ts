/** A watch that three instances share, with real engines. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { lastingFailure, unsupported } from "../../src/errors.ts";
import type { Source } from "../../src/source.ts";
import type { HeldLease, Leases } from "../../src/state/leases.ts";
import { testRuntime } from "../../src/state/test-buses.ts";
import { failureOf } from "../../src/state/test-database.ts";
import { shareWatch, type ShareWatchOptions } from "../../src/watch/shared-watch.ts";
import { natsMissing } from "../live/nats.ts";
import { missingFor } from "../live/postgres.ts";
import {
  type Backend,
  createBackend,
  type Engines,
  type Instance,
  listen,
  openInstance,
  startEngines,
} from "./instances.ts";

const kinds = [
  { name: "PostgreSQL", missing: missingFor("npm"), withNats: false },
  { name: "NATS", missing: missingFor("npm") ?? natsMissing(), withNats: true },
];
const slow = { timeout: 40_000, interval: 10 };

describe.each(kinds)("a watch that instances share through $name", ({ missing, withNats }) => {
  if (missing !== undefined) return it.skip(`is not tested: ${missing}`, () => undefined);
  let engines: Engines;
  let made = 0;
  let backend: Backend;
  const opened: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    engines = await startEngines(withNats);
  });
  afterAll(() => engines.close());
  beforeEach(() => {
    made += 1;
    backend = createBackend();
  });
  afterEach(async () => {
    for (const each of opened.splice(0).toReversed()) await each.close();
    expect(backend.watching).toBe(0);
  });

  async function open(options: Partial<ShareWatchOptions> = {}): Promise<Instance & { readonly source: Source }> {
    const instance = await openInstance(engines, `watch_${made}`);
    const { bus, leases } = instance;
    const runtime = testRuntime(instance.logged);
    const source = shareWatch(backend.source, { mount: "notes", bus, leases, runtime, ...options });
    opened.push(instance, { close: async () => source.close?.() });
    return { ...instance, source };
  }

  /** Changes are announced again and again until all have seen one: the watch may have been between two leaders. */
  async function untilAllSee(listeners: readonly { readonly seen: string[] }[], path: string): Promise<void> {
    await vi.waitFor(() => {
      backend.memory.set(path, String(Math.random()));
      for (const { seen } of listeners) expect(seen.join()).toContain(path);
    }, slow);
  }

  it("announces each change once and in order on all instances, and one of them watches", async () => {
    const instances = [await open(), await open(), await open()];
    const listeners = [];
    for (const { source } of instances) listeners.push(await listen(source));
    expect(backend.watching).toBe(1);
    const expected: string[] = [];
    for (let index = 0; index < 200; index += 1) {
      backend.memory.set(`new-${index}.txt`, "x");
      backend.memory.set("a.txt", String(index));
      expected.push(`appeared new-${index}.txt`, "changed a.txt");
    }
    backend.memory.delete("a.txt");
    expected.push("gone a.txt");
    for (const listener of listeners) {
      await listener.until("gone a.txt");
      expect(listener.seen).toEqual(expected);
    }
  });

  it("lets another instance watch when the leader closes, and announces that changes may be missed", async () => {
    const [first, second] = [await open(), await open()];
    await listen(first.source);
    const listener = await listen(second.source);
    await first.source.close?.();
    await listener.until("lost");
    expect(backend.watching).toBe(1);
    backend.memory.set("a.txt", "later");
    await listener.until("changed a.txt");
    expect(listener.seen).toEqual(["lost", "changed a.txt"]);
  });

  it("replaces a leader that is cut off, and tells its listeners when it is back", async () => {
    const [first, second, third] = [await open(), await open(), await open()];
    const cutOff = await listen(first.source);
    const others = [await listen(second.source), await listen(third.source)];
    for (const proxy of [first.leasesProxy, first.busProxy]) proxy.setClosed(true);
    backend.memory.set("a.txt", "unseen by others");
    for (const listener of others) await listener.until("lost");
    await untilAllSee(others, "b.txt");
    expect(cutOff.seen).toEqual([]);
    for (const proxy of [first.leasesProxy, first.busProxy]) proxy.setClosed(false);
    await untilAllSee([cutOff, ...others], "c.txt");
    // Either the bus repaired everything, and it saw "lost" of the new leader, or it reports a gap.
    expect(cutOff.seen).toContain("lost");
    await vi.waitFor(() => expect(backend.watching).toBe(1), slow);
  });

  it("drops late changes of a leader that does not know that it was replaced", async () => {
    const paused = await openInstance(engines, `watch_${made}`);
    const late = createBackend();
    const runtime = testRuntime();
    const source = shareWatch(late.source, {
      mount: "notes",
      bus: paused.bus,
      leases: noticesNothing(paused.leases),
      runtime,
    });
    opened.push(paused, { close: async () => source.close?.() });
    await listen(source);
    const other = await open();
    const listener = await listen(other.source);
    late.memory.set("a.txt", "while it led");
    await listener.until("changed a.txt");
    paused.leasesProxy.setClosed(true);
    await listener.until("lost");
    late.memory.set("late.txt", "after it was replaced");
    await vi.waitFor(() => expect(late.watching).toBe(0), slow);
    await untilAllSee([listener], "b.txt");
    expect(listener.seen.join()).not.toContain("late.txt");
    paused.leasesProxy.setClosed(false);
  });

  it("announces that changes may be missed when the leader could not publish", async () => {
    const [first, second] = [await open(), await open()];
    const listeners = [await listen(first.source), await listen(second.source)];
    first.busProxy.setClosed(true);
    backend.memory.set("a.txt", "while the bus is away");
    await vi.waitFor(() => expect(first.logged.join("\n")).toContain("changes cannot be published"), slow);
    first.busProxy.setClosed(false);
    for (const listener of listeners) await listener.until("lost");
    await untilAllSee(listeners, "b.txt");
  });

  it("resolves while the bus is away, and announces later that changes may be missed", async () => {
    const first = await open({ armMs: 200 });
    first.busProxy.setClosed(true);
    const listener = await listen(first.source);
    backend.memory.set("a.txt", "while the bus is away");
    first.busProxy.setClosed(false);
    await listener.until("lost");
    await untilAllSee([listener], "b.txt");
  });

  it("announces that changes may be missed for messages that it does not understand", async () => {
    const first = await open();
    const listener = await listen(first.source);
    const lease = (await first.leases.list()).find(({ name }) => name === "watch:notes");
    const bodies = [null, 1, { kind: "later" }, { kind: "changes" }, { kind: "changes", changes: [null] }];
    const changes = [{ kind: "changed" }, { kind: "later", path: "a.txt" }, "x"];
    const odd = [...bodies, ...changes.map((change) => ({ kind: "changes", changes: [change] }))];
    for (const [at, body] of odd.entries()) {
      await first.bus.publish({ topic: "mount:notes", body, fence: lease!.fence });
      await vi.waitFor(() => expect(listener.seen, JSON.stringify(body)).toEqual(Array(at + 1).fill("lost")), slow);
    }
    await first.bus.publish({ topic: "listeners:notes", body: null, fence: 0 });
    backend.memory.set("b.txt", "x");
    await listener.until("appeared b.txt");
    expect(listener.failure).toBeUndefined();
    expect(first.logged.join("\n")).not.toContain("a subscriber failed");
  });

  it("survives a restart of the database and of the bus", async () => {
    const [first, second] = [await open(), await open()];
    const listeners = [await listen(first.source), await listen(second.source)];
    await engines.postgres.stop("immediate");
    await engines.nats?.kill();
    backend.memory.set("a.txt", "while everything is away");
    await engines.postgres.start();
    await engines.nats?.start();
    await vi.waitFor(() => {
      for (const { seen } of listeners)
        expect(seen.some((change) => change === "lost" || change === "changed a.txt")).toBe(true);
    }, slow);
    await untilAllSee(listeners, "b.txt");
  });

  it("fails with the error of the source, and lets another instance try", async () => {
    const [first, second] = [await open({ armMs: 300 }), await open({ armMs: 300 })];
    const failing = await listen(first.source);
    const listener = await listen(second.source);
    backend.fail(lastingFailure("the backend is gone"));
    await vi.waitFor(() => expect(failing.failure).toMatchObject({ message: "the backend is gone" }), slow);
    await vi.waitFor(() => expect(listener.seen.includes("lost") || listener.failure !== undefined).toBe(true), slow);
    const again = await listen(first.source);
    await untilAllSee([again], "b.txt");
  });

  it("reports that the source cannot be watched", async () => {
    backend.failure = unsupported("turn on events");
    const { source } = await open();
    const error = await failureOf(listen(source));
    expect([error.kind, error.message]).toEqual(["unsupported", "turn on events"]);
  });

  it("keeps the leader while others listen, and ends it after them", async () => {
    const options = { presenceMs: 200 };
    const [first, second] = [await open(options), await open(options)];
    const leaving = await listen(first.source);
    const listener = await listen(second.source);
    backend.memory.set("a.txt", "both listen");
    await listener.until("changed a.txt");
    leaving.stop.abort();
    await untilAllSee([listener], "b.txt");
    expect(listener.seen).not.toContain("lost");
    const [lease] = await second.leases.list();
    expect(lease?.holder).toBe(first.id);
    listener.stop.abort();
    await vi.waitFor(() => expect(backend.watching).toBe(0), slow);
  });

  it("watches for one caller alone without the bus", async () => {
    const { source, bus } = await open();
    const stop = new AbortController();
    await source.watch?.({ caller: { id: "ann" }, signal: stop.signal });
    expect([backend.watching, bus.status.published]).toEqual([1, 0]);
    stop.abort();
  });

  it("leaves a source unchanged that watches per caller, follows addresses or cannot be watched", async () => {
    const { bus, leases } = await open();
    const options = { mount: "notes", bus, leases, runtime: testRuntime() };
    const { watch: _, ...still } = backend.source;
    const others: Source[] = [
      { ...backend.source, watchesPerCaller: true },
      { ...backend.source, follow: async () => undefined },
      still,
    ];
    for (const source of others) expect(shareWatch(source, options)).toBe(source);
  });
});

/** A leader that was paused does not notice that its lease is lost. */
function noticesNothing(leases: Leases): Leases {
  return {
    ...leases,
    async acquire(name, signal): Promise<HeldLease> {
      const lease = await leases.acquire(name, signal);
      return { name, fence: lease.fence, signal: new AbortController().signal, release: () => lease.release() };
    },
  };
}
