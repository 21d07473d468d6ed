/** A network of namespaces for tests: one per host, joined by a bridge, and not connected to any other network; links can be cut and mended. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import type { Host } from "../../examples/cluster/start-process.ts";

export interface Network {
  host(name: string): Host;
  /** Nothing leaves or reaches the host; packets are lost without an error. */
  cut(name: string): void;
  mend(name: string): void;
  /** Packets between the two are lost, in both directions. */
  separate(one: string, other: string): void;
  join(one: string, other: string): void;
  mendAll(): void;
  /** Kills what still runs in the namespaces and removes them. */
  close(): void;
}

const prefix = "pressmark-test";
const bridge = "bridge";
/** Exists on no interface. */
const nowhere = "02:00:00:00:00:99";

/** What is missing to make namespaces, as a sentence. */
export function missingForNamespaces(): string | undefined {
  if (spawnSync("ip", ["-V"], { stdio: "ignore" }).error) return "ip is missing: apt-get install iproute2";
  const name = `${prefix}-${process.pid}-probe`;
  try {
    ip("netns", "add", name);
    ip("-n", name, "link", "add", "probe", "type", "bridge");
    ip("-n", name, "link", "add", "one", "type", "veth", "peer", "name", "two");
    return undefined;
  } catch (cause) {
    return `network namespaces with bridges cannot be made here (run as root, on a kernel with veth and bridge): ${String(cause)}`;
  } finally {
    spawnSync("ip", ["netns", "del", name], { stdio: "ignore" });
  }
}

export function createNetwork(names: readonly string[]): Network {
  removeLeftovers();
  const addressOf = (name: string) => `10.213.0.${names.indexOf(name) + 1}`;
  const separated = new Set<string>();
  const isCut = new Set<string>();
  const close = (): void => {
    for (const name of [...names, bridge]) removeNamespace(spaceOf(name));
  };
  const neighbour = (action: "replace" | "del", from: string, to: string): void => {
    const words = ["-n", spaceOf(from), "neigh", action, addressOf(to), "dev", "eth0"];
    ip(...words, ...(action === "replace" ? ["lladdr", nowhere, "nud", "permanent"] : []));
  };
  const join = (one: string, other: string): void => {
    if (!separated.delete(pairOf(one, other))) return;
    neighbour("del", one, other);
    neighbour("del", other, one);
  };
  const mend = (name: string): void => {
    if (isCut.delete(name)) ip("-n", spaceOf(bridge), "link", "set", portOf(names, name), "up");
  };
  try {
    ip("netns", "add", spaceOf(bridge));
    ip("-n", spaceOf(bridge), "link", "add", "br0", "type", "bridge");
    ip("-n", spaceOf(bridge), "link", "set", "br0", "up");
    for (const name of names) {
      const space = spaceOf(name);
      const port = portOf(names, name);
      ip("netns", "add", space);
      ip("-n", space, "link", "set", "lo", "up");
      ip("-n", space, "link", "add", "eth0", "type", "veth", "peer", "name", port, "netns", spaceOf(bridge));
      ip("-n", space, "address", "add", `${addressOf(name)}/24`, "dev", "eth0");
      ip("-n", space, "link", "set", "eth0", "up");
      ip("-n", spaceOf(bridge), "link", "set", port, "master", "br0");
      ip("-n", spaceOf(bridge), "link", "set", port, "up");
    }
  } catch (cause) {
    close();
    throw cause;
  }
  return {
    host: (name) => ({ address: addressOf(name), enter: ["ip", "netns", "exec", spaceOf(name)] }),
    cut(name) {
      isCut.add(name);
      ip("-n", spaceOf(bridge), "link", "set", portOf(names, name), "down");
    },
    mend,
    separate(one, other) {
      separated.add(pairOf(one, other));
      neighbour("replace", one, other);
      neighbour("replace", other, one);
    },
    join,
    mendAll() {
      for (const name of isCut) mend(name);
      for (const pair of separated) join(...(pair.split(" ") as [string, string]));
    },
    close,
  };
}

function spaceOf(name: string): string {
  return `${prefix}-${process.pid}-${name}`;
}

function pairOf(one: string, other: string): string {
  return [one, other].toSorted().join(" ");
}

function portOf(names: readonly string[], name: string): string {
  return `port${names.indexOf(name)}`;
}

/** Namespaces of runs that no longer exist. */
function removeLeftovers(): void {
  for (const line of ip("netns", "list").split("\n")) {
    const [name = ""] = line.split(" ");
    const [, pid] = new RegExp(`^${prefix}-(\\d+)-`).exec(name) ?? [];
    if (pid !== undefined && (Number(pid) === process.pid || !existsSync(`/proc/${pid}`))) removeNamespace(name);
  }
}

/** Every process in it was started by a run of these tests. */
function removeNamespace(name: string): void {
  const { stdout } = spawnSync("ip", ["netns", "pids", name], { encoding: "utf8" });
  for (const pid of (stdout ?? "").split("\n").filter(Boolean)) {
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended since.
    }
  }
  spawnSync("ip", ["netns", "del", name], { stdio: "ignore" });
}

function ip(...words: readonly string[]): string {
  return execFileSync("ip", words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
