/** One request to a store: answered in time, or refused in words. */
import { invalid, ResourceError } from "../../errors.ts";
import { takeUpTo } from "../../lib/read-bounded.ts";

export interface Requesting {
  /** What the backend is called in an error. Where it is, callers need not know. */
  readonly backend?: string;
  readonly timeoutMs: number;
}

/** Where a store is. A password there would come out again in errors. */
export function originOf(endpoint: string): URL {
  const url = URL.parse(endpoint);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
    throw invalid("the endpoint of a store is spelled https://host, without user and password");
  return url;
}

/** The answer, whatever its status. No redirect is followed: it could lead anywhere. Its body, too, must come in time. */
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
    const why = late.aborted ? `did not answer within ${timeoutMs} ms` : `cannot be reached (${codeOf(cause)})`;
    throw new ResourceError("unavailable", `${backend} ${why}`, { cause });
  }
}

/** The body; undefined where it is larger than this. */
export async function takeSome(response: Response, most: number, signal: AbortSignal): Promise<Buffer | undefined> {
  try {
    return await takeUpTo(most, response.body);
  } catch (cause) {
    if (signal.aborted) throw cancelled(cause);
    throw new ResourceError("unavailable", "the store broke off in the middle", { cause });
  }
}

/** The body. More than was agreed on is no answer. */
export async function takeBody(response: Response, most: number, signal: AbortSignal): Promise<Buffer> {
  const bytes = await takeSome(response, most, signal);
  if (!bytes) throw new ResourceError("unavailable", "the store gave more than it said it would");
  return bytes;
}

/** The packings that are undone on the way; others are no packing to us. */
export function packingOf(said: string | null | undefined): string | undefined {
  return said
    ?.split(",")
    .find((each) => /^\s*(?:x-gzip|gzip|deflate|br|zstd)\s*$/i.test(each))
    ?.trim();
}

function cancelled(cause: unknown): ResourceError {
  return new ResourceError("cancelled", "the question was withdrawn", { cause });
}

/** What a status means where nothing more is known. */
export function refusalFor(status: number, said = ""): ResourceError {
  switch (status) {
    case 401:
      return new ResourceError("denied", "the store does not accept the credentials; sign in again");
    case 403:
      return new ResourceError("denied", "the store refuses: the credentials may not read this");
    case 404:
    case 405:
      return new ResourceError("not-found", "no such object or bucket");
    case 412:
      return new ResourceError("unavailable", "the object became another while it was read; ask again");
    case 416:
      return new ResourceError("invalid", "the range begins behind the end of the object");
    case 429:
    case 503:
      return new ResourceError("busy", `the store is busy (${status})`, { passing: true });
  }
  const passing = status >= 500 || status === 408;
  const detail = said === "" ? "" : ` (${said})`;
  return new ResourceError("unavailable", `the store answered ${status}${detail}`, { passing });
}

/** Escapes all that ever needs one: signatures are made over exactly this spelling. */
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
