/** What can happen to a cluster: each fault begins, holds for a while and is healed. */
import type { Cluster, Part } from "../../examples/cluster/start-cluster.ts";
import type { Network } from "./namespaces.ts";
import type { Random } from "./random.ts";

export interface Fault {
  readonly name: string;
  readonly holdMs: number;
  begin(): Promise<void>;
  heal(): Promise<void>;
}

interface FaultKind {
  readonly name: string;
  readonly needsNats?: boolean;
  begin(setting: FaultSetting): Promise<void> | void;
  heal(setting: FaultSetting): Promise<void> | void;
}

interface FaultSetting {
  readonly cluster: Cluster;
  readonly network: Network;
  /** The instance that it happens to. */
  readonly at: number;
}

const instanceOf = ({ cluster, at }: FaultSetting) => cluster.instances[at]!;

const kinds: readonly FaultKind[] = [
  {
    name: "kill an instance",
    begin: (setting) => instanceOf(setting).process.end("SIGKILL"),
    heal: (setting) => instanceOf(setting).restart(),
  },
  {
    name: "restart an instance",
    begin: (setting) => instanceOf(setting).process.end("SIGTERM"),
    heal: (setting) => instanceOf(setting).restart(),
  },
  {
    name: "pause an instance",
    begin: (setting) => void process.kill(instanceOf(setting).process.pid, "SIGSTOP"),
    heal: (setting) => void process.kill(instanceOf(setting).process.pid, "SIGCONT"),
  },
  {
    name: "cut an instance off",
    begin: (setting) => setting.network.cut(instanceOf(setting).name),
    heal: (setting) => setting.network.mend(instanceOf(setting).name),
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
    begin: ({ cluster }) => void process.kill(cluster.nats!.process.pid, "SIGSTOP"),
    heal: ({ cluster }) => void process.kill(cluster.nats!.process.pid, "SIGCONT"),
  },
  {
    name: "kill the proxy",
    begin: ({ cluster }) => cluster.proxy.process.end("SIGKILL"),
    heal: ({ cluster }) => startAgain(cluster.proxy),
  },
];

export const faultNames: readonly string[] = kinds.map(({ name }) => name);

/** One or two faults at a time; some of them last longer than a lease. */
export function drawFaults(random: Random, cluster: Cluster, network: Network): readonly Fault[] {
  const usable = kinds.filter(({ needsNats = false }) => cluster.nats !== undefined || !needsNats);
  const first = random.pick(usable);
  const others = usable.filter((kind) => kind !== first);
  const chosen = random.next() < 0.3 ? [first, random.pick(others)] : [first];
  const start = Math.floor(random.next() * cluster.instances.length);
  return chosen.map((kind, index) => {
    // Two faults happen to different instances: one that is killed cannot be paused.
    const setting = { cluster, network, at: (start + index) % cluster.instances.length };
    const holdMs = random.next() < 0.2 ? random.between(9000, 15_000) : random.between(500, 4000);
    return {
      name: kind.name.replace(/\ban instance\b/, cluster.instances[setting.at]!.name),
      holdMs,
      begin: async () => kind.begin(setting),
      heal: async () => kind.heal(setting),
    };
  });
}

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
