/** The keys of a Redis database. */
import type { z as Zod } from "zod";
import { isDirectoryError, notFound, quote, ResourceError } from "../errors.ts";
import { createGlobUnion } from "../lib/glob.ts";
import { intOption } from "../lib/int-option.ts";
import { createSharedWatch } from "../backends/shared-watch.ts";
import { directoryType } from "../resources.ts";
import { defineSource, hasQuery, innerSlash } from "../source.ts";
import type { Runtime, Source, SourceTemplate } from "../source.ts";
import { completeField } from "./redis/complete-field.ts";
import { createRedisConnection } from "./redis/connection.ts";
import { detectRedis } from "./redis/detect-redis.ts";
import { createKeyPaths } from "./redis/key-paths.ts";
import { createKeyspace } from "./redis/keyspace.ts";
import { problemsOf } from "./redis/problems.ts";
import { createValueReader } from "./redis/read-value.ts";
import { parseTarget } from "./redis/target.ts";
import { createRedisWatch } from "./redis/watch.ts";

/** Whoever knows the key of a session or a token may use it: a list of them must not be given away. */
const secretKeys = "**/{sess,session,sessions,PHPREDIS_SESSION,token,tokens,access_token,refresh_token,otp}/**";

function redisOptions(z: typeof Zod) {
  const patterns = z.array(z.string().min(1).max(1000)).max(1000);
  return z
    .object({
      url: z
        .string()
        .min(1)
        .describe(
          "Address of the server, redis://host:6379/0, or rediss:// with TLS; best as a reference: ${env:REDIS_URL}",
        ),
      username: z.string().min(1).optional().describe("User, if it is not part of the url"),
      password: z.string().min(1).optional().describe("Password, if it is not part of the url: ${env:REDIS_PASSWORD}"),
      ca: z
        .string()
        .min(1)
        .optional()
        .describe("File with the certificates of the authority that signed the server's certificate")
        .meta({ format: "path" }),
      separator: z.string().min(1).max(16).default(":").describe("Separates the parts of a key: user:1 is at user/1"),
      include: patterns.optional().describe("Serve only keys whose paths match, such as user/**"),
      exclude: patterns
        .default([secretKeys])
        .describe("Do not serve keys whose paths match. Default: keys of sessions and tokens"),
      maxBytes: intOption(z, 1024, 64 * 1024 * 1024, 1024 * 1024).describe("Largest content of one read"),
      maxItems: intOption(z, 1, 100_000, 10_000).describe("Most items of a hash, list, set or stream in one read"),
      maxScanned: intOption(z, 1000, 100_000_000, 200_000).describe(
        "How many keys a call may look at to find out whether a path is a directory",
      ),
      notifications: z
        .enum(["check", "enable", "assume"])
        .default("check")
        .describe(
          "check: watch only if the server announces all changes; enable: turn that on with CONFIG SET; assume: it does, and CONFIG is not permitted",
        ),
      pollMs: intOption(z, 100, 3_600_000, 5000).describe(
        "How often to check, while watched, whether all keys were replaced or notifications turned off",
      ),
      timeoutMs: intOption(z, 100, 600_000, 5000).describe(
        "Time limit of one call, with connecting and all its commands",
      ),
    })
    .strict();
}

export type RedisOptions = Zod.output<ReturnType<typeof redisOptions>>;

export default defineSource<RedisOptions>({
  name: "redis",
  summary: "Keys of a Redis database: strings, hashes, lists, sets, sorted sets and streams",
  scheme: "redis",
  options: redisOptions,
  // Values change all the time, and the index would contain a copy of each.
  searchable: false,
  referencesOnly: ["password"],
  usesCredentials: () => true,
  detect: detectRedis,

  open: async (options, runtime) => openRedis(options, runtime),
});

