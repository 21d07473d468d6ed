/** Faults of the engine and of the network: every subscriber gets every acknowledged message, or a gap. */
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { busKinds, type BusEngine, type OpenedBus } from "./test-buses.ts";
import { type BusListener, expectNothingSilent, listenTo, publishSurely } from "./test-bus-listener.ts";
import { failureOf } from "./test-database.ts";

const shared = busKinds.filter(({ isShared }) => isShared);

describe.each(shared)("a bus in $name", ({ missing, start }) => {
  if (missing !== undefined) return it.skip(`is not tested: ${missing}`, () => undefined);
  let engine: BusEngine;
  let made = 0;
  let opened: OpenedBus[] = [];
  let acknowledged: number[] = [];
  let sent = 0;

  beforeAll(async () => {
    engine = await start();
  });
  afterAll(() => engine.close());
  beforeEach(() => {
    made += 1;
    acknowledged = [];
    sent = 0;
  });
  afterEach(async () => {
    await Promise.all(opened.map((each) => each.close()));
    opened = [];
  });

  async function open(): Promise<OpenedBus> {
    const each = await engine.open(`faults_${made}`);
    opened.push(each);
    return each;
  }

  /** Resolves when it is known whether the message was stored. */
  async function publish({ bus }: OpenedBus): Promise<void> {
    const body = (sent += 1);
    await bus.publish({ topic: "a", body, fence: 0 }).then(
      () => void acknowledged.push(body),
      (cause: { readonly kind: string }) => expect(cause.kind).toBe("unavailable"),
    );
  }

  /** Publishes until every listener has received one of these messages: then everything before it has arrived, or is reported. */
  async function settle(from: OpenedBus, listeners: readonly BusListener[]): Promise<void> {
    const first = sent + 1;
    const isCurrent = ({ seen }: BusListener) => seen.some((item) => typeof item === "number" && item >= first);
    const attempt = async (): Promise<void> => {
      await publish(from);
      expect(listeners.map(isCurrent)).toEqual(listeners.map(() => true));
    };
    await vi.waitFor(attempt, { timeout: 40_000, interval: 20 });
    const promised = acknowledged.filter((body) => body < first);
    for (const { seen } of listeners) expectNothingSilent(seen, promised);
  }

  it("refuses a lower fence also after the messages have expired, from an instance that was away meanwhile", async () => {
    const [away, silent, leader, reader] = [await open(), await open(), await open(), await open()];
    await away.bus.publish({ topic: "a", body: 1, fence: 10 });
    for (const { proxy } of [away, silent]) {
      proxy?.setClosed(true);
      proxy?.cut();
    }
    await leader.bus.publish({ topic: "a", body: 2, fence: 20 });
    // As after 10 minutes without a change.
    await engine.forget(`faults_${made}`);
    const listener = await listenTo(reader.bus, "a");
    for (const { proxy } of [away, silent]) proxy?.setClosed(false);
    const publishLate = async (late: OpenedBus, fence: number): Promise<string> => {
      const outcome = await late.bus.publish({ topic: "a", body: "late", fence }).then(
        () => "stored",
        (cause: { readonly kind: string }) => cause.kind,
      );
      // Not connected again yet.
      return outcome === "unavailable" ? publishLate(late, fence) : outcome;
    };
    // The last holder of the lease before, and one whose lease ended before it published.
    expect([await publishLate(away, 10), await publishLate(silent, 15)]).toEqual(["denied", "denied"]);
    await leader.bus.publish({ topic: "a", body: 3, fence: 20 });
    await listener.until(3);
    expect(listener.seen).not.toContain("late");
  });

  it("continues after the engine was killed and started again", async () => {
    const [one, two] = [await open(), await open()];
    const listeners = [await listenTo(one.bus, "a"), await listenTo(two.bus, "a")];
    for (let round = 0; round < 2; round += 1) {
      await publish(one);
      const last = publish(two);
      await engine.kill();
      await engine.start();
      await last;
      await settle(one, listeners);
    }
  });

  it("refuses to publish while the engine is away, with an error that names no secret", async () => {
    const one = await open();
    const listener = await listenTo(one.bus, "a");
    await engine.kill();
    const error = await failureOf(one.bus.publish({ topic: "a", body: "lost?", fence: 0 }));
    expect(error.kind).toBe("unavailable");
    expect(one.bus.status.isConnected).toBe(false);
    await engine.start();
    await settle(one, [listener]);
    await vi.waitFor(() => expect(one.bus.status.isConnected).toBe(true), { timeout: 40_000 });
    expect(`${error.message}\n${one.logged.join("\n")}`).not.toContain("secret");
  });

  it("subscribes when an engine that was away is back", async () => {
    await (await open()).close();
    await engine.kill();
    const one = await engine.open(`faults_${made}`).catch(() => undefined);
    await engine.start();
    const two = one ?? (await open());
    if (one) opened.push(one);
    const listener = await listenTo(two.bus, "a");
    await settle(two, [listener]);
  });

  it("continues after the engine was paused", async () => {
    const [one, two] = [await open(), await open()];
    const listeners = [await listenTo(one.bus, "a"), await listenTo(two.bus, "a")];
    await publish(one);
    engine.pause();
    const during = [publish(one), publish(one)];
    // Long enough for the time limits of connections, which is what is tested.
    await during[0];
    engine.resume();
    await Promise.all(during);
    await settle(two, listeners);
  });

  it("repairs a connection that was cut without a gap", async () => {
    const [one, two] = [await open(), await open()];
    const listener = await listenTo(two.bus, "a");
    await publish(one);
    await listener.until(1);
    two.proxy?.setClosed(true);
    for (let count = 0; count < 5; count += 1) await publish(one);
    two.proxy?.setClosed(false);
    await listener.until(6);
    await settle(one, [listener]);
    expect(listener.seen).not.toContain("gap");
    expect(listener.seen.slice(0, 6)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("does not deliver twice what it repeats after a cut", async () => {
    const [one, two] = [await open(), await open()];
    const listener = await listenTo(two.bus, "a");
    for (let count = 0; count < 20; count += 1) {
      const publishing = publish(one);
      if (count % 3 === 0) one.proxy?.cut();
      await publishing;
    }
    await settle(one, [listener]);
    expect(listener.seen).not.toContain("gap");
  });

  it("does not deliver twice what was stored although its acknowledgement was lost", async () => {
    const [one, two] = [await open(), await open()];
    const listener = await listenTo(two.bus, "a");
    for (let count = 1; count <= 3; count += 1) {
      // Connected: only replies are lost.
      await settle(one, [listener]);
      one.proxy?.silenceReplies();
      const publishing = publish(one);
      await listener.until(sent);
      one.proxy?.cut();
      await publishing;
    }
    await settle(one, [listener]);
    expect(listener.seen).not.toContain("gap");
  });

  it("notices a connection that carries nothing", async () => {
    const [one, two] = [await open(), await open()];
    const listener = await listenTo(two.bus, "a");
    await publish(one);
    await listener.until(1);
    two.proxy?.silence();
    await publish(one);
    await listener.until(2);
    await settle(one, [listener]);
  });

  it("reports a gap for messages that were removed before they were received", async () => {
    const [one, two] = [await open(), await open()];
    const [listener, other] = [await listenTo(two.bus, "a"), await listenTo(two.bus, "b")];
    await publish(one);
    await listener.until(1);
    two.proxy?.setClosed(true);
    await publish(one);
    await one.bus.publish({ topic: "b", body: "for b", fence: 0 });
    await engine.forget(`faults_${made}`);
    two.proxy?.setClosed(false);
    await Promise.all([listener.untilGap(), other.untilGap()]);
    expect(two.bus.status.gaps).toBeGreaterThan(0);
    await settle(one, [listener]);
  });

  it("is never silent in any order of faults", async () => {
    const step = fc.constantFrom("publish", "publish", "burst", "cut", "close", "reopen", "subscribe", "leave");
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(step, fc.nat(2)), { minLength: 5, maxLength: 25 }), async (steps) => {
        made += 1;
        acknowledged = [];
        sent = 0;
        const buses = [await open(), await open(), await open()];
        /** With what was acknowledged before it was armed: those messages are not promised. */
        const listening: { readonly listener: BusListener; readonly from: number; readonly on: number }[] = [];
        const waiting: Promise<void>[] = [];
        for (const [name, index] of steps) {
          const at = buses[index] as OpenedBus;
          if (name === "publish") waiting.push(publish(at));
          else if (name === "burst") for (let count = 0; count < 10; count += 1) waiting.push(publish(at));
          else if (name === "cut") at.proxy?.cut();
          else if (name === "close") at.proxy?.setClosed(true);
          else if (name === "reopen") at.proxy?.setClosed(false);
          else if (name === "subscribe") {
            at.proxy?.setClosed(false);
            await Promise.all(waiting.splice(0));
            const from = sent;
            listening.push({ listener: await listenTo(at.bus, "a"), from, on: index });
          } else listening.splice(index, 1)[0]?.listener.stop.abort();
        }
        for (const { proxy } of buses) proxy?.setClosed(false);
        await Promise.all(waiting);
        const from = buses[0] as OpenedBus;
        const promised = listening.map(({ from: first }) => acknowledged.filter((body) => body > first));
        expect(await publishSurely(from.bus, "a", 1_000_000)).toBeLessThan(20);
        for (const [place, { listener }] of listening.entries()) {
          await listener.until(1_000_000);
          expectUnsorted(listener.seen.slice(0, -1), promised[place] ?? []);
        }
        await Promise.all(opened.splice(0).map((each) => each.close()));
      }),
      { numRuns: 12, seed: 51 },
    );
  }, 180_000);
});

/** As `expectNothingSilent`, for messages of several instances at once: their order is known only to the engine. */
function expectUnsorted(seen: readonly unknown[], acknowledged: readonly number[]): void {
  const received = seen.filter((item) => typeof item === "number");
  expect(new Set(received).size).toBe(received.length);
  const missing = acknowledged.filter((body) => !received.includes(body));
  expect({ missing, seen: missing.length > 0 && !seen.includes("gap") ? seen : "gap" }).toEqual({
    missing,
    seen: "gap",
  });
}
