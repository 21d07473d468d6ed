/** Many rounds of faults on clusters. To try one again: `CLUSTER_SEED=… CLUSTER_ROUNDS=1 npm run test:long -- cluster`. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canRun, expectNone, restartInTurn, title } from "../cluster/describe-cluster.ts";
import { type ClusterTest, type ClusterTestOptions, openClusterTest } from "../cluster/run-rounds.ts";

const seed = Number(process.env["CLUSTER_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));
const rounds = Number(process.env["CLUSTER_ROUNDS"] ?? 200);
console.log(`CLUSTER_SEED=${seed} CLUSTER_ROUNDS=${rounds}`);

/** Most rounds with NATS; the others without it and behind the other proxy. */
const clusters: readonly (readonly [string, ClusterTestOptions, number])[] = [
  ["with NATS, behind nginx", { hasNats: true, proxy: "nginx" }, Math.ceil(rounds * 0.6)],
  ["without NATS, behind HAProxy", { hasNats: false, proxy: "haproxy" }, Math.floor(rounds * 0.4)],
];

describe.skipIf(!canRun).each(clusters.filter(([, , count]) => count > 0))(`${title} %s`, (_, options, count) => {
  let test: ClusterTest;
  beforeAll(async () => {
    test = await openClusterTest(options);
  });
  afterAll(() => test?.close());

  it("answers every request while its instances are restarted in turn", async () => {
    expectNone(await test.during(seed, () => restartInTurn(test)), seed);
  });

  const seeds = Array.from({ length: count }, (__, index) => seed + index);
  it.each(seeds)("keeps its promises through the faults of seed %i", async (each) => {
    expectNone(await test.round(each, { isLast: each === seeds.at(-1) }), each);
  });
});

it.skipIf(!canRun)("finds what three servers behind one proxy forget if they share nothing", async () => {
  const test = await openClusterTest({ isShared: false, recoveryMs: 4000 });
  try {
    const { violations } = await test.round(seed, { maxHoldMs: 1000 });
    expect(new Set(violations.map(({ rule }) => rule))).toContain("remembers");
  } finally {
    await test.close();
  }
});
