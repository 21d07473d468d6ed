/** Starts instances of Pressmark with embedded or shared state, and measures requests to them. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { contestants } from "../contestants.ts";
import { median, quantile } from "../figures.ts";
import { openLanes, type Lane } from "../lanes.ts";
import { launch, type Running } from "../launch.ts";
import { cpuMicrosWithEnded } from "../meter.ts";
import { callTool, type Question } from "../questions.ts";
import type { Services } from "./services.ts";

const program = join(import.meta.dirname, "..", "..", "bin", "pressmark.js");

export interface Fleet {
  readonly instances: readonly Running[];
  stop(): Promise<void>;
}

export interface FleetOptions {
  readonly name: string;
  readonly count: number;
  readonly config: object;
  /** Shared state in a schema with the name of the fleet; embedded without. */
  readonly services?: Services | undefined;
  /** With a caller and a token for it, which every request sends. */
  readonly withToken?: boolean;
}

/** Instances of one server. Each has its own folder for state and cache, as it would have on its own machine. */
export async function startFleet({ name, count, config, services, withToken = false }: FleetOptions): Promise<Fleet> {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-fleet-"));
  const file = join(folder, "config.json");
  const shared = services && { state: services.stateUrl(name.replaceAll(/\W+/g, "_")), bus: services.busUrl };
  const { server = {}, ...rest } = config as { readonly server?: object };
  writeFileSync(
    file,
    JSON.stringify({ ...(withToken && { callers: { aki: {} } }), ...rest, server: { ...server, ...shared } }),
  );
  const envOf = (instance: number) => {
    const own = join(folder, String(instance));
    mkdirSync(own, { recursive: true });
    return { ...process.env, XDG_STATE_HOME: own, XDG_CACHE_HOME: own };
  };
  const token = withToken
    ? execFileSync(process.execPath, [program, "token", "create", "aki", "--config", file], {
        env: envOf(0),
        encoding: "utf8",
        stdio: ["ignore", "pipe", "inherit"],
      }).trim()
    : undefined;
  const pressmark = contestants.find((each) => each.name === "pressmark")!;
  const instances: Running[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(instances.map((each) => each.stop()));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    for (let instance = 0; instance < count; instance += 1) {
      const command = () => ({
        args: [program, "serve", "--port", "0", "--config", file],
        env: envOf(instance),
        ...(token !== undefined && { token }),
      });
      instances.push(await launch({ ...pressmark, name, command }, "http", { folder, pageSize: 1000 }));
    }
    return { instances, stop };
  } catch (cause) {
    await stop();
    throw cause;
  }
}

export function search(query: string): Question {
  return callTool("search_resources", { query });
}

/** Resolves when every instance answers searches from a complete index. */
export async function indexed({ instances }: Fleet): Promise<void> {
  for (const instance of instances) {
    const { lanes, close } = await openLanes(instance, "modern", 1);
    for (;;) {
      const { body } = await lanes[0]!.ask(search("index"), true);
      const { result } = JSON.parse(body) as { result?: { structuredContent?: { ready?: number } } };
      if (result?.structuredContent === undefined) throw new Error(`a search was refused: ${body.slice(0, 500)}`);
      if (result.structuredContent.ready === 1) break;
      await wait(500);
    }
    close();
  }
}

/** Sends requests over all lanes at once, each lane one at a time, until there were so many. With `perSecond`, no faster than that. */
export async function drive(
  lanes: readonly Lane[],
  questions: readonly Question[],
  count: number,
  leastBytes: number,
  perSecond = Infinity,
): Promise<{ readonly latencies: readonly number[]; readonly bytes: number }> {
  const latencies: number[] = [];
  let left = count;
  let received = 0;
  const began = performance.now();
  await Promise.all(
    lanes.map(async (lane) => {
      while (left-- > 0) {
        const at = left;
        const dueMs = began + ((count - at) / perSecond) * 1000;
        if (dueMs > performance.now()) await wait(dueMs - performance.now());
        const from = performance.now();
        const { bytes } = await lane.ask(questions[at % questions.length]!);
        latencies.push(performance.now() - from);
        received += bytes;
        if (bytes < leastBytes) throw new Error(`a response has ${bytes} bytes instead of ${leastBytes} or more`);
      }
    }),
  );
  return { latencies, bytes: received };
}

