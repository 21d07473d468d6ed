/** One task in one form: the model talks and calls until it answers, and what it read on the way is written down. */
import { ask, type Endpoint, type Turn } from "./dialects.ts";
import { createForm, type Form, type FormName } from "./forms.ts";
import type { Task } from "./tasks.ts";
import type { Shop } from "./visit.ts";

export interface Trial {
  readonly form: FormName;
  readonly task: string;
  readonly language: Task["language"];
  /** The paths that were read, in order. */
  readonly reads: readonly string[];
  /** Every tool that was called. */
  readonly calls: readonly string[];
  /** Whether what holds the answer was read. */
  readonly isRight: boolean;
  /** Whether it was the first that was read. */
  readonly isFirst: boolean;
  /** Whether the answer says what stands there. */
  readonly isAnswered: boolean;
  /** Why there is no answer. */
  readonly failure?: string;
}

export interface EvaluateOptions {
  readonly endpoint: Endpoint;
  readonly shop: Shop;
  readonly forms: readonly FormName[];
  readonly tasks: readonly Task[];
  /** How often each task is asked in each form. */
  readonly repeat: number;
  /** How often the model may speak. */
  readonly turns: number;
  /** Hears of each as it is done. */
  readonly done?: (trial: Trial) => void;
}

/** One after the other: a model that is asked too much at once answers less well. */
export async function evaluate({
  endpoint,
  shop,
  forms,
  tasks,
  repeat,
  turns,
  done,
}: EvaluateOptions): Promise<readonly Trial[]> {
  const trials: Trial[] = [];
  for (const name of forms) {
    const form = createForm(name, shop);
    for (const task of tasks)
      for (let round = 0; round < repeat; round += 1) {
        const trial = await tryOnce(task, form, { endpoint, shop, turns });
        trials.push(trial);
        done?.(trial);
      }
  }
  return trials;
}

async function tryOnce(
  task: Task,
  form: Form,
  { endpoint, shop, turns: most }: Pick<EvaluateOptions, "endpoint" | "shop" | "turns">,
): Promise<Trial> {
  const turns: Turn[] = [{ who: "user", text: task.question }];
  const reads: string[] = [];
  const calls: string[] = [];
  const toTrial = (answer: string, failure?: string): Trial => ({
    form: form.name,
    task: task.name,
    language: task.language,
    reads,
    calls,
    isRight: reads.some((path) => task.right.includes(path)),
    isFirst: reads[0] !== undefined && task.right.includes(reads[0]),
    isAnswered: task.answer.test(answer),
    ...(failure !== undefined && { failure }),
  });
  try {
    for (let turn = 0; turn < most; turn += 1) {
      const { text, uses } = await ask(endpoint, { system: form.system, turns, tools: form.tools });
      if (uses.length === 0) return toTrial(text);
      const results: { id: string; text: string }[] = [];
      for (const use of uses) {
        calls.push(use.name);
        const { text: said, read } = await form.use(use);
        const path = read === undefined ? undefined : shop.pathOf(read);
        if (path !== undefined) reads.push(path);
        results.push({ id: use.id, text: said });
      }
      turns.push({ who: "model", text, uses }, { who: "tools", results });
    }
    return toTrial("", `no answer after ${most} turns`);
  } catch (cause) {
    return toTrial("", cause instanceof Error ? cause.message : String(cause));
  }
}
