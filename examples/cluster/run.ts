/** Starts three instances of one server with PostgreSQL, NATS and a proxy, until Ctrl-C: `node examples/cluster/run.ts`. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { checkCluster } from "./check-cluster.ts";
import type { ProxyKind } from "./proxy.ts";
import { startCluster } from "./start-cluster.ts";

const usage = `node examples/cluster/run.ts [--check] [--proxy nginx|haproxy] [--no-nats]

--check    check the cluster, stop it and exit
--proxy    what distributes the requests (nginx)
--no-nats  changes go through PostgreSQL`;

const values = readFlags();
if (values.help) {
  console.log(usage);
  process.exit(0);
}

function readFlags() {
  try {
    const { values: flags } = parseArgs({
      options: {
        check: { type: "boolean", default: false },
        proxy: { type: "string", default: "nginx" },
        "no-nats": { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    if (["nginx", "haproxy"].includes(flags.proxy)) return flags;
    throw new Error(`--proxy takes nginx or haproxy, not "${flags.proxy}"`);
  } catch (cause) {
    console.error(`${(cause as Error).message}\n\n${usage}`);
    process.exit(2);
  }
}

const stopped = new Promise<void>((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
});
const folder = mkdtempSync(join(tmpdir(), "pressmark-cluster-"));
// PostgreSQL runs as another user if this program is root, and must reach its folder in this one.
chmodSync(folder, 0o711);
try {
  const cluster = await startCluster({ folder, proxy: values.proxy as ProxyKind, hasNats: !values["no-nats"] });
  try {
    writeFileSync(join(cluster.notes, "welcome.md"), "# Welcome\n\nServed by three instances.\n");
    console.log(`${cluster.url}  (Authorization: Bearer ${cluster.token})`);
    for (const {
      name,
      url,
      process: { pid },
    } of cluster.instances)
      console.log(`  ${name}  ${url}  process ${pid}`);
    console.log(`  serves ${cluster.notes}`);
    if (values.check) {
      const checked = checkCluster(cluster, (line) => console.log(`checked: ${line}`)).then(
        () => "all is as it should be",
      );
      console.log(await Promise.race([checked, stopped.then(() => "stopped before the end of the check")]));
    } else {
      console.log("Ctrl-C stops it");
      await stopped;
    }
  } catch (cause) {
    for (const {
      name,
      process: { output },
    } of cluster.instances)
      console.error(`${name}:\n${output.slice(-3000)}`);
    throw cause;
  } finally {
    await cluster.close();
  }
} catch (cause) {
  console.error(cause instanceof Error ? cause.message : String(cause));
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
