/** `store_analysis`: producers store a computed result, or report a failure. */
import type { z } from "zod";
import { invalid, ResourceError } from "../../errors.ts";
import { besidesOthers } from "../../lib/besides-others.ts";
import type { Call } from "../../resources.ts";
import type { SourceActionResult, SourceAction } from "../../source.ts";
import { measureAgreement } from "./agreement.ts";
import { type AnalysisActions, tellStale, resultTimes, toQuestion } from "./analysis-actions.ts";
import { type AskedQuestion, keyOf, type AnalysisQuestion, questionShape } from "./question.ts";
import { judgeQuality, type ModelsResult, resultSchema } from "./result.ts";

interface Storing extends Partial<AskedQuestion> {
  readonly lease?: string;
  readonly result?: ModelsResult;
  readonly failed?: string;
}

const outdated = "a resource that it rests on has changed in the meantime";

export function storeInput(zod: typeof z): z.ZodType<Storing> {
  return zod
    .strictObject({
      lease: zod.string().max(100).optional().describe('The lease that find_analysis returned with "compute"'),
      ...zod.object(questionShape(zod)).partial().shape,
      result: resultSchema(zod).optional().describe("The consensus, the votes, and their cost"),
      failed: zod.string().min(1).max(2000).optional().describe("Why there is no result; nothing is stored then"),
    })
    .refine(({ result, failed }) => (result === undefined) !== (failed === undefined), {
      path: ["result"],
      error: 'send exactly one of "result" and "failed"',
      ...besidesOthers,
    })
    .refine(({ failed, lease }) => failed === undefined || lease !== undefined, {
      path: ["lease"],
      error: 'is missing; "failed" reports a failed computation, and needs its lease',
      ...besidesOthers,
    })
    .refine(({ lease, prompt }) => lease !== undefined || prompt !== undefined, neededWithoutLease("prompt"))
    .refine(({ lease, taskType }) => lease !== undefined || taskType !== undefined, neededWithoutLease("taskType"));
}

function neededWithoutLease(name: string) {
  return { path: [name], error: 'is missing; send "lease", or "prompt" and "taskType"', ...besidesOthers };
}

export function createStoreAnalysis(analysisActions: AnalysisActions): SourceAction<Storing> {
  const { options, store, computations, grounding, counts, now, entryOf, wrote } = analysisActions;

  /** The question as it was at lookup: the resources that it rests on may have changed since. */
  async function questionOf(storing: Storing, call: Call): Promise<{ question: AnalysisQuestion; isLeased: boolean }> {
    const lease = storing.lease === undefined ? undefined : await store.lease(storing.lease);
    if (lease) return { question: lease.question, isLeased: true };
    const { prompt, taskType } = storing;
    if (prompt === undefined || taskType === undefined)
      throw invalid(
        '"lease" is unknown or has ended: send "prompt" and "taskType" with the result, as in find_analysis',
      );
    return { question: await toQuestion({ ...storing, prompt, taskType }, analysisActions, call), isLeased: false };
  }

  async function giveUp(token: string, reason: string): Promise<SourceActionResult> {
    const lease = await store.lease(token);
    const failed = lease && (await store.fail(token, reason));
    if (!lease || !failed) throw invalid('"lease" is unknown or has ended: nothing waits for it');
    computations.settled(failed.key);
    counts.count(lease.question.taskType, { failed: 1 });
    return failed.kept ? tellStale(failed.kept, reason, analysisActions) : { value: { status: "failed" } };
  }

  async function keep(
    result: ModelsResult,
    question: AnalysisQuestion,
    storing: Storing,
    call: Call,
  ): Promise<SourceActionResult> {
    const agreement = measureAgreement(result);
    const quality = judgeQuality(result, agreement, options.gate);
    const { taskType: task } = question;
    const ttlMs = quality.passed ? options.ttlMs[task] : Math.min(options.ttlMs[task], options.doubtfulMs);
    const expires = now() + ttlMs;
    const stored = await store.keep({
      key: keyOf(question),
      task,
      title: titleOf(question.prompt),
      expires,
      dies: quality.passed ? expires + options.staleMs : expires,
      question,
      result,
      quality,
      agreement,
      caller: call.caller,
      token: storing.lease,
      events: eventsOf(result),
    });
    wrote();
    computations.settled(stored.key);
    grounding.follow(
      question.grounding.map(({ uri }) => uri),
      call.caller,
    );
    counts.count(task, {
      stored: 1,
      ...(!quality.passed && { doubtful: 1 }),
      cost_spent: result.total_cost,
      ms_spent: result.processing_time_ms,
    });
    return {
      value: { status: "stored", ...resultTimes(stored, now()), quality, agreement },
      entries: [entryOf(stored)],
    };
  }

  return {
    title: "Store an analysis",
    description:
      "Store the result of several models, so that the same question need not be computed again; or report a failure, so that no one waits for it. Send the lease from find_analysis, or the question as you would send it there.",
    endpoint: "analysis",
    input: storeInput,

    async run(storing, call) {
      const { lease: token, result, failed } = storing;
      await analysisActions.begin();
      if (token !== undefined && failed !== undefined) return giveUp(token, failed);
      if (result === undefined) throw invalid('"result" is missing');
      if (Buffer.byteLength(JSON.stringify(result)) > options.maxResultBytes)
        throw new ResourceError("too-large", `"result" may have at most ${options.maxResultBytes} bytes`);
      const { question, isLeased } = await questionOf(storing, call);
      if (token === undefined || !isLeased || (await grounding.isSame(question.grounding, call)))
        return keep(result, question, storing, call);
      await store.fail(token, outdated);
      computations.settled(keyOf(question).toString("hex"));
      counts.count(question.taskType, { outdated: 1 });
      return { value: { status: "outdated", reason: `${outdated}; call find_analysis again` } };
    },
  };
}

/** Deviations from the plan, as the producer reports them. */
function eventsOf({ debug }: ModelsResult): { readonly what: string; readonly detail?: string }[] {
  const { tier_escalated, provider_errors: errors } = debug;
  const isGroup = typeof errors === "object" && !Array.isArray(errors);
  const all: readonly unknown[] = isGroup ? Object.entries(errors ?? {}) : [errors ?? []].flat();
  return [
    ...all.slice(0, 20).map((error) => ({ what: "provider failed", detail: JSON.stringify(error).slice(0, 500) })),
    ...(tier_escalated ? [{ what: "tier escalated" }] : []),
  ];
}

/** The prompt on one line. */
function titleOf(prompt: string): string {
  const plain = prompt
    .slice(0, 1000)
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s\u202a-\u202e\u2066-\u2069]+/gu, " ")
    .trim();
  const letters = Array.from(new Intl.Segmenter().segment(plain), ({ segment }) => segment);
  const short = letters.length > 80 ? `${letters.slice(0, 79).join("")}…` : plain;
  return short === "" ? "Untitled" : short.toWellFormed();
}
