/**
 * Runs timing-dependent tests repeatedly while every core is busy, and lists those that failed.
 *
 *     npm run test:stress -- [--count 20] [--busy 2] [--report file.json] [file …]
 */
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";

/** Tests that start watches, processes, threads and servers. */
const timed = [
  "src/client",
  "src/server/watch-file.test.ts",
  "src/server/reloadable-resources.test.ts",
  "src/server/session-records.test.ts",
  "src/server/shared-index-claims.test.ts",
  "src/backends/documents/extract.test.ts",
  "src/backends/disk-watch/watch.test.ts",
  "src/backends/disk-watch/watch-tree.test.ts",
  "src/sources/postgres.test.ts",
  "src/transport/embedded.test.ts",
  "src/transport/fetch-handler.test.ts",
  "src/transport/listen.test.ts",
  "src/transport/stdio.test.ts",
  "src/state",
  "src/cli/commands/shared-state.test.ts",
  "src/watch",
  "test/e2e/behaviour.test.ts",
  "test/cluster/shared-watch.test.ts",
  "test/faults",
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: "string", default: "20" },
    busy: { type: "string", default: String(availableParallelism()) },
    /** File for the report of the last round, or of the last failed one. */
    report: { type: "string" },
  },
});
const rounds = Number(values.count);
const files = positionals.length > 0 ? positionals : timed;

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

const folder = mkdtempSync(join(tmpdir(), "pressmark-stress-"));
// Threads, so that they always end with this process.
const busy = Array.from({ length: Number(values.busy) }, () => new Worker("for (;;);", { eval: true }));
const failures = new Map<string, number>();
try {
  for (let round = 1; round <= rounds; round++) {
    const failed = await run();
    for (const name of failed) failures.set(name, (failures.get(name) ?? 0) + 1);
    console.log(`round ${round} of ${rounds}: ${failed.length === 0 ? "passed" : `${failed.length} failed`}`);
  }
} finally {
  for (const thread of busy) await thread.terminate();
  rmSync(folder, { recursive: true, force: true });
}
for (const [name, count] of failures) console.log(`failed ${count} of ${rounds} times: ${name}`);
process.exitCode = failures.size === 0 ? 0 : 1;

/** Names of the failed tests. */
async function run(): Promise<string[]> {
  const report = join(folder, "report.json");
  rmSync(report, { force: true });
  const vitest = join(import.meta.dirname, "..", "node_modules", "vitest", "vitest.mjs");
  const words = [vitest, "run", "--reporter=json", "--reporter=default", `--outputFile.json=${report}`, ...files];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const code = await new Promise((resolve) => child.on("close", resolve));
  const isReported = existsSync(report);
  if (values.report !== undefined && isReported && (code !== 0 || failures.size === 0))
    copyFileSync(report, values.report);
  if (code === 0) return [];
  console.log(output);
  const { testResults } = isReported ? (JSON.parse(readFileSync(report, "utf8")) as Report) : { testResults: [] };
  const failed = testResults.flatMap(({ name, status, assertionResults }) => {
    const names = assertionResults.filter((test) => test.status === "failed").map(({ fullName }) => fullName);
    return names.length > 0 ? names : status === "failed" ? [name] : [];
  });
  return failed.length > 0 ? failed : [`vitest itself, with exit code ${String(code)}`];
}
