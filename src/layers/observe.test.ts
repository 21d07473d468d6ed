import { describe, expect, it } from "vitest";
import { createMemory } from "../sources/memory.ts";
import { observe } from "./observe.ts";
import type { Observation } from "./observe.ts";

const call = { caller: { id: "test" }, signal: new AbortController().signal };

describe("observe", () => {
  it("reports mount, operation, duration and outcome before the result is passed on", async () => {
    const seen: Observation[] = [];
    const source = observe((observation) => seen.push(observation))(createMemory({ a: "1" }).source, { name: "m" });
    await source.read({ path: "a" }, call);
    expect(seen).toEqual([{ mount: "m", operation: "read", durationMs: expect.any(Number), outcome: "ok" }]);
    await source.stat?.({ path: "b" }, call).catch(() => undefined);
    expect(seen[1]).toMatchObject({ operation: "stat", outcome: "not-found" });
    for (const { durationMs } of seen) expect(durationMs).toBeGreaterThanOrEqual(0);
  });

  it("ignores an observer that throws", async () => {
    const source = observe(() => {
      throw new Error("no space left for metrics");
    })(createMemory({ a: "1" }).source, { name: "m" });
    expect(await source.read({ path: "a" }, call)).toHaveLength(1);
    await expect(source.read({ path: "b" }, call)).rejects.toMatchObject({ kind: "not-found" });
  });
});
