/** A test process that shares a results database with others: it looks up, claims a question, or writes until it is killed. */
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import { wait } from "../../lib/wait.ts";
import type { Runtime } from "../../source.ts";
import definition from "../analysis.ts";
import { optionsFor, question, resultOf } from "./test-results.ts";

export type Told =
  | { readonly kind: "ready" }
  | { readonly kind: "found"; readonly status: string }
  | { readonly kind: "answers"; readonly answers: readonly string[] }
  | { readonly kind: "stored"; readonly id: string };

const [, , job, where = "{}", count = "10"] = process.argv;
const runtime: Runtime = { env: process.env, now: () => Date.now(), monotonicMs, wait, log: () => undefined };
const source = await definition.open(optionsFor(JSON.parse(where)), runtime);
const call = { caller: { id: "asker" }, signal: new AbortController().signal };
const tell = (reported: Told) => void process.send?.(reported);
const { find_analysis: find, store_analysis: keep } = source.actions ?? {};

async function request(): Promise<string> {
  const requested = { ...question, claim: true, acceptStale: false, waitMs: 20_000 };
  const { status, lease } = (await find?.run(requested, call))?.value ?? {};
  if (status === "compute") await keep?.run({ lease, result: resultOf() }, call);
  return String(status);
}

process.once("message", async () => {
  if (job === "ask") {
    tell({ kind: "answers", answers: await Promise.all(Array.from({ length: Number(count) }, request)) });
    await source.close?.();
    process.disconnect();
  } else if (job === "claim") {
    const found = await find?.run({ ...question, claim: true, acceptStale: false, waitMs: Number(count) }, call);
    tell({ kind: "found", status: String(found?.value["status"]) });
  } else
    for (let written = 0; ; written += 1) {
      const content = `${written} ${"long ".repeat(2000)}`;
      const stored = await keep?.run(
        { ...question, prompt: `${process.pid} ${written}`, result: resultOf({ content }) },
        call,
      );
      tell({ kind: "stored", id: String(stored?.value["id"]) });
    }
});
tell({ kind: "ready" });
