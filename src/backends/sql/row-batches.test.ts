import { describe, expect, it } from "vitest";
import { invalid, ResourceError } from "../../errors.ts";
import { refusal } from "../../testing/refusal.ts";
import { createRowBatches } from "./row-batches.ts";

const never = new AbortController().signal;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Batches of rows whose keys are digits, and the keys of each query. */
function open(hold: (signal: AbortSignal) => Promise<void> = async () => undefined) {
  const queries: string[][] = [];
  const rowOf = createRowBatches(async (keys, signal) => {
    queries.push(keys.map(([key]) => key!));
    await hold(signal);
    if (keys.some(([key]) => key === "x")) throw invalid("not a number");
    // As a database does, which reads 01 as 1.
    return keys.filter(([key]) => Number(key) < 100).map(([key]) => ({ key: [String(Number(key))] }));
  });
  return { queries, rowOf };
}

describe("requests for single rows", () => {
  it("of the same moment are one query, each with its own result", async () => {
    const { queries, rowOf } = open();
    const found = await Promise.all(["1", "2", "1", "200", "01"].map((key) => rowOf([key], never)));
    expect(found).toEqual([{ key: ["1"] }, { key: ["2"] }, { key: ["1"] }, undefined, undefined]);
    expect(queries).toEqual([["1", "2", "200", "01"]]);
    expect(await rowOf(["3"], never)).toEqual({ key: ["3"] });
  });

  it("are in several queries if they are many", async () => {
    const { queries, rowOf } = open();
    await Promise.all(Array.from({ length: 40 }, (_, key) => rowOf([String(key)], never)));
    expect(queries.map((keys) => keys.length)).toEqual([16, 16, 8]);
  });

  it("fail alone if their key is impossible, and together if the database fails", async () => {
    const { rowOf } = open();
    const both = await Promise.allSettled([rowOf(["x"], never), rowOf(["1"], never)]);
    expect(both).toMatchObject([{ status: "rejected" }, { status: "fulfilled", value: { key: ["1"] } }]);
    const gone = open(() => Promise.reject(new ResourceError("unavailable", "gone")));
    for (const each of [gone.rowOf(["1"], never), gone.rowOf(["2"], never)]) await refusal(each, ["unavailable"], "1");
    expect(gone.queries).toHaveLength(1);
  });

  it("are cancelled one by one; the query ends when nobody waits for it", async () => {
    const held = Promise.withResolvers<void>();
    const signals: AbortSignal[] = [];
    const { rowOf } = open((signal) => {
      signals.push(signal);
      return held.promise;
    });
    const stops = [new AbortController(), new AbortController()];
    const [first, second] = stops.map(({ signal }, key) => rowOf([String(key)], signal));
    while (signals.length === 0) await turn();
    stops[0]!.abort();
    await refusal(first!, ["cancelled"], "the first");
    expect(signals[0]!.aborted).toBe(false);
    stops[1]!.abort();
    await refusal(second!, ["cancelled"], "the second");
    expect(signals[0]!.aborted).toBe(true);
    await refusal(rowOf(["1"], AbortSignal.abort()), ["cancelled"], "an aborted one");
  });
});
