/** Handles one request and encodes its response, in any revision. */
import { causeFacts, isLogged, QuotaError, type ResourceError, toResourceError } from "../errors.ts";
import { type RequestHandler, isOffered, type ServerFeatures, type ClientRequest } from "./client-request.ts";
import type { Runtime } from "../source.ts";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import { RequestScope, requestScope, runInScope } from "../lib/request-scope.ts";
import type { Reply, WireBytes } from "./protocol.ts";
import {
  codes,
  errorWire,
  type Id,
  isId,
  isJsonObject,
  member,
  parseMessage,
  type RequestParams,
  ProtocolError,
  resultWire,
} from "./message.ts";
import { shown } from "./params.ts";
import type { ReceivedRequest, RequestObserver, RequestOutcome } from "./request-observer.ts";
import type { Revision } from "./revision.ts";

export interface EncodedResponse {
  readonly wire: WireBytes;
  /** For HTTP. Default: 200. */
  readonly status?: number;
  /** Absent for a result. */
  readonly errorCode?: number;
  /** For HTTP, with the status 429. */
  readonly retryAfterMs?: number;
}

/** A reply that knows whether the response is an error. */
export interface Responder extends Omit<Reply, "end"> {
  end(response?: EncodedResponse): void;
}

/** Methods that begin to watch: what they start outlives them. */
export const watchMethods: ReadonlySet<string> = new Set(["subscriptions/listen", "resources/subscribe"]);

const outcomes = new Map<number | undefined, RequestOutcome["outcome"]>([
  [undefined, "ok"],
  [-32002, "not-found"],
  [codes.request, "malformed"],
  [codes.method, "unknown-method"],
  [codes.params, "invalid"],
  [codes.internal, "failed"],
]);

/**
 * Runs work with a reply that reports to the observer how the request or the batch ends. A batch counts once, whatever its requests end
 * with. `revisionOf` is called at the end.
 */
export function observed(
  body: unknown,
  reply: Reply,
  observer: RequestObserver | undefined,
  revisionOf: () => string | undefined,
  work: (reply: Responder) => void,
): void {
  const isBatch = Array.isArray(body);
  const isObserved = (observer?.answered || observer?.trace) && (isBatch || getsResponse(body));
  if (!isObserved) return work(toResponder(reply));
  const startMs = monotonicMs();
  const written = member(body, "method");
  const method = typeof written === "string" ? written : undefined;
  let scope = requestScope();
  const traced = observer.trace?.(receivedOf(body, method, scope));
  if (traced) (scope ??= new RequestScope()).span = traced.span;
  const responder = toResponder(reply, (response) => {
    const outcome = outcomes.get(isBatch ? undefined : response?.errorCode) ?? "error";
    const ended: RequestOutcome = {
      method,
      revision: revisionOf(),
      source: scope?.source,
      outcome: response ? outcome : "cancelled",
      ms: monotonicMs() - startMs,
    };
    if (scope) scope.isOpen = false;
    traced?.end(ended);
    observer.answered?.(ended);
  });
  // A watch outlives its request, and others may share it.
  runInScope(method !== undefined && watchMethods.has(method) ? undefined : scope, () => work(responder));
}

function receivedOf(body: unknown, method: string | undefined, scope: RequestScope | undefined): ReceivedRequest {
  const params = member(body, "params");
  const meta = member(params, "_meta");
  const traceparent = member(meta, "traceparent");
  if (typeof traceparent !== "string")
    return { method, params, traceparent: scope?.traceparent, tracestate: scope?.tracestate };
  const tracestate = member(meta, "tracestate");
  return { method, params, traceparent, tracestate: typeof tracestate === "string" ? tracestate : undefined };
}

/** `ended` is called before the response is sent. */
function toResponder(reply: Reply, ended?: (response: EncodedResponse | undefined) => void): Responder {
  return {
    notify: (wire) => reply.notify(wire),
    takesNotice: reply.takesNotice,
    lost: reply.lost,
    end(response) {
      ended?.(response);
      reply.end(response?.wire, response?.status, response?.retryAfterMs);
    },
  };
}

