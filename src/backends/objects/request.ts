/** One request to a store, with a deadline and readable errors. */
import { cancelled, denied, invalid, ResourceError, unavailable } from "../../errors.ts";
import { takeUpTo } from "../../lib/read-bounded.ts";

interface Requesting {
  /** The name of the backend in errors, which must not show its address. */
  readonly backend?: string;
  readonly timeoutMs: number;
}

/** The origin of a store. A password in it would appear in errors. */
export function originOf(endpoint: string): URL {
  const url = URL.parse(endpoint);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
    throw invalid("write the endpoint of a store as https://host, without user and password");
  return url;
}

/** The response, whatever its status. Redirects are not followed: they could lead anywhere. The body must arrive in time, too. */
export async function send(
  request: Request,
  { backend = "the store", timeoutMs }: Requesting,
  signal: AbortSignal,
): Promise<Response> {
  const late = AbortSignal.timeout(timeoutMs);
  try {
    return await fetch(request, { signal: AbortSignal.any([signal, late]), redirect: "manual" });
  } catch (cause) {
    if (signal.aborted) throw cancelled(cause);
    const why = late.aborted ? `did not respond within ${timeoutMs} ms` : `cannot be reached (${codeOf(cause)})`;
    throw unavailable(`${backend} ${why}`, cause);
  }
}

/** The body; undefined if it is larger than `most`. */
export async function takeSome(response: Response, most: number, signal: AbortSignal): Promise<Buffer | undefined> {
  try {
    return await takeUpTo(most, response.body);
  } catch (cause) {
    if (signal.aborted) throw cancelled(cause);
    throw unavailable("the store closed the connection before the end", cause);
  }
}

/** The body. More than `most` bytes are an error. */
export async function takeBody(response: Response, most: number, signal: AbortSignal): Promise<Buffer> {
  const bytes = await takeSome(response, most, signal);
  if (!bytes) throw unavailable("the store sent more than it announced");
  return bytes;
}

/** Content encodings that fetch decodes; others are ignored. */
export function packingOf(given: string | null | undefined): string | undefined {
  return given
    ?.split(",")
    .find((each) => /^\s*(?:x-gzip|gzip|deflate|br|zstd)\s*$/i.test(each))
    ?.trim();
}

/** The error for a status, if nothing more is known. */
export function refusalFor(status: number, given = ""): ResourceError {
  switch (status) {
    case 401:
      return denied("the store rejects the credentials; sign in again");
    case 403:
      return denied("the store denies access: the credentials may not read this");
    case 404:
    case 405:
      return new ResourceError("not-found", "no such object or bucket");
    case 412:
      return unavailable("the object changed while it was read; try again");
    case 416:
      return invalid("the range starts behind the end of the object");
    case 429:
    case 503:
      return new ResourceError("busy", `the store is busy (${status})`, { passing: true });
  }
  const passing = status >= 500 || status === 408;
  const detail = given === "" ? "" : ` (${given})`;
  return new ResourceError("unavailable", `the store responded with status ${status}${detail}`, { passing });
}

/** Escapes all but unreserved characters: signatures cover exactly this form. */
export function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function codeOf(cause: unknown): string {
  const { code } = ((cause as Error).cause ?? {}) as NodeJS.ErrnoException;
  return typeof code === "string" ? code : "the connection failed";
}
