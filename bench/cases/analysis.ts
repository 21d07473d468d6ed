/** A million results of analyses beside a thousand: what finding one and listing a page of them cost. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { openPolicy } from "../../src/access/policy.ts";
import { withStandardLayers } from "../../src/layers/standard.ts";
import { createResources, type LocalResources } from "../../src/router/create-resources.ts";
import { createRuntime } from "../../src/server/runtime.ts";
import type { Source } from "../../src/source.ts";
import analysis from "../../src/sources/analysis.ts";
import { keyOf, type AnalysisQuestion } from "../../src/sources/analysis/question.ts";
import { headOf } from "../../src/sources/analysis/create-store.ts";
import type { Case } from "../case.ts";
import { median } from "../figures.ts";

const sizes = { thousand: 1000, million: 1_000_000 } as const;
const pageSize = 1000;
const finds = 5000;
const pages = 50;
const call = { caller: { id: "bench" }, signal: new AbortController().signal };

/** As a caller sees it, layers and all. */
interface Shelf {
  readonly pressmark: LocalResources;
  readonly source: Source;
  readonly count: number;
}

export const analysisCases: readonly Case[] = [
  {
    name: "analysis",
    title: "find one of a thousand, and of a million, results of analyses; list a page of 1,000 of them",
    needs: [],
    columns: [
      { key: "find", label: "find CPU µs", digits: 1 },
      { key: "found", label: "× a thousand", digits: 2 },
      { key: "page", label: "page CPU µs", digits: 0 },
      { key: "listed", label: "× a thousand", digits: 2 },
    ],
    targets: [
      { says: "find_analysis of a million, × of a thousand", row: "million", column: "found", atMost: 1.2 },
      { says: "a page of a million results, × of a thousand", row: "million", column: "listed", atMost: 1.2 },
    ],
    async run({ rounds }) {
      const folder = mkdtempSync(join(tmpdir(), "pressmark-bench-analysis-"));
      const shelves: Record<string, Shelf> = {};
      try {
        for (const [name, count] of Object.entries(sizes))
          shelves[name] = build(await fill(join(folder, `${name}.db`), count), count);
        const taken = Object.keys(shelves).map((name) => ({ name, find: [] as number[], page: [] as number[] }));
        // The first round warms up.
        for (let round = -1; round < rounds; round += 1)
          for (const { name, find, page } of taken) {
            const one = await findSome(shelves[name]!);
            const other = await listSome(shelves[name]!);
            if (round < 0) continue;
            find.push(one);
            page.push(other);
          }
        const [yardstick] = taken;
        return taken.map(({ name, find, page }) => ({
          contestant: name,
          figures: {
            find: median(find),
            found: median(find.map((each, at) => each / yardstick!.find[at]!)),
            page: median(page),
            listed: median(page.map((each, at) => each / yardstick!.page[at]!)),
          },
        }));
      } finally {
        for (const { pressmark } of Object.values(shelves)) await pressmark.close();
        rmSync(folder, { recursive: true, force: true });
      }
    },
  },
];

function build(inner: Source, count: number): Shelf {
  const runtime = createRuntime(process.stderr);
  const source = withStandardLayers(inner, { name: "wall" }, runtime);
  const mounts = [{ name: "wall", base: "analysis://", source }];
  const pressmark = createResources({ mounts, policy: openPolicy, runtime, cursorKey: new Uint8Array(32) });
  return { pressmark, source, count };
}

const promptOf = (number: number) => `question ${number}: how should the two services talk to each other?`;

function questionOf(number: number): AnalysisQuestion {
  return { prompt: promptOf(number), taskType: "basic", options: {}, providers: [], models: [], grounding: [] };
}

/** One is stored as a producer would; the others are copies of it under keys of their own, written all at once. */
async function fill(path: string, count: number): Promise<Source> {
  const open = () => analysis.open(analysis.options(z).parse({ path }), createRuntime(process.stderr));
  const first = await open();
  await first.actions!["store_analysis"]!.run({ prompt: promptOf(0), taskType: "basic", result }, call);
  await first.close?.();
  const file = new DatabaseSync(path);
  file.exec(
    "pragma journal_mode = delete; pragma journal_mode = memory; pragma synchronous = off; pragma cache_size = -400000; begin",
  );
  const copied = file.prepare(
    `insert into results select null, ?, ?, task, title, stored, expires, dies, passed, confidence, consensus, providers, cost, time, bytes, ?
       from results where number = 1`,
  );
  const body = file.prepare("insert into bodies select ?, ?, replace(body, ?, ?) from bodies where place = ?");
  const original = keyOf(questionOf(0));
  for (let number = 1; number < count; number += 1) {
    const key = keyOf(questionOf(number));
    const place = headOf(key);
    copied.run(idOf(number), key, place);
    body.run(place, key, original.toString("hex"), key.toString("hex"), headOf(original));
  }
  file.exec("commit; pragma journal_mode = wal");
  file.close();
  return open();
}

const response = {
  content: "Use a queue.",
  confidence: 0.9,
  reasoning: "",
  cost: 0.01,
  tokens: { input: 9, output: 9 },
};
const votes = ["a", "b"].map((provider) => ({ provider, model: provider, agreement_score: 0.9, response }));
const result = {
  consensus: { content: "Use a queue between them. ".repeat(10), confidence: 0.9, reasoning: "" },
  llm_votes: votes,
  total_cost: 0.03,
  processing_time_ms: 1000,
  debug: { wall_bounce_verified: true, providers_used: ["a", "b"], tier_escalated: false },
};

/** In the order of the numbers, before the one that was stored. */
function idOf(number: number): string {
  return `f${number.toString(16).padStart(11, "0")}${randomBytes(16).toString("hex")}`;
}

/** For one, anywhere among them. */
async function findSome({ pressmark, count }: Shelf): Promise<number> {
  const what = { mount: "wall", name: "find_analysis" };
  const asked = Array.from({ length: finds }, () => Math.floor(Math.random() * count));
  const before = process.cpuUsage();
  for (const number of asked) {
    const { value } = await pressmark.act!(what, { prompt: promptOf(number), taskType: "basic" }, call);
    if (value["status"] !== "hit") throw new Error(`question ${number} was not found`);
  }
  return cpuMicrosSince(before) / finds;
}

/** For one page, from anywhere on; of a thousand there is one page. */
async function listSome({ source, count }: Shelf): Promise<number> {
  const cursors = Array.from({ length: pages }, () =>
    idOf(Math.floor(Math.random() * (count - pageSize))).slice(0, 12),
  );
  const before = process.cpuUsage();
  for (const id of cursors) {
    const { items } = await source.list({ limit: pageSize - 1, cursor: `results/${id}` }, call);
    if (items.length < pageSize - 1) throw new Error(`a page of ${items.length} was listed`);
  }
  return cpuMicrosSince(before) / pages;
}

/** Nothing here waits for anything but the file, and what other programs do to the clock is not to be measured. */
function cpuMicrosSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
