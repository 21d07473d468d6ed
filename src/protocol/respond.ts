/** Handles one request and encodes its response, in any revision. */
import { ResourceError, toResourceError } from "../errors.ts";
import { type RequestHandler, isOffered, type ServerFeatures, type ClientRequest } from "./client-request.ts";
import type { WireBytes } from "./protocol.ts";
import { codes, errorWire, type Id, isId, member, type RequestParams, ProtocolError, resultWire } from "./message.ts";
import { shown } from "./params.ts";
import type { Revision } from "./revision.ts";

export interface EncodedResponse {
  readonly wire: WireBytes;
  readonly status: number;
}

export type ProtocolLog = (
  level: "info" | "warn" | "error",
  message: string,
  facts?: Readonly<Record<string, unknown>>,
) => void;

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
  log: ProtocolLog,
): Promise<EncodedResponse | undefined> {
  try {
    const result = await ask.answer(question);
    return question.call.signal.aborted ? undefined : { wire: resultWire(question.id, result), status: 200 };
  } catch (cause) {
    if (question.call.signal.aborted) return undefined;
    return failure(question.id, cause, question.revision, question.params, log);
  }
}

/** The error response. Invisible and missing resources give identical errors. */
export function failure(
  id: Id,
  cause: unknown,
  revision: Revision,
  params: RequestParams | undefined,
  log: ProtocolLog,
): EncodedResponse {
  if (cause instanceof ProtocolError) {
    return { wire: errorWire(id, cause.code, cause.message, cause.data), status: cause.status };
  }
  const error = toResourceError(cause);
  const code = revision.errorCode(error.kind);
  const uri = member(params, "uri");
  const data = typeof uri === "string" && shown(uri) !== undefined ? { uri } : undefined;
  if (isMissing(error)) return { wire: errorWire(id, code, "Resource not found", data), status: 200 };
  if (error.kind === "unexpected") log("error", error.message, { cause: error.cause });
  const details = error.details && { ...data, ...error.details };
  return { wire: errorWire(id, code, error.message, details), status: 200 };
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
    if (isHeld || !(done > last)) return;
    last = done;
    const saying = say("notifications/progress", {
      progressToken: token,
      progress: done,
      total,
      ...(message !== undefined && revision.has.audio && { message }),
    });
    if (!saying) return;
    isHeld = true;
    void saying.then(() => {
      isHeld = false;
    });
  };
}
