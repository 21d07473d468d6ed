/** Many files: what a page costs, what walking all of them costs, and what is held meanwhile. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { compare, cpuColumns, type Case, type Entrant, type Row, type Target } from "../case.ts";
import { contestants as everyone, walkScript } from "../contestants.ts";
import { median } from "../figures.ts";
import type { Fixture } from "../fixture.ts";
import { hear } from "../hear.ts";
import { openLanes } from "../lanes.ts";
import { launch, type Running } from "../launch.ts";
import { cpuMicros, forgetPeak, peakBytes, residentBytes, settledBytes } from "../meter.ts";
import { list } from "../questions.ts";
import { cursorAfter, pageIn } from "./list.ts";

const pageSize = 1000;
const pressmark = everyone.find(({ name }) => name === "pressmark")!;

interface Size {
  readonly says: string;
  readonly kind: keyof Fixture;
  readonly files: number;
}

const thousand: Size = { says: "1,000", kind: "thousand", files: 1000 };
const hundredThousand: Size = { says: "100,000", kind: "tree", files: 100_000 };
const flat: Size = { says: "100,000 in one folder", kind: "flat", files: 100_000 };
const million: Size = { says: "1,000,000", kind: "million", files: 1_000_000 };

export const treeCases: readonly Case[] = [
  pageCase("tree-page", [thousand, hundredThousand, flat], []),
  pageCase(
    "tree-page-million",
    [thousand, million],
    [
      {
        says: "the first page of a million, × of a thousand",
        row: `first of ${million.says}`,
        column: "ratio",
        atMost: 1.2,
      },
      {
        says: "a page from the middle of a million, × of a thousand",
        row: `middle of ${million.says}`,
        column: "ratio",
        atMost: 1.2,
      },
    ],
  ),
  walkCase("tree-walk", hundredThousand),
  walkCase("tree-walk-flat", flat),
  walkCase("tree-walk-million", million),
  memoryCase("tree-memory", hundredThousand, []),
  memoryCase("tree-memory-million", million, [
    { says: "MiB at most while a million are listed", column: "listing", atMost: 120 },
    { says: "MiB at most while a million are watched", column: "watching", atMost: 120 },
  ]),
];

/** Everything is held against the one page of the smallest tree. */
function pageCase(name: string, sizes: readonly Size[], targets: readonly Target[]): Case {
  const pages = 20;
  return {
    name,
    title: "one page of 1,000, again and again, HTTP",
    needs: sizes.map(({ kind }) => kind),
    columns: cpuColumns.map((column) => (column.key === "ratio" ? { ...column, label: "× of 1,000" } : column)),
    targets,
    async run({ fixture, rounds }) {
      const running: Running[] = [];
      try {
        const entrants: Entrant[] = [];
        const enter = async (label: string, { kind, files }: Size, isFirst: boolean) => {
          // From a first page of a twentieth, pages grow to the size that is wanted and stay there.
          const first = isFirst ? pageSize : pageSize / (pressmark.growth ?? 1);
          const started = await launch(pressmark, "http", { folder: fixture[kind], pageSize: first });
          running.push(started);
          const { lanes } = await openLanes(started, "modern", 1);
          const lane = lanes[0]!;
          const question = list(isFirst ? undefined : await cursorAfter(lane, pageSize, label, files / 2));
          const drive = async () => {
            const latencies: number[] = [];
            for (let page = 0; page < pages; page++) {
              const from = performance.now();
              const { body } = await lane.ask(question, true);
              latencies.push(performance.now() - from);
              const { resources } = pageIn(body, label);
              if (resources.length !== pageSize) throw new Error(`${label} holds ${resources.length}`);
            }
            return { units: pages, latencies };
          };
          // As warm as the one that walked half a million before.
          for (let round = 0; round < 5; round++) await drive();
          entrants.push({ name: label, pid: started.pid, prepare: async () => ({ run: drive, close: () => {} }) });
        };
        for (const size of sizes) {
          await enter(`first of ${size.says}`, size, true);
          if (size.files > pageSize) await enter(`middle of ${size.says}`, size, false);
        }
        return await compare(entrants, rounds, `first of ${sizes[0]!.says}`);
      } finally {
        await Promise.all(running.map(({ stop }) => stop()));
      }
    },
  };
}

interface Walked {
  readonly entries: number;
  readonly wallMs: number;
  readonly userMs: number;
  readonly systemMs: number;
  readonly peakKib: number;
}

