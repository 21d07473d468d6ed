/**
 * Whether a caller can tell by time what is hidden from what does not exist. Both are requested in turn; the advantage is how much more
 * often than half of the time one of them takes longer: 0 means that time tells nothing, 0.5 that it tells everything.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Case, Row } from "../case.ts";
import { median } from "../figures.ts";
import { openLanes } from "../lanes.ts";
import { launch } from "../launch.ts";
import { callTool, read, type Question } from "../questions.ts";
import { startWithToken } from "./rules.ts";

const samples = 4000;
/** Three standard deviations of the advantage for so many samples, if there is none. */
const noise = 3 / Math.sqrt(6 * samples);
const files = 200;

export const timingCase: Case = {
  name: "timing",
  title: "tell by time what is hidden from what does not exist, HTTP",
  needs: ["few"],
  columns: [
    { key: "hidden", label: "hidden µs", digits: 0 },
    { key: "missing", label: "missing µs", digits: 0 },
    { key: "advantage", label: "advantage", digits: 3 },
  ],
  targets: ["read", "complete", "search"].map((row) => ({
    says: `${row}: the advantage of a caller who measures time`,
    row,
    column: "advantage",
    atMost: Math.ceil(noise * 1000) / 1000,
  })),
  async run({ fixture, contestants }) {
    const pressmark = contestants.find(({ name }) => name === "pressmark")!;
    const folder = join(fixture.few, "..", "timing");
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(join(folder, "private"), { recursive: true });
    for (let at = 0; at < files; at += 1) {
      writeFileSync(join(folder, `open-${at}.md`), `kettle number ${at}\n`);
      writeFileSync(join(folder, "private", `note-${at}.md`), `kettle zebra${at} number ${at}\n`);
    }
    const started = await launch(
      {
        ...pressmark,
        command: () =>
          startWithToken("timing", join(folder, ".."), {
            mounts: { files: { source: "file", root: folder } },
            rules: [{ allow: ["anyone"] }, { deny: ["anyone"], paths: ["private"] }],
          }),
      },
      "http",
      { folder, pageSize: 1000 },
    );
    try {
      const { lanes, close } = await openLanes(started, "modern", 1);
      const lane = lanes[0]!;
      const note = (at: number, kind: string) =>
        read(pathToFileURL(join(folder, "private", `${kind}-${at % files}.md`)).href);
      const pairs: Record<string, (at: number) => readonly [hidden: Question, missing: Question]> = {
        read: (at) => [note(at, "note"), note(at, "nope")],
        complete: (at) => [complete(folder, `private/note-${at % 10}`), complete(folder, `private/nope-${at % 10}`)],
        search: (at) => [search(`zebra${at % files}`), search(`zebru${at % files}`)],
      };
      // The index must be complete: before, a search says so.
      for (;;) {
        const { body } = await lane.ask(search("kettle"), true);
        if (!/not (?:completely )?indexed|indexing|pending/i.test(body)) break;
      }
      const rows: Row[] = [];
      for (const [name, pair] of Object.entries(pairs)) {
        const taken: [number[], number[]] = [[], []];
        for (let at = -200; at < samples; at += 1) {
          const questions = pair(Math.abs(at));
          // Each goes first half of the time.
          for (const which of at % 2 === 0 ? [0, 1] : [1, 0]) {
            const begun = performance.now();
            await lane.ask(questions[which]!);
            if (at >= 0) taken[which]!.push(performance.now() - begun);
          }
        }
        const [hidden, missing] = taken;
        rows.push({
          contestant: name,
          figures: {
            hidden: median(hidden) * 1000,
            missing: median(missing) * 1000,
            advantage: Math.abs(shareLonger(hidden, missing) - 0.5),
          },
        });
      }
      close();
      return rows;
    } finally {
      await started.stop();
    }
  },
};

function search(word: string): Question {
  return callTool("search_resources", { query: word });
}

function complete(folder: string, value: string): Question {
  return {
    method: "completion/complete",
    params: {
      ref: { type: "ref/resource", uri: `${pathToFileURL(folder).href}/{+path}` },
      argument: { name: "path", value },
    },
  };
}

/** How often one of these is larger than one of those, of all pairs; ties count half. */
function shareLonger(these: readonly number[], those: readonly number[]): number {
  const sorted = those.toSorted((left, right) => left - right);
  const below = (value: number, orEqual: boolean): number => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle]! < value || (orEqual && sorted[middle] === value)) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const sum = these.reduce((total, value) => total + (below(value, false) + below(value, true)) / 2, 0);
  return sum / (these.length * those.length);
}
