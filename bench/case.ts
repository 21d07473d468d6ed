/** What a case is, and the way all of them compare: everyone in turn, round after round. */
import type { Contestant } from "./contestants.ts";
import { median, quantile } from "./figures.ts";
import type { Fixture } from "./fixture.ts";
import { cpuMicros, residentBytes } from "./meter.ts";

export interface Column {
  readonly key: string;
  readonly label: string;
  readonly digits: number;
}

export interface Row {
  readonly contestant: string;
  readonly figures: Readonly<Record<string, number>>;
}

export interface Target {
  readonly says: string;
  /** Whose figure is held against it; pressmark's unless said. */
  readonly row?: string;
  readonly column: string;
  readonly atMost: number;
  /** Whether the figures can be held against the target at all; they can unless this says otherwise. */
  readonly comparable?: (figures: Row["figures"]) => boolean;
}

export interface Case {
  readonly name: string;
  readonly title: string;
  readonly needs: readonly (keyof Fixture)[];
  /** Takes many minutes: runs only when it is named. */
  readonly isLong?: boolean;
  readonly columns: readonly Column[];
  readonly targets: readonly Target[];
  run(stage: Stage): Promise<readonly Row[]>;
}

export interface Stage {
  readonly fixture: Fixture;
  readonly contestants: readonly Contestant[];
  readonly rounds: number;
  /** Questions under way at once. */
  readonly inFlight: number;
}

export interface Entrant {
  readonly name: string;
  readonly pid: number;
  /** Makes ready, unmeasured; what it returns is measured. */
  prepare(): Promise<Turn>;
}

export interface Turn {
  run(): Promise<{ readonly units: number; readonly latencies: readonly number[] }>;
  close(): void;
}

export const cpuColumns: readonly Column[] = [
  { key: "cpu", label: "CPU µs", digits: 1 },
  { key: "ratio", label: "× bare", digits: 2 },
  { key: "p50", label: "p50 ms", digits: 2 },
  { key: "p99", label: "p99 ms", digits: 2 },
  { key: "rss", label: "RSS MiB", digits: 0 },
];

/** A ratio compares with the yardstick in the same round, which goes first; the median of rounds is taken at the end. */
export async function compare(entrants: readonly Entrant[], rounds: number, against = "bare"): Promise<Row[]> {
  const taken = entrants.map(() => ({ cpu: [] as number[], ratio: [] as number[], latencies: [] as number[] }));
  for (let round = 0; round < rounds; round++) {
    let yardstick = Number.NaN;
    for (const [index, { name, pid, prepare }] of entrants.entries()) {
      const turn = await prepare();
      const before = cpuMicros(pid);
      const { units, latencies } = await turn.run();
      const cpu = (cpuMicros(pid) - before) / units;
      turn.close();
      if (name === against) yardstick = cpu;
      const own = taken[index]!;
      own.cpu.push(cpu);
      own.ratio.push(cpu / yardstick);
      own.latencies.push(...latencies);
    }
  }
  return entrants.map(({ name, pid }, index) => {
    const { cpu, ratio, latencies } = taken[index]!;
    return {
      contestant: name,
      figures: {
        cpu: median(cpu),
        ratio: median(ratio),
        p50: median(latencies),
        p99: quantile(latencies, 0.99),
        rss: residentBytes(pid) / 1024 ** 2,
      },
    };
  });
}
