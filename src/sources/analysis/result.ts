/** The result of the models in the producer's format, and the check whether it is good enough to store. */
import type { z } from "zod";
import type { Agreement } from "./agreement.ts";
import type { AnalysisOptions } from "./options.ts";

export type ModelsResult = z.output<ReturnType<typeof resultSchema>>;

/** Additional fields of a producer are stored unchanged. */
export function resultSchema(zod: typeof z) {
  const text = zod.string().max(1_000_000);
  const name = zod.string().min(1).max(200);
  const share = zod.number().min(0).max(1);
  const amount = zod.number().min(0).max(1e15);
  return zod.looseObject({
    consensus: zod.looseObject({ content: text.min(1), confidence: share, reasoning: text }),
    llm_votes: zod
      .array(
        zod.looseObject({
          provider: name,
          model: name,
          agreement_score: share,
          response: zod.looseObject({
            content: text,
            confidence: share,
            reasoning: text,
            cost: amount,
            tokens: zod.looseObject({ input: amount, output: amount, total: amount.optional() }),
          }),
        }),
      )
      .min(1)
      .max(64),
    total_cost: amount,
    processing_time_ms: amount,
    debug: zod.looseObject({
      wall_bounce_verified: zod.boolean(),
      providers_used: zod.array(name).max(64),
      tier_escalated: zod.boolean(),
      provider_errors: zod.unknown().optional(),
      depth_executed: zod.number().optional(),
    }),
    flow_details: zod
      .looseObject({
        user_query: text,
        llm_interactions: zod.array(zod.unknown()).max(10_000),
        aggregation: zod.unknown().optional(),
      })
      .optional(),
  });
}

export interface Quality {
  readonly passed: boolean;
  readonly confidence: number;
  /** The value that was compared with the gate. */
  readonly consensus: number;
  readonly providers: number;
  /** One sentence for each value that was too low. */
  readonly reasons: readonly string[];
}

export function judgeQuality(result: ModelsResult, agreement: Agreement, gate: AnalysisOptions["gate"]): Quality {
  const { confidence } = result.consensus;
  const { producer, recomputed } = agreement;
  const consensus = gate.by === "higher" ? Math.max(producer, recomputed) : agreement[gate.by];
  const providers = new Set(result.llm_votes.map(({ provider }) => provider)).size;
  const reasons = [
    ...(confidence < gate.confidence ? [`the confidence is ${round(confidence)}, below ${gate.confidence}`] : []),
    ...(consensus < gate.consensus ? [`the consensus is ${round(consensus)}, below ${gate.consensus}`] : []),
    ...(providers < gate.providers ? [`${providers} of at least ${gate.providers} providers voted`] : []),
  ];
  return { passed: reasons.length === 0, confidence, consensus, providers, reasons };
}

function round(share: number): string {
  return String(Math.floor(share * 1000) / 1000);
}
