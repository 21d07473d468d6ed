/** Shared by both actions: the question in canonical form, and the times of a result. */
import type { Call } from "../../resources.ts";
import type { SourceActionResult, Entry, Runtime } from "../../source.ts";
import type { Computations } from "./computations.ts";
import type { Grounding } from "./grounding.ts";
import type { AnalysisOptions } from "./options.ts";
import type { AnalysisQuestion, AskedQuestion } from "./question.ts";
import type { StoredResult, AnalysisStore, Summary } from "./store.ts";
import type { AnalysisCounts } from "./analysis-counts.ts";

export interface AnalysisActions {
  readonly options: AnalysisOptions;
  readonly store: AnalysisStore;
  readonly computations: Computations;
  readonly grounding: Grounding;
  readonly counts: AnalysisCounts;
  readonly now: Runtime["now"];
  /** Resolves when the store is ready and the clock of all its users is known. */
  begin(): Promise<void>;
  entryOf(summary: Summary): Entry;
  /** Called after each write. */
  wrote(): void;
}

/** Adds the current versions where none were given. */
export async function toQuestion(
  requested: AskedQuestion,
  { grounding }: AnalysisActions,
  call: Call,
): Promise<AnalysisQuestion> {
  const { prompt, taskType, options = {}, providers = [], models = [] } = requested;
  const grounds = await grounding.stamp(requested.grounding ?? [], call);
  return { prompt, taskType, options, providers, models, grounding: grounds };
}

export function tellHit(cached: StoredResult, { now, entryOf }: AnalysisActions): SourceActionResult {
  return { value: { status: "hit", ...describeResult(cached, now()) }, entries: [entryOf(cached)] };
}

export function tellStale(cached: StoredResult, reason: string, { now, entryOf }: AnalysisActions): SourceActionResult {
  return { value: { status: "stale", reason, ...describeResult(cached, now()) }, entries: [entryOf(cached)] };
}

/** Id, key and times of a result. */
export function resultTimes({ id, key, stored, expires }: Summary, now: number): Readonly<Record<string, unknown>> {
  return {
    id,
    key,
    stored_at: iso(stored),
    expires_at: iso(expires),
    ttl_ms: Math.max(0, expires - now),
  };
}

function describeResult(cached: StoredResult, now: number): Readonly<Record<string, unknown>> {
  const { task, expires, quality, agreement, result } = cached;
  return { ...resultTimes(cached, now), task_type: task, stale: expires <= now, quality, agreement, result };
}

export function iso(ms: number): string {
  return new Date(ms).toISOString();
}
