/** How smoothly the picker scrolls through a folder of 100,000 files, beside an empty box of the same height in the same browser. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chromium, type Page } from "playwright-core";
import { buildPicker } from "../../scripts/build-picker.ts";
import { startHttp } from "../../src/server/start-http.ts";
import { median, quantile } from "../figures.ts";
import { prepareFixture } from "../fixture.ts";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "5" }, json: { type: "string" }, help: { type: "boolean" } },
});
if (values.help) {
  console.log("node bench/picker/run.ts [--rounds N] [--json FILE]");
  process.exit(0);
}

const entries = 100_000;
const rowHeight = 28;
/** In each round, on each page. */
const frames = 240;
/** As a wheel that is turned fast: some 8,000 CSS pixels in a second. */
const step = 137;
/** The browser's clock has its grain, too. */
const grain = 1.05;

const { flat } = prepareFixture(new Set(["flat"]));
const scratch = mkdtempSync(join(tmpdir(), "pressmark-bench-picker-"));
const pickerFolder = join(scratch, "picker");
const { scriptBytes } = await buildPicker(pickerFolder);
const config = join(scratch, "pressmark.config.yaml");
writeFileSync(config, `mounts: { flat: { source: file, root: ${JSON.stringify(flat)}, search: false } }\n`);
const server = await startHttp({
  folders: [],
  config,
  from: scratch,
  port: 0,
  env: { XDG_STATE_HOME: scratch, XDG_CACHE_HOME: scratch, HOME: scratch },
  err: process.stderr,
  allowedHosts: [],
  version: "1",
  pickerFolder,
});
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  // The page's policy allows no script of ours; for the measuring it is let be.
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, bypassCSP: true });
  const began = performance.now();
  await page.goto(server.picker);
  await page.getByRole("treeitem").nth(1).waitFor();
  const firstRowsMs = performance.now() - began;
  const loadedMs = await loadAll(page);
  const empty = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await empty.setContent(
    `<div class="tree" style="height:600px;overflow:auto"><div style="height:${(entries + 1) * rowHeight}px"></div></div>`,
  );
  const taken: Record<"empty" | "tree", number[]> = { empty: [], tree: [] };
  const spent: Record<"empty" | "tree", number[]> = { empty: [], tree: [] };
  for (let round = 0; round < Number(values.rounds); round += 1)
    for (const [who, where] of [["empty", empty] as const, ["tree", page] as const]) {
      await where.bringToFront();
      const meter = await openMeter(where);
      taken[who].push(...(await scroll(where, round)));
      spent[who].push((await meter()) / frames);
    }
  const rows = (["empty", "tree"] as const).map((who) => ({
    who,
    cpu: median(spent[who]),
    p50: median(taken[who]),
    p99: quantile(taken[who], 0.99),
    over16: over(taken[who], 1000 / 60),
    over33: over(taken[who], 2000 / 60),
  }));
  console.log(
    `${entries.toLocaleString("en")} entries, all of them loaded in ${(loadedMs / 1000).toFixed(1)} s; the first rows after ${Math.round(firstRowsMs)} ms; script ${scriptBytes} bytes\n`,
  );
  console.log("         CPU ms   p50 ms   p99 ms   over 16.7 ms   over 33.3 ms");
  for (const { who, cpu, p50, p99, over16, over33 } of rows)
    console.log(
      `${who.padEnd(6)} ${cpu.toFixed(2).padStart(8)} ${p50.toFixed(1).padStart(8)} ${p99.toFixed(1).padStart(8)} ${percent(over16).padStart(14)} ${percent(over33).padStart(14)}`,
    );
  if (values.json !== undefined)
    writeFileSync(
      values.json,
      `${JSON.stringify({ date: new Date().toISOString(), entries, firstRowsMs, loadedMs, rows }, undefined, 2)}\n`,
    );
} finally {
  await browser.close();
  await server.close();
  rmSync(scratch, { recursive: true, force: true });
}

/** Says how long the page's main thread has worked since, in milliseconds of CPU: others on the machine do not count. */
async function openMeter(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const read = async (): Promise<number> => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN);
  };
  const before = await read();
  return async () => {
    const after = await read();
    await session.detach();
    return after - before;
  };
}

/** To the end again and again, until there is no more to come. */
async function loadAll(page: Page): Promise<number> {
  const began = performance.now();
  await page.getByRole("tree").focus();
  for (;;) {
    const height = Number(await page.evaluate(`parseFloat(document.querySelector(".rows").style.height)`));
    if (height >= (entries + 1) * rowHeight) return performance.now() - began;
    await page.keyboard.press("End");
    await page.waitForFunction(`parseFloat(document.querySelector(".rows").style.height) > ${height}`);
  }
}

/** How long each frame took while the box was scrolled by a step in every one of them. */
async function scroll(page: Page, round: number): Promise<number[]> {
  const from = (round * 611_953) % ((entries - 5000) * rowHeight);
  return page.evaluate(`new Promise((done) => {
    const box = document.querySelector(".tree");
    const times = [];
    box.scrollTop = ${from};
    requestAnimationFrame(function next(now) {
      times.push(now);
      box.scrollTop += ${step};
      if (times.length <= ${frames}) requestAnimationFrame(next);
      else done(times.slice(1).map((time, index) => time - times[index]));
    });
  })`);
}

function over(intervals: readonly number[], ms: number): number {
  return intervals.filter((interval) => interval > ms * grain).length / intervals.length;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