/** One of those that are compared: where requests go to, and the processes that do the work for them. */
export interface Party {
  readonly name: string;
  readonly target: Running;
  /** Processes by part: instance, database, … */
  readonly parts: Readonly<Record<string, readonly number[]>>;
  /** Multiplies the number of requests, and of requests in flight. Default: 1 */
  readonly size?: number;
  /** Instead of the requests of the comparison. */
  readonly requesting?: Requesting;
  /** Others that get the same requests at the same time, and are not measured. */
  readonly beside?: readonly Running[];
}

export interface Requesting {
  /** Requests of a round. */
  readonly count: number;
  readonly leastBytes: number;
  readonly questions: readonly Question[];
  /** Requests are not sent faster than this. Default: as fast as they are answered. */
  readonly perSecond?: number;
}

export interface PartyFigures {
  readonly name: string;
  /** CPU µs per request, by part; medians of rounds. */
  readonly cpu: Readonly<Record<string, number>>;
  /** × the first party in the same round; medians of rounds. */
  readonly ratio: Readonly<Record<string, number>>;
  readonly p50: number;
  readonly p99: number;
  readonly perSecond: number;
  /** Of a response, without its head. */
  readonly bytes: number;
}

export interface Comparison extends Requesting {
  readonly inFlight: number;
  readonly rounds: number;
}

/** All parties in turn, round after round, after one round that is not measured. "together" is the sum of all parts. */
export async function compareParties(parties: readonly Party[], options: Comparison): Promise<PartyFigures[]> {
  const { inFlight, rounds } = options;
  const taken = parties.map(() => ({
    cpu: [] as Record<string, number>[],
    ratio: [] as Record<string, number>[],
    latencies: [] as number[],
    perSecond: [] as number[],
    bytes: [] as number[],
  }));
  for (let round = -1; round < rounds; round += 1) {
    let baseline: Record<string, number> = {};
    for (const [index, { target, parts, size = 1, requesting = options, beside = [] }] of parties.entries()) {
      const { questions, leastBytes, perSecond = Infinity } = requesting;
      const count = requesting.count * size;
      const { lanes, close } = await openLanes(target, "modern", inFlight * size);
      const others = await Promise.all(beside.map((other) => openLanes(other, "modern", inFlight)));
      for (const { lanes: all } of [{ lanes }, ...others])
        await Promise.all(all.map((lane) => lane.ask(questions[0]!)));
      const driven = others.map((other) => drive(other.lanes, questions, count, leastBytes, perSecond));
      const before = meter(parts);
      const from = performance.now();
      const { latencies, bytes } = await drive(lanes, questions, count, leastBytes, perSecond * size);
      const seconds = (performance.now() - from) / 1000;
      const after = meter(parts);
      await Promise.all(driven);
      for (const each of [{ close }, ...others]) each.close();
      if (round < 0) continue;
      const cpu: Record<string, number> = {};
      for (const [part, micros] of Object.entries(after)) cpu[part] = (micros - before[part]!) / count;
      cpu["together"] = Object.values(cpu).reduce((sum, each) => sum + each, 0);
      if (index === 0) baseline = cpu;
      const own = taken[index]!;
      own.cpu.push(cpu);
      own.ratio.push({
        instance: cpu["instance"]! / baseline["instance"]!,
        together: cpu["together"] / baseline["together"]!,
      });
      own.latencies.push(...latencies);
      own.perSecond.push(count / seconds);
      own.bytes.push(bytes / count);
    }
  }
  return parties.map(({ name }, index) => {
    const { cpu, ratio, latencies, perSecond, bytes } = taken[index]!;
    return {
      name,
      cpu: medians(cpu),
      ratio: medians(ratio),
      p50: median(latencies),
      p99: quantile(latencies, 0.99),
      perSecond: median(perSecond),
      bytes: median(bytes),
    };
  });
}

export function meter(parts: Party["parts"]): Record<string, number> {
  return Object.fromEntries(
    Object.entries(parts).map(([part, pids]) => [part, pids.reduce((sum, pid) => sum + cpuMicrosWithEnded(pid), 0)]),
  );
}

function medians(rows: readonly Record<string, number>[]): Record<string, number> {
  return Object.fromEntries(Object.keys(rows[0] ?? {}).map((key) => [key, median(rows.map((row) => row[key]!))]));
}

/** The processes of a fleet and of what it shares. */
export function partsOf({ instances }: Fleet, services: Services | undefined): Party["parts"] {
  const instance = instances.map(({ pid }) => pid);
  return services ? { instance, database: [services.databasePid], bus: [services.busPid] } : { instance };
}
