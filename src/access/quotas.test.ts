import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { QuotaError } from "../errors.ts";
import { costAccount } from "../lib/cost-account.ts";
import type { Caller } from "../resources.ts";
import { createQuotas, type QuotaRefusals, type QuotaSettings, type Quotas } from "./quotas.ts";

const units = ["requests", "bytes", "entries", "indexRows", "processMs"] as const;

function openQuotas(settings: QuotaSettings) {
  let nowMs = 1000;
  const quotas = createQuotas({ monotonicMs: () => nowMs });
  quotas.reload(settings);
  return { quotas, wait: (ms: number) => void (nowMs += ms), now: () => nowMs };
}

/** Why the caller may not send a request; undefined if it was sent. */
function refusedBy(quotas: Quotas, caller: Caller): QuotaError | undefined {
  try {
    quotas.begin(caller)?.end();
    return undefined;
  } catch (cause) {
    if (cause instanceof QuotaError) return cause;
    throw cause;
  }
}

/** Number of requests that pass at once. */
function burstOf(quotas: Quotas, caller: Caller): number {
  for (let count = 0; count < 1000; count += 1) if (refusedBy(quotas, caller)) return count;
  return Infinity;
}

const aki: Caller = { id: "aki", groups: ["support", "bots"] };
const bo: Caller = { id: "bo" };

