/** The one error that crosses rooms: a kind, a sentence for a person, the cause. */

export type ErrorKind =
  /** Nothing is there, or the caller may not know that something is. */
  | "not-found"
  /** The backend refuses. Answered on the wire exactly like "not-found". */
  | "denied"
  /** The address names a directory: it has children, and no content of its own. */
  | "directory"
  /** The question itself is wrong: a parameter, a cursor, a template variable. */
  | "invalid"
  /** There is more than may be answered at once; `details` says how to ask for less. */
  | "too-large"
  /** The caller asks too often, or too much is going on; `details.retryAfterMs` says when to come back. */
  | "busy"
  /** The backend cannot be reached, or did not answer in time. Asking again may help. */
  | "unavailable"
  /** This house, or this mount, does not do that. */
  | "unsupported"
  /** The caller went away, or the house is closing. */
  | "cancelled"
  /** A fault of ours or of the backend that no one foresaw. */
  | "unexpected";

export interface ErrorDetails {
  /** Passing faults may be tried again; lasting ones answer the same next time. */
  readonly passing?: boolean;
  readonly cause?: unknown;
  /** Facts that may be shown to the caller, as they are. */
  readonly details?: Readonly<Record<string, unknown>>;
}

export class ResourceError extends Error {
  override readonly name = "ResourceError";
  readonly kind: ErrorKind;
  readonly passing: boolean;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(kind: ErrorKind, message: string, { passing, cause, details }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.passing = passing ?? kind === "unavailable";
    this.details = details;
  }
}

/** What is not there and what may not be seen are one and the same answer. */
export function notFound(what: string, cause?: unknown): ResourceError {
  return new ResourceError("not-found", `no resource at ${quote(what)}`, { cause });
}

export function invalid(message: string, details?: Readonly<Record<string, unknown>>): ResourceError {
  return new ResourceError("invalid", message, details ? { details } : {});
}

/** When to come back, where an error says so: until then the answer is the same. */
export function retryAfterOf(cause: unknown): number | undefined {
  const afterMs = cause instanceof ResourceError ? cause.details?.["retryAfterMs"] : undefined;
  return typeof afterMs === "number" ? afterMs : undefined;
}

/** A value as it may stand in a sentence: quoted, on one line, never long. */
export function quote(value: string, maxLength = 120): string {
  const short = value.length > maxLength ? `${value.slice(0, maxLength)}…` : value;
  return JSON.stringify(short);
}

/** What the caller may know of any failure: a ResourceError as it is, anything else as "unexpected". */
export function toResourceError(cause: unknown): ResourceError {
  if (cause instanceof ResourceError) return cause;
  if (cause instanceof Error && (cause.name === "AbortError" || cause.name === "TimeoutError"))
    return new ResourceError("cancelled", "the question was withdrawn", { cause });
  return new ResourceError("unexpected", "something went wrong here; the log has the details", { cause });
}
