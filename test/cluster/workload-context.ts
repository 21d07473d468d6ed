/** What the clients of a workload share: where the cluster is, what they have done, and the history. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { ask, type McpAnswer, type McpTarget } from "../../examples/cluster/mcp.ts";
import { type HistoryEvent, nowMs } from "./history.ts";
import type { Random } from "./random.ts";

const run = promisify(execFile);
const program = join(import.meta.dirname, "../../bin/pressmark.js");
const attemptMs = 8000;

/** Sent to the process of the workload as its argument. */
export interface WorkloadSettings {
  readonly proxy: string;
  /** URLs by name. */
  readonly instances: Readonly<Record<string, string>>;
  readonly token: string;
  readonly notes: string;
  readonly config: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly files: readonly string[];
  readonly bounds: { readonly revocationMs: number; readonly noticeMs: number; readonly ruleMs: number };
}

export interface NamedTarget extends McpTarget {
  /** "proxy", or the name of the instance. */
  readonly name: string;
}

export interface WorkloadContext {
  readonly settings: WorkloadSettings;
  readonly random: Random;
  /** Whether all requests go through the proxy. */
  readonly isThroughProxy: boolean;
  /** Ends the load of the round. */
  readonly signal: AbortSignal;
  readonly proxy: NamedTarget;
  readonly instances: readonly NamedTarget[];
  record(event: HistoryEvent): void;
}

export function targetsOf({ proxy, instances, token }: WorkloadSettings): {
  readonly proxy: NamedTarget;
  readonly instances: readonly NamedTarget[];
} {
  return {
    proxy: { name: "proxy", url: proxy, token },
    instances: Object.entries(instances).map(([name, url]) => ({ name, url, token })),
  };
}

export function uriOf({ notes }: WorkloadSettings, file: string): string {
  return pathToFileURL(join(notes, file)).href;
}

/** Half of the requests go through the proxy, unless all do. */
export function anyTarget({ random, proxy, instances, isThroughProxy }: WorkloadContext): NamedTarget {
  return isThroughProxy || random.next() < 0.5 ? proxy : random.pick(instances);
}

/** Calls it again and again, with a pause of 0.5 to 1.5 × `everyMs`, until the load ends. A failure of one call does not end it. */
export async function repeat(
  { signal, random }: WorkloadContext,
  everyMs: number,
  work: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    await work();
    await pause(random.between(everyMs * 0.5, everyMs * 1.5), signal);
  }
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}

/** A request as a careful client sends it, which may be repeated: it is sent three times before it counts as failed. */
export async function attempt(
  { record }: Pick<WorkloadContext, "record">,
  target: NamedTarget,
  method: string,
  params: object,
): Promise<McpAnswer | undefined> {
  const startMs = nowMs();
  let reason = "";
  for (let left = 3; left > 0; left -= 1) {
    try {
      const answer = await ask(target, method, params, attemptMs);
      if (answer.result || answer.error || ![502, 503, 504].includes(answer.status)) return answer;
      reason = `status ${answer.status}`;
    } catch (cause) {
      reason = `${String(cause)} ${String((cause as { readonly cause?: unknown }).cause ?? "")}`;
    }
  }
  // With its beginning and end: if there was a fault between them, the request may fail.
  record({ is: "failed", by: target.name, operation: method, reason, startMs, endMs: nowMs() });
  return undefined;
}

/** What the command prints; undefined if it fails. */
export async function runCommand(
  { config, env }: WorkloadSettings,
  ...words: readonly string[]
): Promise<string | undefined> {
  try {
    const options = { env: env as NodeJS.ProcessEnv, timeout: 30_000, killSignal: "SIGKILL" as const };
    return (await run(process.execPath, [program, ...words, "--config", config], options)).stdout.trim();
  } catch {
    return undefined;
  }
}
