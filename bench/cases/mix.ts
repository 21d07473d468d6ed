/** Reads under a mixed load: clients list, walk and listen beside them. How much longer do the slowest reads take than the usual ones? */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Case, Row } from "../case.ts";
import { median, quantile } from "../figures.ts";
import { openLanes } from "../lanes.ts";
import { launch, type Running } from "../launch.ts";
import { residentBytes } from "../meter.ts";
import { list, read, type Question } from "../questions.ts";
import type { Walked } from "../walker.ts";

const listenCount = 2000;
const perSecond = 475;
/** Every so many requests one is a first page of a list; the others are reads. */
const listEvery = 20;
const laneCount = 32;
const turnMs = 8000;

export const mixCase: Case = {
  name: "mix",
  title: `${perSecond} requests/s (1 in ${listEvery} a list of 1,000), one client that walks 50,000 files, ${listenCount} listens, HTTP`,
  needs: ["mixed"],
  columns: [
    { key: "p50", label: "read p50 ms", digits: 2 },
    { key: "p99", label: "read p99 ms", digits: 2 },
    { key: "spread", label: "p99/p50", digits: 2 },
    { key: "ratio", label: "× bare", digits: 2 },
    { key: "pages", label: "pages walked", digits: 0 },
    { key: "entries", label: "entries/s", digits: 0 },
    { key: "rss", label: "RSS MiB", digits: 0 },
  ],
  targets: [{ says: "p99/p50 of reads under a mixed load, to bare", column: "ratio", atMost: 1.2 }],
  async run({ fixture, contestants, rounds }) {
    const rows: Row[] = [];
    const entrants: { readonly started: Running; readonly latencies: number[]; pages: number; entries: number }[] = [];
    const holders: ReturnType<typeof fork>[] = [];
    try {
      for (const contestant of contestants) {
        if (!contestant.listens || !contestant.pages) continue;
        const started = await launch(contestant, "http", { folder: fixture.mixed, pageSize: 1000 });
        entrants.push({ started, latencies: [], pages: 0, entries: 0 });
        const { port, path } = started.http!;
        const watched = `file://${fixture.mixed}/watched.txt`;
        const holder = fork(join(import.meta.dirname, "..", "holder.ts"), [
          String(port),
          path,
          watched,
          String(listenCount),
        ]);
        holders.push(holder);
        const [said] = (await Promise.race([once(holder, "message"), once(holder, "exit")])) as unknown[];
        if (said !== "ready") throw new Error(`${contestant.name} did not take ${listenCount} listens`);
      }
      for (let round = 0; round <= rounds; round++) {
        for (const entrant of entrants) {
          const taken = await loadFor(entrant.started, fixture.mixed);
          // The first round warms up.
          if (round === 0) continue;
          entrant.latencies.push(...taken.latencies);
          entrant.pages += taken.pages;
          entrant.entries += taken.entries;
        }
      }
      let bare = Number.NaN;
      for (const { started, latencies, pages, entries } of entrants) {
        const { name } = started.contestant;
        const p50 = median(latencies);
        const p99 = quantile(latencies, 0.99);
        const spread = p99 / p50;
        if (name === "bare") bare = spread;
        rows.push({
          contestant: name,
          figures: {
            p50,
            p99,
            spread,
            ratio: spread / bare,
            pages,
            entries: entries / ((rounds * turnMs) / 1000),
            rss: residentBytes(started.pid) / 1024 ** 2,
          },
        });
      }
      return rows;
    } finally {
      for (const holder of holders) if (holder.connected) holder.disconnect();
      await Promise.all(entrants.map(({ started }) => started.stop()));
    }
  },
};

/** Resolves when it has begun. */
async function startWalk({ http, contestant }: Running): Promise<{ readonly walked: Promise<Walked> }> {
  const { port, path } = http!;
  const walker = fork(join(import.meta.dirname, "..", "walker.ts"), [String(port), path, String(turnMs)]);
  const failed = once(walker, "exit").then(() => Promise.reject(new Error(`${contestant.name} could not be walked`)));
  failed.catch(() => undefined);
  await Promise.race([once(walker, "message"), failed]);
  return { walked: Promise.race([once(walker, "message").then(([walked]) => walked as Walked), failed]) };
}

async function loadFor(started: Running, folder: string) {
  const { lanes: pool, close } = await openLanes(started, "modern", laneCount);
  const files = Array.from({ length: 1000 }, (_, file) =>
    read(`file://${folder}/folder-000/file-${String(file).padStart(4, "0")}.txt`),
  );
  const first = list();
  await Promise.all(pool.map((lane) => lane.ask(files[0]!)));
  const latencies: number[] = [];
  const free = [...pool];
  const waiting: (() => void)[] = [];
  const { walked } = await startWalk(started);
  const end = performance.now() + turnMs;

  /** The time counts from when the request was due, so that a server that makes others wait is charged for it. */
  async function ask(question: Question, due: number): Promise<void> {
    if (free.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    // In turn: a server hangs up on a connection that is idle for long.
    const lane = free.shift()!;
    await lane.ask(question);
    free.push(lane);
    waiting.shift()?.();
    if (question !== first) latencies.push(performance.now() - due);
  }

  const asked: Promise<void>[] = [];
  const from = performance.now();
  for (let count = 0; performance.now() < end; count++) {
    const due = from + (count * 1000) / perSecond;
    if (due > performance.now()) await wait(due - performance.now());
    asked.push(ask(count % listEvery === 0 ? first : files[count % files.length]!, due));
  }
  const [{ pages, entries }] = await Promise.all([walked, ...asked]);
  close();
  return { latencies, pages, entries };
}
