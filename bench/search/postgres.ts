/** Measures the shared index in PostgreSQL beside the embedded one: how well and how fast it answers, and what it costs. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { openPostgresIndexStore } from "../../src/search/postgres/postgres-index-store.ts";
import { searchMigrations } from "../../src/search/postgres/tables.ts";
import { openStore } from "../../src/search/sqlite-store.ts";
import type { AsyncIndexStore, IndexStore } from "../../src/search/store.ts";
import { createRuntime } from "../../src/server/runtime.ts";
import type { SharedDatabase } from "../../src/state/database.ts";
import { migrate } from "../../src/state/migrate.ts";
import { openDatabase } from "../../src/state/open-database.ts";
import { stateMigrations } from "../../src/state/tables.ts";
import { startPostgres, type Flavour } from "../../test/live/postgres.ts";
import { plain } from "./contestants.ts";
import { madeUp } from "./scale.ts";
import { codeSet, keywordSet, readSet, squadFile, squadSet, type Asked, type Passage, type TestSet } from "./sets.ts";

const { values } = parseArgs({
  options: {
    passages: { type: "string", default: "1000000" },
    only: { type: "string" },
    url: { type: "string" },
    embedded: { type: "string" },
    flavour: { type: "string", default: "npm" },
    every: { type: "string", default: "1" },
    json: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(`node bench/search/postgres.ts [--only quality|scale] [--passages N] [--flavour npm|debian] [--json FILE]

--passages  how many are made up for speed (1000000)
--url       a database to use and keep, instead of one that is started and removed: postgres://…; its index is used if it is filled
--embedded  the same for the file of the embedded index
--every     ask every n-th question of a large set (1)
--json      where to write the figures (bench/results/search-postgres.json)`);
  process.exit(0);
}

const figures: Record<string, unknown> = {};
const folder = mkdtempSync(join(tmpdir(), "pressmark-search-"));
const server = values.url
  ? undefined
  : await startPostgres(values.flavour as Flavour, {
      settings: ["shared_buffers = 2GB", "max_wal_size = 4GB", "maintenance_work_mem = 256MB"],
    });
const runtime = createRuntime({ write: () => true });
let schemas = 0;

async function openShared(
  name = `bench_${(schemas += 1)}`,
): Promise<{ database: SharedDatabase; store: AsyncIndexStore }> {
  const url = values.url ?? server!.url("postgres");
  const database = openDatabase({ url: `${url}?schema=${name}`, runtime, timeoutMs: 120_000 });
  await migrate(database, [...stateMigrations, ...searchMigrations]);
  return { database, store: openPostgresIndexStore({ database }) };
}

const toDocuments = (all: readonly Passage[], mount = "bench") =>
  all.map(({ path, text }) => ({ mount, entry: { path, version: "1" }, text }));

type Ask = (text: string) => Promise<readonly string[]>;
const asking = (store: Pick<IndexStore | AsyncIndexStore, "search">, mounts?: readonly string[]): Ask => {
  return async (text) => {
    const hits = await store.search({ text: plain(text), limit: 10, ...(mounts && { mounts }) });
    return hits.map(({ mount, entry }) => (mount === "bench" ? entry.path : `${mount}/${entry.path}`));
  };
};

/** One document answers: 1 / log2(1 + rank) up to the tenth, on average. */
async function ndcgOf(ask: Ask, questions: readonly Asked[]): Promise<number> {
  let sum = 0;
  for (const { text, answer } of questions) {
    const rank = (await ask(text)).indexOf(answer);
    if (rank !== -1) sum += 1 / Math.log2(rank + 2);
  }
  return sum / questions.length;
}

async function quality(): Promise<void> {
  const squad = squadFile();
  const sets: TestSet[] = [readSet("japanese"), readSet("english"), codeSet()];
  if (squad !== undefined) sets.push(squadSet(squad), keywordSet(squadSet(squad), 2), keywordSet(squadSet(squad), 3));
  console.log(`nDCG@10  ${"".padEnd(16)}embedded  shared  difference`);
  const every = Number(values.every);
  for (const whole of sets) {
    const questions = whole.questions.filter((_, at) => whole.questions.length < 1000 || at % every === 0);
    const set = { ...whole, questions };
    const embedded = openStore(join(folder, `${set.name}.db`));
    const { database, store } = await openShared();
    for (let at = 0; at < set.documents.length; at += 500) {
      const some = toDocuments(set.documents.slice(at, at + 500));
      embedded.put(some);
      await store.put(some);
    }
    const both = [await ndcgOf(asking(embedded), set.questions), await ndcgOf(asking(store), set.questions)];
    sayQuality(set.name, both);
    embedded.close();
    await database.close();
  }
}

