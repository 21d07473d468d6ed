/** The schema of a config. Checks, the docs and the JSON schema for editors are generated from it. */
import type { z } from "zod";
import { isOrigin } from "../lib/is-origin.ts";
import { isNetwork } from "../lib/networks.ts";
import { authSchema, publicUrlSchema, scopesSchema } from "./auth.ts";
import { schemePattern } from "./mount-base.ts";
import { busSchema, stateSchema } from "./state.ts";

type Zod = typeof z;

export function serverSchema(zod: Zod) {
  return zod.strictObject({
    host: zod.string().min(1).optional().describe("Address to listen on. Default: 127.0.0.1"),
    port: zod.int().min(0).max(65_535).optional().describe("Port to listen on; 0 chooses a free one. Default: 7357"),
    allowedHosts: zod
      .array(zod.string().min(1))
      .optional()
      .describe("Additional host names that clients use for this machine, for example behind a proxy"),
    allowedOrigins: zod
      .array(
        zod
          .string()
          .refine(
            isOrigin,
            'must be an origin, such as https://app.example, without a path; "*" and "null" are not allowed',
          ),
      )
      .optional()
      .describe("Other origins (https://app.example) whose pages may send requests and read responses. Default: none"),
    trustProxy: zod
      .array(
        zod
          .string()
          .refine(
            isNetwork,
            'must be an address or a network of proxies, such as 127.0.0.1, 10.0.0.0/8 or 2001:db8::/32; "/0" would trust everyone',
          ),
      )
      .max(100)
      .optional()
      .describe("Addresses and networks of proxies whose headers say who connects. Default: none"),
    proxyHeader: zod
      .enum(["x-forwarded", "forwarded"])
      .optional()
      .describe(
        "Headers that these proxies set: X-Forwarded-For, -Proto and -Host, or Forwarded (RFC 7239); the others are ignored. Default: x-forwarded",
      ),
    token: zod
      .string()
      .min(1)
      .optional()
      .describe(
        "Token that every caller must send as Authorization: Bearer; better written as a reference: ${env:NAME}",
      ),
    tls: zod
      .strictObject({
        cert: zod.string().min(1).meta({ format: "path" }).describe("PEM file with the certificate and its chain"),
        key: zod.string().min(1).meta({ format: "path" }).describe("PEM file with the private key, not encrypted"),
      })
      .optional()
      .describe(
        "Certificate for HTTPS: the files cert (with its chain) and key, read again when they are renewed. Default: HTTP without encryption",
      ),
    state: stateSchema(zod).optional(),
    bus: busSchema(zod).optional(),
    publicUrl: publicUrlSchema(zod).optional(),
    auth: authSchema(zod).optional(),
    scopes: scopesSchema(zod).optional().describe("Scopes that tokens of server.auth need"),
    pageSize: zod
      .int()
      .min(1)
      .max(20_000)
      .optional()
      .describe("Number of resources on the first page of a list. Default: 1000"),
    audit: zod
      .union([
        zod.boolean(),
        zod.strictObject({
          hashUris: zod.boolean().optional().describe("Store hashes instead of URIs. Default: false"),
          queries: zod.boolean().optional().describe("Store the words of searches. Default: false"),
          maxBytes: zod
            .int()
            .min(1024)
            .max(1024 ** 4)
            .optional()
            .describe("Size at which a new file begins. Default: 10485760 (10 MiB)"),
          maxFiles: zod.int().min(1).max(1000).optional().describe("Number of files to keep. Default: 10"),
        }),
      ])
      .optional()
      .describe("Whether to record who read what, for pressmark audit; never contains content. Default: false"),
    activity: zod
      .boolean()
      .optional()
      .describe(
        "Whether the owner can see what clients were recently given (pressmark://activity, and in the picker); in memory only, without contents. Default: true",
      ),
    zed: zod
      .boolean()
      .optional()
      .describe("Whether zed://prompt-library lists the sets in the format of Zed's draft. Default: false"),
    tracing: zod
      .strictObject({
        endpoint: zod
          .url({ protocol: /^https?$/, error: "must be a URL, as in http://127.0.0.1:4318" })
          .describe("Base URL of an OTLP/HTTP receiver; /v1/traces is added to it"),
        sampleRatio: zod
          .number()
          .min(0)
          .max(1)
          .optional()
          .describe("Share of the traces that begin here; a caller's trace is sampled as the caller says. Default: 1"),
        headers: zod
          .record(zod.string(), zod.string())
          .optional()
          .describe("HTTP headers for the receiver; write secrets as references: ${env:NAME}"),
        uris: zod.boolean().optional().describe("Whether spans name the URIs of resources. Default: false"),
      })
      .optional()
      .describe("OpenTelemetry traces of requests. Default: OTEL_EXPORTER_OTLP_ENDPOINT of the environment, else none"),
    drainMs: zod
      .int()
      .min(0)
      .max(300_000)
      .optional()
      .describe(
        "Time in milliseconds between SIGTERM, when /health/ready fails, and the end of new connections, so that a load balancer notices first. Default: 0",
      ),
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
            "count_tokens",
            "save_set",
            "actions",
          ]),
        ),
      ])
      .optional()
      .describe(
        "Whether models may search, list and read with tools, or the list of tools to offer (models are offered count_tokens and save_set only if listed; actions are the actions of mounts; tools of other servers are chosen by their mounts, and false excludes them too). Default: true",
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
        "Time limit for one request to a source, including retries. Default: timeoutMs of the source, else 30000",
      ),
    maxAtOnce: zod
      .int()
      .min(1)
      .max(10_000)
      .optional()
      .describe("Maximum number of concurrent requests to a mount. Default: 64"),
    maxWaiting: zod
      .int()
      .min(0)
      .max(1_000_000)
      .optional()
      .describe("Maximum number of waiting requests. Default: 1024"),
    cacheBytes: zod
      .int()
      .min(0)
      .max(64 * 1024 ** 3)
      .optional()
      .describe("Size of the read cache of each mount. Default: 67108864 (64 MiB)"),
  });
}

