/** Many listens: what it costs to tell them all, and what it costs to keep them. */
import { execFileSync, fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { compare, cpuColumns, type Case, type Entrant, type Row } from "../case.ts";
import type { Contestant } from "../contestants.ts";
import { openLanes } from "../lanes.ts";
import { launch, type Running } from "../launch.ts";
import { openListens, type Listens } from "../listens.ts";
import { settledBytes } from "../meter.ts";
import { read } from "../questions.ts";
import { uriOf } from "./read.ts";

const toldCount = 1000;
const touches = 2;
const heldCount = 10_000;

export const tellCase: Case = {
  name: "listen-update",
  title: "tell 1,000 listens of an update, HTTP (per listen told; p50 and p99 until the last has heard)",
  needs: [],
  columns: cpuColumns,
  targets: [],
  async run({ contestants, rounds }) {
    const running: Running[] = [];
    const folders: string[] = [];
    const opened: Listens[] = [];
    try {
      const entrants: Entrant[] = [];
      for (const contestant of contestants) {
        if (!contestant.listens) continue;
        // A folder each: a touch is meant for one contestant alone.
        const folder = mkdtempSync(join(tmpdir(), "pressmark-bench-"));
        folders.push(folder);
        const file = join(folder, "watched.txt");
        writeFileSync(file, "watched\n");
        const started = await launch(contestant, "http", { folder, pageSize: 1000 });
        running.push(started);
        const first = await openLanes(started, "modern", 1);
        const uri = await uriOf(first.lanes[0]!, "watched.txt");
        first.close();
        const { port, path } = started.http!;
        const listens = await openListens(port, path, uri, toldCount);
        opened.push(listens);
        const touch = async () => {
          const heard = listens.heard();
          const descriptor = openSync(file, "a");
          const from = performance.now();
          writeSync(descriptor, "touched\n");
          closeSync(descriptor);
          await Promise.race([
            heard,
            wait(10_000, undefined, { ref: false }).then(() =>
              Promise.reject(new Error(`${contestant.name} is silent`)),
            ),
          ]);
          return performance.now() - from;
        };
        await touch();
        entrants.push({
          name: contestant.name,
          pid: started.pid,
          prepare: async () => ({
            async run() {
              const latencies: number[] = [];
              for (let count = 0; count < touches; count++) {
                // Far enough apart that nobody who announces a file once a second makes this one wait.
                await wait(1100);
                latencies.push(await touch());
              }
              return { units: touches * toldCount, latencies };
            },
            close() {},
          }),
        });
      }
      return await compare(entrants, rounds);
    } finally {
      opened.forEach((listens) => listens.close());
      await Promise.all(running.map(({ stop }) => stop()));
      folders.forEach((folder) => rmSync(folder, { recursive: true, force: true }));
    }
  },
};

export const holdCase: Case = {
  name: "listen-idle",
  title: "keep 10,000 idle listens, HTTP",
  needs: ["few"],
  columns: [
    { key: "each", label: "KiB each", digits: 1 },
    { key: "ratio", label: "× bare", digits: 2 },
    { key: "before", label: "RSS before", digits: 0 },
    { key: "after", label: "RSS after", digits: 0 },
  ],
  targets: [{ says: "KiB per idle listen", column: "each", atMost: 20 }],
  async run({ fixture, contestants }) {
    const rows: Row[] = [];
    let yardstick = Number.NaN;
    const descriptors = Number(execFileSync("sh", ["-c", "ulimit -n"], { encoding: "utf8" })) || 1_000_000;
    const count = Math.min(heldCount, descriptors - 200);
    if (count < heldCount) console.error(`only ${count} listens: a process may have ${descriptors} descriptors here`);
    for (const contestant of [...contestants, ...contestants.flatMap(withSmallNursery)]) {
      if (!contestant.listens) continue;
      const started = await launch(contestant, "http", { folder: fixture.few, pageSize: 1000 });
      const holders: ChildProcess[] = [];
      try {
        const { lanes, close } = await openLanes(started, "modern", 8);
        const small = read(await uriOf(lanes[0]!, "small.txt"));
        const watched = await uriOf(lanes[0]!, "watched.txt");
        await Promise.all(
          lanes.map(async (lane) => {
            for (let asked = 0; asked < 500; asked++) await lane.ask(small);
          }),
        );
        close();
        const before = await settledBytes(started.pid);
        const share = Math.min(5000, Math.floor(descriptors / 2));
        for (let held = 0; held < count; held += share) {
          const { port, path } = started.http!;
          const holder = fork(join(import.meta.dirname, "..", "holder.ts"), [
            String(port),
            path,
            watched,
            String(Math.min(share, count - held)),
          ]);
          holders.push(holder);
          const [said] = (await Promise.race([once(holder, "message"), once(holder, "exit")])) as unknown[];
          if (said !== "ready") throw new Error(`${contestant.name} did not take ${count} listens`);
        }
        const after = await settledBytes(started.pid);
        const each = (after - before) / count / 1024;
        if (contestant.name === "bare") yardstick = each;
        rows.push({
          contestant: contestant.name,
          figures: { each, ratio: each / yardstick, before: before / 1024 ** 2, after: after / 1024 ** 2 },
        });
      } finally {
        for (const holder of holders) {
          if (holder.exitCode !== null) continue;
          const exit = once(holder, "exit");
          holder.disconnect();
          await exit;
        }
        await started.stop();
      }
    }
    return rows;
  },
};

/** The same server with a nursery that does not grow: how much of a listen is garbage that waits to be collected. */
function withSmallNursery(contestant: Contestant): Contestant[] {
  if (contestant.name !== "pressmark") return [];
  const preload = 'import v8 from "node:v8";v8.setFlagsFromString("--semi-space-growth-factor=1")';
  const { command } = contestant;
  return [
    {
      ...contestant,
      name: "pressmark, small nursery",
      command(transport, stand) {
        const { args, ...rest } = command(transport, stand);
        return { args: ["--import", `data:text/javascript,${encodeURIComponent(preload)}`, ...args], ...rest };
      },
    },
  ];
}
