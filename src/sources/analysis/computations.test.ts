import { expect, it } from "vitest";
import { refusal } from "../../testing/refusal.ts";
import { useServers } from "./test-server.ts";
import { resultOf } from "./test-results.ts";

const open = useServers();

type Answer = Readonly<Record<string, unknown>>;
const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status).sort();

it("one of fifty callers computes, the others get its result", async () => {
  const { find, keep, clock, json } = open();
  const requested = Array.from({ length: 50 }, () => find({ waitMs: 20_000 }));
  const { lease } = await requested[0]!;
  await clock.advance(1000);
  await keep({ prompt: undefined, taskType: undefined, lease });
  const answers = await Promise.all(requested);
  expect(statuses(answers)).toEqual(["compute", ...Array.from({ length: 49 }, () => "hit")]);
  expect(new Set(answers.slice(1).map(({ id }) => id)).size).toBe(1);
  expect((await json("analysis://statistics")).value).toMatchObject({
    computed: 1,
    shared: 49,
    cost_saved: expect.closeTo(2.45),
  });
});

it("a caller whose wait ends is told to try again, and one that does not compute is told that there is none", async () => {
  const { find, clock } = open();
  expect(await find({ claim: false })).toMatchObject({ status: "miss" });
  await find();
  const waiting = find({ waitMs: 5000 });
  await clock.advance(5000);
  expect(await waiting).toMatchObject({ status: "wait", retry_after_ms: 5000 });
  expect(await find()).toMatchObject({ status: "wait" });
});

it("a producer that never reports is replaced when its lease ends", async () => {
  const { find, clock } = open({ options: { leaseMs: 10_000 } });
  const first = await find();
  const waiting = find({ waitMs: 20_000 });
  await clock.advance(9999);
  await clock.settle();
  await clock.advance(1);
  const second = await waiting;
  expect([first, second].map(({ status }) => status)).toEqual(["compute", "compute"]);
  expect(second["lease"]).not.toBe(first["lease"]);
});

it("a producer that still computes renews its lease, and only with the lease", async () => {
  const { find, clock } = open({ options: { leaseMs: 10_000 } });
  const { lease } = await find();
  await clock.advance(9000);
  expect(await find({ lease })).toMatchObject({ status: "compute", lease, lease_ms: 10_000 });
  await clock.advance(9000);
  expect(await find({ lease: "made up" })).toMatchObject({ status: "wait" });
  await clock.advance(1000);
  expect(await find()).toMatchObject({ status: "compute" });
  expect(await find({ lease })).toMatchObject({ status: "wait" });
});

it("the lease of one question is not valid for another", async () => {
  const { find } = open();
  const { lease } = await find();
  const other = await find({ prompt: "something else", lease });
  expect(other).toMatchObject({ status: "compute" });
  expect(other["lease"]).not.toBe(lease);
});

it("a failed computation is not stored, and the next waiting caller computes", async () => {
  const { find, act, clock, json } = open();
  const { lease } = await find();
  const waiting = [find({ waitMs: 20_000 }), find({ waitMs: 20_000 })];
  await clock.settle();
  expect(await act("store_analysis", { lease, failed: "the models are overloaded" })).toEqual({ status: "failed" });
  await clock.advance(20_000);
  expect(statuses(await Promise.all(waiting))).toEqual(["compute", "wait"]);
  expect((await json("analysis://results?limit=1")).value).toEqual({ results: [] });
  expect((await json("analysis://statistics")).value).toMatchObject({ failed: 1, stored: 0 });
  await refusal(act("store_analysis", { lease, failed: "again" }), ["invalid"], "a lease that has ended");
});

it("an expired result is returned, marked stale, when the producer is down", async () => {
  const { find, keep, act, clock, json } = open();
  const { id } = await keep();
  await clock.advance(3_600_000);
  const { lease } = await find();
  const waiting = find({ waitMs: 20_000 });
  await clock.settle();
  const reported = await act("store_analysis", { lease, failed: "the models are overloaded" });
  await clock.settle();
  const marked = {
    status: "stale",
    id,
    stale: true,
    ttl_ms: 0,
    reason: "the models are overloaded",
    result: resultOf(),
  };
  expect(reported).toMatchObject(marked);
  expect(await waiting).toMatchObject(marked);
  expect(await find({ acceptStale: true })).toMatchObject({ status: "stale", id, stale: true });
  expect(await find()).toMatchObject({ status: "compute" });
  const { value } = await json(`analysis://results/${id}/events`);
  expect(value.events).toMatchObject([{ what: "stored" }, { what: "failed", detail: "the models are overloaded" }]);
  await clock.advance(24 * 3_600_000);
  expect(await find({ acceptStale: true, claim: false })).toMatchObject({ status: "miss" });
});

it("a cancelled caller stops waiting, and takes nothing from the others", async () => {
  const { find, keep, act, call, clock } = open();
  const { lease } = await find();
  const leaving = new AbortController();
  const requested = { prompt: "How should the services talk?", taskType: "basic" };
  const left = refusal(
    act("find_analysis", requested, { ...call, signal: leaving.signal }),
    ["cancelled"],
    "who leaves",
  );
  const stays = find({ waitMs: 20_000 });
  await clock.settle();
  leaving.abort();
  await left;
  await keep({ lease });
  expect(await stays).toMatchObject({ status: "hit" });
});

it("a result for an unknown lease needs its question", async () => {
  const { keep, find } = open();
  const { message } = await refusal(keep({ lease: "x", prompt: undefined }), ["invalid"], "an unknown lease");
  expect(message).toContain('"lease" is unknown');
  expect(await keep({ lease: "x" })).toMatchObject({ status: "stored" });
  expect(await find()).toMatchObject({ status: "hit" });
});
