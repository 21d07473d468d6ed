/** One, two and three instances behind nginx at a steady rate: what a request takes. */
import type { Case, Row } from "../case.ts";
import { openLanes } from "../lanes.ts";
import type { Running } from "../launch.ts";
import {
  compareParties,
  drive,
  indexed,
  type Fleet,
  type Party,
  type Requesting,
  startFleet,
} from "../shared/instances.ts";
import { type Balancer, startBalancer, startServices } from "../shared/services.ts";
import { requestsTo } from "./shared.ts";

/** Of each instance: so few that all processes together never need the two processors of a small machine. */
export const rates = { read: 300, list: 8, search: 8, reads: 300, mix: 60 };
const seconds = 6;
/** For each instance: more than are ever under way at these rates. */
const inFlight = 8;

export const instancesCase: Case = {
  name: "shared-instances",
  title: "one, two and three instances behind nginx, at a steady rate, HTTP",
  needs: ["texts"],
  isLong: true,
  columns: [
    { key: "perSecond", label: "requests/s", digits: 0 },
    { key: "instance", label: "instance, CPU µs", digits: 1 },
    { key: "balancer", label: "nginx", digits: 1 },
    { key: "database", label: "database", digits: 1 },
    { key: "together", label: "together", digits: 1 },
    { key: "p50", label: "p50 ms", digits: 2 },
    { key: "p99", label: "p99 ms", digits: 2 },
  ],
  targets: [],
  async run({ fixture, rounds }) {
    const services = await startServices();
    const balancers: Balancer[] = [];
    let fleet: Fleet | undefined;
    try {
      const config = { mounts: { files: { source: "file", root: fixture.texts } } };
      fleet = await startFleet({ name: "shared", count: 3, config, services, withToken: true });
      await indexed(fleet);
      const { instances } = fleet;
      const parties: Party[] = [];
      for (const count of [1, 2, 3]) {
        const used = instances.slice(0, count);
        const balancer = await startBalancer(used.map(({ http }) => http!.port));
        balancers.push(balancer);
        const target: Running = { ...used[0]!, http: { ...used[0]!.http!, port: balancer.port } };
        const processes = {
          instance: used.map(({ pid }) => pid),
          balancer: [balancer.pid],
          database: [services.databasePid],
        };
        parties.push({ name: String(count), target, parts: processes, size: count });
      }
      const requests = requestsTo(fixture.texts);
      const steady = (requesting: Requesting, perSecond: number): Requesting => {
        return { ...requesting, perSecond, count: perSecond * seconds };
      };
      const workloads = { reads: steady(requests.read, rates.reads), mix: steady(mixOf(requests), rates.mix) };
      // Afterwards there is little left to compile.
      for (const instance of instances) {
        const { lanes, close } = await openLanes(instance, "modern", 8);
        for (const { questions, count, leastBytes } of Object.values(workloads))
          await drive(lanes, questions, 8 * count, leastBytes);
        close();
      }
      // Without nginx, each kind by itself: from these the model predicts the rest.
      const parts = { ...parties[0]!.parts, balancer: [] };
      const alone = (kind: keyof typeof requests): Party => {
        return {
          name: `${kind}, alone`,
          target: instances[0]!,
          parts,
          requesting: steady(requests[kind], rates[kind]),
        };
      };
      const compared = {
        reads: [
          alone("read"),
          { ...alone("read"), name: "read beside two others, alone", beside: instances.slice(1) },
          ...parties,
        ],
        mix: [alone("list"), alone("search"), ...parties],
      };
      const rows: Row[] = [];
      for (const [workload, requesting] of Object.entries(workloads)) {
        const entered = compared[workload as keyof typeof compared];
        const figures = await compareParties(entered, { ...requesting, inFlight, rounds });
        for (const { name, cpu, p50, p99, perSecond } of figures)
          rows.push({
            contestant: name.endsWith("alone") ? name : `${workload}, ${name}`,
            figures: { ...cpu, p50, p99, perSecond },
          });
      }
      return rows;
    } finally {
      await Promise.all(balancers.map((balancer) => balancer.stop()));
      await fleet?.stop();
      await services.stop();
    }
  },
};

/** Of 100 requests, 94 reads, 2 lists and 4 searches. */
export const mixShares = { read: 0.94, list: 0.02, search: 0.04 };

function mixOf({ read, list, search }: Readonly<Record<"read" | "list" | "search", Requesting>>): Requesting {
  const questions = Array.from({ length: 400 }, (_, at) => {
    const place = at % 100;
    if (place === 25 || place === 75) return list.questions[0]!;
    const from = place % 25 === 10 ? search.questions : read.questions;
    return from[at % from.length]!;
  });
  return { count: 0, leastBytes: 500, questions };
}
