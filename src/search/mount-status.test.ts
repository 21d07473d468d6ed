import { describe, expect, it } from "vitest";
import type { CrawlState } from "./crawl.ts";
import { type MountFacts, toMountStatus } from "./mount-status.ts";

const complete: CrawlState = {
  phase: "complete",
  looked: 10,
  total: 10,
  isPassed: true,
  changes: 0,
  unread: 0,
  ready: 1,
};

const statusOf = (crawl: Partial<CrawlState>, more: Partial<MountFacts> = {}) =>
  toMountStatus({
    name: "m",
    key: "k",
    heard: 0,
    documents: 10,
    passages: 20,
    failure: undefined,
    problem: undefined,
    isFull: false,
    ...more,
    crawl: { ...complete, ...crawl },
  });

describe("the status of a mount", () => {
  it("is ready only when nothing is known to be missing", () => {
    expect(statusOf({})).toMatchObject({ state: "complete", looked: 10, total: 10, pending: 0, ready: 1 });
    expect(statusOf({}, { documents: 0 })).toMatchObject({ pending: 0, ready: 1 });
    expect(statusOf({ phase: "indexing", changes: 30 })).toMatchObject({ pending: 30, ready: 0.25 });
    expect(statusOf({ phase: "partial", unread: 10 })).toMatchObject({ pending: 10, unread: 10, ready: 0.5 });
    expect(statusOf({ phase: "indexing", changes: 1 }, { documents: 1e6 }).ready).toBe(0.99);
  });

  it("counts what a pass has not checked yet", () => {
    const passing = { phase: "indexing", isPassed: false, looked: 3, total: 12, changes: 2, ready: 0.25 } as const;
    expect(statusOf(passing)).toMatchObject({ looked: 3, total: 12, pending: 11, ready: 0.25 });
  });

  it("of an index that is full or missing is not ready", () => {
    expect(statusOf({}, { isFull: true, documents: 7 })).toMatchObject({
      state: "full",
      pending: 3,
      ready: 0.7,
      lastError: expect.stringContaining("search.maxBytes") as string,
    });
    expect(statusOf({}, { isFull: true }).ready).toBe(0.99);
    const problem = { reason: "disk-full", message: "the disk is full" } as const;
    expect(toMountStatus({ ...facts, problem })).toMatchObject({
      state: "unavailable",
      ready: 0,
      lastError: "the disk is full",
    });
    expect(toMountStatus({ ...facts, failure: "no" })).toMatchObject({ state: "failing", ready: 0, lastError: "no" });
  });

  const facts: MountFacts = {
    name: "m",
    key: "k",
    heard: 0,
    documents: 0,
    passages: 0,
    crawl: undefined,
    failure: undefined,
    problem: undefined,
    isFull: false,
  };
});