function walkCase(name: string, { says, kind, files }: Size): Case {
  return {
    name,
    title: `walk all of ${says} files in a process of its own`,
    needs: [kind],
    columns: [
      { key: "cpu", label: "CPU ms", digits: 0 },
      { key: "ratio", label: "× fdir + lstat", digits: 2 },
      { key: "user", label: "user ms", digits: 0 },
      { key: "system", label: "system ms", digits: 0 },
      { key: "wall", label: "wall ms", digits: 0 },
      { key: "peak", label: "peak MiB", digits: 0 },
    ],
    targets: [{ says: `walking ${says}, × fdir + lstat`, column: "ratio", atMost: 2 }],
    async run({ fixture, rounds }) {
      const taken = { fdir: [] as Walked[], pressmark: [] as Walked[] };
      // The first time fills the system's caches and counts for nothing.
      for (let round = -1; round < Math.min(rounds, files > 500_000 ? 3 : rounds); round++) {
        for (const how of ["fdir", "pressmark"] as const) {
          const { stdout } = await promisify(execFile)(process.execPath, [walkScript, how, fixture[kind]]);
          const walked = JSON.parse(stdout) as Walked;
          if (walked.entries !== files) throw new Error(`${how} found ${walked.entries} of ${files}`);
          if (round >= 0) taken[how].push(walked);
        }
      }
      const cpu = ({ userMs, systemMs }: Walked) => userMs + systemMs;
      return (["fdir", "pressmark"] as const).map((how): Row => {
        const of = (figure: (walked: Walked) => number) => median(taken[how].map(figure));
        return {
          contestant: how === "fdir" ? "fdir + lstat" : how,
          figures: {
            cpu: of(cpu),
            ratio: median(taken[how].map((walked, round) => cpu(walked) / cpu(taken.fdir[round]!))),
            user: of(({ userMs }) => userMs),
            system: of(({ systemMs }) => systemMs),
            wall: of(({ wallMs }) => wallMs),
            peak: of(({ peakKib }) => peakKib / 1024),
          },
        };
      });
    },
  };
}

function memoryCase(name: string, { says, kind, files }: Size, targets: readonly Target[]): Case {
  return {
    name,
    title: `serve ${says} files: list all of them, then watch them, HTTP (MiB)`,
    needs: [kind],
    columns: [
      { key: "before", label: "at start", digits: 0 },
      { key: "listing", label: "listing, most", digits: 0 },
      { key: "listed", label: "afterwards", digits: 0 },
      { key: "watching", label: "watching, most", digits: 0 },
      { key: "watched", label: "at rest", digits: 0 },
      { key: "cpu", label: "CPU s to list", digits: 1 },
      { key: "pages", label: "pages", digits: 0 },
      { key: "armed", label: "s until watched", digits: 1 },
    ],
    targets,
    async run({ fixture }) {
      const started = await launch(pressmark, "http", { folder: fixture[kind], pageSize });
      const { pid } = started;
      try {
        const before = residentBytes(pid);
        const { lanes, close } = await openLanes(started, "modern", 1);
        const cpuBefore = cpuMicros(pid);
        let entries = 0;
        let pages = 0;
        let uri = "";
        for (let cursor: string | undefined; ;) {
          const { resources, nextCursor } = pageIn((await lanes[0]!.ask(list(cursor), true)).body, "pressmark");
          entries += resources.length;
          pages++;
          uri = resources.at(-1)?.uri ?? uri;
          cursor = nextCursor;
          if (cursor === undefined) break;
        }
        close();
        if (entries !== files) throw new Error(`${entries} of ${files} were listed`);
        const cpu = (cpuMicros(pid) - cpuBefore) / 1e6;
        const listing = peakBytes(pid);
        const listed = await settledBytes(pid);
        forgetPeak(pid);
        const from = performance.now();
        const hearing = await hear(started.http!.port, started.http!.path, [uri], () => {});
        const armed = (performance.now() - from) / 1000;
        const watched = await settledBytes(pid);
        const watching = peakBytes(pid);
        hearing.close();
        return [
          {
            contestant: "pressmark",
            figures: {
              before: mib(before),
              listing: mib(listing),
              listed: mib(listed),
              watching: mib(watching),
              watched: mib(watched),
              cpu,
              pages,
              armed,
            },
          },
        ];
      } finally {
        await started.stop();
      }
    },
  };
}

function mib(bytes: number): number {
  return bytes / 1024 ** 2;
}