function sayQuality(name: string, [embedded = 0, shared = 0]: readonly number[]): void {
  figures[`nDCG@10, ${name}`] = { embedded, shared };
  console.log(
    `         ${name.padEnd(16)}${embedded.toFixed(4).padStart(8)}  ${shared.toFixed(4)}  ${(shared - embedded).toFixed(4)}`,
  );
}

function ticksOf(pid: string | number, isLeader: boolean): number {
  const rest = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ").map(Number);
  return rest[11]! + rest[12]! + (isLeader ? rest[13]! + rest[14]! : 0);
}

/** CPU seconds of all processes of the database server, those that have ended included. */
function databaseCpu(leader: number): number {
  const tick = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
  const children = readFileSync(`/proc/${leader}/task/${leader}/children`, "utf8").trim().split(" ");
  return (ticksOf(leader, true) + children.reduce((sum, pid) => sum + ticksOf(pid, false), 0)) / tick;
}

async function scale(): Promise<void> {
  const count = Number(values.passages);
  const { database, store } = await openShared("bench_scale");
  const file = values.embedded ?? join(folder, "scale.db");
  const embedded = openStore(file, { readOnly: existsSync(file) });
  const [own] = await database.query<{ leader: number }>("select pg_backend_pid() as leader");
  const leader = Number(readFileSync(`/proc/${own!.leader}/stat`, "utf8").split(") ")[1]!.split(" ")[1]);
  const squad = squadFile();
  const extra = squad === undefined ? undefined : squadSet(squad);
  const sample: Passage[] = [];
  const isFilled = (await store.counts()).length > 0;
  const isEmbeddedFilled = embedded.counts().length > 0;
  let batch: Passage[] = [];
  let bytes = 0;
  const spent = { shared: 0, sharedCpu: 0, embedded: 0 };
  const flush = async (mount: string): Promise<void> => {
    const some = toDocuments(batch, mount);
    batch = [];
    let began = performance.now();
    if (!isEmbeddedFilled) embedded.put(some);
    spent.embedded += performance.now() - began;
    began = performance.now();
    const cpu = process.cpuUsage();
    const before = databaseCpu(leader);
    if (!isFilled) await store.put(some);
    const { user, system } = process.cpuUsage(cpu);
    spent.shared += performance.now() - began;
    spent.sharedCpu += (user + system) / 1e6 + databaseCpu(leader) - before;
  };
  if (extra) {
    batch = [...extra.documents];
    await flush("squad");
  }
  let at = 0;
  for (const one of madeUp(count)) {
    if (at % 997 === 0) sample.push(one);
    bytes += Buffer.byteLength(one.text);
    at += 1;
    if (isFilled && isEmbeddedFilled) continue;
    batch.push(one);
    if (batch.length === 2000) {
      await flush("bench");
      if (at % 100_000 === 0)
        console.log(
          `  ${at} put: embedded ${(spent.embedded / 1000).toFixed(0)} s, shared ${(spent.shared / 1000).toFixed(0)} s`,
        );
    }
  }
  if (batch.length > 0) await flush("bench");
  if (!isFilled) {
    const perSecond = Math.round((count / spent.shared) * 1000);
    const [size] = await database.query<{ bytes: number }>(
      "select sum(pg_total_relation_size(c.oid))::bigint as bytes from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'bench_scale' and c.relkind = 'r'",
    );
    figures["build"] = { ...spent, perSecond, bytes: size!.bytes, text: bytes, embeddedBytes: statSync(file).size };
    console.log(
      `build: ${count} passages, ${(bytes / 1e6).toFixed(0)} MB of text; shared ${(spent.shared / 1000).toFixed(0)} s (${perSecond} passages/s, CPU ${spent.sharedCpu.toFixed(0)} s), ${(size!.bytes / 1e6).toFixed(0)} MB; embedded ${(spent.embedded / 1000).toFixed(0)} s, ${(statSync(file).size / 1e6).toFixed(0)} MB`,
    );
    await database.query("analyze search_documents");
  }
  if (extra)
    for (const set of [extra, keywordSet(extra, 2), keywordSet(extra, 3)]) {
      const questions = set.questions
        .filter((_, index) => index % Math.max(10, Number(values.every)) === 0)
        .map((one) => ({ ...one, answer: `squad/${one.answer}` }));
      sayQuality(`${set.name}, in all`, [
        await ndcgOf(asking(embedded), questions),
        await ndcgOf(asking(store), questions),
      ]);
    }
  console.log(
    `${"".padEnd(12)}p50 ms  p95 ms   CPU ms  of it database   p50 embedded  CPU embedded  CPU ×  same hits of ten`,
  );
  for (const [name, questions] of Object.entries(questionsOf(sample))) {
    const shared = await time(asking(store), questions, leader);
    const local = await time(asking(embedded), questions, leader);
    const same = questions.map((_, index) => {
      const wanted = new Set(local.hits[index]);
      return wanted.size === 0 ? 1 : (shared.hits[index] ?? []).filter((path) => wanted.has(path)).length / wanted.size;
    });
    const overlap = same.reduce((sum, one) => sum + one, 0) / same.length;
    const { hits: _, ...figuresOfShared } = shared;
    const { hits: __, ...figuresOfLocal } = local;
    figures[name] = { shared: figuresOfShared, embedded: figuresOfLocal, overlap };
    console.log(
      `${name.padEnd(12)}${[shared.p50, shared.p95, shared.cpu, shared.databaseCpu, local.p50, local.cpu, shared.cpu / local.cpu, overlap].map((one) => one.toFixed(2).padStart(7)).join("  ")}`,
    );
  }
  embedded.close();
  await database.close();
}

