/** What both actions work with: the question as it was put, and how a result is told. */
import type { Call } from "../../resources.ts";
import type { ActionAnswer, Entry, Tools } from "../../source.ts";
import type { Flights } from "./flight.ts";
import type { AskedGround, Grounding } from "./grounding.ts";
import type { AnalysisOptions } from "./options.ts";
import type { Question, TaskType } from "./question.ts";
import type { Kept, Store, Summary } from "./store.ts";
import type { Tally } from "./tally.ts";

export interface Desk {
  readonly options: AnalysisOptions;
  readonly store: Store;
  readonly flights: Flights;
  readonly grounding: Grounding;
  readonly tally: Tally;
  readonly now: Tools["now"];
  /** Resolves when the store can be asked, and the time of all who share it is known. */
  begin(): Promise<void>;
  entryOf(summary: Summary): Entry;
  /** Something was written. */
  wrote(): void;
}

export interface AskedQuestion {
  readonly prompt: string;
  readonly taskType: TaskType;
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  readonly providers?: readonly string[] | undefined;
  readonly models?: readonly string[] | undefined;
  readonly grounding?: readonly AskedGround[] | undefined;
}

/** With the versions of now where none were said. */
export async function toQuestion(asked: AskedQuestion, { grounding }: Desk, call: Call): Promise<Question> {
  const { prompt, taskType, options = {}, providers = [], models = [] } = asked;
  const grounds = await grounding.stamp(asked.grounding ?? [], call);
  return { prompt, taskType, options, providers, models, grounding: grounds };
}

export function tellHit(kept: Kept, { now, entryOf }: Desk): ActionAnswer {
  return { value: { status: "hit", ...told(kept, now()) }, entries: [entryOf(kept)] };
}

export function tellStale(kept: Kept, reason: string, { now, entryOf }: Desk): ActionAnswer {
  return { value: { status: "stale", reason, ...told(kept, now()) }, entries: [entryOf(kept)] };
}

/** How long it stays fresh, and what it is worth. */
export function tellTimes({ id, key, stored, expires }: Summary, now: number): Readonly<Record<string, unknown>> {
  return {
    id,
    key,
    stored_at: iso(stored),
    expires_at: iso(expires),
    ttl_ms: Math.max(0, expires - now),
  };
}

function told(kept: Kept, now: number): Readonly<Record<string, unknown>> {
  const { task, expires, quality, agreement, result } = kept;
  return { ...tellTimes(kept, now), task_type: task, stale: expires <= now, quality, agreement, result };
}

export function iso(ms: number): string {
  return new Date(ms).toISOString();
}
