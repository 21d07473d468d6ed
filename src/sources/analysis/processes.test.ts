/** Several processes, one database. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { createTools } from "../../server/tools.ts";
import { collect } from "../../testing/pages.ts";
import definition from "../analysis.ts";
import type { Told } from "./test-asker.ts";
import { optionsFor, type Where } from "./test-results.ts";
import { kinds, usePlaces } from "./test-stores.ts";

const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) await kill(child);
});

async function start(job: "ask" | "write", where: Where, count = 0): Promise<ChildProcess> {
  const given = [job, JSON.stringify(where), String(count)];
  const child = fork(new URL("./test-asker.ts", import.meta.url), given, { execArgv: [] });
  children.push(child);
  await once(child, "message");
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

describe.each(kinds)("several processes and $name", (kind) => {
  const { place } = usePlaces(kind);
  const run = it.skipIf(kind.missing !== undefined);

  run("fifty askers of one question in five processes compute once", { timeout: 120_000 }, async () => {
    const { where } = place();
    const askers = await Promise.all(Array.from({ length: 5 }, () => start("ask", where, 10)));
    const answers = await Promise.all(
      askers.map(async (asker) => {
        asker.send("go");
        const [told] = (await once(asker, "message")) as [Told];
        return told.kind === "answers" ? told.answers : [];
      }),
    );
    expect(answers.flat().toSorted()).toEqual(["compute", ...Array.from({ length: 49 }, () => "hit")]);
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
        writer.on("message", (told: Told) => {
          if (told.kind === "stored") stored.push(told.id);
          if (stored.length >= 12) done.resolve();
        });
        writer.send("go");
      }
      await done.promise;
      await Promise.all(writers.map(kill));

      const source = await definition.open(optionsFor(where), createTools(process.stderr));
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
