/** Builds the site of the docs, or serves it while they are written: `node scripts/site.ts build|dev [option…]`. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { installSite, siteFolder } from "./install-site.ts";

const problem = installSite();
if (problem !== undefined) throw new Error(problem);
const vitepress = join(siteFolder, "node_modules/vitepress/bin/vitepress.js");
const { status } = spawnSync(process.execPath, [vitepress, ...process.argv.slice(2)], {
  cwd: siteFolder,
  stdio: "inherit",
});
process.exitCode = status ?? 1;
