/** How many instances, databases and buses a demand needs, which limit decides, and the latency to expect. */
import { type IndexCosts, kinds, type Measured, type RequestKind } from "./measured.ts";
import { simulate } from "./simulate.ts";

export interface Demand {
  readonly name: string;
  readonly resources: number;
  readonly listens: number;
  readonly requestsPerSecond: number;
  readonly mix: Readonly<Record<RequestKind, number>>;
  readonly updatesPerSecond: number;
  /** Listens that are notified of one update, on average. */
  readonly listensOfUpdate: number;
  /** Whether a search concerns the mounts of one group of instances, or of all groups. */
  readonly searches: "one group" | "all groups";
}

/** Not measured: what operators choose, and what is assumed about hardware. */
export interface Assumptions {
  /** Share of the processors of instances and databases that may be used. */
  readonly use: number;
  readonly databaseCores: number;
  readonly databaseMemoryBytes: number;
  /** Share of the index that must be in the memory of the database. */
  readonly hotShare: number;
  /** In how many hours an index must be built again from the beginning. */
  readonly rebuildHours: number;
  readonly filesOfMount: number;
  readonly databaseConnections: number;
}

export const usualAssumptions: Assumptions = {
  use: 0.6,
  databaseCores: 32,
  databaseMemoryBytes: 256 * 1024 ** 3,
  hotShare: 0.25,
  rebuildHours: 24,
  filesOfMount: 250_000,
  databaseConnections: 500,
};

/** From the code of Pressmark. */
const listensOfInstance = 100_000;
const connectionsOfInstance = 6;
const leasesOfMount = 2;
const secondUs = 1e6;

export interface Plan {
  readonly demand: Demand;
  /** Servers with a config, a database and instances of their own. */
  readonly groups: number;
  /** Why there are so many groups: each limit by itself. */
  readonly groupLimits: Readonly<Record<"memory" | "rebuild" | "updates" | "searches" | "connections", number>>;
  readonly instances: number;
  readonly instanceLimits: Readonly<Record<"processor" | "listens", number>>;
  /** Of each group: 1, or more with replicas that answer searches. */
  readonly databasesOfGroup: number;
  readonly databaseBytes: number;
  /** Until one group is indexed again. */
  readonly rebuildHours: number;
  readonly instanceBytes: number;
  readonly mounts: number;
  readonly leasesOfGroup: number;
  readonly heartbeatCoresOfGroup: number;
  readonly deliveriesPerSecond: number;
  readonly busCoresOfGroup: number;
  readonly responseBytesPerSecond: number;
  readonly searchDatabaseUs: number;
  readonly instanceUse: number;
  readonly databaseUse: number;
  readonly latencyMs: Readonly<Record<RequestKind, { readonly p50: number; readonly p99: number }>>;
}

