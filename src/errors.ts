/** The one error type of the program: a kind, a message for people, and the cause. */

export type ErrorKind =
  /** No such resource, or the caller may not know that it exists. */
  | "not-found"
  /** The backend refuses access. The wire response is the same as for "not-found". */
  | "denied"
  /** The address is a directory: it has children and no content. */
  | "directory"
  /** The request is wrong: a parameter, a cursor, a template variable. */
  | "invalid"
  /** The result exceeds a limit; `details` says how to request less. */
  | "too-large"
  /** The caller sends too many requests, or the server is overloaded; `details.retryAfterMs` says when to retry. */
  | "busy"
  /** The backend cannot be reached, or did not respond in time. A retry may help. */
  | "unavailable"
  /** This server or this mount does not support the operation. */
  | "unsupported"
  /** The caller cancelled the call or disconnected, or the server is closing. */
  | "cancelled"
  /** An unforeseen fault of the program or of the backend. */
  | "unexpected";

export interface ErrorDetails {
  /** True if a retry may succeed. Default: true for "unavailable" only. */
  readonly passing?: boolean;
  readonly cause?: unknown;
  /** Facts that may be shown to the caller unchanged. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Shared by all copies of this package in a process. */
const brand = Symbol.for("pressmark.ResourceError");

export class ResourceError extends Error {
  static {
    Object.defineProperty(this.prototype, brand, { value: true });
  }

  /** An error of another copy of this package counts too: a source from a package may bring one. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    try {
      const isOrdinary = Function.prototype[Symbol.hasInstance].call(this, value);
      return isOrdinary || (this === ResourceError && typeof value === "object" && value !== null && brand in value);
    } catch {
      // A proxy may refuse to answer.
      return false;
    }
  }

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

/** The caller has used up a quota. Over HTTP, the status is 429. */
export class QuotaError extends ResourceError {
  readonly quota: string;
  readonly retryAfterMs: number;

  constructor(quota: string, message: string, retryAfterMs: number) {
    super("busy", message, { passing: true, details: { reason: "quota", quota, retryAfterMs } });
    this.quota = quota;
    this.retryAfterMs = retryAfterMs;
  }
}

/** A missing resource and one that the caller may not see give the same error. */
export function notFound(what: string, cause?: unknown): ResourceError {
  return new ResourceError("not-found", `no resource at ${quote(what)}`, { cause });
}

/** The caller has left, or the server is closing. */
export function cancelled(cause?: unknown, message = "cancelled"): ResourceError {
  return new ResourceError("cancelled", message, { cause });
}

export function shuttingDown(): ResourceError {
  return cancelled(undefined, "the server is shutting down");
}

/** A retry may help. */
export function unavailable(message: string, cause?: unknown): ResourceError {
  return new ResourceError("unavailable", message, { cause });
}

/** A retry does not help: someone must change something first. */
export function lastingFailure(message: string, cause?: unknown): ResourceError {
  return new ResourceError("unavailable", message, { cause, passing: false });
}

export function denied(message: string, cause?: unknown): ResourceError {
  return new ResourceError("denied", message, { cause });
}

export function unsupported(message: string, cause?: unknown): ResourceError {
  return new ResourceError("unsupported", message, { cause });
}

/** The address has children and no content. */
export function isDirectoryError(path: string): ResourceError {
  return new ResourceError("directory", `${quote(path)} is a directory; list its children instead`);
}

export function invalid(message: string, details?: Readonly<Record<string, unknown>>): ResourceError {
  return new ResourceError("invalid", message, { details });
}

/** Returns how long to wait before a retry, if the error says so: an earlier retry fails the same way. */
export function retryAfterOf(cause: unknown): number | undefined {
  const afterMs = cause instanceof ResourceError ? toResourceError(cause).details?.["retryAfterMs"] : undefined;
  return typeof afterMs === "number" ? afterMs : undefined;
}

/** Formats a value for a message: quoted, on one line, shortened. */
export function quote(value: string, maxLength = 120): string {
  // Without the first half of a character that does not fit.
  const short = value.length > maxLength ? `${value.slice(0, maxLength).replace(/[\ud800-\udbff]$/, "")}…` : value;
  return JSON.stringify(short);
}

/**
 * Converts any failure to what the caller may know: a ResourceError unchanged, anything else as "unexpected". An error that another
 * program made is rebuilt, so that a response can always be written from the result.
 */
export function toResourceError(cause: unknown): ResourceError {
  try {
    if (cause instanceof ResourceError && kinds.has(cause.kind)) return isWhole(cause) ? cause : rebuilt(cause);
    if (cause instanceof Error && (cause.name === "AbortError" || cause.name === "TimeoutError"))
      return cancelled(cause);
  } catch {
    // A member of the error failed.
  }
  return new ResourceError("unexpected", "internal error; see the server's log for details", { cause });
}

const kinds: ReadonlySet<unknown> = new Set(
  Object.keys({
    "not-found": true,
    denied: true,
    directory: true,
    invalid: true,
    "too-large": true,
    busy: true,
    unavailable: true,
    unsupported: true,
    cancelled: true,
    unexpected: true,
  } satisfies Record<ErrorKind, true>),
);

/** Whether it is of this copy of the package, with details that can be written as JSON. */
function isWhole(error: ResourceError): boolean {
  if (!Function.prototype[Symbol.hasInstance].call(ResourceError, error) || typeof error.message !== "string")
    return false;
  try {
    return error.details === undefined || JSON.stringify(error.details) !== undefined;
  } catch {
    return false;
  }
}

function rebuilt({ kind, message, passing, details, cause }: ResourceError): ResourceError {
  return new ResourceError(kind, String(message), {
    cause,
    passing: typeof passing === "boolean" ? passing : undefined,
    details: jsonDetails(details),
  });
}

/** As JSON: integers of any size become numbers, or texts if they are too large. Undefined for what cannot be written. */
function jsonDetails(details: unknown): Readonly<Record<string, unknown>> | undefined {
  try {
    const text = JSON.stringify(details, (_name, value: unknown) =>
      typeof value === "bigint" ? (Number.isSafeInteger(Number(value)) ? Number(value) : String(value)) : value,
    );
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

/** Facts about an unexpected error for the log: the message of the original error, and where the program threw it. */
export function causeFacts(error: unknown): { readonly cause: unknown; readonly at?: string } {
  try {
    let original = error;
    while (original instanceof ResourceError && original.kind === "unexpected" && original.cause !== undefined)
      original = original.cause;
    if (!(original instanceof Error) || original instanceof ResourceError) return { cause: original };
    const frames = String(original.stack)
      .split("\n")
      .filter((line) => /^ +at /.test(line));
    const at = frames.find((line) => !/node:|<anonymous>/.test(line)) ?? frames[0];
    return at === undefined ? { cause: original } : { cause: original, at: at.trim().slice("at ".length) };
  } catch {
    // A member of what was thrown failed.
    return { cause: "an error that cannot be shown" };
  }
}

const logged = new WeakSet<ResourceError>();

/** Remembers that the cause of this error is in the log, so that it is not logged again on the way to the caller. */
export function markLogged(error: ResourceError): void {
  logged.add(error);
}

export function isLogged(error: ResourceError): boolean {
  return logged.has(error);
}
