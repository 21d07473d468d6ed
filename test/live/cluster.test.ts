/** A cluster with real PostgreSQL, NATS and proxies in network namespaces, and a few faults. `npm run test:long -- cluster` tries many. */
import { afterAll, beforeAll, describe, it } from "vitest";
import { canRun, expectNone, restartInTurn, title } from "../cluster/describe-cluster.ts";
import { type ClusterTest, openClusterTest } from "../cluster/run-rounds.ts";

const seed = Number(process.env["CLUSTER_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));
console.log(`CLUSTER_SEED=${seed}`);

describe.skipIf(!canRun)(title, () => {
  let test: ClusterTest;
  beforeAll(async () => {
    test = await openClusterTest();
  });
  afterAll(() => test?.close());

  it("answers every request while its instances are restarted in turn, with a newer schema from the second on", async () => {
    expectNone(await test.during(seed, () => restartInTurn(test)), seed);
  });

  it.each([seed, seed + 1])("keeps its promises through the faults of seed %i", async (each) => {
    expectNone(await test.round(each, { isLast: each === seed + 1, maxHoldMs: 4000 }), each);
  });
});
