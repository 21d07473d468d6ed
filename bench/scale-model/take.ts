/** `node bench/scale-model/take.ts RESULTS.json…`: computes the constants of the model from results of the bench, and stores them in measured.json. */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { mixShares, rates } from "../cases/shared-instances.ts";
import { kinds, type Measured, measuredFile, type RequestKind } from "./measured.ts";

interface Results {
  readonly date: string;
  readonly node: string;
  readonly cores: number;
  readonly rounds: number;
  readonly cases: readonly {
    readonly name: string;
    readonly rows: readonly { readonly contestant: string; readonly figures: Readonly<Record<string, number>> }[];
  }[];
}

const results = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, "utf8")) as Results);
const [first] = results;
if (!first) throw new Error("node bench/scale-model/take.ts RESULTS.json…: name the results of all cases shared-*");

function row(name: string, contestant: string): Readonly<Record<string, number>> {
  for (const { cases } of results) {
    const found = cases.find((each) => each.name === name)?.rows.find((each) => each.contestant === contestant);
    if (found) return found.figures;
  }
  throw new Error(`no results of ${name} have the row ${JSON.stringify(contestant)}`);
}

function figure(name: string, contestant: string, key: string): number {
  const value = row(name, contestant)[key];
  if (typeof value !== "number") throw new Error(`${name}, ${contestant} has no figure ${JSON.stringify(key)}`);
  return round(value);
}

function byKind<T>(of: (kind: RequestKind) => T): Record<RequestKind, T> {
  return { read: of("read"), list: of("list"), search: of("search") };
}

const engine = (count: number): number => figure("shared-bus", `NATS, ${count}`, "engine");
const received = (count: number): number => figure("shared-bus", `NATS, ${count}`, "instances");
const measured: Measured = {
  date: first.date.slice(0, 10),
  machine: `${cpus()[0]?.model ?? "unknown processor"}, ${first.cores} cores, Node ${first.node}, ${first.rounds} rounds`,
  requests: byKind((kind) => ({
    instanceUs: figure("shared-requests", `${kind}, shared`, "instance"),
    databaseUs: kind === "search" ? figure("shared-requests", "search, shared", "database") : 0,
    bytes: figure("shared-requests", `${kind}, shared`, "bytes"),
  })),
  idle: {
    instanceUs: figure("shared-requests", "a second, shared", "instance"),
    databaseUs: figure("shared-requests", "a second, shared", "database"),
  },
  listens: {
    bytes: round(figure("shared-listens", "shared, 3 instances", "kib") * 1024),
    notifyUs: figure("shared-listens", "shared, 3 instances", "instance"),
    databaseUs: figure("shared-listens", "shared, 3 instances", "database"),
  },
  instanceBytes: round(figure("shared-growth", "100,000", "rss") * 1024 ** 2),
  balancerUs: figure("shared-instances", "reads, 1", "balancer"),
  bus: {
    perSecond: figure("shared-bus", "NATS, 3", "perSecond"),
    // A line through one and six receivers.
    engineEachUs: round((engine(6) - engine(1)) / 5),
    engineUs: round(engine(1) - (engine(6) - engine(1)) / 5),
    receiveUs: round((received(6) - received(1)) / 5),
  },
  index: ["1,000", "10,000", "100,000"].map((texts) => {
    const of = (key: string): number => figure("shared-growth", texts, key);
    return {
      texts: Number(texts.replaceAll(",", "")),
      indexInstanceUs: of("indexInstance"),
      indexDatabaseUs: of("indexDatabase"),
      bytes: of("bytes"),
      passages: of("passages"),
      searchInstanceUs: of("searchInstance"),
      searchDatabaseUs: of("searchDatabase"),
    };
  }),
  calibration: byKind((kind) => ({
    instanceUs: round(
      figure("shared-instances", `${kind}, alone`, "instance") -
        figure("shared-requests", "a second, shared", "instance") / rates[kind],
    ),
    databaseUs: kind === "search" ? figure("shared-instances", "search, alone", "database") : 0,
  })),
  besideTwo: round(
    figure("shared-instances", "read beside two others, alone", "instance") /
      figure("shared-instances", "read, alone", "instance"),
  ),
  mix: mixShares,
  points: (["reads", "mix"] as const).flatMap((workload) =>
    [1, 2, 3].map((instances) => ({
      workload,
      instances,
      perSecond: figure("shared-instances", `${workload}, ${instances}`, "perSecond"),
      instanceUs: figure("shared-instances", `${workload}, ${instances}`, "instance"),
    })),
  ),
};
writeFileSync(measuredFile, `${JSON.stringify(measured, undefined, 2)}\n`);
console.log(`${kinds.length} kinds, ${measured.points.length} points: ${measuredFile}`);

function round(value: number): number {
  return Number(value.toPrecision(5));
}
