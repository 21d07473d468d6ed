/** Installs the packages of the site, which are no dependencies of the project, into its own folder. */
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";

export const siteFolder = join(import.meta.dirname, "../site");

/** Undefined if they are there; otherwise why not. */
export function installSite(): string | undefined {
  const installed = join(siteFolder, "node_modules/.package-lock.json");
  const lock = join(siteFolder, "package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return undefined;
  // Not "ci", which refuses a lock file without the packages of other systems.
  const words = ["install", "--prefix", siteFolder, "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
  const { status, stderr, error } = spawnSync("npm", words, { encoding: "utf8" });
  return status === 0 ? undefined : `npm cannot install the packages of the site: ${error?.message ?? stderr.trim()}`;
}
