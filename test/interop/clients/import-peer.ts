/** Imports a package from npm that is not a dependency: it is installed once into a cache of this machine. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** `peer` and its own peers with exact versions: a new release must not fail a run that changed nothing. */
export async function importPeer(peer: string, peersOfPeer: readonly string[] = []): Promise<unknown> {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const folder = join(cache, "pressmark-peers", peer.replaceAll("/", "-"));
  const name = peer.slice(0, peer.lastIndexOf("@"));
  if (!existsSync(join(folder, "node_modules", name)))
    execFileSync("npm", ["install", "--prefix", folder, "--no-audit", "--no-fund", peer, ...peersOfPeer], {
      stdio: ["ignore", "ignore", "inherit"],
    });
  return import(pathToFileURL(createRequire(join(folder, "index.js")).resolve(name)).href);
}
