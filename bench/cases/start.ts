/** From the start of the process to its first answer. */
import type { Case, Row } from "../case.ts";
import { nothing, type Contestant, type Transport } from "../contestants.ts";
import { median } from "../figures.ts";
import type { Fixture } from "../fixture.ts";
import { openLanes } from "../lanes.ts";
import { launch } from "../launch.ts";
import { cpuMicros, residentBytes } from "../meter.ts";
import { read } from "../questions.ts";

const columns = [
  { key: "wall", label: "wall ms", digits: 0 },
  { key: "ratio", label: "× first", digits: 2 },
  { key: "cpu", label: "CPU ms", digits: 0 },
  { key: "rss", label: "RSS MiB", digits: 0 },
];

export const startCases: readonly Case[] = [
  startCase("start-http", "start to first answer, HTTP", "http", "few", "small.txt", () => true),
  startCase("start-stdio", "start to first answer, stdio", "stdio", "few", "small.txt", () => true),
  startCase(
    "start-tree",
    "start to first answer over 100,000 files, HTTP",
    "http",
    "tree",
    "folder-050/file-0500.txt",
    ({ name }) => name === "bare" || name === "pressmark",
  ),
];

function startCase(
  name: string,
  title: string,
  transport: Transport,
  folder: keyof Fixture,
  file: string,
  takesPart: (contestant: Contestant) => boolean,
): Case {
  return {
    name,
    title,
    needs: [folder],
    columns,
    targets: transport === "http" ? [{ says: title, column: "ratio", atMost: 1.6 }] : [],
    async run({ fixture, contestants, rounds }) {
      const runners = contestants.filter(takesPart);
      if (transport === "http") runners.unshift(nothing);
      const taken = runners.map(() => ({ wall: [] as number[], ratio: [] as number[], cpu: [] as number[], rss: 0 }));
      // The first time fills the system's file cache and counts for nothing.
      for (let round = -1; round < rounds * 3; round++) {
        let yardstick = Number.NaN;
        for (const [index, contestant] of runners.entries()) {
          // What is far from the target needs no fine measure.
          if (round >= rounds && contestant.share < 1) continue;
          const era = contestant.eras[0]!;
          const from = performance.now();
          const running = await launch(contestant, transport, { folder: fixture[folder], pageSize: 1000 });
          try {
            const { lanes, close } = await openLanes(running, era, 1);
            const uri = contestant.own?.uri ?? `file://${fixture[folder]}/${file}`;
            const { body } = await lanes[0]!.ask(read(uri), true);
            const wall = performance.now() - from;
            const cpu = cpuMicros(running.pid) / 1000;
            close();
            if (!body.includes('"result"')) throw new Error(`${contestant.name} gave ${body.slice(0, 500)}`);
            if (contestant === (transport === "http" ? nothing : contestants[0])) yardstick = wall;
            if (round < 0) continue;
            const own = taken[index]!;
            own.wall.push(wall);
            own.ratio.push(wall / yardstick);
            own.cpu.push(cpu);
            own.rss = residentBytes(running.pid) / 1024 ** 2;
          } finally {
            await running.stop();
          }
        }
      }
      return runners.map(({ name: contestant }, index): Row => {
        const { wall, ratio, cpu, rss } = taken[index]!;
        return { contestant, figures: { wall: median(wall), ratio: median(ratio), cpu: median(cpu), rss } };
      });
    },
  };
}
