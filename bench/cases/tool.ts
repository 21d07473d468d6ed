/** The same reads as resources and through a server whose files are behind tools. */
import { compare, type Case, type Entrant } from "../case.ts";
import { filesystemServer } from "../contestants.ts";
import { largeBytes, smallBytes } from "../fixture.ts";
import { openLanes, type Lane } from "../lanes.ts";
import { launch, type Running } from "../launch.ts";
import { callTool, read } from "../questions.ts";

const columns = [
  { key: "cpu", label: "CPU µs", digits: 1 },
  { key: "ratio", label: "× server-filesystem", digits: 2 },
  { key: "p50", label: "p50 ms", digits: 2 },
  { key: "p99", label: "p99 ms", digits: 2 },
  { key: "rss", label: "RSS MiB", digits: 0 },
];

export const toolCases: readonly Case[] = [
  toolCase(
    "tool-small",
    "read 1 KiB, stdio, 2025-11-25: a resource, or a tool's answer",
    "small.txt",
    smallBytes,
    4000,
  ),
  toolCase("tool-large", "read 1 MiB, stdio, 2025-11-25: a resource, or a tool's answer", "large.txt", largeBytes, 60),
];

function toolCase(name: string, title: string, file: string, bytes: number, count: number): Case {
  return {
    name,
    title,
    needs: ["few"],
    columns,
    targets: [],
    async run({ fixture, contestants, rounds, inFlight }) {
      const folder = fixture.few;
      const running: Running[] = [];
      try {
        const entrants: Entrant[] = [];
        const takePart = contestants.filter((one) => one.name === "bare" || one.name === "pressmark");
        for (const contestant of [filesystemServer, ...takePart]) {
          const started = await launch(contestant, "stdio", { folder, pageSize: 1000 });
          running.push(started);
          const question =
            contestant === filesystemServer
              ? callTool("read_text_file", { path: `${folder}/${file}` })
              : read(`file://${folder}/${file}`);
          const { lanes } = await openLanes(started, "legacy", inFlight);
          const turnCount = Math.ceil(count * contestant.share);
          const drive = async (all: readonly Lane[]) => {
            const latencies: number[] = [];
            let left = turnCount;
            await Promise.all(
              all.map(async (lane) => {
                while (left-- > 0) {
                  const from = performance.now();
                  const answer = await lane.ask(question);
                  latencies.push(performance.now() - from);
                  if (answer.bytes < bytes) throw new Error(`${contestant.name} gave ${answer.body.slice(0, 500)}`);
                }
              }),
            );
            return { units: turnCount, latencies };
          };
          await drive(lanes);
          entrants.push({
            name: contestant.name,
            pid: started.pid,
            prepare: async () => ({ run: () => drive(lanes), close: () => {} }),
          });
        }
        return await compare(entrants, rounds, filesystemServer.name);
      } finally {
        await Promise.all(running.map(({ stop }) => stop()));
      }
    },
  };
}
