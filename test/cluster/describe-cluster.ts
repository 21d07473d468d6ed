/** What the short and the long test of a cluster share. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import { type ClusterTest, missingForCluster, type RoundResult } from "./run-rounds.ts";

const run = promisify(execFile);
const missing = missingForCluster();
/** In CI the test fails if a program is missing; elsewhere it is skipped. */
export const canRun = "CI" in process.env || missing.length === 0;
export const title = `a cluster${canRun ? "" : ` (skipped: ${missing.join("; ")})`}`;

/** Fails with the violations, the faults, and the seed to repeat them with. */
export function expectNone({ faults, violations, history }: RoundResult, seed: number): void {
  const times = history.filter(({ is }) => is === "fault" || is === "healed" || is === "recovered");
  const shown = violations.slice(0, 20).map(({ rule, text }) => `${rule}: ${text}`);
  expect(shown, `CLUSTER_SEED=${seed}: ${faults.join("; ")} ${JSON.stringify(times)}`).toEqual([]);
  // A round without such an operation proves nothing about it.
  const kinds = history.map(({ is }) => is);
  for (const kind of ["write", "read", "opened", "notice", "acknowledged", "observed", "computed"])
    expect(kinds).toContain(kind);
}

/** Restarts one instance after the other, each once the proxy uses the one before again. After the first, the tables get a migration of a newer version. */
export async function restartInTurn({ cluster, network }: ClusterTest): Promise<void> {
  const [program, ...words] = network.host("client").enter;
  const runScript = (name: string, ...args: string[]) =>
    run(program!, [...words, process.execPath, join(import.meta.dirname, name), ...args], { env: cluster.env });
  for (const [index, instance] of cluster.instances.entries()) {
    await instance.process.end("SIGTERM");
    await instance.restart();
    await runScript("until-requested.ts", instance.url, cluster.token);
    if (index === 0) await runScript("apply-migration.ts");
  }
}
