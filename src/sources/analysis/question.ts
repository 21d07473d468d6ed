/** The question put to the models, and the key of its stored result. */
import { createHash } from "node:crypto";
import type { z } from "zod";
import { besidesOthers } from "../../lib/besides-others.ts";
import { canonicalJson } from "../../lib/canonical-json.ts";

export const taskTypes = ["simple", "basic", "premium", "critical"] as const;
export type TaskType = (typeof taskTypes)[number];

/** A resource that a result rests on. */
export interface Evidence {
  readonly uri: string;
  /** Equal versions mean equal content. */
  readonly version: string;
  /** Whether the version was computed here from the content, not sent by the caller. */
  readonly isStamped: boolean;
}

export interface AnalysisQuestion {
  readonly prompt: string;
  readonly taskType: TaskType;
  readonly options: Readonly<Record<string, unknown>>;
  readonly providers: readonly string[];
  readonly models: readonly string[];
  readonly grounding: readonly Evidence[];
}

const maxPromptLength = 1_000_000;

/** The fields of a question, for both actions. */
export function questionShape(zod: typeof z) {
  const names = zod.array(zod.string().min(1).max(200)).max(64);
  return {
    prompt: zod.string().min(1).max(maxPromptLength).describe("The prompt for the models, word for word"),
    taskType: zod.enum(taskTypes).describe("Importance of the task: it decides how long the result is stored"),
    options: zod
      .object({
        mode: zod.enum(["parallel", "sequential"]).optional(),
        depth: zod.int().min(3).max(5).optional(),
        minProviders: zod.int().min(1).max(64).optional(),
        maxProviders: zod.int().min(1).max(64).optional(),
      })
      .catchall(zod.union([zod.string().max(10_000), zod.number(), zod.boolean(), zod.null()]))
      .refine((options) => !Object.hasOwn(options, "taskType"), {
        path: ["taskType"],
        error: 'must be beside "options", not inside',
        ...besidesOthers,
      })
      .refine(({ minProviders = 1, maxProviders = 64 }) => minProviders <= maxProviders, {
        path: ["minProviders"],
        error: 'must not be more than "maxProviders"',
        ...besidesOthers,
      })
      .optional()
      .describe("Settings of the models; include everything that changes the result"),
    providers: names.optional().describe("Providers to use; the order does not matter"),
    models: names.optional().describe("Models to use; the order does not matter"),
    grounding: zod
      .array(
        zod.strictObject({
          uri: zod.string().min(1).max(8192).describe("A resource that the result rests on"),
          version: zod
            .string()
            .min(1)
            .max(500)
            .optional()
            .describe("Its version. Default: computed from its content here"),
        }),
      )
      .max(100)
      .optional()
      .describe("Resources that the models are given: when one of them changes, the result is dropped"),
  };
}

/** A question as it is sent. */
export type AskedQuestion = z.output<z.ZodObject<ReturnType<typeof questionShape>>>;

/** SHA-256 of canonical JSON: the same question has the same key, whatever the field order and character width. */
export function keyOf({ prompt, taskType, options, providers, models, grounding }: AnalysisQuestion): Buffer {
  const requested = {
    prompt: prompt.normalize("NFKC"),
    options: { ...options, taskType },
    providers: sorted(providers),
    models: sorted(models),
    grounding: grounding.map(({ uri, version }) => [uri, version]).sort(([a = ""], [b = ""]) => (a < b ? -1 : 1)),
  };
  return createHash("sha256").update(canonicalJson(requested)).digest();
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}
