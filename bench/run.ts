/** Measures Pressmark beside its peers and beside a bare server, all in one go. */
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Case } from "./case.ts";
import { analysisCases } from "./cases/analysis.ts";
import { burstCases } from "./cases/burst.ts";
import { driveCases } from "./cases/drive.ts";
import { gitCases } from "./cases/git.ts";
import { installCases } from "./cases/installs.ts";
import { holdCase, tellCase } from "./cases/listen.ts";
import { listCases } from "./cases/list.ts";
import { metricsCases } from "./cases/metrics.ts";
import { memoryCase } from "./cases/memory.ts";
import { mixCase } from "./cases/mix.ts";
import { objectCases } from "./cases/objects.ts";
import { readCases } from "./cases/read.ts";
import { rereadCase } from "./cases/reread.ts";
import { rulesCase } from "./cases/rules.ts";
import { saveCases } from "./cases/save.ts";
import { busCase } from "./cases/shared-bus.ts";
import { growthCase } from "./cases/shared-growth.ts";
import { instancesCase } from "./cases/shared-instances.ts";
import { sharedListensCase } from "./cases/shared-listens.ts";
import { sharedCase } from "./cases/shared.ts";
import { signInCase } from "./cases/sign-in.ts";
import { startCases } from "./cases/start.ts";
import { terminalCase } from "./cases/terminal.ts";
import { timingCase } from "./cases/timing.ts";
import { toolCases } from "./cases/tool.ts";
import { treeCases } from "./cases/tree.ts";
import { buildContestants, contestants } from "./contestants.ts";
import { prepareFixture } from "./fixture.ts";
import { table, verdicts, type Measured } from "./report.ts";

const cases: readonly Case[] = [
  ...readCases,
  rereadCase,
  signInCase,
  ...toolCases,
  ...listCases,
  rulesCase,
  timingCase,
  ...treeCases,
  ...gitCases,
  ...objectCases,
  ...analysisCases,
  ...driveCases,
  ...metricsCases,
  ...saveCases,
  ...burstCases,
  tellCase,
  mixCase,
  memoryCase,
  ...startCases,
  ...installCases,
  terminalCase,
  holdCase,
  sharedCase,
  instancesCase,
  sharedListensCase,
  busCase,
  growthCase,
];

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [] },
    who: { type: "string", multiple: true, default: [] },
    rounds: { type: "string", default: "5" },
    "in-flight": { type: "string", default: "8" },
    million: { type: "boolean", default: false },
    json: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  console.log(`node bench/run.ts [--only CASE]… [--who CONTESTANT]… [--rounds N] [--in-flight N] [--million] [--json FILE]

--only       cases by name, with commas between; one * stands for anything, as in list-*: ${cases.map(({ name }) => name).join(", ")}
--who        who takes part beside bare (all unless said): ${contestants.map(({ name }) => name).join(", ")}
--rounds     how often everyone takes a turn (5)
--in-flight  how many reads are under way at once (8)
--million    also the cases over a million files, which are made first (5 GiB free, some minutes)
--json       where to write the figures (bench/results/latest.json)`);
  process.exit(0);
}

const patterns = values.only.flatMap((only) => only.split(","));
const unknown = patterns.find((pattern) => !cases.some(({ name }) => isNamed(name, pattern)));
if (unknown !== undefined) throw new Error(`no case is named ${JSON.stringify(unknown)}; see --help`);
const chosen = cases.filter(
  ({ name, needs, isLong = false }) =>
    (values.million || !needs.includes("million")) &&
    (patterns.length === 0 ? !isLong : patterns.some((pattern) => isNamed(name, pattern))),
);
const entered = contestants.filter(
  ({ name }) => values.who.length === 0 || name === "bare" || values.who.includes(name),
);
const rounds = Number(values.rounds);
const inFlight = Number(values["in-flight"]);
if (process.platform !== "linux") throw new Error("CPU and memory are read from /proc: run this on Linux");
if (chosen.length === 0) throw new Error("the chosen cases need a million files; say --million");
if (!(rounds >= 1 && inFlight >= 1)) throw new Error("rounds and questions in flight are numbers from 1");

await buildContestants();
const fixture = prepareFixture(new Set(chosen.flatMap(({ needs }) => needs)));
const measured: Measured[] = [];
const failed: string[] = [];
const began = performance.now();
for (const asked of chosen) {
  try {
    const rows = await asked.run({ fixture, contestants: entered, rounds, inFlight });
    measured.push({ case: asked, rows });
    console.log(table(measured.at(-1)!));
  } catch (error) {
    failed.push(asked.name);
    console.log(`${asked.title}\n  failed: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}
console.log(verdicts(measured));
const seconds = Math.round((performance.now() - began) / 1000);
console.log(`${seconds} s, Node ${process.version}, ${availableParallelism()} cores, ${rounds} rounds`);

const file = resolve(values.json ?? join(import.meta.dirname, "results", "latest.json"));
mkdirSync(dirname(file), { recursive: true });
writeFileSync(
  file,
  `${JSON.stringify(
    {
      date: new Date().toISOString(),
      node: process.version,
      cores: availableParallelism(),
      rounds,
      inFlight,
      seconds,
      cases: measured.map(({ case: { name, title }, rows }) => ({ name, title, rows })),
      failed,
    },
    undefined,
    2,
  )}\n`,
);
if (failed.length > 0) process.exitCode = 1;

/** A name, or a beginning and an ending with a star between. */
function isNamed(name: string, pattern: string): boolean {
  const [begin = "", end] = pattern.split("*", 2);
  return end === undefined ? name === begin : name.startsWith(begin) && name.slice(begin.length).endsWith(end);
}