/** From texts of the index: words as they occur, so frequent ones are frequent in queries too. */
function questionsOf(sample: readonly Passage[]): Readonly<Record<string, readonly string[]>> {
  const english = sample.filter(({ text }) => /[a-z]/.test(text));
  const japanese = sample.filter(({ text }) => !/[a-z]/.test(text));
  const mixed = (count: number): string[] => [
    ...english.slice(0, 42).map((one, at) => words(one, at * 7, count)),
    ...japanese.slice(0, 18).map((one) => runs(one, count)),
  ];
  return {
    "one word": mixed(1),
    "two words": mixed(2),
    "three words": mixed(3),
    sentences: [
      ...english.slice(100, 121).map((one, at) => words(one, at * 7, 9)),
      ...japanese.slice(50, 59).map(({ text }) => text.split(/。/u)[0]!.slice(0, 60)),
    ],
  };
}

function words({ text }: Passage, at: number, count: number): string {
  return text
    .split(/[ .]+/)
    .slice(at % 50, (at % 50) + count)
    .join(" ");
}

function runs({ text }: Passage, count: number): string {
  return (text.match(/\p{Script=Han}{2,}|[\p{Script=Katakana}ー]{2,}/gu) ?? []).slice(0, count).join(" ");
}

interface Timed {
  readonly p50: number;
  readonly p95: number;
  /** Milliseconds per query, instance and database. */
  readonly cpu: number;
  readonly databaseCpu: number;
  readonly hits: readonly (readonly string[])[];
}

async function time(ask: Ask, questions: readonly string[], leader: number): Promise<Timed> {
  for (const question of questions) await ask(question);
  const before = databaseCpu(leader);
  const cpu = process.cpuUsage();
  const times: number[] = [];
  const hits: (readonly string[])[] = [];
  for (const question of questions) {
    const began = performance.now();
    hits.push(await ask(question));
    times.push(performance.now() - began);
  }
  const { user, system } = process.cpuUsage(cpu);
  const inDatabase = ((databaseCpu(leader) - before) * 1000) / questions.length;
  times.sort((left, right) => left - right);
  return {
    p50: times[Math.floor(times.length * 0.5)]!,
    p95: times[Math.floor(times.length * 0.95)]!,
    cpu: (user + system) / 1000 / questions.length + inDatabase,
    databaseCpu: inDatabase,
    hits,
  };
}

try {
  if (values.only !== "scale") await quality();
  if (values.only !== "quality") await scale();
} finally {
  await server?.close();
  rmSync(folder, { recursive: true });
}
const to = resolve(values.json ?? join(import.meta.dirname, "..", "results", "search-postgres.json"));
mkdirSync(dirname(to), { recursive: true });
writeFileSync(
  to,
  `${JSON.stringify({ date: new Date().toISOString(), node: process.version, ...figures }, undefined, 2)}\n`,
);
