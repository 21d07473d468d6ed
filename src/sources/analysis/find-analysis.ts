/** `find_analysis`: producers call it before they compute. */
import type { z } from "zod";
import { intOption } from "../../lib/int-option.ts";
import type { SourceActionResult, SourceAction } from "../../source.ts";
import { type AnalysisActions, iso, tellHit, tellStale, toQuestion } from "./analysis-actions.ts";
import type { AnalysisLookup } from "./computations.ts";
import { type AskedQuestion, keyOf, questionShape, type TaskType } from "./question.ts";
import type { AnalysisCounts } from "./analysis-counts.ts";

interface Finding extends AskedQuestion {
  readonly claim: boolean;
  readonly acceptStale: boolean;
  readonly waitMs: number;
  readonly lease?: string;
}

/** Below the time limit of a call. */
const maxWaitMs = 25_000;

export function findInput(zod: typeof z): z.ZodType<Finding> {
  return zod.strictObject({
    ...questionShape(zod),
    claim: zod.boolean().default(true).describe("Whether you will compute it if there is none"),
    acceptStale: zod
      .boolean()
      .default(false)
      .describe("Accept an expired result immediately, for example when the models cannot be reached"),
    waitMs: intOption(zod, 0, maxWaitMs, 20_000).describe(
      "How long to wait for another caller who already computes it, in milliseconds",
    ),
    lease: zod.string().max(100).optional().describe("Your lease, to renew it while you still compute"),
  });
}

export function createFindAnalysis(analysisActions: AnalysisActions): SourceAction<Finding> {
  const { options, store, computations, counts, now } = analysisActions;

  function toAnswer(found: AnalysisLookup): SourceActionResult {
    switch (found.status) {
      case "hit":
        return tellHit(found.kept, analysisActions);
      case "stale":
        return tellStale(found.kept, found.reason, analysisActions);
      case "compute": {
        const { token, leftMs } = found.lease;
        return { value: { status: "compute", lease: token, lease_until: iso(now() + leftMs), lease_ms: leftMs } };
      }
      case "wait":
        return { value: { status: "wait", retry_after_ms: Math.min(5000, Math.max(500, found.leftMs)) } };
      case "miss":
        return { value: { status: "miss" } };
    }
  }

  return {
    title: "Find an analysis",
    description:
      'Look up the stored result of several models for a question before you ask them. "hit" and "stale" come with the result: use it. "compute": you compute it; then call store_analysis with the lease, also if it failed. "wait": another caller computes it; call again.',
    input: findInput,

    async run(requested, call) {
      const { claim, acceptStale, waitMs, lease: token } = requested;
      await analysisActions.begin();
      const question = await toQuestion(requested, analysisActions, call);
      const key = keyOf(question);
      const lease = token === undefined ? undefined : await store.renew(token, key);
      const request = {
        key,
        question,
        claims: claim && options.store,
        takesStale: acceptStale,
        waitMs,
      };
      const found: AnalysisLookup = lease ? { status: "compute", lease } : await computations.find(request, call);
      if (!lease) count(counts, question.taskType, found);
      const { value, ...rest } = toAnswer(found);
      return { value: { ...value, key: key.toString("hex") }, ...rest };
    },
  };
}

function count(counts: AnalysisCounts, task: TaskType, found: AnalysisLookup): void {
  switch (found.status) {
    case "hit":
    case "stale": {
      const { cost, time } = found.kept;
      const name = found.status === "stale" ? "stale" : found.isShared ? "shared" : "hits";
      return counts.count(task, { [name]: 1, cost_saved: cost, ms_saved: time });
    }
    case "compute":
      return counts.count(task, { computed: 1 });
    case "wait":
      return counts.count(task, { waited: 1 });
    case "miss":
      return counts.count(task, { missed: 1 });
  }
}
