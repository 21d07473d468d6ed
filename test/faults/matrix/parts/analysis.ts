/** The store of analysis results: every result that was acknowledged is there, and each question is computed once. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileIdentity } from "../../../../src/lib/file-identity.ts";
import { resultOf } from "../../../../src/sources/analysis/test-results.ts";
import type { ServerProcess } from "../../stage.ts";
import { callOf, listNames, type PartDefinition, readText } from "../part.ts";

const questionOf = (text: string) => ({ prompt: text, taskType: "basic" });
const pathIn = (uri: string) => uri.slice(uri.lastIndexOf("/results/"));
const yearMs = 365 * 24 * 3_600_000;

export const analysis: PartDefinition = {
  name: "analysis",
  folder: "results",

  async open(stage) {
    const file = join(stage.root, "results", "results.db");
    const config = join(stage.root, "pressmark.config.json");
    const ttlMs = { simple: yearMs, basic: yearMs, premium: yearMs, critical: yearMs };
    writeFileSync(config, JSON.stringify({ mounts: { wall: { source: "analysis", path: file, ttlMs, pollMs: 100 } } }));
    /** Every result that was acknowledged, oldest first. A later one of the same name answers another question. */
    const acknowledged: { readonly path: string; readonly name: string; readonly text: string }[] = [];
    let server: ServerProcess;

    async function act(name: string, body: object): Promise<Record<string, unknown>> {
      const response = await fetch(new URL(`/actions/wall/${name}`, server.url), {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
        signal: callOf().signal,
      });
      const answer = (await response.json()) as Record<string, unknown>;
      if (!response.ok) throw new Error(JSON.stringify(answer["error"]));
      return answer;
    }

    return {
      start: async (options) => (server = await stage.serve({ ...options, config })),
      async put(name, text) {
        const asked = { ...questionOf(text), waitMs: 0 };
        const before = fileIdentity(file);
        const answers = await Promise.all([act("find_analysis", asked), act("find_analysis", asked)]);
        const leases = answers.flatMap(({ status, lease }) => (status === "compute" ? [lease] : []));
        // A file that is removed between the two takes the first lease with it.
        if (leases.length !== 1 && fileIdentity(file) === before)
          throw new RangeError(`${leases.length} were told to compute ${name}`);
        const { id } = await act("store_analysis", { lease: leases.at(-1), result: resultOf({ content: text }) });
        acknowledged.push({ path: `/results/${String(id)}`, name, text });
      },
      list: (from) => listNames(from, (uri) => acknowledged.find(({ path }) => path === pathIn(uri))?.name),
      async read(from, name) {
        const { items } = await from.pressmark.list({}, callOf());
        const last = acknowledged.findLast((each) => each.name === name);
        const found = items.find(({ uri }) => pathIn(uri) === last?.path);
        if (!found) throw new Error(`the result of ${name} is not listed`);
        const { result } = JSON.parse(await readText(from, found.uri)) as {
          result: { consensus: { content: string } };
        };
        return result.consensus.content;
      },
      watches: () => ({ list: true }),
      async alsoHolds() {
        for (const { text } of acknowledged) {
          const { status } = await act("find_analysis", { ...questionOf(text), claim: false });
          if (status !== "hit") throw new Error(`"${text}" was stored, and is to be computed again: ${String(status)}`);
        }
      },
      files: () => [file],
      useFiles: async () => void (await act("find_analysis", { ...questionOf("any"), claim: false })),
      /** As the error says: it is moved away, and a new one is made. */
      async repair() {
        for (const end of ["", "-wal", "-shm"]) rmSync(file + end, { force: true });
        acknowledged.splice(0);
      },
      losesTexts: true,
    };
  },
};
