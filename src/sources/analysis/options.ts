/** Options of a mount of results. */
import type { z } from "zod";
import { authenticationOptions } from "../../backends/postgres/options.ts";
import type { TaskType } from "./question.ts";
import type { QualityLimits } from "./result.ts";

export interface AnalysisOptions {
  readonly path?: string;
  readonly url?: string;
  readonly password?: string;
  readonly ca?: string;
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
      simple: lifetime(15 * minuteMs).describe("Time for simple tasks"),
      basic: lifetime(hourMs).describe("Time for basic tasks"),
      premium: lifetime(6 * hourMs).describe("Time for premium tasks"),
      critical: lifetime(dayMs).describe("Time for critical tasks"),
    })
    .strict();
  const gate = zod
    .object({
      confidence: share(0.7).describe("Lowest confidence of the consensus"),
      consensus: share(0.6).describe("Lowest agreement of the votes"),
      providers: zod.int().min(1).max(64).default(2).describe("Fewest providers that must have voted"),
      by: zod
        .enum(["higher", "producer", "recomputed"])
        .default("higher")
        .describe("Which measure of agreement counts: the producer's, the one computed here, or the higher of the two"),
    })
    .strict();
  return zod
    .object({
      path: zod
        .string()
        .min(1)
        .optional()
        .describe("File that stores the results; created if missing")
        .meta({ format: "path" }),
      url: zod
        .string()
        .min(1)
        .optional()
        .describe(
          "PostgreSQL database instead of a file, shared by many machines: postgres://user@host:5432/database?sslmode=verify-full",
        ),
      ...authenticationOptions(zod),
      schema: zod
        .string()
        .regex(/^[a-z_][a-z0-9_]{0,62}$/, 'must consist of small letters, digits and "_"')
        .default("pressmark_analysis")
        .describe("Schema in the database; created if missing"),
      timeoutMs: zod
        .int()
        .min(100)
        .max(60_000)
        .default(5000)
        .describe("Time limit of one database statement, and of a call that is no action"),
      maxConnections: zod.int().min(1).max(20).default(3).describe("Most open connections, plus one for notifications"),
      store: zod
        .boolean()
        .default(true)
        .describe("Whether callers may store results; otherwise they can only find and read them"),
      ttlMs: ttlMs.prefault({}).describe("How long a result is fresh, in milliseconds"),
      doubtfulMs: zod
        .int()
        .min(0)
        .max(5 * minuteMs)
        .default(5 * minuteMs)
        .describe("How long a result below the gate is stored, in milliseconds"),
      staleMs: zod
        .int()
        .min(0)
        .max(365 * dayMs)
        .default(dayMs)
        .describe("How long after expiry a result may still be returned, marked stale, if there is no new one"),
      leaseMs: zod
        .int()
        .min(1000)
        .max(hourMs)
        .default(5 * minuteMs)
        .describe(
          "How long a producer may compute before another one takes over, unless it renews its lease; the same for all processes that share the store",
        ),
      gate: gate.prefault({}).describe("What a result must reach to be stored for its full time"),
      maxResultBytes: zod
        .int()
        .min(1024)
        .max(16 * 1024 ** 2)
        .default(2 * 1024 ** 2)
        .describe("Largest size of one result"),
      maxBytes: zod
        .int()
        .min(1024 ** 2)
        .max(1024 ** 4)
        .default(4 * 1024 ** 3)
        .describe("Largest size of all results together; those that expire next are dropped first"),
      pollMs: zod
        .int()
        .min(100)
        .max(3_600_000)
        .default(1000)
        .describe("How often to check, while watched, for writes of other processes"),
    })
    .strict()
    .refine(({ path, url }) => (path === undefined) !== (url === undefined), {
      path: ["path"],
      error: 'set exactly one of "path", a file, and "url", a database',
    });
}
