/** A real Prometheus for tests, and a node-exporter to measure: Debian's packages, on loopback ports and in a folder of their own. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { end, freePort, untilSaid } from "./processes.ts";

export const prometheusPackages = "prometheus prometheus-node-exporter";

export interface PrometheusOptions {
  /** `host:port` of what is measured, by job. */
  readonly targets: Readonly<Record<string, string>>;
  /** A file of rules, where there are any. */
  readonly rules?: string;
  /** Users and bcrypt hashes of their passwords, where it asks who they are. */
  readonly users?: Readonly<Record<string, string>>;
}

export interface Prometheus {
  readonly url: string;
  /** Resolves when it is gone. */
  stop(): Promise<void>;
  /** With the same data, at the same address; resolves once it answers. */
  start(): Promise<void>;
  /** Reads its rules again. */
  reload(rules: string): Promise<void>;
  /** Afterwards nothing runs, and nothing is left on the disk. */
  close(): Promise<void>;
}

export interface NodeExporter {
  /** `host:port` */
  readonly target: string;
  stop(): Promise<void>;
}

export function hasPrometheus(): boolean {
  return ["prometheus", "prometheus-node-exporter"].every(
    (program) => spawnSync(program, ["--version"], { stdio: "ignore" }).error === undefined,
  );
}

export async function startNodeExporter(): Promise<NodeExporter> {
  const target = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    "prometheus-node-exporter",
    [`--web.listen-address=${target}`, ...["cpu", "loadavg", "meminfo"].map((each) => `--collector.${each}`)],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  await untilSaid("Listening on", child);
  return { target, stop: () => end(child) };
}

export async function startPrometheus({ targets, rules = "", users }: PrometheusOptions): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-prometheus-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const jobs = Object.entries(targets).map(
    ([job, target]) => `  - job_name: ${job}\n    static_configs: [{ targets: ["${target}"] }]\n`,
  );
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  file(
    "prometheus.yml",
    `global: { scrape_interval: 1s, evaluation_interval: 1s }\nrule_files: [rules.yml]\nscrape_configs:\n${jobs.join("")}`,
  );
  file("rules.yml", rules);
  if (users) file("web.yml", `basic_auth_users: ${JSON.stringify(users)}\n`);
  let running: ChildProcess | undefined;

  async function start(): Promise<void> {
    running = spawn(
      "prometheus",
      [
        `--config.file=${join(folder, "prometheus.yml")}`,
        `--storage.tsdb.path=${join(folder, "data")}`,
        `--web.listen-address=127.0.0.1:${port}`,
        "--web.enable-lifecycle",
        ...(users ? [`--web.config.file=${join(folder, "web.yml")}`] : []),
      ],
      { cwd: folder, stdio: ["ignore", "ignore", "pipe"] },
    );
    await untilSaid("Server is ready to receive web requests", running);
  }

  async function stop(): Promise<void> {
    const child = running;
    running = undefined;
    if (child) await end(child);
  }

  try {
    await start();
  } catch (cause) {
    await stop();
    rmSync(folder, { recursive: true, force: true });
    throw cause;
  }
  return {
    url,
    start,
    stop,
    async reload(next) {
      file("rules.yml", next);
      const { ok, status } = await fetch(`${url}/-/reload`, { method: "POST" });
      if (!ok) throw new Error(`Prometheus did not take the rules (${status})`);
    },
    async close() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
