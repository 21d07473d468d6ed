/** PostgreSQL, NATS, instances and a proxy as processes of one folder. */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ClusterDatabase, postgresPrograms, startDatabase } from "./postgres.ts";
import { type ProxyKind, startProxy } from "./proxy.ts";
import { freePort, type Host, loopback, startProcess, type StartedProcess } from "./start-process.ts";

const program = join(import.meta.dirname, "../../bin/pressmark.js");

export interface ClusterOptions {
  /** Holds everything that the cluster writes. The caller removes it. */
  readonly folder: string;
  readonly proxy: ProxyKind;
  /** Whether changes go through NATS; else through PostgreSQL. */
  readonly hasNats: boolean;
  /** Whether the instances share their state; else each is a server of its own. */
  readonly isShared?: boolean;
  readonly instanceCount?: number;
  /** Where each part runs. Default: loopback. */
  readonly hostOf?: (part: string) => Host;
  /** The config without `server.state`, `server.bus` and what the cluster needs itself. */
  readonly config?: (folder: string) => ClusterConfig;
  /** Lines of postgresql.conf. */
  readonly settings?: readonly string[];
}

export interface ClusterConfig {
  readonly server?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

export interface Instance {
  readonly name: string;
  readonly host: Host;
  /** The endpoint for MCP, without the proxy. */
  readonly url: string;
  readonly process: StartedProcess;
  /** Starts it again after it has ended. */
  restart(): Promise<void>;
}

export interface Part {
  readonly process: StartedProcess;
  restart(): Promise<void>;
}

export interface Cluster {
  /** The endpoint for MCP behind the proxy. */
  readonly url: string;
  readonly config: string;
  /** The served folder. */
  readonly notes: string;
  /** The token of the owner. */
  readonly token: string;
  readonly instances: readonly Instance[];
  readonly database: ClusterDatabase;
  readonly nats: (Part & { readonly url: string }) | undefined;
  readonly proxy: Part;
  /** The environment of a command such as `pressmark token`. */
  readonly env: NodeJS.ProcessEnv;
  /** The config with these rules, as an editor saves it. */
  writeConfig(rules: readonly object[]): void;
  /** Afterwards nothing runs. */
  close(): Promise<void>;
}

/** What is missing to start a cluster, as sentences. */
export function missingPrograms({
  proxy,
  hasNats,
}: {
  readonly proxy: ProxyKind;
  readonly hasNats: boolean;
}): string[] {
  return [
    ...(postgresPrograms() === undefined ? ["PostgreSQL is missing: apt-get install postgresql"] : []),
    ...(hasNats && !isInstalled("nats-server") ? ["nats-server is missing: apt-get install nats-server"] : []),
    ...(isInstalled(proxy)
      ? []
      : [`${proxy} is missing: apt-get install ${proxy === "nginx" ? "nginx-light" : proxy}`]),
  ];
}

function isInstalled(name: string): boolean {
  return spawnSync(name, ["-v"], { stdio: "ignore" }).error === undefined;
}

const everyone = [{ allow: ["anyone"] }];

/** Resolves when every part is ready. If one does not start, the others are stopped. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { folder, hasNats, isShared = true, instanceCount = 3, hostOf = () => loopback, config } = options;
  const missing = missingPrograms(options);
  if (missing.length > 0) throw new Error(missing.join("\n"));
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    // The newest first: each part is closed before what it needs.
    for (const each of closers.splice(0).toReversed()) await each();
  };
  try {
    const notes = join(folder, "notes");
    mkdirSync(notes, { recursive: true });
    const token = randomBytes(24).toString("base64url");
    const database = await startDatabase({
      folder: join(folder, "postgres"),
      host: hostOf("postgres"),
      port: await freePort(),
      ...(options.settings && { settings: options.settings }),
    });
    closers.push(() => database.process.end("SIGINT"));
    const nats = hasNats ? await startNats(join(folder, "nats"), hostOf("nats")) : undefined;
    if (nats) closers.push(() => nats.process.end());

    const names = Array.from({ length: instanceCount }, (_, at) => `instance-${at + 1}`);
    const places = await Promise.all(names.map(async (name) => ({ name, host: hostOf(name), port: await freePort() })));
    const proxyHost = hostOf("proxy");
    const proxyPort = await freePort();
    const { server, ...rest } = config?.(folder) ?? {
      // Longer than a proxy takes to notice that an instance stops.
      server: { drainMs: 3000 },
      mounts: { notes: { source: "file", root: notes } },
      callers: { aki: {}, bo: {} },
    };
    const file = join(folder, "pressmark.config.json");
    const write = (rules: readonly object[]): void => {
      const shared = {
        state: "${env:CLUSTER_STATE}",
        ...(nats && { bus: nats.url }),
      };
      const settings = {
        ...rest,
        rules,
        server: {
          tools: ["search_resources", "list_resources", "read_resource", "save_set"],
          allowedHosts: [...new Set([proxyHost.address, ...places.map(({ host }) => host.address)])],
          trustProxy: [proxyHost.address],
          ...(isShared && shared),
          ...server,
        },
      };
      writeFileSync(file, `${JSON.stringify(settings, undefined, 2)}\n`);
    };
    write(everyone);
    const env = {
      PATH: process.env["PATH"],
      HOME: folder,
      CLUSTER_STATE: database.url,
      PRESSMARK_TOKEN: token,
      PRESSMARK_LOG: "info",
    };
    // Folders of their own: instances share the database, the bus and the served folder, and nothing else.
    const foldersOf = (name: string) => ({
      XDG_STATE_HOME: join(folder, name, "state"),
      XDG_CACHE_HOME: join(folder, name, "cache"),
    });
    const instances: Instance[] = [];
    closers.push(async () => void (await Promise.all(instances.map((each) => each.process.end()))));
    for (const { name, host, port } of places) {
      const start = () =>
        startProcess(
          [process.execPath, program, "serve", "--config", file, "--host", host.address, "--port", String(port)],
          {
            host,
            cwd: folder,
            env: { ...env, ...foldersOf(name) },
            ready: /serves at http/,
          },
        );
      let running = await start();
      instances.push({
        name,
        host,
        url: `http://${host.address}:${port}/mcp`,
        get process() {
          return running;
        },
        async restart() {
          running = await start();
        },
      });
    }
    const startOne = () =>
      startProxy({
        kind: options.proxy,
        folder: join(folder, "proxy"),
        host: proxyHost,
        port: proxyPort,
        instances: places.map(({ host, port }) => `${host.address}:${port}`),
      });
    let proxy = await startOne();
    closers.push(() => proxy.end());
    return {
      url: `http://${proxyHost.address}:${proxyPort}/mcp`,
      config: file,
      notes,
      token,
      instances,
      database,
      nats,
      proxy: {
        get process() {
          return proxy;
        },
        async restart() {
          proxy = await startOne();
        },
      },
      env: { ...env, ...foldersOf(isShared ? "commands" : "instance-1") },
      writeConfig: write,
      close,
    };
  } catch (cause) {
    await close();
    throw cause;
  }
}

async function startNats(folder: string, host: Host): Promise<NonNullable<Cluster["nats"]>> {
  const port = await freePort();
  const command = ["nats-server", "-a", host.address, "-p", String(port), "-js", "-sd", folder];
  const start = () => startProcess(command, { host, ready: /Server is ready/ });
  let running = await start();
  return {
    url: `nats://${host.address}:${port}`,
    get process() {
      return running;
    },
    async restart() {
      running = await start();
    },
  };
}
