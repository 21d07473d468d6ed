/** Says, anywhere below a request, which one it is: its id for the log, its trace, and the mount that answers it. */
import { AsyncLocalStorage } from "node:async_hooks";

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A span in progress, of whatever tracing library. */
export interface TraceSpan {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** `traceparent` and `tracestate` for requests to other servers: https://www.w3.org/TR/trace-context/ */
  carrier(): Readonly<Record<string, string>>;
  /** Begins a span below this one. */
  begin(name: string, attributes: SpanAttributes): TraceSpan;
  /** With the error that the work ended with, if it did. */
  end(attributes?: SpanAttributes, cause?: unknown): void;
}

/** A class, because there is one for each request. */
export class RequestScope {
  /** Undefined over stdio, whose messages have ids of the client alone. */
  readonly id: string | undefined;
  /** `traceparent` and `tracestate` as the client sent them over HTTP. */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  /** False once the request has ended: what it started for everyone, such as a shared watch, does not belong to it. */
  isOpen = true;
  span: TraceSpan | undefined = undefined;
  /** Type of the source that answered; undefined if none or several mounts did. */
  source: string | undefined = undefined;
  #mount: string | undefined = undefined;

  constructor(id?: string, traceparent?: string, tracestate?: string) {
    this.id = id;
    this.traceparent = traceparent;
    this.tracestate = tracestate;
  }

  /** A mount has been asked. */
  note(mount: string, source: string): void {
    if (this.#mount === undefined) {
      this.#mount = mount;
      this.source = source;
    } else if (this.#mount !== mount) this.source = undefined;
  }
}

/** With the innermost span, if the request is traced. */
interface SpanScope {
  readonly request: RequestScope;
  readonly span: TraceSpan;
}

const scopes = new AsyncLocalStorage<RequestScope | SpanScope | undefined>();

/** Runs work, and what follows from it, as part of this request. Undefined: as part of none. */
export function runInScope<T>(scope: RequestScope | undefined, work: () => T): T {
  return scope === scopes.getStore() ? work() : scopes.run(scope, work);
}

/** Undefined outside of a request, and once it has ended. */
export function requestScope(): RequestScope | undefined {
  const store = scopes.getStore();
  if (store === undefined) return undefined;
  const request = store instanceof RequestScope ? store : store.request;
  return request.isOpen ? request : undefined;
}

/** The innermost span of the request. Undefined if it is not traced. */
export function currentSpan(): TraceSpan | undefined {
  const store = scopes.getStore();
  if (store === undefined) return undefined;
  const request = store instanceof RequestScope ? store : store.request;
  return request.isOpen ? store.span : undefined;
}

/** Runs work as a span of the request. Without tracing, just runs it. */
export async function inSpan<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T> {
  const request = requestScope();
  const outer = currentSpan();
  if (!request || !outer) return work();
  const span = outer.begin(name, attributes);
  try {
    const result = await scopes.run({ request, span }, work);
    span.end();
    return result;
  } catch (cause) {
    span.end(undefined, cause);
    throw cause;
  }
}

/** What to send with a request to another server, so that its spans join the trace. Empty without tracing. */
export function traceCarrier(): Readonly<Record<string, string>> {
  return currentSpan()?.carrier() ?? {};
}
