/** A cluster in namespaces with clients, and rounds of faults on it. */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { ProxyKind } from "../../examples/cluster/proxy.ts";
import { type Cluster, missingPrograms, startCluster } from "../../examples/cluster/start-cluster.ts";
import { drawFaults } from "./faults.ts";
import { type HistoryEvent, nowMs } from "./history.ts";
import { type Bounds, judge, type Violation } from "./judge.ts";
import { createNetwork, missingForNamespaces, type Network } from "./namespaces.ts";
import { createRandom } from "./random.ts";
import type { WorkloadSettings } from "./workload-context.ts";
import type { WorkloadOrder } from "./workload.ts";

export const clusterBounds: Bounds = {
  rememberMs: 5000,
  noticeMs: 20_000,
  revocationMs: 15_000,
  ruleMs: 6000,
  recoveryMs: 45_000,
  instances: ["instance-1", "instance-2", "instance-3"],
};

export interface ClusterTestOptions {
  readonly proxy?: ProxyKind;
  readonly hasNats?: boolean;
  /** False: each instance is a server of its own. */
  readonly isShared?: boolean;
  readonly instanceCount?: number;
  readonly recoveryMs?: number;
}

export interface ClusterTest {
  readonly cluster: Cluster;
  readonly network: Network;
  /** One round: load, faults, recovery, and what the rules say about it. */
  round(seed: number, options?: RoundOptions): Promise<RoundResult>;
  /** Load through the proxy while this runs, in which no request may fail. */
  during(seed: number, work: () => Promise<void>): Promise<RoundResult>;
  close(): Promise<void>;
}

export interface RoundOptions {
  /** Whether to wait for checks that take longer than a round. */
  readonly isLast?: boolean;
  readonly maxHoldMs?: number;
}

export interface RoundResult {
  readonly faults: readonly string[];
  readonly violations: readonly Violation[];
  readonly history: readonly HistoryEvent[];
}

/** What is missing to run it, as sentences. */
export function missingForCluster(): readonly string[] {
  const namespaces = missingForNamespaces();
  return [
    ...missingPrograms({ proxy: "nginx", hasNats: true }),
    ...missingPrograms({ proxy: "haproxy", hasNats: false }),
    ...(namespaces === undefined ? [] : [namespaces]),
  ].filter((text, at, all) => all.indexOf(text) === at);
}

export async function openClusterTest({
  proxy = "nginx",
  hasNats = true,
  isShared = true,
  instanceCount = 3,
  recoveryMs = clusterBounds.recoveryMs,
}: ClusterTestOptions = {}): Promise<ClusterTest> {
  const missing = missingForCluster();
  if (missing.length > 0) throw new Error(missing.join("\n"));
  const names = Array.from({ length: instanceCount }, (_, at) => `instance-${at + 1}`);
  const bounds = { ...clusterBounds, recoveryMs, instances: names };
  const folder = mkdtempSync(join(tmpdir(), "pressmark-cluster-"));
  chmodSync(folder, 0o711);
  const network = createNetwork([...names, "postgres", "nats", "proxy", "client"]);
  const closers: (() => Promise<unknown> | void)[] = [
    () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
    () => network.close(),
  ];
  const close = async (): Promise<void> => {
    for (const each of closers.splice(0).toReversed()) await each();
  };
  try {
    const cluster = await startCluster({
      folder,
      proxy,
      hasNats,
      isShared,
      instanceCount,
      hostOf: (part) => network.host(part),
      config: (own) => ({
        mounts: {
          notes: { source: "file", root: join(own, "notes") },
          wall: { source: "analysis", url: "${env:CLUSTER_STATE}" },
        },
        callers: { aki: {}, bo: {} },
        server: { tools: ["search_resources", "list_resources", "read_resource", "save_set", "actions"] },
      }),
    });
    closers.push(() => cluster.close());
    const clients = await startWorkload(cluster, network, bounds);
    closers.push(() => clients.end());

    async function runRound(
      seed: number,
      work: (record: (event: HistoryEvent) => void) => Promise<readonly string[]>,
      { isLast = false, isThroughProxy = false },
    ): Promise<RoundResult> {
      const own: HistoryEvent[] = [];
      await clients.order({ order: "begin", seed, isThroughProxy });
      const faults = await work((event) => own.push(event));
      const late = (await clients.order({ order: "recover", withinMs: bounds.recoveryMs })) as readonly string[];
      const seen = (await clients.order({ order: "finish", isLast })) as readonly HistoryEvent[];
      const history = [...own, ...seen];
      const violations = [...judge(history, bounds)];
      if (faults.length === 0)
        violations.push(...late.map((name) => ({ rule: "recovers", text: `${name} does not answer correctly` })));
      return { faults, violations, history };
    }

    return {
      cluster,
      network,
      round: (seed, { isLast = false, maxHoldMs = Infinity } = {}) =>
        runRound(
          seed,
          async (record) => {
            const random = createRandom(seed).branch("faults");
            const faults = drawFaults(random, cluster, network);
            await wait(random.between(800, 2000));
            try {
              for (const fault of faults) {
                record({ is: "fault", fault: fault.name, atMs: nowMs() });
                await fault.begin();
              }
              await wait(Math.min(maxHoldMs, Math.max(...faults.map(({ holdMs }) => holdMs))));
            } finally {
              // All at the same time: an instance starts only when its database is there.
              await Promise.all(faults.map((fault) => fault.heal()));
              network.mendAll();
            }
            record({ is: "healed", atMs: nowMs() });
            return faults.map(({ name, holdMs }) => `${name} for ${Math.round(holdMs)} ms`);
          },
          { isLast },
        ),
      during: (seed, work) =>
        runRound(
          seed,
          async () => {
            await work();
            return [];
          },
          { isThroughProxy: true },
        ),
      close,
    };
  } catch (cause) {
    await close();
    throw cause;
  }
}

interface Clients {
  order(order: WorkloadOrder): Promise<unknown>;
  end(): Promise<void>;
}

async function startWorkload(cluster: Cluster, network: Network, bounds: Bounds): Promise<Clients> {
  const settings: WorkloadSettings = {
    proxy: cluster.url,
    instances: Object.fromEntries(cluster.instances.map(({ name, url }) => [name, url])),
    token: cluster.token,
    notes: cluster.notes,
    config: cluster.config,
    env: cluster.env,
    files: Array.from({ length: 6 }, (_, at) => `counter-${at}.md`),
    bounds,
  };
  const [program, ...words] = network.host("client").enter;
  const script = join(import.meta.dirname, "workload.ts");
  const child: ChildProcess = spawn(program!, [...words, process.execPath, script, JSON.stringify(settings)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const gone = new Promise<never>((_, reject) => {
    child.once("exit", (code) => reject(new Error(`the clients ended with ${code}`)));
  });
  gone.catch(() => undefined);
  const answer = (): Promise<unknown> =>
    Promise.race([
      gone,
      new Promise((resolve, reject) => {
        child.once("message", (message: { readonly result?: unknown; readonly error?: string }) =>
          message.error === undefined ? resolve(message.result) : reject(new Error(message.error)),
        );
      }),
    ]);
  await answer();
  return {
    order(order) {
      const answered = answer();
      child.send(order);
      return answered;
    },
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.disconnect();
      await gone.catch(() => undefined);
    },
  };
}
