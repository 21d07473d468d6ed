/** Installs packages from npm that are no dependencies, once, into a cache folder. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Packages in one folder, with exact versions: a new release may say other words. */
export interface Peers {
  readonly folder: string;
  readonly packages: readonly string[];
  /** False if the packages work without their install scripts, which may download browsers. */
  readonly runsScripts?: boolean;
}

const installMs = 540_000;
/** How much of npm's errors is shown. */
const maxShown = 1000;

export function modulesOf({ folder }: Peers): string {
  return join(tmpdir(), "pressmark-peers", folder, "node_modules");
}

/** Undefined if they are there; otherwise why not. In CI they must be there. */
export function installPeers(peers: Peers): string | undefined {
  const { packages, runsScripts = true } = peers;
  const folder = join(modulesOf(peers), "..");
  // Written last, so that half an installation is not taken for a whole one.
  const mark = join(folder, "installed.json");
  const wanted = JSON.stringify(packages);
  if (existsSync(mark) && readFileSync(mark, "utf8") === wanted) return undefined;
  mkdirSync(folder, { recursive: true });
  const words = ["install", "--prefix", folder, "--no-audit", "--no-fund", ...packages];
  if (!runsScripts) words.push("--ignore-scripts");
  const { status, stderr, error } = spawnSync("npm", words, { encoding: "utf8", timeout: installMs });
  if (status === 0) {
    writeFileSync(mark, wanted);
    return undefined;
  }
  const said =
    error?.message ??
    stderr
      .split("\n")
      .filter((line) => line.startsWith("npm error"))
      .join("; ");
  const reason = `npm cannot install ${packages.join(", ")}: ${said.slice(0, maxShown)}`;
  if (process.env["CI"]) throw new Error(reason);
  return reason;
}

/** Imports a module of one of the packages. */
export function importPeer(peers: Peers, specifier: string): Promise<unknown> {
  return import(pathToFileURL(createRequire(join(modulesOf(peers), "index.js")).resolve(specifier)).href);
}
