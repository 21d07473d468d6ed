/** Installs the public servers once, into a folder of their own. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PublicServer, publicServers } from "./public-servers.ts";

const folder = join(tmpdir(), "pressmark-servers");

/** Undefined if all servers are there; otherwise why not. */
export function installServers(): string | undefined {
  const servers = Object.values(publicServers);
  if (servers.every(isInstalled)) return undefined;
  const wanted = servers.map(({ package: name, version }) => `${name}@${version}`);
  mkdirSync(folder, { recursive: true });
  // No server needs its install scripts, which download browsers.
  const words = ["install", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts", ...wanted];
  const { status, stderr, error } = spawnSync("npm", words, { encoding: "utf8", timeout: 540_000 });
  if (status === 0) return undefined;
  const said = stderr.split("\n").filter((line) => line.startsWith("npm error"));
  return `npm cannot install the servers: ${error?.message ?? said.join("; ").slice(0, 500)}`;
}

export function entryOf({ package: name, entry }: PublicServer): string {
  return join(packageOf(name), entry);
}

function packageOf(name: string): string {
  return join(folder, "node_modules", name);
}

function isInstalled({ package: name, version }: PublicServer): boolean {
  try {
    const { version: found } = JSON.parse(readFileSync(join(packageOf(name), "package.json"), "utf8")) as PublicServer;
    return found === version;
  } catch {
    return false;
  }
}
