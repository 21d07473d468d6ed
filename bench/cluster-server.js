// Runs `pressmark` as several processes on one port: the first argument is their number, the others are those of the command.
import cluster from "node:cluster";
import { readFileSync } from "node:fs";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const [count = "1", ...args] = process.argv.slice(2);
if (cluster.isPrimary) for (let at = 0; at < Number(count); at += 1) cluster.fork();
else {
  process.argv.splice(2, Infinity, ...args);
  const { runProcess } = await import("../dist/cli.js");
  await runProcess({ version });
}