const limits = fc.record({
  requestsPerMinute: fc.integer({ min: 1, max: 90 }),
  bytesPerMinute: fc.integer({ min: 1, max: 5000 }),
  entriesPerMinute: fc.integer({ min: 1, max: 100 }),
  indexRowsPerMinute: fc.integer({ min: 1, max: 100_000 }),
  processMsPerMinute: fc.integer({ min: 1, max: 2000 }),
});
/** A request after a pause, and what it turned out to cost. */
const step = fc.record({
  who: fc.constantFrom(aki, bo),
  pauseMs: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 90_000 })),
  costs: fc.array(fc.tuple(fc.constantFrom(...units.slice(1)), fc.nat(4000)), { maxLength: 3 }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Runs the steps; returns for each whether it was admitted. A greedy caller repeats a refused request until it is. */
function play(settings: QuotaSettings, steps: readonly Step[], only?: Caller, isGreedy = false) {
  const { quotas, wait, now } = openQuotas(settings);
  return steps.map(({ who, pauseMs, costs }) => {
    wait(pauseMs);
    if (only && who !== only) return undefined;
    let refusal = refusedBy(quotas, who);
    if (isGreedy)
      while (refusal) {
        wait(Math.ceil(refusal.retryAfterMs / 30));
        refusal = refusedBy(quotas, who);
      }
    if (!refusal) for (const [unit, amount] of costs) quotas.charge(who, unit, amount);
    return { atMs: now(), isAdmitted: !refusal, costs };
  });
}

describe("quotas", () => {
  it("admit a caller only within the burst and the rate of every unit, over any period", () => {
    fc.assert(
      fc.property(limits, fc.array(step, { maxLength: 40 }), (limit, steps) => {
        const settings: QuotaSettings = { anyone: limit };
        for (const who of [aki, bo]) {
          const admitted = play(settings, steps, who, true).filter((each) => each?.isAdmitted);
          for (const unit of units) {
            const perMinute = limit[`${unit}PerMinute`];
            const costOf = (at: number) =>
              unit === "requests"
                ? 1
                : admitted[at]!.costs.reduce((sum, [each, amount]) => sum + (each === unit ? amount : 0), 0);
            for (const [to, { atMs } = { atMs: 0 }] of admitted.entries()) {
              // The amount spent since any earlier request, and one unit of this request.
              let spent = 1;
              for (let from = to - 1; from >= 0; from -= 1) {
                spent += costOf(from);
                const most = perMinute + (perMinute / 60_000) * (atMs - admitted[from]!.atMs);
                // A debt from before may only lower it.
                expect(spent).toBeLessThanOrEqual(most + 1e-3);
              }
            }
          }
        }
      }),
    );
  });

  it("do not depend on what other callers do", () => {
    fc.assert(
      fc.property(limits, fc.array(step, { maxLength: 60 }), (limit, steps) => {
        const together = play({ anyone: limit }, steps);
        const alone = play({ anyone: limit }, steps, aki);
        for (const [at, result] of alone.entries()) if (result) expect(together[at]).toEqual(result);
      }),
    );
  });

  it("say when the next request passes, and not much later than needed", () => {
    fc.assert(
      fc.property(limits, fc.array(step, { maxLength: 40 }), (limit, steps) => {
        const { quotas, wait } = openQuotas({ anyone: limit });
        for (const { who, pauseMs, costs } of steps) {
          wait(pauseMs);
          const refusal = refusedBy(quotas, who);
          if (refusal) {
            const early = Math.floor(refusal.retryAfterMs / 2);
            wait(early);
            if (refusal.retryAfterMs > 1) expect(refusedBy(quotas, who)).toBeDefined();
            quotas.charge(who === aki ? bo : aki, "bytes", 1_000_000);
            wait(refusal.retryAfterMs - early);
            expect(refusedBy(quotas, who)).toBeUndefined();
          }
          for (const [unit, amount] of costs) quotas.charge(who, unit, amount);
        }
      }),
    );
  });

  it("hold no more requests and listens than allowed, whatever order they end in", () => {
    const command = fc.record({
      kind: fc.constantFrom("begin", "listen"),
      end: fc.nat(20),
      count: fc.integer({ min: 1, max: 4 }),
    });
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
        const { quotas } = openQuotas({ anyone: { listens: 5, concurrentReads: 3 } });
        const open: { kind: string; count: number; end(): void }[] = [];
        for (const { kind, end, count: wanted } of commands) {
          const count = kind === "begin" ? 1 : wanted;
          const held = open.filter((each) => each.kind === kind).reduce((sum, each) => sum + each.count, 0);
          const take = () => (kind === "begin" ? quotas.begin(aki)! : { end: quotas.listen(aki, count)! });
          if (held + count > (kind === "begin" ? 3 : 5)) expect(take).toThrow(QuotaError);
          else {
            const taken = take();
            open.push({ kind, count, end: () => taken.end() });
          }
          const [ended] = open.splice(end, 1);
          // The second time changes nothing.
          ended?.end();
          ended?.end();
        }
      }),
    );
  });

  it("prefer the caller's own limit to that of groups, and the most generous group to anyone's", () => {
    const { quotas } = openQuotas({
      anyone: { requestsPerMinute: 2, listens: 1 },
      "group:support": { requestsPerMinute: 5 },
      "group:bots": { requestsPerMinute: 3 },
      "caller:cho": { requestsPerMinute: "unlimited" },
      "caller:dai": { requestsPerMinute: 7 },
    });
    const groups = ["support", "bots"];
    expect(burstOf(quotas, bo)).toBe(2);
    expect(burstOf(quotas, aki)).toBe(5);
    expect(burstOf(quotas, { id: "cho", groups })).toBe(Infinity);
    expect(burstOf(quotas, { id: "dai", groups })).toBe(7);
    expect(() => quotas.listen({ id: "cho", groups }, 2)).toThrow("at most 1 listens");
  });

  it("exempt the owner unless named, and everyone without settings", () => {
    const { quotas } = openQuotas({ anyone: { requestsPerMinute: 1 }, "caller:local": { requestsPerMinute: 2 } });
    expect(burstOf(quotas, { id: "owner", owner: true })).toBe(Infinity);
    expect(burstOf(quotas, { id: "local", owner: true })).toBe(2);
    expect(openQuotas({}).quotas.begin(bo)).toBeUndefined();
  });

  it("change at once for known callers, who keep their debt", () => {
    const { quotas, wait } = openQuotas({ anyone: { bytesPerMinute: 60 } });
    quotas.charge(bo, "bytes", 120);
    expect(refusedBy(quotas, bo)?.retryAfterMs).toBe(61_000);
    quotas.reload({ anyone: { bytesPerMinute: 6000 } });
    expect(refusedBy(quotas, bo)?.retryAfterMs).toBe(610);
    wait(610);
    expect(refusedBy(quotas, bo)).toBeUndefined();
    quotas.reload(undefined);
    expect(quotas.begin(bo)).toBeUndefined();
  });

  it("charge work to the request that caused it, also after the request ended", async () => {
    const { quotas } = openQuotas({ anyone: { processMsPerMinute: 1000 } });
    const request = quotas.begin(bo)!;
    const account = await request.run(async () => {
      await Promise.resolve();
      return costAccount();
    });
    expect(costAccount()).toBeUndefined();
    request.end();
    account!.charge("processMs", 1500);
    expect(refusedBy(quotas, bo)).toMatchObject({ quota: "processMsPerMinute" });
    expect(refusedBy(quotas, aki)).toBeUndefined();
    const watch = quotas.begin(aki, true)!;
    expect(watch.run(costAccount)).toBeUndefined();
  });

  it("count refusals by caller and quota, and tell of them once a minute", () => {
    const { quotas, wait } = openQuotas({ anyone: { requestsPerMinute: 1 } });
    const heard: QuotaRefusals[] = [];
    quotas.follow((refusals) => heard.push(refusals));
    for (let count = 0; count < 4; count += 1) refusedBy(quotas, bo);
    refusedBy(quotas, aki);
    expect(quotas.refusals()).toEqual([{ caller: "bo", quota: "requestsPerMinute", count: 3 }]);
    expect(heard).toEqual([{ caller: "bo", quota: "requestsPerMinute", count: 1 }]);
    wait(60_000);
    refusedBy(quotas, bo);
    refusedBy(quotas, bo);
    expect(heard).toEqual([
      { caller: "bo", quota: "requestsPerMinute", count: 1 },
      { caller: "bo", quota: "requestsPerMinute", count: 3 },
    ]);
  });

  it("stay small however many callers there are", () => {
    const { quotas, wait } = openQuotas({ anyone: { requestsPerMinute: 1 } });
    for (let count = 0; count < 25_000; count += 1) {
      refusedBy(quotas, { id: `caller-${count}` });
      refusedBy(quotas, { id: `caller-${count}` });
    }
    const counted = quotas.refusals();
    expect(counted).toHaveLength(201);
    expect(counted.at(-1)).toEqual({ caller: "(other)", quota: "requestsPerMinute", count: 24_800 });
    // The last one is still remembered, and recovers as all others.
    expect(refusedBy(quotas, { id: "caller-24999" })).toBeDefined();
    wait(60_000);
    expect(refusedBy(quotas, { id: "caller-24999" })).toBeUndefined();
  });
});
