/** Walks a whole tree once and says what that took: by fdir with an lstat for each file, or page by page through a server. */
import { lstatSync } from "node:fs";

const [how, root = ""] = process.argv.slice(2);

async function byFdir(): Promise<() => number> {
  const { fdir } = await import("fdir");
  return () => {
    const paths = new fdir().withFullPaths().crawl(root).sync();
    let bytes = 0;
    for (const path of paths) bytes += lstatSync(path).size;
    return bytes > 0 ? paths.length : 0;
  };
}

async function byServer(): Promise<() => Promise<number>> {
  const { openServer } = await import("pressmark");
  const { resources } = await openServer({ folders: [root], from: root, env: process.env, err: process.stderr });
  const call = { caller: { id: "bench" }, signal: new AbortController().signal };
  return async () => {
    let count = 0;
    let bytes = 0;
    for (let cursor: string | undefined; ;) {
      const page = await resources.list(cursor === undefined ? {} : { cursor }, call);
      for (const { size = 0 } of page.items) bytes += size;
      count += page.items.length;
      cursor = page.next;
      if (cursor === undefined) return bytes > 0 ? count : 0;
    }
  };
}

const walk = how === "fdir" ? await byFdir() : await byServer();
const before = process.cpuUsage();
const from = performance.now();
const entries = await walk();
const wallMs = performance.now() - from;
const { user, system } = process.cpuUsage(before);
console.log(
  JSON.stringify({
    entries,
    wallMs,
    userMs: user / 1000,
    systemMs: system / 1000,
    peakKib: process.resourceUsage().maxRSS,
  }),
);
process.exit(0);
