/** Installs the public servers into one folder. */
import { join } from "node:path";
import { installPeers, modulesOf } from "../install-peers.ts";
import { type PublicServer, publicServers } from "./public-servers.ts";

const peers = {
  folder: "servers",
  packages: Object.values(publicServers).map(({ package: name, version }) => `${name}@${version}`),
  runsScripts: false,
};

/** Undefined if all servers are there; otherwise why not. */
export const installServers = () => installPeers(peers);

export function entryOf({ package: name, entry }: PublicServer): string {
  return join(modulesOf(peers), name, entry);
}
