// Ends with a clear message under a Node that cannot run the scripts. Written for any Node from 18 on.
import { readFileSync } from "node:fs";

const { engines } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const [least, leastMinor] = engines.node.replace(">=", "").split(".").map(Number);
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < least || (major === least && minor < leastMinor)) {
  process.stderr.write(
    `pressmark: the build needs Node ${least}.${leastMinor} or newer, and runs under ${process.versions.node}: npm ci brings one, unless install scripts are blocked; then run: npm rebuild node\n`,
  );
  process.exitCode = 1;
}
