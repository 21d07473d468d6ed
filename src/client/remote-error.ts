/** Converts errors of a remote server to ResourceErrors. */
import {
  InsufficientScopeError,
  OAuthError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { notFound, quote, ResourceError } from "../errors.ts";
import { isRemoteObject } from "./is-remote-object.ts";

/** Codes that meant "not found" in one revision or another; the last has other meanings, too. */
const missingCodes = new Set([-32001, -32002]);
const paramsCode = -32602;
const methodCode = -32601;
/** Messages of servers without a code for it. */
const missingWords = /not found|unknown resource|no such|does not exist|ENOENT/i;
/** Maximum length of a remote message. */
const maxMessageLength = 500;

/** Pass `uri` if the request was about one resource, and nothing else in it could be wrong. */
export function toRemoteError(cause: unknown, signal: AbortSignal, uri?: string): ResourceError {
  if (cause instanceof ResourceError) return cause;
  if (signal.aborted) return new ResourceError("cancelled", "cancelled", { cause });
  const error = answerIn(cause);
  if (error) return fromAnswer(error, uri);
  if (cause instanceof UnauthorizedError || statusOf(cause) === 401 || statusOf(cause) === 403)
    return new ResourceError("denied", "the server denied access; check the token", { cause });
  if (cause instanceof Error && signInMark in cause) return fromSignIn(cause);
  if (statusOf(cause) === 429)
    return new ResourceError("busy", "the server is busy; try again later", { cause, passing: true });
  const elsewhere = sentTo(cause);
  if (elsewhere !== undefined)
    return new ResourceError(
      "unavailable",
      `the server redirects to ${quote(elsewhere)}, which is not followed; use that address if it is the right one`,
      { cause, passing: false },
    );
  if (cause instanceof SdkHttpError)
    return new ResourceError("unavailable", `the server responded with status ${cause.status}`, { cause });
  if (cause instanceof SdkError) return fromSdk(cause);
  // The message of fetch does not help.
  return new ResourceError("unavailable", "the server cannot be reached", { cause });
}

/** The official client marks errors of a sign-in that a request needed. */
const signInMark = Symbol.for("mcp.authSeamEscape");

/** Messages of the authorization server may repeat what was sent to it, so only its error code is shown. */
function fromSignIn(cause: Error): ResourceError {
  if (cause instanceof InsufficientScopeError)
    return new ResourceError("denied", `the server requires the scope ${quote(cause.requiredScope ?? "", 200)}`, {
      cause,
    });
  if (cause instanceof TypeError)
    return new ResourceError("unavailable", "the authorization server cannot be reached", { cause });
  const code = cause instanceof OAuthError ? cause.code : cause.name;
  return new ResourceError("denied", `signing in to the server failed (${/^\w{1,60}$/.exec(code)?.[0] ?? "Error"})`, {
    cause,
  });
}

/**
 * The JSON-RPC error with which the server answered this request, which may come with an HTTP status of its own. Undefined if the
 * response says nothing about the request, or that the server does not know the session.
 */
export function answerIn(cause: unknown): ProtocolError | undefined {
  if (cause instanceof ProtocolError) return cause;
  const error = errorInBody(cause);
  if (error?.code === methodCode) return error;
  const status = statusOf(cause);
  if (status === 400) return isUnknownSession(error) ? undefined : error;
  const saysWhen = isRemoteObject(error?.data) && typeof error.data["retryAfterMs"] === "number";
  return status === 429 && saysWhen ? error : undefined;
}

/** True if the server refused the request with status 404, or with 400 because it does not know the session. */
export function isSessionLost(cause: unknown): boolean {
  const status = statusOf(cause);
  return status === 404 || (status === 400 && isUnknownSession(errorInBody(cause)));
}

/** How servers say it with status 400. Only the start counts: the rest of a message may repeat what a caller sent. */
const unknownSession =
  /^(?:(?:bad|invalid) request:\s)?(?:(?:no valid|missing|invalid|invalid or expired|unknown|expired) (?:mcp[- ])?session|session (?:not found|expired|terminated|is required)|mcp-session-id header|server not initialized)/i;

function isUnknownSession(error: ProtocolError | undefined): boolean {
  return error !== undefined && error.code !== paramsCode && unknownSession.test(error.message);
}

function errorInBody(cause: unknown): ProtocolError | undefined {
  const text = cause instanceof SdkHttpError ? cause.data.text : postFailureOf(cause)?.text;
  if (typeof text !== "string") return undefined;
  try {
    const { error } = JSON.parse(text) as { readonly error?: Readonly<Record<"code" | "message" | "data", unknown>> };
    return typeof error?.code === "number"
      ? new ProtocolError(error.code, String(error.message), error.data)
      : undefined;
  } catch {
    return undefined;
  }
}

/** The transport of 2024-11-05 has the status and the body in its message only. */
function postFailureOf(cause: unknown): { readonly status: number; readonly text: string } | undefined {
  const posting =
    cause instanceof Error ? /^Error POSTing to endpoint \(HTTP (\d{3})\)(?:: )?/.exec(cause.message) : null;
  return posting ? { status: Number(posting[1]), text: posting.input.slice(posting[0].length) } : undefined;
}

/** The HTTP status, from whichever error of the official client holds it. */
export function statusOf(cause: unknown): number | undefined {
  if (cause instanceof SdkHttpError) return cause.status;
  if (!(cause instanceof Error) || cause instanceof ProtocolError) return undefined;
  if (cause.name === "SseError" || cause.message.startsWith("SSE error")) {
    const { code } = cause as { readonly code?: unknown };
    return typeof code === "number" ? code : undefined;
  }
  const posting = postFailureOf(cause);
  if (posting) return posting.status;
  const data = (cause as { readonly data?: unknown }).data;
  return isRemoteObject(data) && typeof data["status"] === "number" ? data["status"] : undefined;
}

/** The official client follows no redirect to another server. */
function sentTo(cause: unknown): string | undefined {
  for (const { message } of chainOf(cause)) {
    const found = /Redirect to (\S+) not followed/.exec(message);
    if (found) return found[1];
  }
  return undefined;
}

/** An error and its causes. */
export function chainOf(cause: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let at = cause; at instanceof Error && chain.length < 10; at = at.cause) chain.push(at);
  return chain;
}