export function searchSchema(zod: Zod) {
  return zod.strictObject({
    enabled: zod.boolean().optional().describe("Whether to maintain a search index. Default: true"),
    maxFileBytes: zod
      .int()
      .min(1024)
      .max(64 * 1024 ** 2)
      .optional()
      .describe("Larger files are found by name only. Default: 2097152 (2 MiB)"),
    maxBytes: zod
      .int()
      .min(1024 ** 2)
      .max(1024 ** 4)
      .optional()
      .describe("Maximum size of the index on disk. Default: 4294967296 (4 GiB)"),
    maxFiles: zod
      .int()
      .min(1)
      .max(100_000_000)
      .optional()
      .describe("Mounts with more files are not indexed, because that takes much time and disk. Default: 2000000"),
    embeddings: zod
      .strictObject({
        url: zod
          .url({ protocol: /^https?$/, error: "must be a URL, as in http://127.0.0.1:11434/v1" })
          .describe("Base URL without /embeddings, as in http://127.0.0.1:11434/v1"),
        model: zod.string().min(1).max(200).describe("Name of the model at the endpoint"),
        apiKey: zod.string().min(1).optional().describe("API key; better written as a reference: ${env:NAME}"),
      })
      .optional()
      .describe("OpenAI-compatible endpoint for search by meaning; all indexed text is sent there"),
  });
}

export function setSchema(zod: Zod) {
  return zod.strictObject({
    title: zod.string().min(1).max(200).optional().describe("Title to show instead of the name"),
    description: zod.string().min(1).max(2000).optional().describe("Description of the set"),
    resources: zod
      .array(zod.string().min(1).max(8192))
      .min(1)
      .max(500)
      .describe("Resources in this order: URIs, or paths relative to this file"),
  });
}

export function callerSchema(zod: Zod) {
  return zod.strictObject({
    groups: zod.array(zod.string().min(1).max(200)).max(100).optional().describe("Groups of this caller, for rules"),
    owner: zod
      .boolean()
      .optional()
      .describe("Whether this caller operates the server: sees everything, and pressmark://status. Default: false"),
  });
}

export function ruleSchema(zod: Zod) {
  const subjects = () => zod.array(zod.string().min(1).max(400)).min(1).max(1000).optional();
  return zod.strictObject({
    allow: subjects().describe(
      'Who may see it: "anyone", "caller:NAME", "group:NAME", "scope:NAME" or "claim:NAME=VALUE"',
    ),
    deny: subjects().describe("Who may not see it, whatever other rules allow"),
    write: zod
      .boolean()
      .optional()
      .describe("With allow: also permit actions that change something, and save_set. Default: false"),
    mounts: zod.array(zod.string().min(1)).min(1).max(1000).optional().describe("Names of mounts. Default: all"),
    paths: zod
      .array(zod.string().min(1).max(500))
      .min(1)
      .max(1000)
      .optional()
      .describe("Path patterns in the mounts; each covers everything below what it matches. Default: all"),
    files: zod
      .array(zod.string().min(1).max(500))
      .min(1)
      .max(1000)
      .optional()
      .describe(
        "Instead of mounts and paths: patterns of files, relative to this config. They hold in every mount over these files (file, git, skills, config, docs)",
      ),
  });
}

