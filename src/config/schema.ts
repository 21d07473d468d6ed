/** What a config may say, declared once: checking, the docs and the JSON schema for editors come from here. */
import type { z } from "zod";

type Zod = typeof z;

const schemePattern = /^[a-z][a-z0-9+.-]*$/;

export function serverSchema(zod: Zod) {
  return zod.strictObject({
    host: zod.string().min(1).optional().describe("the address to listen on; 127.0.0.1 unless said"),
    port: zod
      .int()
      .min(0)
      .max(65_535)
      .optional()
      .describe("the port to listen on; 0 takes any free one; 7357 unless said"),
    allowedHosts: zod
      .array(zod.string().min(1))
      .optional()
      .describe("names that clients know this machine by, beside its own, as behind a proxy"),
    allowedOrigins: zod
      .array(zod.string().min(1))
      .optional()
      .describe("origins (https://app.example) whose pages may ask, beside those of this machine"),
    pageSize: zod
      .int()
      .min(1)
      .max(20_000)
      .optional()
      .describe("how many resources the first page of a list holds; 1000 unless said"),
  });
}

export function limitsSchema(zod: Zod) {
  return zod.strictObject({
    timeoutMs: zod
      .int()
      .min(1)
      .max(3_600_000)
      .optional()
      .describe("how long one question to a source may take; 30000 unless said"),
    maxAtOnce: zod
      .int()
      .min(1)
      .max(10_000)
      .optional()
      .describe("how many questions a mount is asked at once; 64 unless said"),
    maxWaiting: zod
      .int()
      .min(0)
      .max(1_000_000)
      .optional()
      .describe("how many more may wait their turn; 1024 unless said"),
    cacheBytes: zod
      .int()
      .min(0)
      .max(64 * 1024 ** 3)
      .optional()
      .describe("how much of what was read is kept for each mount; 67108864 (64 MiB) unless said"),
  });
}

/** What every mount may say beside the options of its source. No option may have one of these names. */
export function mountSchema(zod: Zod) {
  return zod.strictObject({
    source: zod.string().describe("where the resources come from"),
    scheme: zod
      .string()
      .regex(schemePattern, 'must be a scheme, such as "docs": small letters, digits, "+", "." and "-"')
      .refine((scheme) => scheme !== "file", 'must not be "file", whose URIs say where a file is on this machine')
      .optional()
      .describe("serve under scheme://name/ instead of the source's own URIs, so that two mounts do not collide"),
    limits: limitsSchema(zod).optional().describe("limits of this mount, before those for all"),
    freshness: zod
      .strictObject({
        ttlMs: zod.int().min(0).max(86_400_000).optional().describe("for so many milliseconds"),
        scope: zod.enum(["public", "private"]).optional().describe("whether other callers may be given a kept answer"),
      })
      .optional()
      .describe("how long a client may keep what it read"),
  });
}

/** All but the mounts' own options, which only their source knows. */
export function configSchema(zod: Zod) {
  return zod.strictObject({
    $schema: zod.string().optional().describe("where the schema of this file is, for editors"),
    mounts: zod
      .record(zod.string(), zod.looseObject({}))
      .optional()
      .describe("what is served, each mount under a name; the folder of this file unless said"),
    limits: limitsSchema(zod).optional().describe("limits of every mount"),
    server: serverSchema(zod).optional().describe("how pressmark serve listens"),
  });
}

export type ServerSettings = z.infer<ReturnType<typeof serverSchema>>;
export type Limits = z.infer<ReturnType<typeof limitsSchema>>;
export type MountSettings = z.infer<ReturnType<typeof mountSchema>>;
