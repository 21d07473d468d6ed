/** What was asked of the models, and the key under which its answer is found again. */
import { createHash } from "node:crypto";
import type { z } from "zod";
import { canonicalJson } from "../../lib/canonical-json.ts";

export const taskTypes = ["simple", "basic", "premium", "critical"] as const;
export type TaskType = (typeof taskTypes)[number];

/** A resource that an answer rests on. */
export interface Evidence {
  readonly uri: string;
  /** Equal versions mean equal content. */
  readonly version: string;
  /** Whether the version was made here, from the content, and not by who asks. */
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

/** The fields of a question, for the schemas of those who ask and those who store. */
export function questionShape(zod: typeof z) {
  const names = zod.array(zod.string().min(1).max(200)).max(64);
  return {
    prompt: zod.string().min(1).max(maxPromptLength).describe("What the models are asked, word for word"),
    taskType: zod.enum(taskTypes).describe("What is at stake: it decides for how long the answer is kept"),
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
        error: 'stands beside "options", not in it',
      })
      .refine(({ minProviders = 1, maxProviders = 64 }) => minProviders <= maxProviders, {
        path: ["minProviders"],
        error: 'must not be more than "maxProviders"',
      })
      .optional()
      .describe("How they are asked; whatever changes the answer belongs here"),
    providers: names.optional().describe("Who is asked; the order does not count"),
    models: names.optional().describe("Which models are asked; the order does not count"),
    grounding: zod
      .array(
        zod.strictObject({
          uri: zod.string().min(1).max(8192).describe("A resource that the answer rests on"),
          version: zod
            .string()
            .min(1)
            .max(500)
            .optional()
            .describe("Its version; that of its content here unless said"),
        }),
      )
      .max(100)
      .optional()
      .describe("What the models are given to read: when one of these changes, the answer is dropped"),
  };
}

/** SHA-256 of canonical JSON: the same question has the same key, in whatever order and width of letters it was written. */
export function keyOf({ prompt, taskType, options, providers, models, grounding }: AnalysisQuestion): Buffer {
  const asked = {
    prompt: prompt.normalize("NFKC"),
    options: { ...options, taskType },
    providers: sorted(providers),
    models: sorted(models),
    grounding: grounding.map(({ uri, version }) => [uri, version]).sort(([a = ""], [b = ""]) => (a < b ? -1 : 1)),
  };
  return createHash("sha256").update(canonicalJson(asked)).digest();
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}
