/** Traces requests with OpenTelemetry. Loaded only if an endpoint is configured; its packages are optional. */
import type { Attributes, Context, Span, Tracer } from "@opentelemetry/api";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import { ResourceError, unsupported } from "../errors.ts";
import { isDoneWithin } from "../lib/is-done-within.ts";
import { isPackageMissing, packageNeeded } from "../lib/missing-package.ts";
import type { SpanAttributes, TraceSpan } from "../lib/request-scope.ts";
import { formatTraceparent, parseTraceparent } from "../lib/trace-context.ts";
import type { ReceivedRequest, RequestObserver, RequestOutcome } from "../protocol/request-observer.ts";
import type { Runtime } from "../source.ts";
import { createMethodNames } from "./known-methods.ts";
import type { TracingTarget } from "./tracing-target.ts";

export interface Tracing {
  readonly trace: NonNullable<RequestObserver["trace"]>;
  /** Sends what is left, within a time. Never rejects. */
  close(): Promise<void>;
}

interface TracingOptions {
  readonly version: string;
  /** Identifies the instance in the traces. Default: random. */
  readonly instance?: string | undefined;
  readonly runtime: Pick<Runtime, "log" | "wait">;
}

type Api = typeof import("@opentelemetry/api");

const packages = [
  "@opentelemetry/api",
  "@opentelemetry/sdk-trace",
  "@opentelemetry/exporter-trace-otlp-http",
  "@opentelemetry/resources",
];
/** Time to send what is left when the server stops. */
const flushMs = 3000;
const exportMs = 10_000;
const maxUriLength = 1000;
const failedOutcomes: ReadonlySet<RequestOutcome["outcome"]> = new Set(["failed", "error"]);

/** Throws "unsupported" if a package is missing. A receiver that does not answer affects no request. */
export async function openTracing(target: TracingTarget, options: TracingOptions): Promise<Tracing> {
  const { runtime, version, instance = crypto.randomUUID() } = options;
  const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await load();
  const exporter = new OTLPTraceExporter({
    url: target.url,
    headers: { ...target.headers },
    timeoutMillis: exportMs,
  });
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({
      "service.name": target.serviceName,
      "service.version": version,
      "service.instance.id": instance,
    }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(target.sampleRatio) }),
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter: withLog(exporter, target, runtime),
        exportTimeoutMillis: exportMs,
        scheduledDelayMillis: target.delayMs,
      }),
    ],
  });
  const tracer = provider.getTracer("pressmark", version);
  const nameOf = createMethodNames();

  return {
    trace(request) {
      const name = nameOf(request.method);
      const uri = target.hasUris ? uriOf(request) : undefined;
      const attributes = { "mcp.method.name": name, ...(uri !== undefined && { "mcp.resource.uri": uri }) };
      const span = tracer.startSpan(name, { kind: api.SpanKind.SERVER, attributes }, parentOf(request, api));
      return {
        span: new OpenSpan(span, tracer, api),
        end({ revision, source = "none", outcome }) {
          span.setAttributes({
            ...(revision !== undefined && { "mcp.protocol.version": revision.slice(0, 32) }),
            "pressmark.source": source,
            "pressmark.outcome": outcome,
          });
          if (failedOutcomes.has(outcome)) span.setStatus({ code: api.SpanStatusCode.ERROR });
          span.end();
        },
      };
    },

    async close() {
      const ending = provider.shutdown().catch((cause: unknown) => {
        runtime.log("warn", "the last traces could not be sent", { cause });
      });
      if (!(await isDoneWithin(ending, flushMs, runtime.wait)))
        runtime.log("warn", "the last traces could not be sent in time", { to: target.origin });
    },
  };
}

async function load() {
  try {
    return await Promise.all([
      import("@opentelemetry/api"),
      import("@opentelemetry/sdk-trace"),
      import("@opentelemetry/exporter-trace-otlp-http"),
      import("@opentelemetry/resources"),
    ]);
  } catch (cause) {
    const missing = packages.find((name) => isPackageMissing(cause, name));
    if (missing === undefined) throw cause;
    throw unsupported(packageNeeded("tracing needs", missing), cause);
  }
}

/** A class, because there are many of them. */
class OpenSpan implements TraceSpan {
  readonly #span: Span;
  readonly #tracer: Tracer;
  readonly #api: Api;

  constructor(span: Span, tracer: Tracer, api: Api) {
    this.#span = span;
    this.#tracer = tracer;
    this.#api = api;
  }

  get traceId(): string {
    return this.#span.spanContext().traceId;
  }

  carrier(): Readonly<Record<string, string>> {
    const { traceId, spanId, traceFlags, traceState } = this.#span.spanContext();
    const tracestate = traceState?.serialize();
    return {
      traceparent: formatTraceparent({ traceId, spanId, flags: traceFlags }),
      ...(tracestate && { tracestate }),
    };
  }

  begin(name: string, attributes: SpanAttributes): TraceSpan {
    // Nothing below a span that is not sampled is.
    if (!this.#span.isRecording()) return this;
    const context = this.#api.trace.setSpan(this.#api.ROOT_CONTEXT, this.#span);
    return new OpenSpan(
      this.#tracer.startSpan(name, { kind: this.#api.SpanKind.INTERNAL, attributes: { ...attributes } }, context),
      this.#tracer,
      this.#api,
    );
  }

  /** The message of an error may name a resource, so only its kind is told. */
  end(attributes: SpanAttributes = {}, cause?: unknown): void {
    if (!this.#span.isRecording()) return;
    const all: Attributes = { ...attributes };
    if (cause !== undefined) {
      all["error.type"] = cause instanceof ResourceError ? cause.kind : "unexpected";
      if (all["error.type"] !== "not-found") this.#span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
    }
    this.#span.setAttributes(all);
    this.#span.end();
  }
}

function parentOf({ traceparent, tracestate }: ReceivedRequest, api: Api): Context {
  const parent = parseTraceparent(traceparent);
  if (!parent) return api.ROOT_CONTEXT;
  const { traceId, spanId, flags } = parent;
  return api.trace.setSpanContext(api.ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: flags,
    isRemote: true,
    ...(tracestate !== undefined && tracestate.length <= 512 && { traceState: api.createTraceState(tracestate) }),
  });
}

function uriOf({ params }: ReceivedRequest): string | undefined {
  const uri = (params as { readonly uri?: unknown } | undefined)?.uri;
  return typeof uri === "string" ? uri.slice(0, maxUriLength) : undefined;
}

/** Logs when the receiver fails, and when it is back; each once. */
function withLog(inner: SpanExporter, { origin }: TracingTarget, { log }: Pick<Runtime, "log">): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      inner.export(spans, (result) => {
        const { error } = result;
        if (error && !isFailing)
          log("warn", "traces cannot be sent; requests are served as before", { to: origin, cause: error });
        if (!error && isFailing) log("info", "traces are sent again", { to: origin });
        isFailing = error !== undefined;
        done(result);
      });
    },
    forceFlush: () => inner.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => inner.shutdown(),
  };
}
