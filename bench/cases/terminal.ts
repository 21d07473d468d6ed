/** `ls`, `search` and `gather` at the terminal, on this repository with its index up to date: the whole process, beside `node -e 0`. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Case, Row } from "../case.ts";
import { median } from "../figures.ts";

const root = join(import.meta.dirname, "../..");
/** The folder of another build, to compare in the same rounds. */
const before = process.env["PRESSMARK_BENCH_BEFORE"];

const commands = [
  ["ls"],
  ["search", "retry", "backoff"],
  ["gather", "retry with backoff when the index is locked"],
] as const;

export const terminalCase: Case = {
  name: "terminal",
  title: "commands at the terminal, index up to date",
  needs: [],
  columns: [
    { key: "wall", label: "wall ms", digits: 0 },
    { key: "cpu", label: "CPU ms", digits: 0 },
    { key: "ratio", label: "CPU × node -e 0", digits: 1 },
  ],
  targets: [{ says: "search at the terminal, × node -e 0", row: "search", column: "ratio", atMost: 12 }],
  async run({ rounds }) {
    const cache = mkdtempSync(join(tmpdir(), "pressmark-bench-terminal-"));
    const runners = [
      { name: "node -e 0", words: ["-e", "0"], folder: join(cache, "none") },
      ...commands.map((words) => toRunner(words, root, join(cache, "now"))),
      ...(before === undefined
        ? []
        : commands.map((words) => {
            const runner = toRunner(words, before, join(cache, "before"));
            return { ...runner, name: `${runner.name}, before` };
          })),
    ];
    const taken = runners.map(() => ({ wall: [] as number[], cpu: [] as number[], ratio: [] as number[] }));
    try {
      // The first time makes the index and counts for nothing.
      for (let round = -1; round < rounds; round++) {
        let yardstick = Number.NaN;
        for (const [index, { words, folder }] of runners.entries()) {
          const { wall, cpu } = timed(words, folder);
          if (index === 0) yardstick = cpu;
          if (round < 0) continue;
          const own = taken[index]!;
          own.wall.push(wall);
          own.cpu.push(cpu);
          own.ratio.push(cpu / yardstick);
        }
      }
    } finally {
      rmSync(cache, { recursive: true, force: true });
    }
    return runners.map(({ name }, index): Row => {
      const { wall, cpu, ratio } = taken[index]!;
      return { contestant: name, figures: { wall: median(wall), cpu: median(cpu), ratio: median(ratio) } };
    });
  },
};

function toRunner(words: readonly string[], build: string, folder: string) {
  return { name: words[0]!, words: [join(build, "bin/pressmark.js"), ...words, "--folder", root], folder };
}

/** The shell measures the processor time of the command and of what it started. */
function timed(words: readonly string[], folder: string): { readonly wall: number; readonly cpu: number } {
  const from = performance.now();
  const out = execFileSync("sh", ["-c", '"$@" > /dev/null 2>&1; times', "sh", process.execPath, ...words], {
    encoding: "utf8",
    env: { ...process.env, XDG_CACHE_HOME: folder, XDG_STATE_HOME: folder },
  });
  const wall = performance.now() - from;
  const [, children = ""] = out.trim().split("\n");
  const seconds = Array.from(children.matchAll(/(\d+)m([\d.]+)s/g), ([, m, s]) => Number(m) * 60 + Number(s));
  return { wall, cpu: seconds.reduce((sum, each) => sum + each, 0) * 1000 };
}
