/** Checks the options that programs pass, also those in JavaScript: every name, and the values that a mistake is likely in. */
import type { z } from "zod";
import { check } from "../config/check.ts";
import type { Problem } from "../config/problem.ts";
import { limitsSchema, searchSchema, serverSchema } from "../config/schema.ts";
import { invalid, quote } from "../errors.ts";
import type { AppOptions } from "./create-app.ts";
import type { ServeOptions, ServeStdioOptions } from "./serve.ts";

type Zod = typeof z;
type Shape = Readonly<Record<string, z.ZodType>>;

/** Bytes of a key for cursors. */
const keyBytes = 32;

/** The problems of options with this shape. Throws "invalid" if they are no object. */
export async function checkOptions(given: unknown, shape: (zod: Zod) => Shape): Promise<readonly Problem[]> {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw invalid('the options must be an object, as in { name: "notes", mounts: { notes: source } }');
  const { z: zod } = await import("zod");
  const checked = check(zod.strictObject(shape(zod)), { ...given }, [], { zod, folder: "", isReferred: () => false });
  return "problems" in checked ? checked.problems : [];
}

export function appShape(zod: Zod) {
  const text = () => zod.string().min(1);
  const { tools, pageSize } = serverSchema(zod).shape;
  return {
    name: text(),
    title: text().optional(),
    version: text().optional(),
    // Checked with the mounts that they name.
    mounts: zod.any().optional(),
    rules: zod.any().optional(),
    instructions: zod
      .custom((value) => typeof value === "string" || typeof value === "function", "must be a string or a function")
      .optional(),
    policy: zod.custom(hasMaySee, 'must be an object with the function "maySee"').optional(),
    tools,
    pageSize,
    limits: limitsSchema(zod).optional(),
    redact: zod.boolean().optional(),
    search: zod.union([zod.boolean(), searchSchema(zod)]).optional(),
    isPrivate: zod.boolean().optional(),
    runtime: anObject(zod),
    cursorKey: zod
      .custom(
        (value) => value instanceof Uint8Array && value.length === keyBytes,
        `the cursor key must have ${keyBytes} bytes`,
      )
      .optional(),
    stateFolder: text().optional(),
  } satisfies Record<keyof AppOptions, z.ZodType>;
}

export function serveShape(zod: Zod) {
  const size = () =>
    zod.custom((value) => typeof value === "number" && value >= 0, "must be a number from 0").optional();
  const calls = () => zod.custom((value) => typeof value === "function", "must be a function").optional();
  const { allowedHosts, allowedOrigins } = serverSchema(zod).shape;
  return {
    ...appShape(zod),
    transport: zod.enum(["http", "stdio"]).optional(),
    host: zod.string().min(1).optional(),
    port: zod
      .custom((value) => isPort(Number(value)) && /^\d+$/.test(String(value)), { error: portMessage })
      .optional(),
    page: zod.boolean().optional(),
    identify: calls(),
    gate: calls(),
    authorize: calls(),
    publicDocument: calls(),
    now: calls(),
    isOneCaller: zod.boolean().optional(),
    allowedHosts,
    allowedOrigins,
    challenge: zod.string().optional(),
    endpoint: zod.string().startsWith("/", 'must begin with "/"').optional(),
    basePath: zod.string().optional(),
    sse: zod
      .union([zod.literal(false), zod.strictObject({ stream: zod.string().min(1), post: zod.string().min(1) })])
      .optional(),
    certificate: anObject(zod),
    forwarded: anObject(zod),
    quotas: anObject(zod),
    posts: zod.any().optional(),
    replay: anObject(zod),
    headersTimeoutMs: size(),
    requestTimeoutMs: size(),
    keepAliveTimeoutMs: size(),
    keepAliveMs: size(),
    stallMs: size(),
    graceMs: size(),
    retryMs: size(),
    returnMs: size(),
    unusedSessionMs: size(),
    sessionIdleMs: size(),
    maxConnections: size(),
    maxSessions: size(),
    maxStreams: size(),
    maxBodyBytes: size(),
    maxArrivingBytes: size(),
    maxUrlLength: size(),
    highWaterBytes: size(),
  } satisfies Record<keyof ServeOptions, z.ZodType>;
}

export function serveStdioShape(zod: Zod) {
  const { transport, graceMs, highWaterBytes } = serveShape(zod);
  return {
    ...appShape(zod),
    transport,
    input: anObject(zod),
    output: anObject(zod),
    signal: anObject(zod),
    maxMessageBytes: graceMs,
    graceMs,
    highWaterBytes,
  } satisfies Record<keyof ServeStdioOptions, z.ZodType>;
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 0 && port <= 65_535;
}

function portMessage({ input }: { readonly input?: unknown }): string {
  return `must be a whole number from 0 to 65535, not ${typeof input === "string" ? quote(input) : String(input)}`;
}

/** Of any class. */
function anObject(zod: Zod) {
  return zod.custom((value) => typeof value === "object" && value !== null, "must be an object").optional();
}

function hasMaySee(value: unknown): boolean {
  return typeof value === "object" && value !== null && "maySee" in value && typeof value.maySee === "function";
}
