/** Turns an error of Drive into ours, by its reason: the same status stands for a rate limit, a missing permission and a size limit. */
import { denied, invalid, quote, ResourceError } from "../../errors.ts";
import { isDriveObject, listIn, textIn } from "./drive-objects.ts";

/** Drive asks for a retry later. */
const limits = new Set(["userRateLimitExceeded", "rateLimitExceeded", "sharingRateLimitExceeded", "backendError"]);

const unproved = "unauthorized";
const notOurs = "notOurs";

/** Whether the credentials were rejected. */
export function isUnauthenticated(cause: unknown): boolean {
  return cause instanceof ResourceError && cause.details?.["reason"] === unproved;
}

/** Whether Drive reports that a file does not exist or is not visible to us. Other failures say nothing about the file. */
export function isGone(cause: unknown): boolean {
  if (!(cause instanceof ResourceError)) return false;
  return cause.kind === "not-found" || cause.details?.["reason"] === notOurs;
}

/** The reasons in an error response, in the old format and the new one. */
function reasonsOf(body: unknown): readonly string[] {
  const error = isDriveObject(body) && isDriveObject(body["error"]) ? body["error"] : {};
  return [...listIn(error, "errors"), ...listIn(error, "details")].flatMap((each) => textIn(each, "reason") ?? []);
}

/** Repeats no text of Drive: it may contain names and addresses. */
export function refusalOf(status: number, body: unknown): ResourceError {
  const reasons = reasonsOf(body);
  const [reason = ""] = reasons;
  if (status === 401)
    return new ResourceError("denied", "Google Drive does not accept the credentials; run: pressmark drive login", {
      details: { reason: unproved },
    });
  if (status === 429 || (status === 403 && reasons.some((each) => limits.has(each))))
    return new ResourceError("busy", `Google Drive asks for fewer requests (${quote(reason, 40)})`, {
      passing: true,
    });
  if (status === 403) return forbidden(reasons);
  if (status === 404) return new ResourceError("not-found", "it does not exist, or the account may not see it");
  if (status === 416) return invalid("the range starts behind the end of the file");
  // An expired token, or a conversion that does not exist.
  if (status === 400 || status === 410)
    return new ResourceError("invalid", `Google Drive rejects the request (${status})`, { details: { reason } });
  const passing = status >= 500 || status === 408;
  return new ResourceError("unavailable", `Google Drive responded with status ${status}`, { passing });
}

function forbidden(reasons: readonly string[]): ResourceError {
  if (reasons.includes("exportSizeLimitExceeded"))
    return new ResourceError("too-large", "the document is larger than Drive can export", {
      details: { reason: "exportSizeLimitExceeded" },
    });
  if (reasons.includes("dailyLimitExceeded") || reasons.includes("quotaExceeded"))
    return new ResourceError("busy", "a daily Google Drive quota of the project is used up");
  if (reasons.includes("accessNotConfigured") || reasons.includes("SERVICE_DISABLED"))
    return denied("the Drive API is not enabled in the project of the credentials");
  if (reasons.includes("insufficientPermissions") || reasons.includes("ACCESS_TOKEN_SCOPE_INSUFFICIENT"))
    return denied("the credentials do not allow reading Drive; run: pressmark drive login");
  return new ResourceError("denied", "Google Drive denies access: the account may not read this", {
    details: { reason: notOurs },
  });
}

export function isTooLargeToExport(cause: unknown): boolean {
  return cause instanceof ResourceError && cause.details?.["reason"] === "exportSizeLimitExceeded";
}
