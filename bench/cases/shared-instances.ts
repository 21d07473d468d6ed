/** One, two and three instances behind nginx, each with a small share of a processor: what a request takes, and how many pass. */
import { setPriority } from "node:os";
import type { Case, Row } from "../case.ts";
import { openLanes } from "../lanes.ts";
import type { Running } from "../launch.ts";
import { familyOf } from "../meter.ts";
import {
  compareParties,
  drive,
  indexed,
  type Fleet,
  type Party,
  type Requesting,
  startFleet,
} from "../shared/instances.ts";
import { limitCpu } from "../shared/cpu-quota.ts";
import { type Balancer, startBalancer, startServices } from "../shared/services.ts";
import { requestsTo } from "./shared.ts";

/** So little that three instances, nginx, the database and the client never need all of two processors. */
export const quotaCores = 0.2;
/** For each instance. More than an instance handles before its share is used up: else all requests would wait for one instance, and the others have none. */
export const inFlight = 24;

export const instancesCase: Case = {
  name: "shared-instances",
  title: `one, two and three instances with ${quotaCores} of a processor each, behind nginx, HTTP`,
  needs: ["texts"],
  isLong: true,
  columns: [
    { key: "perSecond", label: "requests/s", digits: 0 },
    { key: "gain", label: "× one", digits: 2 },
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
    const lifts: (() => void)[] = [];
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
      const workloads = { reads: { ...requests.read, count: 8000 }, mix: mixOf(requests) };
      // The compiler works with all processors; afterwards there is little left for it to do.
      for (const instance of instances) {
        const { lanes, close } = await openLanes(instance, "modern", 8);
        for (const { questions, count, leastBytes } of Object.values(workloads))
          await drive(lanes, questions, 4 * count, leastBytes);
        close();
      }
      for (const { pid } of instances) lifts.push(limitCpu(pid, quotaCores));
      // The client and nginx need little, but at once: else other work on the machine would decide how many requests pass.
      for (const pid of [process.pid, ...balancers.flatMap(({ pid: each }) => familyOf(each))]) setPriority(pid, -15);
      // Without nginx, each kind by itself: from these the model predicts the rest.
      const parts = { ...parties[0]!.parts, balancer: [] };
      const alone = (kind: keyof typeof requests, count: number): Party => {
        return { name: `${kind}, alone`, target: instances[0]!, parts, requesting: { ...requests[kind], count } };
      };
      const compared = {
        reads: [alone("read", workloads.reads.count), ...parties],
        mix: [alone("list", 40), alone("search", 60), ...parties],
      };
      const rows: Row[] = [];
      for (const [workload, requesting] of Object.entries(workloads)) {
        const entered = compared[workload as keyof typeof compared];
        const figures = await compareParties(entered, { ...requesting, inFlight, rounds });
        const one = figures.find(({ name }) => name === "1")!;
        for (const { name, cpu, p50, p99, perSecond } of figures)
          rows.push({
            contestant: name.endsWith("alone") ? name : `${workload}, ${name}`,
            figures: {
              ...cpu,
              p50,
              p99,
              perSecond,
              gain: name.endsWith("alone") ? Number.NaN : perSecond / one.perSecond,
            },
          });
      }
      return rows;
    } finally {
      setPriority(process.pid, 0);
      await Promise.all(balancers.map((balancer) => balancer.stop()));
      await fleet?.stop();
      for (const lift of lifts) lift();
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
  return { count: 1500, leastBytes: 500, questions };
}
