/** Where traces are sent: by the config, or else by the variables that OpenTelemetry defines. */
import type { ServerSettings } from "../config/schema.ts";
import { ResourceError } from "../errors.ts";
import type { Runtime } from "../source.ts";
import type { Tracing } from "./tracing.ts";

export interface TracingTarget {
  /** URL of the receiver, which may hold a password. */
  readonly url: string;
  /** For logs. */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Share of the traces that begin here. */
  readonly sampleRatio: number;
  readonly hasUris: boolean;
  readonly serviceName: string;
  /** Time between two batches. */
  readonly delayMs: number;
  /** Whether the config asks for it: then a missing package is an error. */
  readonly isConfigured: boolean;
}

/** Loads the packages only if there is a target. If the environment alone names it, a missing package is only logged. */
export async function startTracing(
  { settings, runtime, env }: { settings: ServerSettings; runtime: Runtime; env: Runtime["env"] },
  version: string,
  instance?: string,
): Promise<Tracing | undefined> {
  const target = tracingTarget(settings.tracing, env);
  if (!target) return undefined;
  try {
    const { openTracing } = await import("./tracing.ts");
    return await openTracing(target, { version, instance, runtime });
  } catch (cause) {
    if (target.isConfigured || !(cause instanceof ResourceError)) throw cause;
    runtime.log("warn", `nothing is traced: ${cause.message}`);
    return undefined;
  }
}

const path = "/v1/traces";
const defaultDelayMs = 5000;

/** The config wins. Undefined if nothing is to be traced. */
export function tracingTarget(settings: ServerSettings["tracing"], env: Runtime["env"]): TracingTarget | undefined {
  if (env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true") return undefined;
  const url = urlOf(settings?.endpoint, env);
  if (url === undefined) return undefined;
  const delayMs = Number(env["OTEL_BSP_SCHEDULE_DELAY"] || defaultDelayMs);
  return {
    url: url.href,
    origin: url.origin,
    headers: settings?.headers ?? {},
    sampleRatio: settings?.sampleRatio ?? ratioOf(env) ?? 1,
    hasUris: settings?.uris ?? false,
    serviceName: env["OTEL_SERVICE_NAME"] || "pressmark",
    delayMs: delayMs > 0 ? delayMs : defaultDelayMs,
    isConfigured: settings !== undefined,
  };
}

function urlOf(endpoint: string | undefined, env: Runtime["env"]): URL | undefined {
  if (endpoint !== undefined) return withPath(endpoint);
  if (env["OTEL_TRACES_EXPORTER"] === "none") return undefined;
  const whole = env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
  const base = env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  const url = whole ? URL.parse(whole) : base ? withPath(base) : undefined;
  return url && /^https?:$/.test(url.protocol) ? url : undefined;
}

/** The path of traces is added to that of the receiver. */
function withPath(endpoint: string): URL | undefined {
  const url = URL.parse(endpoint);
  if (url && !url.pathname.endsWith(path)) url.pathname = `${url.pathname.replace(/\/$/, "")}${path}`;
  return url ?? undefined;
}

function ratioOf(env: Runtime["env"]): number | undefined {
  const ratio = Number(env["OTEL_TRACES_SAMPLER_ARG"] || Number.NaN);
  const isRatio = env["OTEL_TRACES_SAMPLER"]?.endsWith("traceidratio") === true;
  return isRatio && ratio >= 0 && ratio <= 1 ? ratio : undefined;
}
