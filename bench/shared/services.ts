/** The services that many instances need, started for the bench on loopback: PostgreSQL, NATS, and nginx before the instances. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { startPostgres } from "../../test/live/postgres.ts";

export interface Services {
  /** For `server.state`, with a schema of its own for each name. */
  stateUrl(schema: string): string;
  /** For `server.bus`. */
  readonly busUrl: string;
  readonly databasePid: number;
  readonly busPid: number;
  /** Bytes of all tables and indexes of a schema, and the passages in its search index. */
  sizeOf(schema: string): Promise<{ readonly bytes: number; readonly passages: number }>;
  stop(): Promise<void>;
}

/** As a small server in production: everything is synced to the disk, and the data fits into memory. */
const databaseSettings = [
  "fsync = on",
  "full_page_writes = on",
  "shared_buffers = 1GB",
  "max_connections = 100",
  "max_wal_size = 4GB",
  "autovacuum_naptime = 10s",
];

export async function startServices(): Promise<Services> {
  const postgres = await startPostgres("debian", { settings: databaseSettings });
  const nats = await startNats().catch(async (cause: unknown) => {
    await postgres.close();
    throw cause;
  });
  const databasePid = Number(readFileSync(join(postgres.folder, "data", "postmaster.pid"), "utf8").split("\n")[0]);
  return {
    stateUrl: (schema) => `${postgres.url("postgres")}?schema=${schema}`,
    busUrl: nats.url,
    databasePid,
    busPid: nats.pid,
    async sizeOf(schema) {
      const client = await postgres.connect("postgres");
      try {
        await client.query("vacuum analyze");
        const { rows } = await client.query<{ bytes: string; passages: string }>(
          `select sum(pg_total_relation_size(c.oid)) as bytes, (select sum(passages) from ${schema}.search_mounts) as passages
           from pg_class c join pg_namespace n on n.oid = relnamespace where nspname = $1 and relkind = 'r'`,
          [schema],
        );
        return { bytes: Number(rows[0]!.bytes), passages: Number(rows[0]!.passages) };
      } finally {
        await client.end();
      }
    },
    async stop() {
      await nats.stop();
      await postgres.close();
    },
  };
}

async function startNats(): Promise<{ readonly url: string; readonly pid: number; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-nats-"));
  const port = await freePort();
  const child = spawn(
    "nats-server",
    ["--jetstream", "--store_dir", folder, "--addr", "127.0.0.1", "--port", String(port)],
    { stdio: "ignore" },
  );
  const stop = async (): Promise<void> => {
    await end(child);
    rmSync(folder, { recursive: true, force: true });
  };
  await accepting(port, child, "nats-server");
  return { url: `nats://127.0.0.1:${port}`, pid: child.pid!, stop };
}

export interface Balancer {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

/** nginx with one worker, which sends requests to the instances in turn and keeps its connections to them. */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-nginx-"));
  const port = await freePort();
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; worker_processes 1; worker_rlimit_nofile 20000; pid ${folder}/pid; error_log ${folder}/error.log;
${process.getuid?.() === 0 ? "user root;" : ""}
events { worker_connections 15000; }
http {
  access_log off;
${temporary.map((name) => `  ${name}_temp_path ${folder}/${name};`).join("\n")}
  keepalive_requests 1000000000;
  upstream instances {
${ports.map((each) => `    server 127.0.0.1:${each};`).join("\n")}
    keepalive 1000;
    # Shorter than the time after which an instance closes idle connections.
    keepalive_timeout 4s;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://instances;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_buffering off;
      proxy_read_timeout 1h;
    }
  }
}
`,
  );
  const child = spawn("nginx", ["-c", join(folder, "nginx.conf"), "-p", folder], { stdio: "ignore" });
  await accepting(port, child, "nginx");
  return {
    port,
    pid: child.pid!,
    async stop() {
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function accepting(port: number, child: ChildProcess, name: string): Promise<void> {
  let failure: Error | undefined;
  child.once("error", (error) => (failure = error));
  for (let tries = 0; tries < 300; tries += 1) {
    if (failure) throw new Error(`${name} did not start; install it first`, { cause: failure });
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`);
    const socket = connect(port, "127.0.0.1");
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await wait(50);
  }
  await end(child);
  throw new Error(`${name} does not listen on ${port}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  await gone;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { readonly port: number };
  server.close();
  await once(server, "close");
  return port;
}
