/** The model behind the figures of docs/scale.md for servers that are larger than any machine here. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { demands } from "../../bench/scale-model/demands.ts";
import { readMeasured } from "../../bench/scale-model/measured.ts";
import { extrapolate, planFor } from "../../bench/scale-model/plan.ts";
import { reproduce } from "../../bench/scale-model/reproduce.ts";
import { simulate, type Simulation } from "../../bench/scale-model/simulate.ts";

const one: Simulation = {
  kinds: { read: { share: 1, instanceUs: 1000, databaseUs: 0 } },
  instances: 1,
  instanceCores: 1,
  databaseCores: 1,
  balancerUs: 1,
  balancerWorkers: 1,
  load: { inFlight: 8 },
  requests: 20_000,
};

it("predicts the CPU of a request to one, two and three instances within 15 % of what was measured", () => {
  const reproduced = reproduce(readMeasured());
  expect(reproduced.map(({ point: { workload, instances } }) => `${workload}, ${instances}`)).toEqual(
    ["reads", "mix"].flatMap((workload) => [1, 2, 3].map((instances) => `${workload}, ${instances}`)),
  );
  const off = reproduced.filter(({ error }) => Math.abs(error.instanceUs) > 0.15);
  expect(off).toEqual([]);
});

it("simulates one processor that is never idle, and several that share the work", () => {
  expect(simulate(one).perSecond).toBeCloseTo(1000, -2);
  expect(simulate({ ...one, instances: 3, load: { inFlight: 48 } }).perSecond).toBeCloseTo(3000, -3);
  expect(simulate({ ...one, instanceCores: 0.5 }).perSecond).toBeCloseTo(500, -2);
});

it("simulates queues as theory says: requests that come at random wait longer the busier a processor is", () => {
  // An M/G/1 queue: half of each part is fixed and half exponential, and a request has two parts.
  const waits = [0.3, 0.6, 0.9].map((use) => {
    const { latencyMs } = simulate({ ...one, load: { perSecond: use * 1000 }, requests: 200_000 });
    return latencyMs["read"]!.p50;
  });
  expect(waits).toEqual([...waits].sort((left, right) => left - right));
  expect(waits[0]).toBeGreaterThan(0.9);
  expect(waits[0]).toBeLessThan(1.6);
  expect(waits[2]! / waits[0]!).toBeGreaterThan(2.5);
});

it("waits for a database that is the narrowest part", () => {
  const kinds = { search: { share: 1, instanceUs: 100, databaseUs: 1000 } };
  const few = simulate({ ...one, kinds, instances: 4, databaseCores: 2, load: { inFlight: 64 } });
  expect(few.perSecond).toBeCloseTo(2000, -3);
  expect(few.databaseUse).toBeGreaterThan(0.95);
});

it("is the same for the same seed", () => {
  const { latencyAt: _, ...first } = simulate(one);
  const { latencyAt: __, ...second } = simulate(one);
  const { latencyAt: ___, ...other } = simulate({ ...one, seed: 2 });
  expect(second).toEqual(first);
  expect(other).not.toEqual(first);
});

it("extrapolates by the two largest sizes, and never below the largest figure", () => {
  const sizes = [1000, 10_000, 100_000].map((texts) => ({
    texts,
    indexInstanceUs: 1,
    indexDatabaseUs: 1,
    bytes: 1,
    passages: 1,
    searchInstanceUs: 100,
    searchDatabaseUs: Math.sqrt(texts),
  }));
  expect(extrapolate(sizes, "searchDatabaseUs", 10_000_000)).toBeCloseTo(Math.sqrt(10_000_000));
  expect(extrapolate(sizes, "searchDatabaseUs", 10)).toBeCloseTo(Math.sqrt(100_000));
  expect(extrapolate(sizes, "searchInstanceUs", 1e9)).toBe(100);
});

it("gives docs/scale.md its figures", () => {
  const page = readFileSync(new URL("../../docs/scale.md", import.meta.url), "utf8");
  const measured = readMeasured();
  const plans = demands.map((demand) => planFor(demand, measured));
  for (const [label, values] of Object.entries({
    "groups (server, database, instances)": plans.map(({ groups }) => groups),
    instances: plans.map(({ instances }) => instances),
    "databases in each group": plans.map(({ databasesOfGroup }) => databasesOfGroup),
    "mounts, which are subjects of the bus": plans.map(({ mounts }) => mounts),
  })) {
    const row = page.split("\n").find((line) => line.startsWith(`| ${label} `));
    const cells = row?.split("|").slice(2, -1);
    expect(
      cells?.map((cell) => Number(cell.replaceAll(/[ ,]/g, ""))),
      label,
    ).toEqual(values);
  }
});
