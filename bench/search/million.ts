/** `pressmark serve` over a million texts: CPU beside FTS5 trigram, memory, size, and searches while it indexes and afterwards. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs, promisify } from "node:util";
import { contestants } from "../contestants.ts";
import { quantile } from "../figures.ts";
import { openLanes, type Lane } from "../lanes.ts";
import { launch, type Running } from "../launch.ts";
import { createMadeTexts } from "../made-texts.ts";
import { makeTextTree } from "../make-tree.ts";
import { cpuMicros, forgetPeak, peakBytes, residentBytes, settledBytes } from "../meter.ts";
import { callTool, read } from "../questions.ts";
import { madeUpQuestions } from "./scale.ts";

const { values } = parseArgs({
  options: {
    folders: { type: "string", default: "1000" },
    root: { type: "string" },
    "without-fts5": { type: "boolean", default: false },
    "in-turns": { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
    json: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(`node bench/search/million.ts [--folders N] [--root FOLDER] [--without-fts5] [--in-turns] [--keep] [--json FILE]

--folders       of 1,000 files each (1000)
--root          where the tree is made and used again (below the temporary folder)
--without-fts5  measures Pressmark alone
--in-turns      measures FTS5, Pressmark and FTS5 again, one after another, and takes the mean of FTS5; default: both at once
--keep          keeps the folder with the index
--json          where to write the figures (bench/results/million.json)`);
  process.exit(0);
}

const folders = Number(values.folders);
const files = folders * 1000;
const root = resolve(values.root ?? join(tmpdir(), `pressmark-bench-${userInfo().username}`, `texts-${folders}`));
makeTextTree(root, { folders, files: 1000 });
// Both read from the page cache: otherwise the faster one would pay for reading from the disk, and the other would not.
for (const folder of readdirSync(root))
  for (const name of readdirSync(join(root, folder))) readFileSync(join(root, folder, name));
const scratch = mkdtempSync(join(dirname(root), "index-"));
const figures: Record<string, number> = { files };
const say = (name: string, figure: number, digits = 1): void => {
  figures[name] = figure;
  console.log(`  ${name.padEnd(52)} ${figure.toFixed(digits).padStart(10)}`);
};

interface Built {
  readonly files: number;
  readonly bytes: number;
  readonly cpuS: number;
  readonly readS: number;
  readonly indexBytes: number;
}

async function measureFts5(): Promise<Built> {
  const script = join(import.meta.dirname, "fts5-build.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [script, root, join(scratch, "fts5.db")]);
  const built = JSON.parse(stdout) as Built;
  if (built.files !== files) throw new Error(`FTS5 has ${built.files} of ${files} files`);
  say("FTS5 trigram: CPU s", built.cpuS);
  say("  of it to read the files", built.readS);
  say("FTS5 trigram: size × text", built.indexBytes / built.bytes, 2);
  rmSync(join(scratch, "fts5.db"));
  return built;
}

interface StatusOfIndex {
  readonly mounts?: readonly { readonly state: string; readonly looked: number; readonly documents: number }[];
}

async function statusOf(lane: Lane): Promise<StatusOfIndex> {
  const { body } = await lane.ask(read("pressmark://index/status"), true);
  const { result } = JSON.parse(body) as { result: { contents: { text: string }[] } };
  return JSON.parse(result.contents[0]!.text) as StatusOfIndex;
}

async function search(lane: Lane, query: string): Promise<string> {
  const { body } = await lane.ask(callTool("search_resources", { query }), true);
  const { result } = JSON.parse(body) as { result: { content: { text?: string }[] } };
  return result.content.map(({ text = "" }) => text).join("\n");
}

async function untilIndexed(lane: Lane, { pid }: Running): Promise<void> {
  const during: number[] = [];
  let lookedAtMs = -Infinity;
  let isPartialSeen = false;
  for (;;) {
    const state = (await statusOf(lane)).mounts?.[0];
    if (state?.state === "complete" && state.looked === files) break;
    if (state && ["failing", "large", "full", "unavailable", "partial"].includes(state.state))
      throw new Error(`the index is ${state.state}`);
    if (state && state.documents > 0 && performance.now() - lookedAtMs > 5000) {
      const from = (lookedAtMs = performance.now());
      const answer = await search(lane, questions[during.length % questions.length]!);
      during.push(performance.now() - from);
      isPartialSeen ||= /partial|% /.test(answer);
      if (process.stderr.isTTY || during.length % 10 === 0)
        console.error(`${state.looked} of ${files}, ${mib(residentBytes(pid)).toFixed(0)} MiB`);
    }
    await wait(250);
  }
  say("searches while indexing", during.length, 0);
  if (during.length > 0) {
    say("  p50 ms", quantile(during, 0.5));
    say("  p95 ms", quantile(during, 0.95));
    say("  one said that its result is partial", Number(isPartialSeen), 0);
  }
}

async function measurePressmark(): Promise<number> {
  process.env["XDG_CACHE_HOME"] = join(scratch, "cache");
  process.env["XDG_STATE_HOME"] = join(scratch, "state");
  const pressmark = contestants.find(({ name }) => name === "pressmark")!;
  const began = performance.now();
  const running = await launch(pressmark, "http", { folder: root, pageSize: 1000 });
  const { pid } = running;
  try {
    const { lanes, close } = await openLanes(running, "modern", 1);
    const lane = lanes[0]!;
    await untilIndexed(lane, running);
    const cpu = cpuMicros(pid) / 1e6;
    say("pressmark: CPU s until complete", cpu);
    say("pressmark: wall s until complete", (performance.now() - began) / 1000, 0);
    say("pressmark: most MiB while indexing", mib(peakBytes(pid)), 0);
    say("pressmark: MiB afterwards", mib(await settledBytes(pid)), 0);
    say("pressmark: MiB on disk", mib(sizeBelow(join(scratch, "cache"))), 0);
    forgetPeak(pid);
    const times: number[] = [];
    const before = cpuMicros(pid);
    for (const question of questions) {
      const from = performance.now();
      const answer = await search(lane, question);
      times.push(performance.now() - from);
      if (!answer.includes("file-")) throw new Error(`nothing was found for ${question}: ${answer.slice(0, 500)}`);
    }
    say("searches", times.length, 0);
    say("  CPU ms", (cpuMicros(pid) - before) / 1000 / times.length);
    say("  p50 ms", quantile(times, 0.5));
    say("  p95 ms", quantile(times, 0.95));
    say("  most MiB while searching", mib(peakBytes(pid)), 0);
    close();
    return cpu;
  } finally {
    await running.stop();
  }
}

function mib(bytes: number): number {
  return bytes / 1024 ** 2;
}

function sizeBelow(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

const nextText = createMadeTexts();
const some = Array.from({ length: 1000 }, () => ({ path: "", text: nextText().text }));
const questions = madeUpQuestions(some, 200).filter((question) => /\p{L}{2}/u.test(question));
console.log(`${files.toLocaleString("en")} texts of English, Japanese and code`);
try {
  const fts5CpuS: number[] = [];
  const runFts5 = async (): Promise<void> => void fts5CpuS.push((await measureFts5()).cpuS);
  let cpuS: number;
  if (values["without-fts5"]) cpuS = await measurePressmark();
  else if (values["in-turns"]) {
    // Before and after, so that a machine that becomes slower or faster meanwhile changes both.
    await runFts5();
    cpuS = await measurePressmark();
    await runFts5();
  } else {
    // At the same time, so that other load slows both.
    [cpuS] = await Promise.all([measurePressmark(), runFts5()]);
  }
  if (fts5CpuS.length > 0)
    say("CPU of pressmark, × FTS5 trigram", (cpuS * fts5CpuS.length) / fts5CpuS.reduce((sum, each) => sum + each), 2);
} finally {
  if (values.keep) console.log(scratch);
  else rmSync(scratch, { recursive: true });
}
const json = resolve(values.json ?? join(import.meta.dirname, "..", "results", "million.json"));
mkdirSync(dirname(json), { recursive: true });
writeFileSync(json, `${JSON.stringify({ date: new Date().toISOString(), node: process.version, ...figures })}\n`);
