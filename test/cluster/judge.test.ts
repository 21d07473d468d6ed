/** Each rule with a history that it passes and histories that it must refuse. */
import { describe, expect, it } from "vitest";
import type { HistoryEvent } from "./history.ts";
import { type Bounds, judge, ruleNames } from "./judge.ts";

const bounds: Bounds = {
  rememberMs: 50,
  noticeMs: 5000,
  revocationMs: 12_000,
  ruleMs: 5000,
  recoveryMs: 20_000,
  instances: ["a", "b"],
};

const fault: HistoryEvent = { is: "fault", fault: "kill a", atMs: 1000 };
const healed: HistoryEvent = { is: "healed", atMs: 4000 };
const recovery: readonly HistoryEvent[] = [
  fault,
  healed,
  { is: "recovered", instance: "a", atMs: 6000 },
  { is: "recovered", instance: "b", atMs: 4500 },
];
const over: HistoryEvent = { is: "fault", fault: "end of the run", atMs: 100_000 };

const set = (startMs: number, isThere: boolean): HistoryEvent => ({
  is: "observed",
  what: "set",
  id: "s",
  by: "a",
  isThere,
  startMs,
  endMs: startMs + 10,
});
const saved: HistoryEvent = { is: "acknowledged", what: "set", id: "s", atMs: 500 };
const token = (startMs: number): HistoryEvent => ({
  is: "observed",
  what: "token",
  id: "t",
  by: "b",
  isThere: false,
  startMs,
  endMs: startMs + 10,
});
const issued: HistoryEvent = { is: "acknowledged", what: "token", id: "t", atMs: 500 };

const opened: HistoryEvent = { is: "opened", listener: "l", files: ["f"], atMs: 0 };
const write = (counter: number, endMs: number): HistoryEvent => ({
  is: "write",
  file: "f",
  counter,
  startMs: endMs - 1,
  endMs,
});
const notice = (atMs: number, file?: string): HistoryEvent => ({
  is: "notice",
  listener: "l",
  ...(file !== undefined && { file }),
  atMs,
});
const read = (counter: number, startMs: number, ttlMs = 0): HistoryEvent => ({
  is: "read",
  by: "a",
  file: "f",
  counter,
  ttlMs,
  startMs,
  endMs: startMs + 5,
});
const revoked: HistoryEvent = { is: "revoked", token: "t", atMs: 1000 };
const tried = (startMs: number, isAccepted: boolean): HistoryEvent => ({
  is: "tried",
  token: "t",
  by: "b",
  isAccepted,
  startMs,
});
const rules = (allows: boolean, atMs: number): HistoryEvent => ({ is: "rule", allows, atMs });
const asked = (isAllowed: boolean, startMs: number, endMs = startMs + 5): HistoryEvent => ({
  is: "asked",
  by: "a",
  isAllowed,
  startMs,
  endMs,
});
const lease = (holder: string, fence: number, atMs: number): HistoryEvent => ({
  is: "lease",
  name: "watch:f",
  holder,
  fence,
  atMs,
});
const fenced = (fence: number, order: number): HistoryEvent => ({ is: "fenced", name: "watch:f", fence, order });
const computed = (by: string): HistoryEvent => ({ is: "computed", key: "k", by, atMs: 1 });
const failed = (startMs: number): HistoryEvent => ({
  is: "failed",
  by: "proxy",
  operation: "read",
  reason: "502",
  startMs,
  endMs: startMs + 10,
});

interface Example {
  readonly says: string;
  readonly history: readonly HistoryEvent[];
}