const templates: readonly SourceTemplate[] = [
  {
    template: "{+key}{?field}",
    name: "Field of a hash",
    description: "One field of a hash, as a JSON object with that field",
    mimeType: "application/json",
  },
  {
    template: "{+key}{?from,count}",
    name: "Items of a value",
    description:
      "Some items of a list or sorted set (from is an index), of a stream (from is the id of an entry), of a hash or set (from is a cursor of the range before)",
    mimeType: "application/json",
  },
  {
    template: "{+key}{?lines,bytes}",
    name: "Range of a string",
    description: "Some lines or bytes of a string, as in lines=10-40 or bytes=0-1023",
  },
];

const maxSuggestions = 100;

/** Nothing is connected before the first call. `connect` creates the connection. */
export function openRedis(options: RedisOptions, runtime: Runtime, connect = createRedisConnection): Source {
  const { maxBytes, maxItems, maxScanned, notifications, pollMs, timeoutMs } = options;
  const target = parseTarget(options.url, options);
  const connection = connect({ target, timeoutMs });
  const included = options.include && createGlobUnion(options.include);
  const excluded = options.exclude.length > 0 ? createGlobUnion(options.exclude) : undefined;
  const keyspace = createKeyspace({
    connection,
    paths: createKeyPaths(options.separator),
    isServed: (path) => (included?.matches(path) ?? true) && !excluded?.matches(path),
    maxScanned,
  });
  const readValue = createValueReader({ connection, maxBytes, maxItems, now: runtime.now });
  const { wait } = runtime;
  const { database } = target;
  const watching = createSharedWatch(createRedisWatch({ connection, keyspace, database, notifications, pollMs, wait }));

  /** Throws "not-found" unless keys are below the path. */
  async function checkDirectory(path: string, signal: AbortSignal): Promise<void> {
    const found = path === "" || (await keyspace.hasBelow(path, signal));
    if (found === "unknown")
      throw new ResourceError(
        "not-found",
        `no key at ${quote(path)}, and none below it among the first ${maxScanned} keys; raise "maxScanned" to look at more`,
      );
    if (!found) throw notFound(path);
  }

  return {
    timeoutMs,
    isUnordered: true,
    impliesDirectories: true,

    list: (request, { signal }) => keyspace.list(request, signal),

    async read(at, { signal }) {
      const key = keyspace.keyAt(at.path);
      const part = key && (await readValue(at, key, signal));
      if (part) return [part];
      if (hasQuery(at)) throw notFound(at.path);
      await checkDirectory(at.path, signal);
      throw isDirectoryError(at.path);
    },

    async stat(at, { signal }) {
      const { path, query } = at;
      if (query && hasQuery(at)) {
        const key = keyspace.keyAt(path);
        // Only reading it shows whether there is such a field or range.
        const part = key && (await readValue(at, key, signal));
        if (!part) throw notFound(path);
        return { path, query, mimeType: part.mimeType };
      }
      const entry = await keyspace.find(path, signal);
      if (entry) return entry;
      await checkDirectory(path, signal);
      return { path, mimeType: directoryType };
    },

    async children(at, request, { signal }) {
      if (hasQuery(at)) throw notFound(at.path);
      return keyspace.children(at.path, request, signal);
    },

    templates,

    async complete({ template: { template }, variable, value, given }, { signal }) {
      if (!template.includes(variable)) return [];
      if (variable === "key") {
        const paths = await keyspace.startingWith(value, maxSuggestions, signal);
        // A slash inside a segment cannot be written in this variable.
        return paths.filter((path) => !path.includes(innerSlash)).map((path) => ({ value: path, reveals: { path } }));
      }
      const path = given["key"];
      const key = variable === "field" && path !== undefined ? keyspace.keyAt(path) : undefined;
      if (key === undefined) return [];
      const fields = await completeField(connection, key, value, maxSuggestions, signal);
      return fields.map((field) => ({ value: field, reveals: { path: path! } }));
    },

    problems: ({ signal }) => problemsOf({ connection, keyspace, target }, signal),

    watch: ({ signal }) => watching.watch(signal),

    async close() {
      await watching.close();
      await connection.close();
    },
  };
}