export function quotaSchema(zod: Zod) {
  const limit = (least: number) =>
    zod.union([zod.int().min(least).max(Number.MAX_SAFE_INTEGER), zod.literal("unlimited")]).optional();
  return zod.strictObject({
    requestsPerMinute: limit(1).describe("Requests, each one of a batch, and calls of actions"),
    bytesPerMinute: limit(1).describe("Bytes of responses and notifications"),
    entriesPerMinute: limit(1).describe("Listed resources, templates and skills, and hits of searches"),
    indexRowsPerMinute: limit(1).describe("Rows that searches read from the index"),
    processMsPerMinute: limit(1).describe(
      "Milliseconds that child processes work for the caller: git, SQLite, and the extraction of text from documents; also those of count_tokens",
    ),
    listens: limit(0).describe(
      "Open listens, streams and subscriptions; a listen counts once for each resource it names",
    ),
    concurrentReads: limit(1).describe("Requests that run at the same time, without listens"),
  });
}

/** Keys that every mount may have besides the options of its source. No option may have one of these names. */
export function mountSchema(zod: Zod) {
  return zod.strictObject({
    source: zod.string().describe("Source of the resources"),
    scheme: zod
      .string()
      .regex(schemePattern, 'must be a scheme, such as "docs": lower-case letters, digits, "+", "." and "-"')
      .refine((scheme) => scheme !== "file", 'must not be "file", whose URIs are paths on this machine')
      .optional()
      .describe("Serve under scheme://name/ instead of the source's own URIs, so that two mounts do not collide"),
    title: zod.string().min(1).max(80).optional().describe("Title for people and models, shown instead of the name"),
    description: zod
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe(
        "What it contains and when to read it; models get the first 160 characters. Default: the summary of the source",
      ),
    priority: zod
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe("From 0 to 1: the order of mounts, and the priority of resources without one. Default: 0.5"),
    audience: zod
      .array(zod.enum(["user", "assistant"]))
      .min(1)
      .max(2)
      .optional()
      .describe("Who its resources are for (user, assistant), if they do not say so themselves. Default: both"),
    optional: zod
      .boolean()
      .optional()
      .describe(
        "Whether it may be missing on this machine: a variable, file or backend that is absent is no failure. Default: false",
      ),
    limits: limitsSchema(zod).optional().describe("Limits of this mount; they override the limits of all mounts"),
    search: zod.boolean().optional().describe("Whether to index this mount for search. Default: depends on the source"),
    redact: zod
      .boolean()
      .optional()
      .describe("Whether to mask secrets in texts of this mount. Default: redact of the config"),
    freshness: zod
      .strictObject({
        ttlMs: zod.int().min(0).max(86_400_000).optional().describe("Time to live in milliseconds"),
        scope: zod
          .enum(["public", "private"])
          .optional()
          .describe(
            "Whether a cached response may be shared between callers; always private if the source uses credentials or a reference",
          ),
      })
      .optional()
      .describe("How long clients may cache what they read"),
  });
}

/** Everything except the options of mounts, which only their source knows. */
export function configSchema(zod: Zod) {
  return zod.strictObject({
    $schema: zod.string().optional().describe("Location of this file's JSON schema, for editors"),
    mounts: zod
      .record(zod.string(), zod.looseObject({}))
      .optional()
      .describe("Mounts to serve, by name. Default: the folder of this file"),
    limits: limitsSchema(zod).optional().describe("Limits of every mount"),
    redact: zod.boolean().optional().describe("Whether to mask secrets in the texts of every mount. Default: false"),
    search: searchSchema(zod).optional().describe("Search index"),
    sets: zod
      .record(zod.string(), setSchema(zod))
      .optional()
      .describe("Named sets of resources; each is a prompt and a resource"),
    callers: zod
      .record(zod.string(), callerSchema(zod))
      .optional()
      .describe("People and programs that sign in with a token of their own, by name (pressmark token create NAME)"),
    rules: zod
      .array(ruleSchema(zod))
      .max(10_000)
      .optional()
      .describe(
        "Who may see what. With any rule, what no rule allows is private; deny wins; the owner sees everything",
      ),
    quotas: zod
      .record(zod.string(), quotaSchema(zod))
      .optional()
      .describe(
        'How much callers may use, by whom it is about, written as in rules: "anyone", "group:NAME", "caller:NAME" …; each limit is a number or "unlimited". Default: no limits',
      ),
    server: serverSchema(zod).optional().describe("How pressmark serve listens, and what it offers"),
  });
}

export type ServerSettings = z.infer<ReturnType<typeof serverSchema>>;
export type SearchSettings = z.infer<ReturnType<typeof searchSchema>>;
export type SetSettings = z.infer<ReturnType<typeof setSchema>>;
export type CallerSettings = z.infer<ReturnType<typeof callerSchema>>;
export type RuleSettings = z.infer<ReturnType<typeof ruleSchema>>;
export type Limits = z.infer<ReturnType<typeof limitsSchema>>;
export type MountSettings = z.infer<ReturnType<typeof mountSchema>>;
