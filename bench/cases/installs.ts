/** From the start of the process to its first answer, by how Pressmark was installed. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildExecutable } from "../../scripts/build-executable.ts";
import { createProject } from "../../test/package/project.ts";
import type { Case } from "../case.ts";
import { contestants, type Contestant, type Transport } from "../contestants.ts";
import { openLanes } from "../lanes.ts";
import { launch } from "../launch.ts";
import { cpuMicros, residentBytes } from "../meter.ts";
import { read } from "../questions.ts";

const checkout = contestants.find(({ name }) => name === "pressmark")!;

export const installCases: readonly Case[] = [
  installCase("start-installs-stdio", "start to first answer by installation, stdio", "stdio"),
  installCase("start-installs-http", "start to first answer by installation, HTTP", "http"),
];

function installCase(name: string, title: string, transport: Transport): Case {
  return {
    name,
    title,
    needs: ["few"],
    columns: [
      { key: "cpu", label: "CPU ms", digits: 1 },
      { key: "ratio", label: "× checkout", digits: 2 },
      { key: "wall", label: "wall ms", digits: 0 },
      { key: "rss", label: "RSS MiB", digits: 0 },
    ],
    targets: [
      { says: `${title}: package`, row: "package", column: "ratio", atMost: 1.1 },
      { says: `${title}: executable`, row: "executable", column: "ratio", atMost: 1.3 },
    ],
    async run({ fixture, rounds }) {
      using project = createProject();
      const folder = mkdtempSync(join(tmpdir(), "pressmark-bench-installs-"));
      try {
        const program = join(folder, "pressmark");
        await buildExecutable(program);
        const launcher = join(project.folder, "node_modules/pressmark/bin/pressmark.js");
        const runners: readonly Contestant[] = [
          { ...checkout, name: "checkout" },
          { ...checkout, name: "package", command: (...how) => startedBy(checkout.command(...how), [launcher]) },
          { ...checkout, name: "executable", command: (...how) => startedBy(checkout.command(...how), [], program) },
        ];
        const taken = runners.map(() => ({ cpu: [] as number[], wall: [] as number[], rss: [] as number[] }));
        // The first time fills the caches of the system and of Node, and counts for nothing.
        for (let round = -1; round < rounds * 3; round++)
          for (const [index, runner] of runners.entries()) {
            const figures = await startOnce(runner, transport, fixture.few);
            if (round < 0) continue;
            for (const key of ["cpu", "wall", "rss"] as const) taken[index]![key].push(figures[key]);
          }
        // The smallest: other load only adds to it.
        const least = taken.map(({ cpu, wall, rss }) => ({
          cpu: Math.min(...cpu),
          wall: Math.min(...wall),
          rss: Math.min(...rss),
        }));
        return runners.map(({ name: contestant }, index) => ({
          contestant,
          figures: { ...least[index]!, ratio: least[index]!.cpu / least[0]!.cpu },
        }));
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}

/** The same words to another program. */
function startedBy(start: ReturnType<Contestant["command"]>, before: readonly string[], program?: string) {
  const [, ...words] = start.args;
  return { ...start, args: [...before, ...words], program };
}

async function startOnce(runner: Contestant, transport: Transport, folder: string) {
  const from = performance.now();
  const running = await launch(runner, transport, { folder, pageSize: 1000 });
  try {
    const { lanes, close } = await openLanes(running, "modern", 1);
    const { body } = await lanes[0]!.ask(read(`file://${folder}/small.txt`), true);
    const wall = performance.now() - from;
    const [cpu, rss] = [cpuMicros(running.pid) / 1000, residentBytes(running.pid) / 1024 ** 2];
    close();
    if (!body.includes('"result"')) throw new Error(`${runner.name} gave ${body.slice(0, 500)}`);
    return { wall, cpu, rss };
  } finally {
    await running.stop();
  }
}
