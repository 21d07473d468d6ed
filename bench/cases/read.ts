/** Reads of one file, over both transports and in both eras. */
import { compare, cpuColumns, type Case, type Entrant, type Target } from "../case.ts";
import { bytesOf, type Transport } from "../contestants.ts";
import { largeBytes, smallBytes } from "../fixture.ts";
import { openLanes, type Lane } from "../lanes.ts";
import { launch, type Running } from "../launch.ts";
import { list, read, type Era } from "../questions.ts";

interface Reading {
  readonly name: string;
  readonly title: string;
  readonly transport: Transport;
  /** Unless said, each contestant's newest. */
  readonly era?: Era;
  readonly file: "small.txt" | "large.txt" | "a thousand";
  /** Requests of a round; the first round is preceded by as many unmeasured. */
  readonly count: number;
  readonly targets: readonly Target[];
}

const readings: readonly Reading[] = [
  {
    name: "read-http-modern",
    title: "read 1 KiB, HTTP, 2026-07-28",
    transport: "http",
    era: "modern",
    file: "small.txt",
    count: 4000,
    targets: [{ says: "1 KiB over HTTP, modern", column: "ratio", atMost: 1.6 }],
  },
  {
    name: "read-http-legacy",
    title: "read 1 KiB, HTTP, 2025-11-25",
    transport: "http",
    era: "legacy",
    file: "small.txt",
    count: 4000,
    targets: [{ says: "1 KiB over HTTP, legacy", column: "ratio", atMost: 1.6 }],
  },
  {
    name: "read-stdio-modern",
    title: "read 1 KiB, stdio, 2026-07-28",
    transport: "stdio",
    era: "modern",
    file: "small.txt",
    count: 4000,
    targets: [{ says: "1 KiB over stdio, modern", column: "ratio", atMost: 2 }],
  },
  {
    name: "read-stdio-legacy",
    title: "read 1 KiB, stdio, 2025-11-25",
    transport: "stdio",
    era: "legacy",
    file: "small.txt",
    count: 4000,
    targets: [{ says: "1 KiB over stdio, legacy", column: "ratio", atMost: 2 }],
  },
  {
    name: "read-spread",
    title: "read 1,000 different small files in turn, HTTP",
    transport: "http",
    file: "a thousand",
    count: 4000,
    targets: [{ says: "1,000 different files over HTTP", column: "ratio", atMost: 1.6 }],
  },
  {
    name: "read-large",
    title: "read 1 MiB, the same again and again, HTTP",
    transport: "http",
    file: "large.txt",
    count: 120,
    targets: [{ says: "1 MiB hot", column: "ratio", atMost: 1 }],
  },
];

const thousand = Array.from({ length: 1000 }, (_, file) => `file-${String(file).padStart(4, "0")}.txt`);

export const readCases = readings.map((reading): Case => {
  const { name, title, transport, era, file, count, targets } = reading;
  return {
    name,
    title,
    needs: [file === "a thousand" ? "tree" : "few"],
    columns: cpuColumns,
    targets,
    async run({ fixture, contestants, rounds, inFlight }) {
      const spread = file === "a thousand";
      const bytes = spread ? 0 : file === "small.txt" ? smallBytes : largeBytes;
      const folder = spread ? fixture.tree : fixture.few;
      const running: Running[] = [];
      try {
        const entrants: Entrant[] = [];
        for (const contestant of contestants) {
          const spoken = era ?? contestant.eras[0];
          if (!spoken || !contestant.eras.includes(spoken) || (contestant.own && file !== "small.txt")) continue;
          // It knows the files it was told of when it started, and no others.
          if (spread && !contestant.pages) continue;
          const started = await launch(contestant, transport, { folder, pageSize: 1000 });
          running.push(started);
          const least = bytesOf(contestant, bytes);
          const first = await openLanes(started, spoken, inFlight);
          const questions = spread
            ? thousand.map((each) => read(`file://${folder}/folder-000/${each}`))
            : [read(contestant.own?.uri ?? (await uriOf(first.lanes[0]!, file)))];
          const { body } = await first.lanes[0]!.ask(questions[0]!, true);
          if (textLength(body) < least) throw new Error(`${contestant.name} gave too little: ${body.slice(0, 500)}`);
          const turnCount = Math.ceil(count * contestant.share);
          const drive = async (lanes: readonly Lane[]) => {
            const latencies: number[] = [];
            let left = turnCount;
            await Promise.all(
              lanes.map(async (lane) => {
                while (left-- > 0) {
                  const from = performance.now();
                  const answer = await lane.ask(questions[left % questions.length]!);
                  latencies.push(performance.now() - from);
                  if (answer.bytes < least) throw new Error(`${contestant.name} gave ${answer.bytes} bytes`);
                }
              }),
            );
            return { units: turnCount, latencies };
          };
          await drive(first.lanes);
          first.close();
          entrants.push({
            name: contestant.name,
            pid: started.pid,
            async prepare() {
              const { lanes, close } = await openLanes(started, spoken, inFlight);
              // Connections that are open but untried would charge their making to the measured part.
              await Promise.all(lanes.map((lane) => lane.ask(questions[0]!)));
              return { run: () => drive(lanes), close };
            },
          });
        }
        return await compare(entrants, rounds);
      } finally {
        await Promise.all(running.map(({ stop }) => stop()));
      }
    },
  };
});

/** Everyone may choose their own URIs: the list tells them. */
export async function uriOf(lane: Lane, file: string): Promise<string> {
  const { body } = await lane.ask(list(), true);
  const { result } = JSON.parse(body) as { result?: { resources?: { uri: string }[] } };
  const found = result?.resources?.find(({ uri }) => uri.endsWith(`/${file}`));
  if (!found) throw new Error(`nothing named ${JSON.stringify(file)} is listed: ${body.slice(0, 500)}`);
  return found.uri;
}

function textLength(body: string): number {
  const { result } = JSON.parse(body) as { result?: { contents?: { text?: string }[] } };
  return result?.contents?.[0]?.text?.length ?? -1;
}
