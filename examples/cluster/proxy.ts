/** Starts nginx or HAProxy in front of the instances. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Host, startProcess, type StartedProcess } from "./start-process.ts";

export type ProxyKind = "nginx" | "haproxy";

export interface ProxyOptions {
  readonly kind: ProxyKind;
  readonly folder: string;
  readonly host: Host;
  readonly port: number;
  /** Addresses and ports of the instances. */
  readonly instances: readonly string[];
}

/** Fills in the config beside this file, and starts the proxy with it. */
export function startProxy({ kind, folder, host, port, instances }: ProxyOptions): Promise<StartedProcess> {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${kind}.conf`);
  const server = (address: string, at: number) =>
    kind === "nginx"
      ? `server ${address} max_fails=1 fail_timeout=1s;`
      : `server instance-${at + 1} ${address} check inter 500 fall 2 rise 1 on-marked-down shutdown-sessions`;
  const values: Readonly<Record<string, string>> = {
    LISTEN: `${host.address}:${port}`,
    FOLDER: folder,
    INSTANCES: instances.map(server).join("\n        "),
    AGAIN: instances.map((address) => `server ${address} max_fails=0;`).join("\n        "),
    // Workers of another user could not reach the folder.
    USER: process.getuid?.() === 0 ? "user root;" : "",
  };
  const template = readFileSync(join(import.meta.dirname, `${kind}.conf`), "utf8");
  writeFileSync(
    file,
    template.replaceAll(/@([A-Z]+)@/g, (_, name: string) => values[name]!),
  );
  return kind === "nginx"
    ? startProcess(["nginx", "-p", folder, "-c", file, "-e", "stderr"], { host, ready: /start worker processes/ })
    : startProcess(["haproxy", "-W", "-db", "-f", file], { host, ready: /Loading success/ });
}