export function planFor(demand: Demand, measured: Measured, assumed: Assumptions = usualAssumptions): Plan {
  const { resources, requestsPerSecond, mix, updatesPerSecond, searches } = demand;
  const largest = measured.index.at(-1)!;
  const searchesPerSecond = requestsPerSecond * mix.search;
  const searchUs = (groups: number, part: "searchInstanceUs" | "searchDatabaseUs"): number =>
    extrapolate(measured.index, part, resources / groups);
  const databaseCapacityUs = assumed.databaseCores * assumed.use * secondUs;

  const groupLimits = {
    memory: Math.ceil((resources * largest.bytes * assumed.hotShare) / assumed.databaseMemoryBytes),
    // Writers of one index take turns, so that one processor builds it.
    rebuild: Math.ceil((resources * largest.indexDatabaseUs) / (assumed.rebuildHours * 3600 * secondUs)),
    updates: Math.ceil((updatesPerSecond * largest.indexDatabaseUs) / (assumed.use * secondUs)),
    searches:
      searches === "one group"
        ? least((groups) => (searchesPerSecond / groups) * searchUs(groups, "searchDatabaseUs") <= databaseCapacityUs)
        : 1,
    connections: 1,
  };
  let groups = Math.max(...Object.values(groupLimits));
  let instances = instancesFor(demand, measured, assumed, groups, searchUs(groups, "searchInstanceUs"));
  // More groups may be needed for the connections alone; then each has fewer instances.
  groupLimits.connections = Math.ceil((instances.count * connectionsOfInstance) / assumed.databaseConnections);
  if (groupLimits.connections > groups) {
    groups = groupLimits.connections;
    instances = instancesFor(demand, measured, assumed, groups, searchUs(groups, "searchInstanceUs"));
  }
  // Whole instances, at least two in each group.
  const ofGroup = Math.max(2, Math.ceil(instances.count / groups));
  const count = ofGroup * groups;
  const searchDatabaseUs = searchUs(groups, "searchDatabaseUs");
  const searchesOfGroup = searches === "all groups" ? searchesPerSecond : searchesPerSecond / groups;
  const databasesOfGroup = Math.max(1, Math.ceil((searchesOfGroup * searchDatabaseUs) / databaseCapacityUs));

  const othersOfGroup = (requestsPerSecond * (1 - mix.search)) / groups;
  const ofGroupPerSecond = othersOfGroup + searchesOfGroup;
  const shareOf = (kind: RequestKind): number =>
    kind === "search"
      ? searchesOfGroup / ofGroupPerSecond
      : (requestsPerSecond * mix[kind]) / groups / ofGroupPerSecond;
  const simulated = simulate({
    kinds: Object.fromEntries(
      kinds
        .filter((kind) => mix[kind] > 0)
        .map((kind) => {
          const { instanceUs, databaseUs } = measured.requests[kind];
          const costs =
            kind === "search"
              ? { instanceUs: searchUs(groups, "searchInstanceUs"), databaseUs: searchDatabaseUs }
              : { instanceUs, databaseUs };
          return [kind, { share: shareOf(kind), ...costs }];
        }),
    ),
    instances: ofGroup,
    // The CPU time that an instance needs for changes is not available for requests.
    instanceCores: 1 - instances.overheadUs / secondUs,
    databaseCores: assumed.databaseCores * databasesOfGroup,
    balancerUs: measured.balancerUs,
    balancerWorkers: Math.max(1, Math.ceil((ofGroupPerSecond * measured.balancerUs) / (assumed.use * secondUs))),
    load: { perSecond: ofGroupPerSecond },
    requests: 100_000,
  });
  /** A search of all groups waits for the slowest. */
  const latencyOf = (kind: RequestKind): { p50: number; p99: number } => {
    const power = kind === "search" && searches === "all groups" ? 1 / groups : 1;
    return { p50: simulated.latencyAt(kind, 0.5 ** power), p99: simulated.latencyAt(kind, 0.99 ** power) };
  };

  const mounts = Math.ceil(resources / assumed.filesOfMount);
  return {
    demand,
    groups,
    groupLimits,
    instances: count,
    instanceLimits: instances.limits,
    databasesOfGroup,
    databaseBytes: resources * largest.bytes,
    rebuildHours: ((resources / groups) * largest.indexDatabaseUs) / secondUs / 3600,
    instanceBytes: count * measured.instanceBytes + demand.listens * measured.listens.bytes,
    mounts,
    leasesOfGroup: Math.ceil((mounts * leasesOfMount) / groups),
    heartbeatCoresOfGroup: (ofGroup * measured.idle.databaseUs) / secondUs,
    deliveriesPerSecond: updatesPerSecond * ofGroup,
    busCoresOfGroup:
      ((updatesPerSecond / groups) * (measured.bus.engineUs + measured.bus.engineEachUs * ofGroup)) / secondUs,
    responseBytesPerSecond: kinds.reduce(
      (sum, kind) => sum + requestsPerSecond * mix[kind] * measured.requests[kind].bytes,
      0,
    ),
    searchDatabaseUs,
    instanceUse: simulated.instanceUse,
    databaseUse: simulated.databaseUse,
    latencyMs: { read: latencyOf("read"), list: latencyOf("list"), search: latencyOf("search") },
  };
}

function instancesFor(
  { requestsPerSecond, mix, updatesPerSecond, listensOfUpdate, listens, searches }: Demand,
  { requests, bus, idle, listens: { notifyUs }, index }: Measured,
  { use }: Assumptions,
  groups: number,
  searchInstanceUs: number,
): { readonly count: number; readonly limits: Plan["instanceLimits"]; readonly overheadUs: number } {
  const searching = mix.search * searchInstanceUs * (searches === "all groups" ? groups : 1);
  const requestUs = mix.read * requests.read.instanceUs + mix.list * requests.list.instanceUs + searching;
  const changeUs = listensOfUpdate * notifyUs + index.at(-1)!.indexInstanceUs;
  // Every instance of a group receives every change of its mounts.
  const overheadUs = (updatesPerSecond / groups) * bus.receiveUs + idle.instanceUs;
  const perInstanceUs = use * secondUs - overheadUs;
  if (perInstanceUs <= 0) throw new Error("the changes alone take a whole instance: use more groups");
  const limits = {
    processor: Math.ceil((requestsPerSecond * requestUs + updatesPerSecond * changeUs) / perInstanceUs),
    listens: Math.ceil(listens / listensOfInstance),
  };
  return { count: Math.max(limits.processor, limits.listens), limits, overheadUs };
}

/** A power law through the two largest measured sizes. Not below the largest measured figure, because the law is not known to hold. */
export function extrapolate(
  index: readonly IndexCosts[],
  part: "searchInstanceUs" | "searchDatabaseUs",
  texts: number,
): number {
  const [smaller, larger] = [index.at(-2)!, index.at(-1)!];
  const power = Math.max(0, Math.log(larger[part] / smaller[part]) / Math.log(larger.texts / smaller.texts));
  return larger[part] * Math.max(1, texts / larger.texts) ** power;
}

/** The smallest number from 1 for which it holds. */
function least(holds: (count: number) => boolean): number {
  let count = 1;
  while (!holds(count) && count < 1e6) count += 1;
  return count;
}
