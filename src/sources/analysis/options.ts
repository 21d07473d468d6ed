/** What a mount of results may be told. */
import type { z } from "zod";
import { proofOptions } from "../postgres/options.ts";
import type { TaskType } from "./question.ts";
import type { QualityLimits } from "./result.ts";

export interface AnalysisOptions {
  readonly path?: string | undefined;
  readonly url?: string | undefined;
  readonly password?: string | undefined;
  readonly ca?: string | undefined;
  readonly schema: string;
  readonly timeoutMs: number;
  readonly maxConnections: number;
  readonly store: boolean;
  readonly ttlMs: Readonly<Record<TaskType, number>>;
  readonly doubtfulMs: number;
  readonly staleMs: number;
  readonly leaseMs: number;
  readonly gate: QualityLimits;
  readonly maxResultBytes: number;
  readonly maxBytes: number;
  readonly pollMs: number;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export function analysisOptions(zod: typeof z): z.ZodType<AnalysisOptions> {
  const lifetime = (initial: number) =>
    zod
      .int()
      .min(1000)
      .max(365 * dayMs)
      .default(initial);
  const share = (initial: number) => zod.number().min(0).max(1).default(initial);
  const ttlMs = zod
    .object({
      simple: lifetime(15 * minuteMs).describe("of simple tasks"),
      basic: lifetime(hourMs).describe("of basic tasks"),
      premium: lifetime(6 * hourMs).describe("of premium tasks"),
      critical: lifetime(dayMs).describe("of critical tasks"),
    })
    .strict();
  const gate = zod
    .object({
      confidence: share(0.7).describe("how sure the consensus must be"),
      consensus: share(0.6).describe("how far the votes must agree"),
      providers: zod.int().min(1).max(64).default(2).describe("how many providers must have voted"),
      by: zod
        .enum(["higher", "producer", "recomputed"])
        .default("higher")
        .describe("whose measure of agreement counts: the producer's, the one made here, or the higher of the two"),
    })
    .strict();
  return zod
    .object({
      path: zod
        .string()
        .min(1)
        .optional()
        .describe("the file that results are kept in; it is made where it is missing")
        .meta({ format: "path" }),
      url: zod
        .string()
        .min(1)
        .optional()
        .describe(
          "instead, the PostgreSQL database, where many machines share them: postgres://user@host:5432/database?sslmode=verify-full",
        ),
      ...proofOptions(zod),
      schema: zod
        .string()
        .regex(/^[a-z_][a-z0-9_]{0,62}$/, 'is written with small letters, digits and "_"')
        .default("pressmark_analysis")
        .describe("the schema in the database, which is made where it is missing"),
      timeoutMs: zod
        .int()
        .min(100)
        .max(60_000)
        .default(5000)
        .describe("how long one statement of the database may take, and a question that is no action"),
      maxConnections: zod
        .int()
        .min(1)
        .max(20)
        .default(3)
        .describe("how many connections are open at once, beside one to listen"),
      store: zod.boolean().default(true).describe("whether callers may store results, or only find and read them"),
      ttlMs: ttlMs.prefault({}).describe("for how long a result is fresh, in milliseconds"),
      doubtfulMs: zod
        .int()
        .min(0)
        .max(5 * minuteMs)
        .default(5 * minuteMs)
        .describe("for how long a result below the gate is kept, in milliseconds"),
      staleMs: zod
        .int()
        .min(0)
        .max(365 * dayMs)
        .default(dayMs)
        .describe("for how long after that it may stand in, marked stale, where no new one can be had"),
      leaseMs: zod
        .int()
        .min(1000)
        .max(hourMs)
        .default(5 * minuteMs)
        .describe(
          "how long a producer may take before another one is asked, unless it says that it is still at it; the same for all who share the store",
        ),
      gate: gate.prefault({}).describe("what a result must reach to be kept for its whole time"),
      maxResultBytes: zod
        .int()
        .min(1024)
        .max(16 * 1024 ** 2)
        .default(2 * 1024 ** 2)
        .describe("how large one result may be"),
      maxBytes: zod
        .int()
        .min(1024 ** 2)
        .max(1024 ** 4)
        .default(4 * 1024 ** 3)
        .describe("how large all results together may be; those that end next make room"),
      pollMs: zod
        .int()
        .min(100)
        .max(3_600_000)
        .default(1000)
        .describe("how often to look, while watched, for what other processes have written"),
    })
    .strict()
    .refine(({ path, url }) => (path === undefined) !== (url === undefined), {
      path: ["path"],
      error: 'is missing, or not alone: results are kept either in a file, "path", or in a database, "url"',
    });
}
