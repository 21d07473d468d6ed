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
    token: zod
      .string()
      .min(1)
      .optional()
      .describe("what every caller must send as Authorization: Bearer, best as a reference: ${env:NAME}"),
    pageSize: zod
      .int()
      .min(1)
      .max(20_000)
      .optional()
      .describe("how many resources the first page of a list holds; 1000 unless said"),
    zed: zod
      .boolean()
      .optional()
      .describe("whether zed://prompt-library lists the sets as Zed's draft has it; false unless said"),
    tools: zod
      .union([
        zod.boolean(),
        zod.array(
          zod.enum([
            "search_resources",
            "list_resources",
            "read_resource",
            "gather_context",
            "pick_resources",
            "save_set",
            "actions",
          ]),
        ),
      ])
      .optional()
      .describe(
        "whether models may search, list and read through tools, or which tools there are (save_set only if it is named; actions: what mounts can be asked to do); true unless said",
      ),
  });
}

export function limitsSchema(zod: Zod) {
  return zod.strictObject({
    timeoutMs: zod
      .int()
      .min(1)
      .max(3_600_000)
      .optional()
      .describe(
        "how long one question to a source may take, with all its attempts; the timeoutMs of the source, or 30000, unless said",
      ),
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

export function searchSchema(zod: Zod) {
  return zod.strictObject({
    enabled: zod.boolean().optional().describe("whether an index is kept to search in; true unless said"),
    maxFileBytes: zod
      .int()
      .min(1024)
      .max(64 * 1024 ** 2)
      .optional()
      .describe("what is larger is found by its name alone; 2097152 (2 MiB) unless said"),
    maxBytes: zod
      .int()
      .min(1024 ** 2)
      .max(1024 ** 4)
      .optional()
      .describe("how large the index may become on disk; 4294967296 (4 GiB) unless said"),
    maxFiles: zod
      .int()
      .min(1)
      .max(100_000_000)
      .optional()
      .describe(
        "a mount of more than this is not indexed, because that takes long and much memory; 250000 unless said",
      ),
    embeddings: zod
      .strictObject({
        url: zod
          .url({ protocol: /^https?$/, error: "must be a URL, as in http://127.0.0.1:11434/v1" })
          .describe("up to /embeddings, as in http://127.0.0.1:11434/v1"),
        model: zod.string().min(1).max(200).describe("the model's name, as the endpoint knows it"),
        apiKey: zod.string().min(1).optional().describe("the key, best as a reference: ${env:NAME}"),
      })
      .optional()
      .describe("an endpoint that speaks as OpenAI's does, for search by meaning; what is indexed is sent there"),
  });
}

export function setSchema(zod: Zod) {
  return zod.strictObject({
    title: zod.string().min(1).max(200).optional().describe("what people see instead of its name"),
    description: zod.string().min(1).max(2000).optional().describe("what it is for"),
    resources: zod
      .array(zod.string().min(1).max(8192))
      .min(1)
      .max(500)
      .describe("what it holds, in this order: URIs, or paths as seen from this file"),
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
    search: zod.boolean().optional().describe("whether it is indexed for search; as its source says unless said"),
    redact: zod
      .boolean()
      .optional()
      .describe("whether what looks like a secret is masked in its texts; as for all mounts unless said"),
    freshness: zod
      .strictObject({
        ttlMs: zod.int().min(0).max(86_400_000).optional().describe("for so many milliseconds"),
        scope: zod
          .enum(["public", "private"])
          .optional()
          .describe(
            "whether other callers may be given a kept answer; private wherever the source uses credentials or a reference",
          ),
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
    redact: zod
      .boolean()
      .optional()
      .describe("whether what looks like a secret is masked in the texts of every mount; false unless said"),
    search: searchSchema(zod).optional().describe("what is indexed for search"),
    sets: zod
      .record(zod.string(), setSchema(zod))
      .optional()
      .describe("named choices of resources, each a prompt and a resource of its own"),
    server: serverSchema(zod).optional().describe("how pressmark serve listens, and what it offers"),
  });
}

export type ServerSettings = z.infer<ReturnType<typeof serverSchema>>;
export type SearchSettings = z.infer<ReturnType<typeof searchSchema>>;
export type SetSettings = z.infer<ReturnType<typeof setSchema>>;
export type Limits = z.infer<ReturnType<typeof limitsSchema>>;
export type MountSettings = z.infer<ReturnType<typeof mountSchema>>;
