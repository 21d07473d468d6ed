/** What it means when Drive refuses, by the reason it gives: one number stands for a limit, a right and a size. */
import { quote, ResourceError } from "../../errors.ts";
import { isDriveObject, listIn, textIn } from "./drive-objects.ts";

/** Drive wants to be asked again later. */
const limits = new Set(["userRateLimitExceeded", "rateLimitExceeded", "sharingRateLimitExceeded", "backendError"]);

const unproved = "unauthorized";
const notOurs = "notOurs";

/** Whether the proof of who we are was not taken. */
export function isUnproved(cause: unknown): boolean {
  return cause instanceof ResourceError && cause.details?.["reason"] === unproved;
}

/** Whether Drive says of a thing that it is not there, or not ours to see. That it could not be asked, or asked like this, says nothing of the thing. */
export function isGone(cause: unknown): boolean {
  if (!(cause instanceof ResourceError)) return false;
  return cause.kind === "not-found" || cause.details?.["reason"] === notOurs;
}

/** The reasons that an answer gives, in the old words and the new. */
export function reasonsOf(body: unknown): readonly string[] {
  const error = isDriveObject(body) && isDriveObject(body["error"]) ? body["error"] : {};
  return [...listIn(error, "errors"), ...listIn(error, "details")].flatMap((each) => textIn(each, "reason") ?? []);
}

/** Nothing that Drive says is repeated: it may hold names and addresses. */
export function refusalOf(status: number, body: unknown): ResourceError {
  const reasons = reasonsOf(body);
  const [reason = ""] = reasons;
  if (status === 401)
    return new ResourceError("denied", "Google Drive does not accept the credentials; run: pressmark drive login", {
      details: { reason: unproved },
    });
  if (status === 429 || (status === 403 && reasons.some((each) => limits.has(each))))
    return new ResourceError("busy", `Google Drive wants to be asked less often (${quote(reason, 40)})`, {
      passing: true,
    });
  if (status === 403) return forbidden(reasons);
  if (status === 404) return new ResourceError("not-found", "nothing is there, or the account may not see it");
  if (status === 416) return new ResourceError("invalid", "the range begins behind the end of the file");
  // A token that is no longer good, or a conversion that there is not.
  if (status === 400 || status === 410)
    return new ResourceError("invalid", `Google Drive does not take the question (${status})`, { details: { reason } });
  const passing = status >= 500 || status === 408;
  return new ResourceError("unavailable", `Google Drive answered ${status}`, { passing });
}

function forbidden(reasons: readonly string[]): ResourceError {
  if (reasons.includes("exportSizeLimitExceeded"))
    return new ResourceError("too-large", "the document is larger than Drive exports at once", {
      details: { reason: "exportSizeLimitExceeded" },
    });
  if (reasons.includes("dailyLimitExceeded") || reasons.includes("quotaExceeded"))
    return new ResourceError("busy", "Google Drive answers no more today: a quota of the project is used up");
  if (reasons.includes("accessNotConfigured") || reasons.includes("SERVICE_DISABLED"))
    return new ResourceError("denied", "the Drive API is not switched on in the project that the credentials are of");
  if (reasons.includes("insufficientPermissions") || reasons.includes("ACCESS_TOKEN_SCOPE_INSUFFICIENT"))
    return new ResourceError("denied", "the credentials are not for reading Drive; run: pressmark drive login");
  return new ResourceError("denied", "Google Drive refuses: the account may not read this", {
    details: { reason: notOurs },
  });
}

export function isTooLargeToExport(cause: unknown): boolean {
  return cause instanceof ResourceError && cause.details?.["reason"] === "exportSizeLimitExceeded";
}