function fromSdk(cause: SdkError): ResourceError {
  switch (cause.code) {
    case SdkErrorCode.CapabilityNotSupported:
    case SdkErrorCode.MethodNotSupportedByProtocolVersion:
      return new ResourceError("unsupported", "the server does not support this", { cause });
    case SdkErrorCode.InvalidResult:
    case SdkErrorCode.UnsupportedResultType:
      return new ResourceError("unexpected", "the server sent an invalid response", { cause });
    case SdkErrorCode.ListPaginationExceeded:
      return new ResourceError("unexpected", "the server's list does not end", { cause });
    case SdkErrorCode.RequestTimeout:
      return new ResourceError("unavailable", "the server did not respond in time", { cause });
    default:
      return new ResourceError("unavailable", "the server cannot be reached", { cause });
  }
}

function fromAnswer(cause: ProtocolError, uri: string | undefined): ResourceError {
  const { code } = cause;
  const message = cause.message.slice(0, maxMessageLength);
  const details = isRemoteObject(cause.data) ? cause.data : {};
  const reason = details["reason"];
  if (reason === "too-large") return new ResourceError("too-large", message, { cause, details });
  if (reason === "unwatchable") return new ResourceError("unsupported", message, { cause, details });
  if (typeof details["retryAfterMs"] === "number")
    return new ResourceError("busy", message, { cause, details, passing: true });
  if (uri !== undefined && reason === undefined && meansMissing(code, message)) return notFound(uri, cause);
  if (code === methodCode) return new ResourceError("unsupported", "the server does not support this", { cause });
  if (code === paramsCode) return new ResourceError("invalid", message, { cause, details });
  if (code === brokeOffCode) return new ResourceError("unavailable", message, { cause });
  return new ResourceError("unexpected", `the server failed: ${message}`, { cause });
}

function meansMissing(code: number, message: string): boolean {
  if (missingCodes.has(code) || code === paramsCode) return true;
  return missingWords.test(message) && !/method not found/i.test(message);
}

/** Not a server's code: marks a response that was lost. */
export const brokeOffCode = -32_099;
