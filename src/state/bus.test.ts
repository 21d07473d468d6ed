/** What every bus promises, with its real engine. */
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { maxBodyBytes } from "./bus-limits.ts";
import { busKinds, type BusEngine, type OpenedBus } from "./test-buses.ts";
import { createListener, listenTo } from "./test-bus-listener.ts";
import { failureOf } from "./test-database.ts";

describe.each(busKinds)("a bus in $name", ({ name: kind, missing, isShared, start }) => {
  if (missing !== undefined) return it.skip(`is not tested: ${missing}`, () => undefined);
  let engine: BusEngine;
  let made = 0;
  let opened: OpenedBus[] = [];

  beforeAll(async () => {
    engine = await start();
  });
  afterAll(() => engine.close());
  beforeEach(() => void (made += 1));
  afterEach(async () => {
    await Promise.all(opened.map((each) => each.close()));
    opened = [];
  });

  async function open(): Promise<OpenedBus> {
    const each = await engine.open(`test_${made}`);
    opened.push(each);
    return each;
  }

  it("delivers each message once and in order, on every instance", async () => {
    const [one, two] = [await open(), await open()];
    const listeners = [await listenTo(one.bus, "a"), await listenTo(one.bus, "a"), await listenTo(two.bus, "a")];
    const sent = Array.from({ length: 300 }, (_, index) => index);
    for (const body of sent.slice(0, 20)) await one.bus.publish({ topic: "a", body, fence: 0 });
    await Promise.all(sent.slice(20).map((body) => one.bus.publish({ topic: "a", body, fence: 0 })));
    for (const listener of listeners) {
      await listener.until(299);
      expect(listener.seen).toEqual(sent);
    }
  });

  it("delivers the messages of several instances in one order", async () => {
    const [one, two] = [await open(), await open()];
    const listeners = [await listenTo(one.bus, "a"), await listenTo(two.bus, "a")];
    await Promise.all([publishFrom(one, "x"), publishFrom(two, "y")]);
    await one.bus.publish({ topic: "a", body: "end", fence: 0 });
    for (const listener of listeners) {
      await listener.until("end");
      expect(listener.seen).toHaveLength(101);
      expect(listener.seen.filter((body) => String(body).startsWith("x"))).toEqual(
        Array.from({ length: 50 }, (_, index) => `x${index}`),
      );
    }
    expect(listeners[0]?.seen).toEqual(listeners[1]?.seen);
  });

  it("keeps topics and servers apart", async () => {
    const { bus } = await open();
    const other = await engine.open(`other_${made}`);
    opened.push(other);
    const [a, b, foreign] = [await listenTo(bus, "a"), await listenTo(bus, "b"), await listenTo(other.bus, "a")];
    await bus.publish({ topic: "a", body: "for a", fence: 0 });
    await bus.publish({ topic: "b", body: "for b", fence: 0 });
    await other.bus.publish({ topic: "a", body: "for another server", fence: 0 });
    await Promise.all([a.until("for a"), b.until("for b"), foreign.until("for another server")]);
    expect([a.seen, b.seen, foreign.seen]).toEqual([["for a"], ["for b"], ["for another server"]]);
  });

  it("carries any topic and any JSON", async () => {
    const { bus } = await open();
    const text = fc.string({ unit: "binary", maxLength: 40 });
    const topic = text.filter((each) => each !== "" && !each.includes("\0"));
    await fc.assert(
      fc.asyncProperty(
        topic,
        fc.oneof(fc.jsonValue(), text, fc.constant("\u0000\ud800 line\nend")),
        async (name, body) => {
          const listener = await listenTo(bus, name);
          await bus.publish({ topic: name, body, fence: 0 });
          const sent = JSON.parse(JSON.stringify(body)) as unknown;
          await listener.until(sent);
          listener.stop.abort();
          expect(listener.messages).toEqual([{ topic: name, body: sent, fence: 0 }]);
        },
      ),
      { numRuns: 60, seed: 20260728 },
    );
  });

  it("carries a large body, and refuses one that is too large", async () => {
    const { bus } = await open();
    const listener = await listenTo(bus, "a");
    const body = "ü".repeat((maxBodyBytes - 2) / 2);
    await bus.publish({ topic: "a", body, fence: 0 });
    await listener.until(body);
    const error = await failureOf(bus.publish({ topic: "a", body: `${body}x`, fence: 0 }));
    expect(error.kind).toBe("invalid");
    expect(error.message).toContain("at most 524288");
  });

  it.each(["", "a\0b", "\ud800", "x".repeat(513)])("refuses the topic %j", async (topic) => {
    const { bus } = await open();
    expect((await failureOf(bus.publish({ topic, body: 1, fence: 0 }))).kind).toBe("invalid");
    const listener = createListener();
    expect((await failureOf(bus.subscribe(topic, listener, listener.stop.signal))).kind).toBe("invalid");
  });

  it("refuses what is not JSON, and a fence that is no number", async () => {
    const { bus } = await open();
    expect((await failureOf(bus.publish({ topic: "a", body: undefined, fence: 0 }))).kind).toBe("invalid");
    expect((await failureOf(bus.publish({ topic: "a", body: 1, fence: -1 }))).kind).toBe("invalid");
  });

  it("refuses a lower fence than one before it in the topic, from any instance", async () => {
    const [one, two, three] = [await open(), await open(), await open()];
    const listener = await listenTo(three.bus, "a");
    await one.bus.publish({ topic: "a", body: 0, fence: 0 });
    await one.bus.publish({ topic: "a", body: 1, fence: 3 });
    await two.bus.publish({ topic: "a", body: 2, fence: 4 });
    const error = await failureOf(one.bus.publish({ topic: "a", body: "late", fence: 3 }));
    expect(error.kind).toBe("denied");
    expect((await failureOf(three.bus.publish({ topic: "a", body: "late", fence: 0 }))).kind).toBe("denied");
    await one.bus.publish({ topic: "a", body: 5, fence: 4 });
    await one.bus.publish({ topic: "b", body: 1, fence: 1 });
    await listener.until(5);
    expect(listener.seen).toEqual([0, 1, 2, 5]);
  });

  it("delivers ascending fences alone when instances compete", async () => {
    const buses = [await open(), await open(), await open()];
    const listener = await listenTo((await open()).bus, "a");
    const acknowledged: number[] = [];
    const lead = async ({ bus }: OpenedBus, fences: readonly number[]) => {
      for (const fence of fences) {
        const isStored = await bus.publish({ topic: "a", body: fence, fence }).then(
          () => true,
          (cause: { readonly kind: string }) => {
            expect(cause.kind).toBe("denied");
            return false;
          },
        );
        if (isStored) acknowledged.push(fence);
      }
    };
    await Promise.all(
      buses.map((bus, index) =>
        lead(
          bus,
          Array.from({ length: 30 }, (_, step) => step * 3 + index + 1),
        ),
      ),
    );
    await buses[0]?.bus.publish({ topic: "a", body: 1000, fence: 1000 });
    await listener.until(1000);
    const fences = listener.messages.map(({ fence }) => fence);
    expect(fences).toEqual(fences.toSorted((a, b) => a - b));
    expect(listener.seen.filter((item) => item !== 1000)).toEqual(acknowledged.toSorted((a, b) => a - b));
  });

  it("ends a subscription with its signal, and no other", async () => {
    const { bus } = await open();
    const [leaving, staying] = [await listenTo(bus, "a"), await listenTo(bus, "a")];
    await bus.publish({ topic: "a", body: 1, fence: 0 });
    await leaving.until(1);
    leaving.stop.abort();
    await bus.publish({ topic: "a", body: 2, fence: 0 });
    await staying.until(2);
    expect(leaving.seen).toEqual([1]);
    staying.stop.abort();
    const again = await listenTo(bus, "a");
    await bus.publish({ topic: "a", body: 3, fence: 0 });
    await again.until(3);
    expect(staying.seen).toEqual([1, 2]);
    const error = await failureOf(bus.subscribe("a", createListener(), AbortSignal.abort()));
    expect(error.kind).toBe("cancelled");
  });

  it("delivers in order although subscribers publish and throw", async () => {
    const { bus, logged } = await open();
    const answering = createListener();
    const pending: Promise<void>[] = [];
    await bus.subscribe(
      "a",
      {
        message({ body }) {
          if (body === "question") pending.push(bus.publish({ topic: "a", body: "answer", fence: 0 }));
          throw new Error("a fault of the subscriber");
        },
        gap: answering.gap,
      },
      answering.stop.signal,
    );
    const listener = await listenTo(bus, "a");
    await bus.publish({ topic: "a", body: "question", fence: 0 });
    await listener.until("answer");
    await Promise.all(pending);
    expect(listener.seen).toEqual(["question", "answer"]);
    expect(logged.filter((line) => line.includes("a subscriber failed")).length).toBeGreaterThan(0);
  });

  it("counts in its status", async () => {
    const { bus } = await open();
    const listener = await listenTo(bus, "a");
    await bus.publish({ topic: "a", body: 1, fence: 0 });
    await bus.publish({ topic: "b", body: 1, fence: 0 });
    await listener.until(1);
    const engineName = kind.startsWith("PostgreSQL") ? "postgres" : kind.toLowerCase();
    expect(bus.status).toMatchObject({ engine: engineName, isConnected: true, gaps: 0, published: 2, received: 1 });
  });

  it("does nothing after it is closed", async () => {
    const one = await open();
    const listener = await listenTo(one.bus, "a");
    await one.bus.close();
    expect((await failureOf(one.bus.publish({ topic: "a", body: 1, fence: 0 }))).kind).toBe("cancelled");
    expect((await failureOf(one.bus.subscribe("a", createListener(), listener.stop.signal))).kind).toBe("cancelled");
    expect(one.bus.status.isConnected).toBe(false);
    if (!isShared) return;
    const two = await open();
    const staying = await listenTo(two.bus, "a");
    await two.bus.publish({ topic: "a", body: 2, fence: 0 });
    await staying.until(2);
    expect(listener.seen).toEqual([]);
  });
});

async function publishFrom({ bus }: OpenedBus, sender: string): Promise<void> {
  for (let index = 0; index < 50; index += 1) await bus.publish({ topic: "a", body: `${sender}${index}`, fence: 0 });
}
