/** `node bench/scale-model/run.ts [--json]`: what the model reproduces, and what it predicts. */
import { parseArgs } from "node:util";
import { demands } from "./demands.ts";
import { readMeasured } from "./measured.ts";
import { type Plan, planFor } from "./plan.ts";
import { reproduce } from "./reproduce.ts";

const { values } = parseArgs({ options: { json: { type: "boolean", default: false } } });
const measured = readMeasured();
const reproduced = reproduce(measured);
const plans = demands.map((demand) => planFor(demand, measured));
if (values.json) console.log(JSON.stringify({ reproduced, plans }, undefined, 2));
else {
  console.log(`Measured ${measured.date}: ${measured.machine}\n`);
  print([
    ["workload", "instances", "requests/s", "CPU µs", "predicted", ""],
    ...reproduced.map(({ point, predicted, error }) => [
      point.workload,
      String(point.instances),
      point.perSecond.toFixed(0),
      point.instanceUs.toFixed(0),
      predicted.instanceUs.toFixed(0),
      percent(error.instanceUs),
    ]),
  ]);
  const rows: [string, (plan: Plan) => string][] = [
    ["groups (server, database, instances)", ({ groups }) => String(groups)],
    ["  for memory of the database", ({ groupLimits }) => String(groupLimits.memory)],
    ["  to build the index again in time", ({ groupLimits }) => String(groupLimits.rebuild)],
    ["  for updates of the index", ({ groupLimits }) => String(groupLimits.updates)],
    ["  for searches", ({ groupLimits }) => String(groupLimits.searches)],
    ["  for connections", ({ groupLimits }) => String(groupLimits.connections)],
    ["instances", ({ instances }) => String(instances)],
    ["  for the processor", ({ instanceLimits }) => String(instanceLimits.processor)],
    ["  for listens", ({ instanceLimits }) => String(instanceLimits.listens)],
    ["databases in each group", ({ databasesOfGroup }) => String(databasesOfGroup)],
    ["index, TB", ({ databaseBytes }) => (databaseBytes / 1e12).toFixed(1)],
    ["index built again, hours", ({ rebuildHours }) => rebuildHours.toFixed(1)],
    ["memory of all instances, GiB", ({ instanceBytes }) => (instanceBytes / 1024 ** 3).toFixed(0)],
    ["mounts, which are subjects of the bus", ({ mounts }) => String(mounts)],
    ["leases in each group", ({ leasesOfGroup }) => String(leasesOfGroup)],
    ["database, processors for heartbeats", ({ heartbeatCoresOfGroup }) => heartbeatCoresOfGroup.toFixed(2)],
    ["bus, deliveries/s", ({ deliveriesPerSecond }) => deliveriesPerSecond.toFixed(0)],
    ["bus, processors in each group", ({ busCoresOfGroup }) => busCoresOfGroup.toFixed(2)],
    ["responses, Gbit/s", ({ responseBytesPerSecond }) => ((responseBytesPerSecond * 8) / 1e9).toFixed(1)],
    ["a search, ms of the database", ({ searchDatabaseUs }) => (searchDatabaseUs / 1000).toFixed(1)],
    ["use of instances, %", ({ instanceUse }) => (instanceUse * 100).toFixed(0)],
    ["use of databases, %", ({ databaseUse }) => (databaseUse * 100).toFixed(0)],
    ...(["read", "list", "search"] as const).map((kind): [string, (plan: Plan) => string] => [
      `${kind}, p50 / p99 ms`,
      ({ latencyMs }) => `${latencyMs[kind].p50.toFixed(1)} / ${latencyMs[kind].p99.toFixed(1)}`,
    ]),
  ];
  print([["", ...demands.map(({ name }) => name)], ...rows.map(([label, show]) => [label, ...plans.map(show)])]);
}

function percent(share: number): string {
  return `${share >= 0 ? "+" : ""}${(share * 100).toFixed(0)} %`;
}

function print(rows: readonly (readonly string[])[]): void {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  for (const row of rows)
    console.log(
      `| ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join(" | ")} |`,
    );
  console.log("");
}
