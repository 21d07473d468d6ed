/** Counts how often a stored result was reused and what that saved. Counts are written a second later, so that a lookup costs no write. */
import type { Runtime } from "../../source.ts";
import { type TaskType, taskTypes } from "./question.ts";
import type { AnalysisStore, Tallies } from "./store.ts";

/** In the order in which they are shown. */
const countedEvents = [
  // Fresh; computed by another caller during the wait; expired, but returned.
  "hits",
  "shared",
  "stale",
  // The caller was told to compute it; nothing was stored, and the caller did not want to compute.
  "computed",
  "missed",
  "waited",
  "stored",
  // How many of these are below the gate.
  "doubtful",
  "failed",
  "outdated",
  "cost_spent",
  "cost_saved",
  "ms_spent",
  "ms_saved",
] as const;

type CountedEvent = (typeof countedEvents)[number];

export interface Numbers extends Readonly<Record<CountedEvent, number>> {
  /** The share of all lookups that needed no model. 0 if there were none. */
  readonly hit_rate: number;
  readonly answered: number;
}

export interface Statistics extends Numbers {
  readonly results: number;
  readonly bytes: number;
  /** Dropped because a resource that they rest on has changed. */
  readonly invalidated: number;
  readonly by_task_type: Readonly<Record<TaskType, Numbers>>;
}

export interface AnalysisCounts {
  count(task: TaskType, amounts: Readonly<Partial<Record<CountedEvent, number>>>): void;
  read(): Promise<Statistics>;
  close(): Promise<void>;
}

const flushMs = 1000;

export function createAnalysisCounts(
  store: Pick<AnalysisStore, "count" | "tallies">,
  { wait, log }: Pick<Runtime, "wait" | "log">,
): AnalysisCounts {
  const closing = new AbortController();
  let pending: Record<string, Record<string, number>> = {};
  let isFlushing = false;

  async function flush(): Promise<void> {
    const counted = pending;
    if (Object.keys(counted).length === 0) return;
    pending = {};
    try {
      await store.count(counted);
    } catch (cause) {
      for (const [task, amounts] of Object.entries(counted)) add(task, amounts);
      throw cause;
    }
  }

  function add(task: string, amounts: Readonly<Record<string, number>>): void {
    const own = (pending[task] ??= {});
    for (const [name, amount] of Object.entries(amounts)) own[name] = (own[name] ?? 0) + amount;
  }

  async function flushSoon(): Promise<void> {
    isFlushing = true;
    await wait(flushMs, closing.signal).catch(() => undefined);
    isFlushing = false;
    if (!closing.signal.aborted)
      await flush().catch((cause: unknown) => log("warn", "cannot write the counts; will try again", { cause }));
  }

  return {
    count(task, amounts) {
      add(task, amounts);
      if (!isFlushing) void flushSoon();
    },

    async read() {
      await flush();
      const { tallies, results, bytes } = await store.tallies();
      const byTask = Object.fromEntries(taskTypes.map((task) => [task, toNumbers(tallies[task] ?? {})]));
      return {
        ...toNumbers(summed(taskTypes.map((task) => tallies[task] ?? {}))),
        results,
        bytes,
        invalidated: tallies[""]?.["invalidated"] ?? 0,
        by_task_type: byTask as Record<TaskType, Numbers>,
      };
    },

    async close() {
      closing.abort();
      await flush().catch((cause: unknown) => log("warn", "the last counts are lost", { cause }));
    },
  };
}

function summed(all: readonly Tallies[string][]): Tallies[string] {
  const sum: Record<string, number> = {};
  for (const each of all) for (const [name, value] of Object.entries(each)) sum[name] = (sum[name] ?? 0) + value;
  return sum;
}

function toNumbers(counts: Tallies[string]): Numbers {
  const numbers = Object.fromEntries(countedEvents.map((name) => [name, counts[name] ?? 0])) as Record<
    CountedEvent,
    number
  >;
  const served = numbers.hits + numbers.shared + numbers.stale;
  const answered = served + numbers.computed + numbers.missed;
  return { hit_rate: answered === 0 ? 0 : served / answered, answered, ...numbers };
}
