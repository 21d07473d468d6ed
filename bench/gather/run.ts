/**
 * How much of what a commit changed is in the pack that its message asks for: `node bench/gather/run.ts [repository…]`. Each message is asked on the
 * tree before the commit; beside `gather` stand plain rankings with the same counter and the same budgets.
 */
import { resolve } from "node:path";
import { gather } from "../../src/context/gather.ts";
import type { Pack } from "../../src/context/pack.ts";
import { createBaselines, type Lines } from "./baselines.ts";
import { readHistory, usualLimits, type Commit } from "./history.ts";
import { base, openTreeServer } from "./tree-server.ts";

const budgets = [8000, 16_000, 32_000];

/** Shares of changed files and of changed lines, summed over commits. */
type Shares = { files: number; lines: number };

interface Report {
  readonly repository: string;
  readonly commits: number;
  /** Name → one for each budget. */
  readonly rows: ReadonlyMap<string, readonly Shares[]>;
  readonly gatherMs: number;
}

async function measure(repository: string): Promise<Report> {
  const pressmark = openTreeServer(repository);
  const baselines = createBaselines();
  const names = ["gather", ...baselines.map(({ name }) => name)];
  const rows = new Map(names.map((name) => [name, budgets.map((): Shares => ({ files: 0, lines: 0 }))]));
  let commits = 0;
  let gatherMs = 0;
  for (const commit of readHistory(repository, usualLimits)) {
    const { added, gone } = pressmark.goTo(commit.parent);
    for (const baseline of baselines) {
      for (const path of gone) baseline.remove(path);
      for (const path of added) baseline.add(path, pressmark.texts.get(path)!);
    }
    const changed = new Map([...commit.changed].filter(([path]) => pressmark.texts.has(path)));
    if (changed.size === 0) continue;
    commits += 1;
    for (const { name, pack } of baselines)
      pack(commit.task, budgets).forEach((lines, at) => add(rows.get(name)![at]!, lines, changed));
    for (const [at, budget] of budgets.entries()) {
      const began = performance.now();
      const call = { caller: { id: "bench" }, signal: AbortSignal.timeout(60_000) };
      const pack = await gather(pressmark.resources, { task: commit.task, budget }, call);
      gatherMs += (performance.now() - began) / budgets.length;
      if (pack.tokens > budget) throw new Error(`a pack of ${pack.tokens} tokens for a budget of ${budget}`);
      add(rows.get("gather")![at]!, linesOf(pack), changed);
    }
  }
  await pressmark.close();
  return { repository, commits, rows, gatherMs: gatherMs / Math.max(1, commits) };
}

function linesOf({ items }: Pack): Lines {
  const lines: Lines = new Map();
  for (const {
    uri,
    lines: [first, last],
  } of items) {
    const path = decodeURIComponent(uri.slice(base.length));
    const held = lines.get(path) ?? new Set();
    for (let line = first; line <= last; line += 1) held.add(line);
    lines.set(path, held);
  }
  return lines;
}

function add(to: Shares, pack: Lines, changed: Commit["changed"]): void {
  let files = 0;
  let lines = 0;
  let all = 0;
  for (const [path, wanted] of changed) {
    const held = pack.get(path);
    if (held) files += 1;
    all += wanted.size;
    for (const line of wanted) if (held?.has(line)) lines += 1;
  }
  to.files += files / changed.size;
  to.lines += lines / all;
}

function print(title: string, commits: number, rows: Report["rows"], note: string): void {
  const format = ({ files, lines }: Shares) => `${(files / commits).toFixed(2)}/${(lines / commits).toFixed(2)}`;
  process.stdout.write(`\n${title}: ${commits} ${note}\n`);
  process.stdout.write(`${" ".repeat(34)}${budgets.map((budget) => `${budget / 1000}k`.padEnd(11)).join("")}\n`);
  for (const [name, shares] of rows)
    process.stdout.write(`  ${name.padEnd(32)}${shares.map((one) => format(one).padEnd(11)).join("")}\n`);
}

/** Every repository counts the same. */
function average(reports: readonly Report[]): Report["rows"] {
  const names = [...reports[0]!.rows.keys()];
  return new Map(
    names.map((name) => [
      name,
      budgets.map((_, at) => ({
        files: reports.reduce((sum, { rows, commits }) => sum + rows.get(name)![at]!.files / commits, 0),
        lines: reports.reduce((sum, { rows, commits }) => sum + rows.get(name)![at]!.lines / commits, 0),
      })),
    ]),
  );
}

const reports: Report[] = [];
for (const repository of process.argv.length > 2 ? process.argv.slice(2) : ["."]) {
  const report = await measure(resolve(repository));
  if (report.commits === 0) process.stdout.write(`\n${repository}: no commits of a size that can be asked for\n`);
  else {
    reports.push(report);
    print(repository, report.commits, report.rows, `commits, ${report.gatherMs.toFixed(0)} ms a pack`);
  }
}
if (reports.length > 1) print("all", reports.length, average(reports), "repositories, each counting the same");
