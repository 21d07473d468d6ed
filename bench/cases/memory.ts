/** Memory over a long run: does what a server holds stop growing under a steady mix of requests? */
import { setTimeout as wait } from "node:timers/promises";
import type { Case, Row } from "../case.ts";
import { median } from "../figures.ts";
import { openLanes } from "../lanes.ts";
import { launch, type Running } from "../launch.ts";
import { openListens } from "../listens.ts";
import { residentBytes } from "../meter.ts";
import { callTool, list, type Question, read } from "../questions.ts";

const requestCount = 200_000;
const perSecond = 300;
const laneCount = 32;
const listenCount = 500;
const listenMs = 20_000;
const sampleMs = 5000;
/** The memory of a moment is the median of the samples of a minute. */
const samplesPerMinute = 60_000 / sampleMs;

export const memoryCase: Case = {
  name: "memory",
  title: `${requestCount} requests at ${perSecond}/s: reads, lists, searches, ${listenCount} listens that come and go, HTTP`,
  needs: ["mixed"],
  isLong: true,
  columns: [
    { key: "start", label: "start MiB", digits: 0 },
    { key: "early", label: "minute 2", digits: 0 },
    { key: "middle", label: "halfway", digits: 0 },
    { key: "late", label: "last minute", digits: 0 },
    { key: "growth", label: "× minute 2", digits: 2 },
  ],
  targets: [{ says: "memory after the run, to minute two", column: "growth", atMost: 1.15 }],
  async run({ fixture, contestants }) {
    const rows: Row[] = [];
    for (const contestant of contestants) {
      if (contestant.name !== "pressmark") continue;
      const started = await launch(contestant, "http", { folder: fixture.mixed, pageSize: 1000 });
      try {
        rows.push({ contestant: contestant.name, figures: await measure(started, fixture.mixed) });
      } finally {
        await started.stop();
      }
    }
    return rows;
  },
};

async function measure(started: Running, folder: string): Promise<Row["figures"]> {
  const { port, path } = started.http!;
  const { lanes, close } = await openLanes(started, "modern", laneCount);
  const questions = mix(folder);
  const samples: number[] = [];
  const start = toMiB(residentBytes(started.pid));
  const over = new AbortController();

  async function comeAndGo(): Promise<void> {
    while (!over.signal.aborted) {
      const listens = await openListens(port, path, `file://${folder}/watched.txt`, listenCount);
      await wait(listenMs);
      listens.close();
      await wait(listenMs / 4);
    }
  }

  const sampling = setInterval(() => samples.push(toMiB(residentBytes(started.pid))), sampleMs);
  const listening = comeAndGo();
  const from = performance.now();
  const free = [...lanes];
  const waiting: (() => void)[] = [];

  async function ask(question: Question): Promise<void> {
    if (free.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    // In turn: a server hangs up on a connection that is idle for long.
    const lane = free.shift()!;
    await lane.ask(question);
    free.push(lane);
    waiting.shift()?.();
  }

  let pending: Promise<void>[] = [];
  for (let count = 0; count < requestCount; count++) {
    const due = from + (count * 1000) / perSecond;
    if (due > performance.now()) await wait(due - performance.now());
    pending.push(ask(questions[count % questions.length]!));
    if (pending.length < 1000) continue;
    await Promise.all(pending);
    pending = [];
  }
  await Promise.all(pending);
  clearInterval(sampling);
  over.abort();
  await listening;
  close();
  const minute = (first: number) => median(samples.slice(first, first + samplesPerMinute));
  const early = minute(samplesPerMinute);
  const late = median(samples.slice(-samplesPerMinute));
  return { start, early, middle: minute(Math.floor(samples.length / 2)), late, growth: late / early };
}

/** Of 20 requests 15 are reads, 3 list and 2 search. */
function mix(folder: string): readonly Question[] {
  return Array.from({ length: 1000 }, (_, count): Question => {
    const file = `folder-${pad(count % 50, 3)}/file-${pad((count * 7) % 1000, 4)}.txt`;
    switch (count % 20) {
      case 5:
        return list();
      case 10:
        return callTool("list_resources", { glob: `**/file-${pad(count, 4)}*` });
      case 15:
        return callTool("search_resources", { query: `file ${count}` });
      case 17:
        return callTool("search_resources", { query: "watched" });
      case 19:
        return { method: "resources/templates/list", params: {} };
      default:
        return read(`file://${folder}/${file}`);
    }
  });
}

function pad(value: number, digits: number): string {
  return String(value).padStart(digits, "0");
}

function toMiB(bytes: number): number {
  return bytes / 1024 ** 2;
}
