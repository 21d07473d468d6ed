/** A real S3 server for tests: OpenStack Swift with its S3 interface, from Debian's packages, on ports and in a folder of its own. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const swiftPackages = "swift swift-account swift-container swift-object swift-proxy memcached";

export interface Swift {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  stop(): Promise<void>;
  /** Everything stops answering, and nothing is lost. */
  pause(): void;
  resume(): void;
}

export function hasSwift(): boolean {
  try {
    execFileSync("swift-ring-builder", ["--version"], { stdio: "ignore" });
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code !== "ENOENT";
  }
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

export async function startSwift(): Promise<Swift> {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-swift-"));
  mkdirSync(join(folder, "devices", "d1"), { recursive: true });
  const [proxyPort = 0, memcachePort = 0, ...backendPorts] = await freePorts(5);
  const kinds = ["account", "container", "object"] as const;
  for (const [index, kind] of kinds.entries()) {
    const port = String(backendPorts[index]);
    const ring = (...args: string[]) =>
      execFileSync("swift-ring-builder", [`${kind}.builder`, ...args], { cwd: folder, stdio: "pipe" });
    ring("create", "4", "1", "1");
    ring(..."add --region 1 --zone 1 --ip 127.0.0.1 --device d1 --weight 1 --port".split(" "), port);
    ring("rebalance");
    writeFileSync(
      join(folder, `${kind}.conf`),
      `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 1
user = root
devices = ${join(folder, "devices")}
mount_check = false
swift_dir = ${folder}
fallocate_reserve = 0
log_level = ERROR
[pipeline:main]
pipeline = ${kind}-server
[app:${kind}-server]
use = egg:swift#${kind}
`,
    );
  }
  writeFileSync(
    join(folder, "proxy.conf"),
    `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${proxyPort}
workers = 1
user = root
swift_dir = ${folder}
log_level = ERROR
[pipeline:main]
pipeline = catch_errors cache listing_formats bulk s3api tempauth slo dlo versioned_writes symlink proxy-server
[app:proxy-server]
use = egg:swift#proxy
allow_account_management = true
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:${memcachePort}
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:bulk]
use = egg:swift#bulk
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
[filter:versioned_writes]
use = egg:swift#versioned_writes
allow_object_versioning = true
[filter:symlink]
use = egg:swift#symlink
[filter:s3api]
use = egg:swift#s3api
s3_acl = false
check_bucket_owner = false
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
`,
  );
  const children: ChildProcess[] = [];
  const run = (command: string, ...args: string[]) =>
    void children.push(spawn(command, args, { cwd: folder, stdio: "ignore", detached: true }));
  run("memcached", "-l", "127.0.0.1", "-p", String(memcachePort), "-u", "root");
  for (const kind of kinds) run(`swift-${kind}-server`, join(folder, `${kind}.conf`));

  const signalAll = (signal: NodeJS.Signals) => {
    for (const { pid } of children)
      try {
        if (pid !== undefined) process.kill(-pid, signal);
      } catch {
        // Gone already.
      }
  };
  const endpoint = `http://127.0.0.1:${proxyPort}`;
  const stop = async () => {
    const ended = children.map((child) =>
      child.exitCode === null ? new Promise((resolve) => child.once("exit", resolve)) : undefined,
    );
    signalAll("SIGCONT");
    signalAll("SIGKILL");
    await Promise.all(ended);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    // A proxy that finds no one behind it does not ask again for a minute.
    for (const port of backendPorts) await untilAnswers(`http://127.0.0.1:${port}`);
    run("swift-proxy-server", join(folder, "proxy.conf"));
    await untilAnswers(endpoint);
  } catch (cause) {
    await stop();
    throw cause;
  }
  return {
    endpoint,
    accessKeyId: "test:tester",
    secretAccessKey: "testing",
    pause: () => signalAll("SIGSTOP"),
    resume: () => signalAll("SIGCONT"),
    stop,
  };
}

/** There is no event for this but an answer. */
async function untilAnswers(endpoint: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline) {
    const status = await fetch(endpoint).then(
      (response) => response.status,
      () => 0,
    );
    if (status > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("Swift did not answer within a minute");
}
