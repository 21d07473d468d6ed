/** What can happen to a cluster: each fault begins, holds for a while and is healed. */
import type { Cluster, Part } from "../../examples/cluster/start-cluster.ts";
import { signalFamily } from "../live/signal-family.ts";
import { findLeader } from "./find-leader.ts";
import type { Network } from "./namespaces.ts";
import type { Random } from "./random.ts";

export interface Fault {
  readonly name: string;
  readonly holdMs: number;
  begin(): Promise<void>;
  heal(): Promise<void>;
}

interface FaultKind {
  /** Names what it happens to: "an instance", "the leader", or another part. */
  readonly name: string;
  readonly needsNats?: boolean;
  begin(setting: FaultSetting): Promise<void> | void;
  heal(setting: FaultSetting): Promise<void> | void;
}

interface FaultSetting {
  readonly cluster: Cluster;
  readonly network: Network;
  /** The instance that it happens to. */
  at: number;
}

const instanceOf = ({ cluster, at }: FaultSetting) => cluster.instances[at]!;

const ofOneInstance = (instance: "an instance" | "the leader"): readonly FaultKind[] => [
  {
    name: `kill ${instance}`,
    begin: (setting) => instanceOf(setting).process.end("SIGKILL"),
    heal: (setting) => instanceOf(setting).restart(),
  },
  {
    name: `pause ${instance}`,
    begin: (setting) => signalFamily(instanceOf(setting).process.pid, "SIGSTOP"),
    heal: (setting) => signalFamily(instanceOf(setting).process.pid, "SIGCONT"),
  },
  {
    name: `cut ${instance} off`,
    begin: (setting) => setting.network.cut(instanceOf(setting).name),
    heal: (setting) => setting.network.mend(instanceOf(setting).name),
  },
];

const kinds: readonly FaultKind[] = [
  ...ofOneInstance("an instance"),
  ...ofOneInstance("the leader"),
  {
    name: "restart an instance",
    begin: (setting) => instanceOf(setting).process.end("SIGTERM"),
    heal: (setting) => instanceOf(setting).restart(),
  },
  {
    name: "separate an instance from PostgreSQL",
    begin: (setting) => setting.network.separate(instanceOf(setting).name, "postgres"),
    heal: (setting) => setting.network.join(instanceOf(setting).name, "postgres"),
  },
  {
    name: "separate an instance from NATS",
    needsNats: true,
    begin: (setting) => setting.network.separate(instanceOf(setting).name, "nats"),
    heal: (setting) => setting.network.join(instanceOf(setting).name, "nats"),
  },
  {
    name: "separate an instance from the proxy",
    begin: (setting) => setting.network.separate(instanceOf(setting).name, "proxy"),
    heal: (setting) => setting.network.join(instanceOf(setting).name, "proxy"),
  },
  {
    name: "cut PostgreSQL off",
    begin: ({ network }) => network.cut("postgres"),
    heal: ({ network }) => network.mend("postgres"),
  },
  {
    name: "kill PostgreSQL",
    begin: ({ cluster }) => cluster.database.process.end("SIGKILL"),
    heal: ({ cluster }) => startAgain(cluster.database),
  },
  {
    name: "pause PostgreSQL",
    begin: ({ cluster }) => signalFamily(cluster.database.process.pid, "SIGSTOP"),
    heal: ({ cluster }) => signalFamily(cluster.database.process.pid, "SIGCONT"),
  },
  {
    name: "cut NATS off",
    needsNats: true,
    begin: ({ network }) => network.cut("nats"),
    heal: ({ network }) => network.mend("nats"),
  },
  {
    name: "kill NATS",
    needsNats: true,
    begin: ({ cluster }) => cluster.nats!.process.end("SIGKILL"),
    heal: ({ cluster }) => cluster.nats!.restart(),
  },
  {
    name: "pause NATS",
    needsNats: true,
    begin: ({ cluster }) => signalFamily(cluster.nats!.process.pid, "SIGSTOP"),
    heal: ({ cluster }) => signalFamily(cluster.nats!.process.pid, "SIGCONT"),
  },
  {
    name: "kill the proxy",
    begin: ({ cluster }) => cluster.proxy.process.end("SIGKILL"),
    heal: ({ cluster }) => startAgain(cluster.proxy),
  },
  {
    name: "pause the proxy",
    begin: ({ cluster }) => signalFamily(cluster.proxy.process.pid, "SIGSTOP"),
    heal: ({ cluster }) => signalFamily(cluster.proxy.process.pid, "SIGCONT"),
  },
  {
    name: "cut the proxy off",
    begin: ({ network }) => network.cut("proxy"),
    heal: ({ network }) => network.mend("proxy"),
  },
];

/** One or two faults at a time; some of them last longer than a lease. */
export function drawFaults(random: Random, cluster: Cluster, network: Network): readonly Fault[] {
  const usable = kinds.filter(({ needsNats = false }) => cluster.nats !== undefined || !needsNats);
  const first = random.pick(usable);
  // The leader is known only when its fault begins, and an instance that is killed cannot be paused.
  const others = usable.filter((kind) => kind !== first && !(isOfLeader(kind) && concernsInstance(first)));
  const second = random.pick(isOfLeader(first) ? others.filter((kind) => !concernsInstance(kind)) : others);
  const chosen = random.next() < 0.3 ? [first, second] : [first];
  const start = Math.floor(random.next() * cluster.instances.length);
  return chosen.map((kind, index) => {
    // Two faults happen to different instances.
    const setting = { cluster, network, at: (start + index) % cluster.instances.length };
    const holdMs = random.next() < 0.2 ? random.between(9000, 15_000) : random.between(500, 4000);
    return {
      get name() {
        return kind.name.replace(/\b(an instance|the leader)\b/, `$1 (${cluster.instances[setting.at]!.name})`);
      },
      holdMs,
      begin: async () => {
        if (isOfLeader(kind)) setting.at = (await findLeader(cluster)) ?? setting.at;
        await kind.begin(setting);
      },
      heal: async () => kind.heal(setting),
    };
  });
}

const isOfLeader = ({ name }: FaultKind): boolean => name.includes("the leader");
const concernsInstance = (kind: FaultKind): boolean => isOfLeader(kind) || kind.name.includes("an instance");

/** Children of a killed process may hold its port or its memory for a moment. */
async function startAgain(part: Pick<Part, "restart">): Promise<void> {
  for (let left = 20; ; left -= 1) {
    try {
      return await part.restart();
    } catch (cause) {
      if (left === 0) throw cause;
    }
  }
}
