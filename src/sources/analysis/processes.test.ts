/** Several processes, one file. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createTools } from "../../server/tools.ts";
import { collect } from "../../testing/pages.ts";
import type { Told } from "./test-asker.ts";
import { useHouses } from "./test-house.ts";

let folder: string;
let path: string;
const children: ChildProcess[] = [];
const open = useHouses();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-analysis-"));
  path = join(folder, "results.db");
});
afterEach(async () => {
  for (const child of children.splice(0))
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  rmSync(folder, { recursive: true, force: true });
});

async function start(job: "ask" | "write", count = 0): Promise<ChildProcess> {
  const child = fork(new URL("./test-asker.ts", import.meta.url), [job, path, String(count)], { execArgv: [] });
  children.push(child);
  await once(child, "message");
  return child;
}

it("fifty askers of one question in five processes compute once", { timeout: 120_000 }, async () => {
  const askers = await Promise.all(Array.from({ length: 5 }, () => start("ask", 10)));
  const answers = await Promise.all(
    askers.map(async (asker) => {
      asker.send("go");
      const [told] = (await once(asker, "message")) as [Told];
      return told.kind === "answers" ? told.answers : [];
    }),
  );
  expect(answers.flat().toSorted()).toEqual(["compute", ...Array.from({ length: 49 }, () => "hit")]);
});

it(
  "what was stored is there after a kill in the middle of a write, and nothing of half a write",
  { timeout: 120_000 },
  async () => {
    const stored: string[] = [];
    for (const [count, enough] of [
      [2, 12],
      [1, 3],
    ] as const) {
      const writers = await Promise.all(Array.from({ length: count }, () => start("write")));
      const before = stored.length;
      const done = Promise.withResolvers<void>();
      for (const writer of writers) {
        writer.on("message", (told: Told) => {
          if (told.kind === "stored") stored.push(told.id);
          if (stored.length >= before + enough) done.resolve();
        });
        writer.send("go");
      }
      await done.promise;
      await Promise.all(
        writers.map(async (writer) => {
          writer.kill("SIGKILL");
          await once(writer, "exit");
        }),
      );
    }

    const { source, house, call, json } = open({ path, tools: createTools(process.stderr) });
    const listed = await collect((cursor) => source.list({ limit: 7, ...(cursor !== undefined && { cursor }) }, call));
    const ids = listed.map((entry) => entry.path.replace("results/", ""));
    expect(ids).toEqual(expect.arrayContaining(stored));
    for (const id of ids.filter((each) => each !== "statistics")) {
      const { value } = await json(`analysis://results/${id}`);
      expect(value.result.consensus.content).toHaveLength(value.prompt.split(" ")[1].length + 1 + 10_000);
      expect((await json(`analysis://results/${id}/events`)).value.events).toHaveLength(1);
    }
    const { value: statistics } = await json("analysis://statistics");
    expect(statistics.results).toBe(ids.length - 1);
    await house.close();
    const file = new DatabaseSync(path);
    expect(file.prepare("pragma integrity_check").get()).toEqual({ integrity_check: "ok" });
    for (const orphans of [
      "bodies where key not in (select key from results)",
      "events where number not in (select number from results)",
      "results where key not in (select key from bodies)",
    ])
      expect(file.prepare(`select count(*) as count from ${orphans}`).get()).toEqual({ count: 0 });
    file.close();
  },
);
