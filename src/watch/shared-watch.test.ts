import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { createPollingWatch } from "../backends/polling-watch.ts";
import { unavailable } from "../errors.ts";
import { stack } from "../layer.ts";
import { standardLayers } from "../layers/standard.ts";
import { wait } from "../lib/wait.ts";
import { serverCaller } from "../resources.ts";
import type { Source, SourceChange } from "../source.ts";
import { createMemory } from "../sources/memory.ts";
import type { Bus } from "../state/bus.ts";
import { createLocalLeases } from "../state/local-leases.ts";
import { createMemoryBus } from "../state/memory-bus.ts";
import { type Clock, createClock } from "../testing/clock.ts";
import { shareWatch } from "./shared-watch.ts";

/** Instances in this process, with one bus, one folder of leases and one clock. */
function createServer() {
  const clock = createClock();
  const bus = createMemoryBus(clock.runtime);
  const folder = mkdtempSync(join(tmpdir(), "pressmark-shared-watch-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  let count = 0;
  return {
    bus,
    clock,
    open(source: Source): Source {
      count += 1;
      const leases = createLocalLeases({ folder, instance: String(count), runtime: { wait }, pollMs: 5 });
      const shared = shareWatch(source, { mount: "notes", bus, leases, runtime: clock.runtime });
      onTestFinished(async () => {
        await shared.close?.();
        await leases.close();
      });
      return shared;
    },
  };
}

const pathOf = (change: SourceChange): string => ("path" in change ? change.path : change.kind);

/** Lets time pass until it holds: leases are acquired in real time. */
function until(clock: Clock, check: () => void): Promise<void> {
  return vi.waitFor(
    async () => {
      await clock.advance(500);
      check();
    },
    { timeout: 20_000, interval: 5 },
  );
}

async function listen(clock: Clock, source: Source, heard: (change: SourceChange) => void): Promise<void> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  let changes: AsyncIterable<SourceChange> | undefined;
  const begun = source.watch?.({ caller: serverCaller, signal: stop.signal }).then((watch) => (changes = watch));
  await until(clock, () => expect(changes).toBeDefined());
  await begun;
  void (async () => {
    for await (const change of changes!) heard(change);
  })().catch(() => undefined);
}

/** The leader, and an instance whose source writes down what it is told. */
async function openFollower(note: (changes: readonly SourceChange[], told: readonly string[]) => Promise<void>) {
  const { bus, clock, open } = createServer();
  const { close: _, ...own } = createMemory({ "a.txt": "first" }).source;
  const backend = createMemory({ "a.txt": "first" });
  await listen(clock, open(backend.source), () => undefined);
  const told: string[] = [];
  const source: Source = { ...own, noteChanges: (changes) => note(changes, told) };
  const follower = open(stack(source, { name: "notes" }, standardLayers(clock.runtime)));
  await listen(clock, follower, (change) => told.push(pathOf(change)));
  return { backend, bus: bus as Bus, clock, told };
}

it("tells the source of each instance what changed, through all layers, and only then the listeners", async () => {
  const order: string[] = [];
  const { backend, clock, told } = await openFollower(async (changes, before) => {
    await Promise.resolve();
    order.push(`${before.length} told, noted ${changes.map(pathOf).join()}`);
  });
  // What was published before it received anything is unknown to it.
  expect(order).toEqual(["0 told, noted lost"]);
  backend.set("b.txt", "new");
  await until(clock, () => expect(told).toEqual(["b.txt"]));
  backend.delete("b.txt");
  await until(clock, () => expect(told).toEqual(["b.txt", "b.txt"]));
  expect(order.slice(1)).toEqual(["0 told, noted b.txt", "1 told, noted b.txt"]);
});

it("tells the source that changes may have been missed whenever it tells the listeners", async () => {
  const noted: string[] = [];
  const { bus, clock, told } = await openFollower(async (changes) => void noted.push(...changes.map(pathOf)));
  await bus.publish({ topic: "mount:notes", body: { kind: "of a later version" }, fence: 1 });
  await until(clock, () => expect(told).toEqual(["lost"]));
  expect(noted).toEqual(["lost", "lost"]);
});

it("does not keep listeners waiting for a source that takes long, and tells them again when it is done", async () => {
  const done = Promise.withResolvers<void>();
  let isSlow = false;
  const { backend, clock, told } = await openFollower(async () => (isSlow ? done.promise : undefined));
  isSlow = true;
  backend.set("b.txt", "new");
  await until(clock, () => expect(told).toEqual(["b.txt"]));
  done.resolve();
  await until(clock, () => expect(told).toEqual(["b.txt", "lost"]));
});

it("tells the listeners although the source could not note the changes", async () => {
  let isBroken = false;
  const { backend, clock, told } = await openFollower(async () => {
    if (isBroken) throw new Error("a fault of the source");
  });
  isBroken = true;
  backend.set("b.txt", "new");
  await until(clock, () => expect(told).toEqual(["b.txt"]));
  expect(clock.logged.map(({ message }) => message)).toContain(
    "a source could not note the changes that another instance reported",
  );
});

/** Instances that poll one backend, and listeners of each. */
async function openPolling(count: number) {
  const { clock, open } = createServer();
  const backend = new Map([["a.txt", "1"]]);
  const instances = [];
  for (let index = 0; index < count; index += 1) {
    const state = { isCutOff: false, looks: 0 };
    const polling = createPollingWatch({
      pollMs: 1000,
      wait: clock.runtime.wait,
      async look() {
        state.looks += 1;
        if (state.isCutOff) throw unavailable("no route to the backend");
        return new Map(backend);
      },
    });
    const { source } = createMemory({ "a.txt": "1" });
    const told: string[] = [];
    const polled: Source = { ...source, watch: ({ signal }) => polling.watch(signal) };
    const layered = stack(polled, { name: "notes" }, standardLayers(clock.runtime));
    await listen(clock, open(layered), (change) => told.push(pathOf(change)));
    instances.push({ state, told });
  }
  const said = () => clock.logged.map(({ message }) => message.split(";")[0]);
  return { backend, clock, instances, said };
}

it("lets another instance watch when the backend of the leader is away, and tells all to read again", async () => {
  const { backend, clock, instances, said } = await openPolling(2);
  const [leader, other] = instances as [(typeof instances)[0], (typeof instances)[0]];
  expect([leader.state.looks > 0, other.state.looks]).toEqual([true, 0]);
  leader.state.isCutOff = true;
  backend.set("a.txt", "2");
  await until(clock, () => {
    for (const { told } of instances) expect(told).toEqual(["lost"]);
  });
  backend.set("a.txt", "3");
  await until(clock, () => {
    for (const { told } of instances) expect(told).toEqual(["lost", "a.txt"]);
  });
  expect(said()).toEqual(["this instance cannot watch the mount now", "the mount is watched again"]);
});

it("does not give up the watch for an outage of some seconds", async () => {
  const { backend, clock, instances, said } = await openPolling(2);
  const [leader] = instances as [(typeof instances)[0]];
  leader.state.isCutOff = true;
  backend.set("a.txt", "2");
  await clock.advance(15_000);
  leader.state.isCutOff = false;
  await until(clock, () => {
    for (const { told } of instances) expect(told).toEqual(["a.txt"]);
  });
  expect(said()).toEqual([]);
});

it("tries again and again, but not at full speed, while no instance reaches the backend, and says so once", async () => {
  const { clock, instances, said } = await openPolling(2);
  for (const { state } of instances) state.isCutOff = true;
  await until(clock, () => {
    for (const { state } of instances) expect(state.looks).toBeGreaterThan(8);
  });
  const [looks, beganMs] = [() => instances[0]!.state.looks + instances[1]!.state.looks, clock.runtime.monotonicMs()];
  const before = looks();
  await until(clock, () => expect(clock.runtime.monotonicMs() - beganMs).toBeGreaterThan(120_000));
  // Both rest for half a minute.
  expect(looks() - before).toBeLessThanOrEqual(2 * (120_000 / 30_000) + 2);
  expect(said()).toEqual(["this instance cannot watch the mount now", "this instance cannot watch the mount now"]);
  for (const { told } of instances) expect(told).toEqual([]);
  for (const { state } of instances) state.isCutOff = false;
  await until(clock, () => {
    for (const { told } of instances) expect(told).toEqual(["lost"]);
  });
});
