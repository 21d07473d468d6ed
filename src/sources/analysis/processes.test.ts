/** Several processes, one database. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { createRuntime } from "../../server/runtime.ts";
import { collect } from "../../testing/pages.ts";
import definition from "../analysis.ts";
import type { Told } from "./test-asker.ts";
import { optionsFor, type Where } from "./test-results.ts";
import { kinds, usePlaces } from "./test-stores.ts";

const wallClock = new URL("../../../test/faults/wall-clock.mjs", import.meta.url).href;
const clocks = mkdtempSync(join(tmpdir(), "pressmark-clocks-"));
afterAll(() => rmSync(clocks, { recursive: true }));

const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) await kill(child);
});

interface Given {
  readonly leaseMs?: number;
  /** How far its wall clock is ahead of this machine's. */
  readonly aheadMs?: number;
}

async function start(
  job: "ask" | "claim" | "write",
  where: Where,
  count = 0,
  { aheadMs, ...options }: Given = {},
): Promise<ChildProcess> {
  const given = [job, JSON.stringify({ ...where, ...options }), String(count)];
  const env = { ...process.env };
  if (aheadMs !== undefined)
    writeFileSync((env["TEST_WALL_CLOCK_FILE"] = join(clocks, String(aheadMs))), String(aheadMs));
  const child = fork(new URL("./test-asker.ts", import.meta.url), given, {
    execArgv: aheadMs === undefined ? [] : ["--import", wallClock],
    env,
  });
  children.push(child);
  await once(child, "message");
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

async function nextMessage(child: ChildProcess): Promise<Told> {
  child.send("go");
  const [message] = (await once(child, "message")) as [Told];
  return message;
}

describe.each(kinds)("several processes and $name", (kind) => {
  const { place } = usePlaces(kind);
  // Skipped where PostgreSQL cannot be started.
  const run = it.skipIf(kind.missing !== undefined);

  run("fifty askers of one question in five processes compute once", { timeout: 120_000 }, async () => {
    const { where } = place();
    const askers = await Promise.all(Array.from({ length: 5 }, () => start("ask", where, 10)));
    const answers = await Promise.all(
      askers.map(async (asker) => {
        const stated = await nextMessage(asker);
        return stated.kind === "answers" ? stated.answers : [];
      }),
    );
    expect(answers.flat().toSorted()).toEqual(["compute", ...Array.from({ length: 49 }, () => "hit")]);
  });

  run("processes whose wall clocks differ agree on who computes, and for how long", { timeout: 120_000 }, async () => {
    const { where } = place();
    const hourMs = 3_600_000;
    const holder = await start("claim", where, 0, { leaseMs: 60_000, aheadMs: hourMs });
    expect(await nextMessage(holder)).toEqual({ kind: "found", status: "compute" });
    const others = [
      await start("claim", where, 0, { leaseMs: 60_000, aheadMs: -hourMs }),
      await start("claim", where, 0, { leaseMs: 60_000, aheadMs: 24 * hourMs }),
    ];
    for (const other of others) expect(await nextMessage(other)).toEqual({ kind: "found", status: "wait" });

    const short = place().where;
    const lost = await start("claim", short, 0, { leaseMs: 2000, aheadMs: hourMs });
    expect(await nextMessage(lost)).toEqual({ kind: "found", status: "compute" });
    await kill(lost);
    const next = await start("claim", short, 20_000, { leaseMs: 2000, aheadMs: -hourMs });
    expect(await nextMessage(next)).toEqual({ kind: "found", status: "compute" });
  });

  run(
    "what was stored is there after a kill in the middle of a write, and nothing of half a write",
    { timeout: 120_000 },
    async () => {
      const { where, count } = place();
      const stored: string[] = [];
      const writers = await Promise.all([start("write", where), start("write", where)]);
      const done = Promise.withResolvers<void>();
      for (const writer of writers) {
        writer.on("message", (stated: Told) => {
          if (stated.kind === "stored") stored.push(stated.id);
          if (stored.length >= 12) done.resolve();
        });
        writer.send("go");
      }
      await done.promise;
      await Promise.all(writers.map(kill));

      const source = await definition.open(optionsFor(where), createRuntime(process.stderr));
      const call = { caller: { id: "test" }, signal: new AbortController().signal };
      const json = async (path: string) => {
        const [part] = await source.read({ path }, call);
        return JSON.parse(part && "text" in part.body ? part.body.text : "null");
      };
      const listed = await collect((cursor) =>
        source.list({ limit: 7, ...(cursor !== undefined && { cursor }) }, call),
      );
      const results = listed.map(({ path }) => path).filter((path) => path !== "statistics");
      expect(results).toEqual(expect.arrayContaining(stored.map((id) => `results/${id}`)));
      for (const path of results) {
        const { result, prompt } = await json(path);
        expect(result.consensus.content).toHaveLength(prompt.split(" ")[1].length + 1 + 10_000);
        expect((await json(`${path}/events`)).events).toHaveLength(1);
      }
      expect((await json("statistics")).results).toBe(results.length);
      await source.close?.();
      expect(await count("results")).toBe(results.length);
      for (const orphans of [
        "bodies where key not in (select key from results)",
        "events where number not in (select number from results)",
        "results where key not in (select key from bodies)",
      ])
        expect(await count(orphans)).toBe(0);
    },
  );
});
