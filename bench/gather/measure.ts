/** Measures how much of what each commit of a repository changed is in the packs for its message. */
import type { Pack } from "../../src/context/pack.ts";
import { createBaselines, type Lines } from "./baselines.ts";
import { readHistory, type Commit } from "./history.ts";
import type { Product } from "./product.ts";
import type { MeasuredRepository } from "./repositories.ts";
import { openTreeServer, type TreeServer } from "./tree-server.ts";

/** Shares of changed files and of changed lines, from 0 to 1. */
export interface Shares {
  files: number;
  lines: number;
}

export interface Report {
  readonly commits: number;
  /** Name → one for each budget, averaged over commits. */
  readonly rows: ReadonlyMap<string, readonly Shares[]>;
  /** Name of a product → average time of one pack. */
  readonly packMs: ReadonlyMap<string, number>;
}

interface MeasureOptions {
  readonly commits: number;
  readonly budgets: readonly number[];
  /** Row name → the product that it measures. */
  readonly products: ReadonlyMap<string, Product>;
  readonly withBaselines: boolean;
}

export async function measure(
  repository: MeasuredRepository,
  { commits: count, budgets, products, withBaselines }: MeasureOptions,
): Promise<Report> {
  const servers = new Map<string, TreeServer>();
  for (const [row, product] of products) servers.set(row, await openTreeServer(repository, product));
  const baselines = withBaselines ? createBaselines() : [];
  const rows = new Map<string, Shares[]>();
  for (const name of [...products.keys(), ...baselines.map((one) => one.name)])
    rows.set(
      name,
      budgets.map(() => ({ files: 0, lines: 0 })),
    );
  const packMs = new Map(Array.from(products.keys(), (row) => [row, 0]));
  let commits = 0;
  for (const commit of readHistory(repository, count)) {
    let changed: Commit["changed"] = new Map();
    for (const [at, server] of [...servers.values()].entries()) {
      const { added, gone } = await server.goTo(commit.parent);
      await mustNotKnow(server, commit);
      if (at > 0) continue;
      changed = new Map([...commit.changed].filter(([path]) => server.texts.has(path)));
      for (const baseline of baselines) {
        for (const path of gone) baseline.remove(path);
        for (const path of added) baseline.add(path, server.texts.get(path)!);
      }
    }
    if (changed.size === 0) continue;
    commits += 1;
    for (const { name, pack } of baselines)
      pack(commit.task, budgets).forEach((lines, at) => add(rows.get(name)![at]!, lines, changed));
    for (const [row, server] of servers)
      for (const [at, budget] of budgets.entries()) {
        const began = performance.now();
        const pack = await products.get(row)!.gather(server.resources, { task: commit.task, budget }, callOf());
        packMs.set(row, packMs.get(row)! + (performance.now() - began) / budgets.length);
        if (pack.tokens > budget) throw new Error(`a pack of ${pack.tokens} tokens for a budget of ${budget}`);
        add(rows.get(row)![at]!, linesOf(pack, server.base), changed);
      }
  }
  for (const server of servers.values()) await server.close();
  const average = (sum: number): number => sum / Math.max(1, commits);
  return {
    commits,
    rows: new Map(
      Array.from(rows, ([name, all]) => [
        name,
        all.map(({ files, lines }) => ({ files: average(files), lines: average(lines) })),
      ]),
    ),
    packMs: new Map(Array.from(packMs, ([row, sum]) => [row, average(sum)])),
  };
}

function callOf() {
  return { caller: { id: "bench" }, signal: AbortSignal.timeout(60_000) };
}

/** The commit that is asked for is the answer: it must be neither readable nor in the index. */
async function mustNotKnow({ resources, history }: TreeServer, { hash, parent, task }: Commit): Promise<void> {
  const uri = `${history}commit/${hash}`;
  const isReadable = await resources.read(uri, callOf()).then(
    () => true,
    () => false,
  );
  const text = task.replaceAll(/[":-]/g, " ").slice(0, 2000);
  const { hits } = await resources.search({ text: `${text} path:commit/*`, limit: 100 }, callOf());
  if (isReadable || hits.some(({ resource }) => resource.uri === uri))
    throw new Error(`the history that ends at ${parent} contains ${hash}`);
}

function linesOf({ items }: Pack, base: string): Lines {
  const lines: Lines = new Map();
  for (const {
    uri,
    lines: [first, last],
  } of items) {
    if (!uri.startsWith(base)) continue;
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

/** Every repository counts the same. */
export function averageOf(reports: readonly Report[]): Report["rows"] {
  const [first] = reports;
  return new Map(
    Array.from(first?.rows ?? [], ([name, shares]) => [
      name,
      shares.map((_, at) => ({
        files: reports.reduce((sum, { rows }) => sum + rows.get(name)![at]!.files, 0) / reports.length,
        lines: reports.reduce((sum, { rows }) => sum + rows.get(name)![at]!.lines, 0) / reports.length,
      })),
    ]),
  );
}
