/** One process beside several that share a port and an index: requests per second, CPU per request and memory. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Contestant } from "./contestants.ts";
import { median } from "./figures.ts";
import { openLanes, type Lane } from "./lanes.ts";
import { launch, type Running } from "./launch.ts";
import { createMadeTexts } from "./made-texts.ts";
import { makeTextTree } from "./make-tree.ts";
import { cpuMicros, residentBytes } from "./meter.ts";
import { callTool, list, read, type Question } from "./questions.ts";
import { madeUpQuestions } from "./search/scale.ts";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "5" }, workers: { type: "string", default: "2" } },
});
const folder = join(tmpdir(), `pressmark-bench-${userInfo().username}`, "texts-2");
makeTextTree(folder, { folders: 2, files: 1000 });
const scratch = mkdtempSync(join(tmpdir(), "pressmark-workers-"));
const script = join(import.meta.dirname, "cluster-server.js");

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address ? address.port : 0;
}

async function start(workers: number): Promise<Running> {
  const port = String(await freePort());
  const state = join(scratch, String(workers));
  const contestant: Contestant = {
    name: `${workers} workers`,
    eras: ["modern"],
    pages: true,
    listens: true,
    share: 1,
    command: () => ({
      args: [script, String(workers), "serve", "--port", port, folder],
      env: { XDG_CACHE_HOME: state, XDG_STATE_HOME: state },
    }),
  };
  const running = await launch(contestant, "http", { folder, pageSize: 1000 });
  const { lanes, close } = await openLanes(running, "modern", 1);
  for (;;) {
    const { body } = await lanes[0]!.ask(callTool("search_resources", { query: "gen" }), true);
    if (/file-\d/.test(body) && !/\d ?%/.test(body)) break;
    await wait(250);
  }
  close();
  return running;
}

const nextText = createMadeTexts();
const texts = Array.from({ length: 200 }, () => ({ path: "", text: nextText().text }));
const searches = madeUpQuestions(texts, 64).map((query) => callTool("search_resources", { query }));
const kinds: readonly { name: string; count: number; questions: readonly Question[] }[] = [
  { name: "read", count: 2000, questions: [read(`file://${folder}/folder-000/file-0000.txt`)] },
  { name: "list", count: 60, questions: [list()] },
  { name: "search", count: 100, questions: searches },
];

async function drive(lanes: readonly Lane[], questions: readonly Question[], count: number): Promise<void> {
  let left = count;
  await Promise.all(
    lanes.map(async (lane) => {
      while (left-- > 0) await lane.ask(questions[left % questions.length] ?? questions[0]!);
    }),
  );
}

const running = [await start(1), await start(Number(values.workers))];
try {
  for (const { name, count, questions } of kinds) {
    const rates: number[][] = [[], []];
    const cpus: number[][] = [[], []];
    for (let round = -1; round < Number(values.rounds); round += 1)
      for (const [at, server] of running.entries()) {
        const { lanes, close } = await openLanes(server, "modern", 8);
        const before = cpuMicros(server.pid);
        const from = performance.now();
        await drive(lanes, questions, count);
        const seconds = (performance.now() - from) / 1000;
        const cpu = (cpuMicros(server.pid) - before) / count;
        close();
        // The first round is not counted: V8 compiles the code in it.
        if (round < 0) continue;
        rates[at]!.push(count / seconds);
        cpus[at]!.push(cpu);
      }
    const ratios = rates[1]!.map((rate, round) => rate / rates[0]![round]!).sort((left, right) => left - right);
    console.log(
      `${name.padEnd(8)} ${running
        .map((_, at) => `${median(rates[at]!).toFixed(0)}/s ${median(cpus[at]!).toFixed(0)} µs`)
        .join("   ")}   × ${median(ratios).toFixed(2)} (${ratios[0]!.toFixed(2)} to ${ratios.at(-1)!.toFixed(2)})`,
    );
  }
  console.log(`MiB      ${running.map(({ pid }) => (residentBytes(pid) / 1024 ** 2).toFixed(0)).join("   ")}`);
} finally {
  await Promise.all(running.map(({ stop }) => stop()));
  rmSync(scratch, { recursive: true });
}