/** Whether a body has an id and is not itself a response. */
function getsResponse(body: unknown): boolean {
  return isJsonObject(body) && body["id"] !== undefined && parseMessage(body).kind !== "response";
}

export function errorResponse(
  id: Id | null,
  errorCode: number,
  message: string,
  { data, status }: { readonly data?: unknown; readonly status?: number } = {},
): EncodedResponse {
  return { wire: errorWire(id, errorCode, message, data), status, errorCode };
}

export function quotaResponse(id: Id | null, { message, details, retryAfterMs }: QuotaError): EncodedResponse {
  return { ...errorResponse(id, codes.internal, message, { data: details, status: 429 }), retryAfterMs };
}

export function askFor(method: string, revision: Revision, offer: ServerFeatures): RequestHandler {
  const ask = revision.asks.get(method);
  if (!isOffered(ask, offer)) {
    throw new ProtocolError(codes.method, "Method not found", { status: 404 });
  }
  return ask;
}

/** Undefined if the caller cancelled the request. */
export async function answerTo(
  ask: RequestHandler,
  question: ClientRequest,
  log: Runtime["log"],
): Promise<EncodedResponse | undefined> {
  try {
    const result = await ask.answer(question);
    return question.call.signal.aborted ? undefined : { wire: resultWire(question.id, result) };
  } catch (cause) {
    if (question.call.signal.aborted) return undefined;
    return failure(question.id, cause, question.revision, question.params, log);
  }
}

/** The error response. Invisible and missing resources give identical errors. Never throws, whatever a source has thrown. */
export function failure(
  id: Id,
  cause: unknown,
  revision: Revision,
  params: RequestParams | undefined,
  log: Runtime["log"],
): EncodedResponse {
  try {
    return errorOf(id, cause, revision, params, log);
  } catch (fault) {
    log("error", "an error could not be sent to the client", { cause: fault });
    return errorResponse(id, codes.internal, "internal error; see the server's log for details");
  }
}

function errorOf(
  id: Id,
  cause: unknown,
  revision: Revision,
  params: RequestParams | undefined,
  log: Runtime["log"],
): EncodedResponse {
  if (cause instanceof ProtocolError) return errorResponse(id, cause.code, cause.message, cause);
  if (cause instanceof QuotaError) return quotaResponse(id, cause);
  const error = toResourceError(cause);
  const code = revision.errorCode(error.kind);
  const uri = member(params, "uri");
  const data = typeof uri === "string" && shown(uri) !== undefined ? { uri } : undefined;
  if (isMissing(error)) return errorResponse(id, code, "Resource not found", { data });
  if (error.kind === "unexpected" && !isLogged(error)) log("error", error.message, causeFacts(error));
  return errorResponse(id, code, error.message, { data: error.details && { ...data, ...error.details } });
}

function isMissing({ kind }: ResourceError): boolean {
  return kind === "not-found" || kind === "denied" || kind === "directory";
}

/** Reports progress with the client's token: strictly increasing, as the specification requires. Skips some for slow readers. */
export function progressOf(
  params: RequestParams | undefined,
  revision: Revision,
  say: ClientRequest["say"],
): ((done: number, total?: number, message?: string) => void) | undefined {
  const token = member(member(params, "_meta"), "progressToken");
  if (!isId(token)) return undefined;
  let last = -Infinity;
  let isHeld = false;
  return (done, total, message) => {
    // A source may count in a type that cannot be written as JSON.
    if (isHeld || !(Number(done) > last)) return;
    last = Number(done);
    const saying = say("notifications/progress", {
      progressToken: token,
      progress: last,
      total: total === undefined ? undefined : Number(total),
      ...(message !== undefined && revision.has.audio && { message: String(message) }),
    });
    if (!saying) return;
    isHeld = true;
    void saying.then(() => {
      isHeld = false;
    });
  };
}
