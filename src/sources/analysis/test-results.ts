/** Results as producers send them, for tests. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import definition from "../analysis.ts";
import type { AnalysisOptions } from "./options.ts";
import type { ModelsResult } from "./result.ts";

export interface Said {
  readonly content?: string;
  readonly confidence?: number;
  readonly agreement?: number;
  readonly votes?: readonly (readonly [provider: string, content: string])[];
  readonly cost?: number;
}

export function resultOf(given: Said = {}): ModelsResult {
  const { content = "Use a queue between the two services.", confidence = 0.9, agreement = 0.8, cost = 0.05 } = given;
  const votes = given.votes ?? [
    ["anthropic", content],
    ["openai", content],
  ];
  return {
    consensus: { content, confidence, reasoning: "Both name the same risk." },
    llm_votes: votes.map(([provider, own]) => ({
      provider,
      model: `${provider}-large`,
      agreement_score: agreement,
      response: {
        content: own,
        confidence,
        reasoning: "",
        cost: cost / votes.length,
        tokens: { input: 100, output: 50 },
      },
    })),
    total_cost: cost,
    processing_time_ms: 4000,
    debug: { wall_bounce_verified: true, providers_used: votes.map(([provider]) => provider), tier_escalated: false },
    flow_details: { user_query: "How?", llm_interactions: [{ step: 1, provider: "anthropic" }], aggregation: "mean" },
  };
}

export const question = { prompt: "How should the services talk?", taskType: "basic" } as const;

/** The location of the results, as in the options of a mount. */
export type Where = { readonly path: string } | { readonly url: string; readonly schema: string };

export function optionsFor(where: Where, more: Readonly<Record<string, unknown>> = {}): AnalysisOptions {
  return definition.options(z).parse({ ...where, ...more });
}

export function temporaryFile(): string {
  return join(mkdtempSync(join(tmpdir(), "pressmark-analysis-")), "results.db");
}