const passing: Readonly<Record<string, readonly Example[]>> = {
  remembers: [
    { says: "a set that is seen after the faults", history: [saved, ...recovery, set(7000, true)] },
    {
      says: "a set that was deleted",
      history: [saved, { is: "given up", what: "set", id: "s", atMs: 600 }, set(700, false)],
    },
    { says: "an observation that began before the answer", history: [saved, set(499, false), set(600, true)] },
    {
      says: "a set that an instance without database does not know yet",
      history: [{ ...saved, atMs: 1500 } as HistoryEvent, ...recovery, set(2000, false), set(7000, true)],
    },
    {
      says: "a token that an instance without database refuses",
      history: [issued, ...recovery, token(2000), { ...token(7000), isThere: true } as HistoryEvent],
    },
  ],
  announces: [
    { says: "a notice of the file", history: [opened, write(1, 100), notice(900, "f"), over] },
    { says: "a notice to read everything again", history: [opened, write(1, 100), notice(900), over] },
    {
      says: "a notice late, but soon after the faults",
      history: [opened, write(1, 900), ...recovery, notice(10_000, "f"), over],
    },
    {
      says: "a connection that ended",
      history: [opened, write(1, 100), { is: "closed", listener: "l", atMs: 300 }, over],
    },
    { says: "a write before the listen", history: [{ ...opened, atMs: 500 } as HistoryEvent, write(1, 100), over] },
  ],
  "is fresh": [
    { says: "the newest text", history: [write(1, 100), write(2, 200), read(2, 300)] },
    { says: "an older text while it is written", history: [write(1, 100), write(2, 200), read(1, 199.5)] },
    { says: "an older text within the time to live", history: [write(1, 100), write(2, 200), read(1, 900, 1000)] },
  ],
  revokes: [
    { says: "a token that is refused in time", history: [revoked, tried(9000, true), tried(13_500, false)] },
    { says: "a history that ends before the time", history: [revoked, tried(9000, true)] },
  ],
  "follows rules": [
    { says: "a read refused in time", history: [rules(false, 100), asked(true, 4000), asked(false, 6000)] },
    {
      says: "a change during the read",
      history: [rules(false, 100), asked(true, 6000, 6100), rules(true, 6050), asked(true, 12_000)],
    },
    {
      says: "a change during faults",
      history: [rules(false, 1500), ...recovery, asked(true, 9000), asked(false, 12_000)],
    },
  ],
  fences: [
    {
      says: "holders one after the other",
      history: [lease("a", 1, 0), lease("a", 1, 10), lease("b", 2, 20), fenced(1, 1), fenced(2, 2), fenced(2, 3)],
    },
  ],
  "computes once": [{ says: "one computation", history: [computed("a")] }],
  recovers: [{ says: "both instances in time", history: recovery }],
  answers: [{ says: "a failure while an instance is gone", history: [failed(2000), ...recovery] }],
};

const violating: Readonly<Record<string, readonly Example[]>> = {
  remembers: [
    {
      says: "a set that was there and is missing during the faults",
      history: [saved, set(600, true), ...recovery, set(2000, false), set(7000, true)],
    },
    { says: "a set that is missing later", history: [saved, ...recovery, set(7000, false)] },
    { says: "a set that nobody looked at after the faults", history: [saved, set(600, true), ...recovery] },
    { says: "a token that is refused after the faults", history: [issued, ...recovery, token(7000)] },
  ],
  announces: [
    { says: "no notice", history: [opened, write(1, 100), over] },
    {
      says: "a notice of the write before only",
      history: [opened, write(1, 100), notice(200, "f"), write(2, 300), over],
    },
    { says: "a notice of another file", history: [opened, write(1, 100), notice(200, "g"), over] },
    { says: "a notice too late", history: [opened, write(1, 100), notice(5200, "f"), over] },
    { says: "no notice after the faults", history: [opened, write(1, 2000), ...recovery, over] },
  ],
  "is fresh": [
    { says: "an older text", history: [write(1, 100), write(2, 200), read(1, 300)] },
    { says: "an older text after the time to live", history: [write(1, 100), write(2, 200), read(1, 1300, 1000)] },
    { says: "no text of the file at all", history: [write(0, 100), read(-1, 300)] },
  ],
  revokes: [
    { says: "a token that is accepted too late", history: [revoked, tried(13_500, true)] },
    { says: "a token that nobody tried", history: [revoked, tried(2000, true), over] },
  ],
  "follows rules": [
    { says: "a read allowed by old rules", history: [rules(false, 100), asked(true, 6000)] },
    { says: "a read refused by old rules", history: [rules(false, 100), rules(true, 200), asked(false, 6000)] },
    { says: "rules that nobody tried", history: [rules(false, 100), asked(true, 200)] },
  ],
  fences: [
    { says: "two holders of one fence", history: [lease("a", 1, 0), lease("b", 1, 5)] },
    { says: "a holder who returns", history: [lease("a", 1, 0), lease("b", 2, 5), lease("a", 1, 9)] },
    { says: "a write with an old fence", history: [fenced(1, 1), fenced(2, 2), fenced(1, 3)] },
  ],
  "computes once": [{ says: "two computations", history: [computed("a"), computed("b")] }],
  recovers: [
    { says: "an instance that never returns", history: recovery.slice(0, 3) },
    {
      says: "an instance that returns late",
      history: [...recovery.slice(0, 3), { is: "recovered", instance: "b", atMs: 30_000 }],
    },
  ],
  answers: [
    { says: "a failure without a fault", history: [failed(2000)] },
    { says: "a failure after the recovery", history: [...recovery, failed(7000)] },
  ],
};

it("has examples for every rule", () => {
  expect(Object.keys(passing)).toEqual(ruleNames);
  expect(Object.keys(violating)).toEqual(ruleNames);
});

describe.each(ruleNames)("the rule %s", (name) => {
  it.each(passing[name]!)("accepts $says", ({ history }) => {
    expect(judge(history, bounds)).toEqual([]);
  });

  it.each(violating[name]!)("finds $says", ({ history }) => {
    const found = judge(history, bounds);
    expect(found.length).toBeGreaterThan(0);
    expect(found.map(({ rule }) => rule)).toEqual(found.map(() => name));
  });
});
