import fc from "fast-check";
import { expect, it } from "vitest";
import { type CostAccount, costAccount, runCharged } from "./cost-account.ts";
import { createFairQueue } from "./fair-queue.ts";

const { signal } = new AbortController();

/** Steps of clients: submit work, finish the oldest or the newest running work, or leave the queue. */
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ client: fc.nat(4), kind: fc.constant("ask" as const) }) },
    {
      weight: 2,
      arbitrary: fc.record({ client: fc.nat(4), kind: fc.constantFrom("done" as const, "leave" as const) }),
    },
  ),
  { maxLength: 120, size: "max" },
);

it("rejects no client while another has more in the queue, and keeps each client's order", async () => {
  await fc.assert(
    fc.asyncProperty(
      steps,
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 0, max: 12 }),
      async (all, maxAtOnce, maxWaiting) => {
        const clients = Array.from({ length: 5 }, () => ({
          waiting: [] as number[],
          running: 0,
          begun: [] as number[],
        }));
        const running: { readonly client: number; readonly end: () => void }[] = [];
        const leaving = new Map<number, AbortController>();
        const queue = createFairQueue({
          maxAtOnce,
          maxWaiting,
          busy: () => new Error("busy"),
          cancelled: () => new Error("left"),
        });
        const refused: number[] = [];
        let count = 0;

        function request(client: number): void {
          const own = clients[client]!;
          const id = (count += 1);
          const leave = new AbortController();
          leaving.set(id, leave);
          own.waiting.push(id);
          queue
            .run(own, leave, () => {
              own.waiting.splice(own.waiting.indexOf(id), 1);
              own.begun.push(id);
              own.running += 1;
              return new Promise<void>((resolve) => running.push({ client, end: resolve }));
            })
            .catch((error: Error) => {
              own.waiting.splice(own.waiting.indexOf(id), 1);
              if (error.message === "busy") refused.push(client);
            });
        }

        for (const { client: requested, kind } of all) {
          if (kind === "ask") request(requested);
          else if (kind === "leave") leaving.get(clients[requested]!.waiting[0] ?? -1)?.abort();
          else {
            const [first] = running.splice(0, 1);
            if (first) clients[first.client]!.running -= 1;
            first?.end();
          }
          await Promise.resolve();
          await new Promise(setImmediate);
          // Only the client with most in the queue is rejected.
          for (const client of refused.splice(0))
            expect(clients[client]!.waiting.length + 1).toBeGreaterThanOrEqual(
              Math.max(...clients.map(({ waiting }) => waiting.length)),
            );
          expect(running.length).toBeLessThanOrEqual(maxAtOnce);
          for (const { running: own, begun } of clients) {
            expect(own).toBeLessThanOrEqual(Math.ceil(maxAtOnce * 0.75));
            expect(begun).toEqual([...begun].sort((a, b) => a - b));
          }
          // Nothing waits that could run.
          if (running.length < maxAtOnce)
            for (const { waiting, running: own } of clients)
              if (own < Math.ceil(maxAtOnce * 0.75)) expect(waiting).toEqual([]);
        }
      },
    ),
    { numRuns: 200 },
  );
});

it("charges work to whoever queued it, not to whoever ended before it", async () => {
  const queue = createFairQueue({
    maxAtOnce: 1,
    maxWaiting: 9,
    busy: () => new Error("busy"),
    cancelled: () => new Error("left"),
  });
  const [first, second]: CostAccount[] = [1, 2].map(() => ({ isOpen: true, charge() {} }));
  const turn = Promise.withResolvers<void>();
  const ended = runCharged(first, () => queue.run({}, { signal }, () => turn.promise));
  const waiting = runCharged(second, () => queue.run({}, { signal }, async () => costAccount()));
  const unlimited = queue.run({}, { signal }, async () => costAccount());
  turn.resolve();
  await ended;
  expect(await waiting).toBe(second);
  expect(await unlimited).toBeUndefined();
});

it("starts immediately, and without using the signal, if there is a free slot", () => {
  const queue = createFairQueue({
    maxAtOnce: 1,
    maxWaiting: 0,
    busy: () => new Error("busy"),
    cancelled: () => new Error("left"),
  });
  let begun = false;
  const call = {
    get signal(): AbortSignal {
      throw new Error("looked at");
    },
  };
  void queue.run({}, call, async () => void (begun = true));
  expect(begun).toBe(true);
});

it("drops work that never ends when a slot is needed, and not before", async () => {
  let time = 0;
  const queue = createFairQueue({
    maxAtOnce: 1,
    maxWaiting: 1,
    abandonedMs: 1000,
    now: () => time,
    busy: () => new Error("busy"),
    cancelled: () => new Error("left"),
  });
  void queue.run({}, { signal }, () => new Promise(() => {}));
  const next = queue.run({}, { signal }, async () => "next");
  time = 1000;
  const last = queue.run({}, { signal }, async () => "last");
  expect(await Promise.all([next, last])).toEqual(["next", "last"]);
});
