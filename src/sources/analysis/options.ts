/** Options of a mount of results. */
import type { z } from "zod";
import { besidesOthers } from "../../lib/besides-others.ts";
import { intOption } from "../../lib/int-option.ts";
import { authenticationOptions } from "../../backends/postgres/options.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export type AnalysisOptions = z.output<ReturnType<typeof analysisOptions>>;

export function analysisOptions(zod: typeof z) {
  const lifetime = (initial: number) => intOption(zod, 1000, 365 * dayMs, initial);
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
      providers: intOption(zod, 1, 64, 2).describe("Fewest providers that must have voted"),
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
        .describe(
          "File that stores the results; created if missing. Default: the database of server.state, if there is one",
        )
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
      timeoutMs: intOption(zod, 100, 60_000, 5000).describe(
        "Time limit of one database statement, and of a call that is no action",
      ),
      maxConnections: intOption(zod, 1, 20, 3).describe("Most open connections, plus one for notifications"),
      store: zod
        .boolean()
        .default(true)
        .describe("Whether callers may store results; otherwise they can only find and read them"),
      ttlMs: ttlMs
        .prefault({})
        .describe(
          "How long a result is fresh, in milliseconds, by task type: simple (15 minutes), basic (1 hour), premium (6 hours), critical (24 hours)",
        ),
      doubtfulMs: intOption(zod, 0, 5 * minuteMs, 5 * minuteMs).describe(
        "How long a result below the gate is stored, in milliseconds",
      ),
      staleMs: intOption(zod, 0, 365 * dayMs, dayMs).describe(
        "How long after expiry a result may still be returned, marked stale, if there is no new one",
      ),
      leaseMs: intOption(zod, 1000, hourMs, 5 * minuteMs).describe(
        "How long a producer may compute before another one takes over, unless it renews its lease; the same for all processes that share the store",
      ),
      gate: gate
        .prefault({})
        .describe(
          "What a result must reach to be stored for its full time: confidence (0.7), consensus (0.6) and providers (2); by chooses the measure",
        ),
      maxResultBytes: intOption(zod, 1024, 16 * 1024 ** 2, 2 * 1024 ** 2).describe("Largest size of one result"),
      maxBytes: intOption(zod, 1024 ** 2, 1024 ** 4, 4 * 1024 ** 3).describe(
        "Largest size of all results together; those that expire next are dropped first",
      ),
      pollMs: intOption(zod, 100, 3_600_000, 1000).describe(
        "How often to check, while watched, for writes of other processes",
      ),
    })
    .strict()
    .refine(({ path, url }) => path === undefined || url === undefined, {
      path: ["path"],
      error: 'set only one of "path", a file, and "url", a database',
      ...besidesOthers,
    });
}
